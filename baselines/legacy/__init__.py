"""Detectors as they were in 2016, for the replay of the published tables and nothing else."""

from baselines.legacy.forests import IsolationForest2016, OneClassRF2016
from baselines.legacy.orca import Orca2016

__all__ = ["IsolationForest2016", "OneClassRF2016", "Orca2016"]
