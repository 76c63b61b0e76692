"""Points as ranks: trees compare small integers instead of floats."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocrf.kernels import njit

#: Where the counts of class 1 begin in a weight, and the mask of those of class 0.
ONES = np.uint64(32)
ZEROS_MASK = np.uint64(0xFFFFFFFF)


class RankedPoints(NamedTuple):
    """The different points among samples, as ranks among the distinct values of every feature.

    Attributes
    ----------
    ranks : ndarray of shape (n_features, n_points)
        Equal values have equal ranks, from 0 up without gaps.
    levels : ndarray of shape (n_features, n_samples)
        The distinct values in ascending order, so that ``levels[f, ranks[f, i]]`` is the value of
        point i; what follows the last of them is not used.
    point_of : ndarray of shape (n_samples,)
        The point that each sample is. Points are numbered by the rank of the first feature, then
        of the second, and so on.
    """

    ranks: NDArray[np.int32]
    levels: NDArray[np.float64]
    point_of: NDArray[np.int32]

    def select(self, features: NDArray[np.int64]) -> RankedPoints:
        """Return the same points with these features only, in which some may be equal."""
        return self._replace(ranks=self.ranks[features], levels=self.levels[features])


def rank_points(values: NDArray[np.float64]) -> RankedPoints:
    """Rank samples, of shape (n_features, n_samples), feature by feature, and merge equal ones."""
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
    point_of = _number(ranks)
    one_of = np.empty(point_of.max() + 1, dtype=np.int32)
    one_of[point_of] = np.arange(point_of.size)
    return RankedPoints(np.ascontiguousarray(ranks[:, one_of]), levels, point_of)


def _number(ranks: NDArray[np.int32]) -> NDArray[np.int32]:
    """Give every sample the number of its point; `ranks` has shape (n_features, n_samples)."""
    numbers = ranks[0].astype(np.int64)
    for following in ranks[1:]:
        if numbers.max() + 1 == numbers.size:
            break  # all differ already
        both = numbers * (int(following.max()) + 1) + following
        numbers = np.unique(both, return_inverse=True)[1]
    return numbers.astype(np.int32)


@njit(cache=True, nogil=True)
def weigh(
    point_of: NDArray[np.int32],
    n_points: int,
    counts: NDArray[np.int32],
    labels: NDArray[np.uint8],
) -> NDArray[np.uint64]:
    """Count how often a tree's sample holds every point.

    Parameters
    ----------
    point_of : ndarray of shape (n_samples,)
        The point that each sample is.
    n_points : int
        Number of points.
    counts : ndarray of shape (n_samples,)
        How often each sample is drawn; those with 0 are out of bag.
    labels : ndarray of shape (n_samples,)
        Class 0 or 1 of each sample.

    Returns
    -------
    weights : ndarray of shape (n_points,)
        The lower 32 bits count class 0, the upper ones class 1, so that one sum of weights counts
        both.
    """
    weights = np.zeros(n_points, dtype=np.uint64)
    for sample in range(point_of.size):
        weights[point_of[sample]] += np.uint64(counts[sample]) << (ONES * np.uint64(labels[sample]))
    return weights
