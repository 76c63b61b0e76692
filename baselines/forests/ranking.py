"""Points as ranks: trees compare small integers instead of floats."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RankedPoints(NamedTuple):
    """Points as their ranks among the distinct values of every feature.

    Attributes
    ----------
    ranks : ndarray of shape (n_features, n_samples)
        Equal values have equal ranks, from 0 up without gaps.
    levels : ndarray of shape (n_features, n_samples)
        The distinct values in ascending order, so that ``levels[f, ranks[f, i]]`` is the value of
        point i; what follows the last of them is not used.
    """

    ranks: NDArray[np.int32]
    levels: NDArray[np.float64]

    def select(self, features: NDArray[np.int64]) -> RankedPoints:
        """Return the same points with these features only."""
        return RankedPoints(self.ranks[features], self.levels[features])


def rank_points(values: NDArray[np.float64]) -> RankedPoints:
    """Rank the points, of shape (n_features, n_samples), feature by feature."""
    ranks = np.empty(values.shape, dtype=np.int32)
    levels = np.empty(values.shape, dtype=np.float64)
    for row, column in enumerate(values):
        order = np.argsort(column)
        in_order = column[order]
        is_new = np.concatenate(([True], in_order[1:] > in_order[:-1]))
        ranks[row, order] = np.cumsum(is_new) - 1
        distinct = in_order[is_new]
        levels[row, : distinct.size] = distinct
        levels[row, distinct.size :] = distinct[-1]
    return RankedPoints(ranks, levels)
