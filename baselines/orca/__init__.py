"""Orca: distance-based outliers by a randomised scan with pruning (Bay and Schwabacher 2003)."""

from baselines.orca.outliers import Orca

__all__ = ["Orca"]
