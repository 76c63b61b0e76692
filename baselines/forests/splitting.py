"""Find the best split of a node's points by one feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.forests.random_stream import uniform_integer
from ocrf.kernels import kernel

#: Gains, in bits times points, up to this are rounding errors of the entropy table.
SMALLEST_GAIN = 1e-9


class Split(NamedTuple):
    """A split of a node, the best one so far.

    Attributes
    ----------
    feature : int
        -1 if there is none.
    score : float
        The entropy gain, or the sum of squared class counts over sizes, which is largest where the
        Gini impurity is smallest.
    low, high : int
        The last rank on the left and the first one on the right.
    n_zeros, n_ones : int
        Class counts on the left.
    n_ties : int
        How many splits have this score.
    """

    feature: int
    score: float
    low: int
    high: int
    n_zeros: int
    n_ones: int
    n_ties: int


def entropy_table(total: int) -> NDArray[np.float64]:
    """Return c log2(c) for every count c from 0 to `total`.

    Class counts are integers, so a node's entropy needs three look-ups and no logarithm.
    """
    counts = np.arange(total + 1, dtype=np.float64)
    counts[0] = 1.0
    table = counts * np.log2(counts)
    table[0] = 0.0
    return table


@kernel(inline="always")
def search_feature(
    feature: int,
    ranks: NDArray[np.int32],
    group_zeros: NDArray[np.int32],
    group_ones: NDArray[np.int32],
    zeros: int,
    ones: int,
    first_gain: bool,
    entropies: NDArray[np.float64],
    state: NDArray[np.uint64],
    best: Split,
) -> Split:
    """Return the best split between two groups of one feature, or `best` if none is better."""
    best_feature, best_score, low, high, best_zeros, best_ones, n_ties = best
    total = zeros + ones
    parent = 0.0
    if first_gain:
        parent = entropies[total] - entropies[zeros] - entropies[ones]
    zeros_left = 0
    ones_left = 0
    for group in range(ranks.size - 1):
        zeros_left += group_zeros[group]
        ones_left += group_ones[group]
        n_left = zeros_left + ones_left
        n_right = total - n_left
        zeros_right = zeros - zeros_left
        ones_right = ones - ones_left
        if first_gain:
            score = parent - (
                (entropies[n_left] - entropies[zeros_left] - entropies[ones_left])
                + (entropies[n_right] - entropies[zeros_right] - entropies[ones_right])
            )
        else:
            score = (
                np.float64(zeros_left) * zeros_left + np.float64(ones_left) * ones_left
            ) / n_left + (
                np.float64(zeros_right) * zeros_right + np.float64(ones_right) * ones_right
            ) / n_right
        better = score > best_score
        if better:
            n_ties = 1
        elif score == best_score and not first_gain:
            n_ties += 1
            better = uniform_integer(state, n_ties) == 0
        if better:
            best_score = score
            best_feature = feature
            low = ranks[group]
            high = ranks[group + 1]
            best_zeros = zeros_left
            best_ones = ones_left
    return Split(best_feature, best_score, low, high, best_zeros, best_ones, n_ties)


@kernel
def midpoint(low: float, high: float) -> float:
    """Return a threshold t with low <= t < high, their middle if rounding permits."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low
