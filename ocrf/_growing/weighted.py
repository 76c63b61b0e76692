"""Splitting nodes whose points have weights, or lack some values.

Beside the fast search and partition, which need neither: here counts are sums of weights, every
threshold is evaluated, and points that lack the value of a split's feature are sent to a child by a
rule (`MISSING_RULES`).
"""

from __future__ import annotations

import numpy as np

from ..kernels import inner_kernel
from .criterion import BETTER, PROPORTION, split_gain, with_missing
from .partitioner import partition_by_marks
from .points import count_present
from .ranking import RankedData
from .sampling import derive, uniform
from .splitter import Sorted, midpoint

# Above the streams of a node's children.
_STREAM_MISSING = np.uint64(2**33)


@inner_kernel
def gather_weights(data: RankedData, rows: np.ndarray, weights: np.ndarray) -> float:
    """Copy the weights of a tree's points, and return their sum."""
    total = 0.0
    for i in range(weights.shape[0]):
        weight = data.weights[rows[i]] if data.weights.shape[0] > 0 else 1.0
        weights[i] = weight
        total += weight
    return total


@inner_kernel
def differ_where_present(column: np.ndarray, order: np.ndarray) -> bool:
    """Tell whether points in ascending order have two different values at least."""
    n_present = count_present(column, order)
    return n_present > 1 and column[order[0]] != column[order[n_present - 1]]


@inner_kernel
def best_weighted_split(
    criterion: int,
    rule: int,
    node: Sorted,
    weights: np.ndarray,
    searched: np.ndarray,
    n_searched: int,
) -> tuple[int, float, int, float, bool]:
    """Find the split of maximal gain of a node whose points have weights, or lack some values.

    Counts are sums of weights. A split on a feature compares the points that have a value of it
    with as large a share of the hidden outliers. Its decrease is that of these points alone, so
    that a feature of which few points have a value decreases the proxy by little; under the rule
    `BETTER` the others count in the child that they go to. Every threshold is evaluated.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    rule : {MAJORITY, PROPORTION, BETTER}
    node : Sorted
    weights : float64 array of shape (m,)
    searched, n_searched
        As in `best_split`.

    Returns
    -------
    slot, threshold, n_left, gain, missing_right
        ``n_left`` points with a value go left; ``missing_right`` tells where the others go.
    """
    best, best_threshold, best_n_left, best_gain, missing_right = -1, 0.0, 0, -1.0, False
    for k in range(n_searched):
        slot = searched[k]
        order, column = node.orders[node.buffer, slot, node.start : node.end], node.values[slot]
        n_present = count_present(column, order)
        present, missing = 0.0, 0.0
        for i in range(n_present):
            present += weights[order[i]]
        for i in range(n_present, order.shape[0]):
            missing += weights[order[i]]
        total = present + missing
        known = present / total
        lower, per_unit = node.lower[slot], 1.0 / (node.upper[slot] - node.lower[slot])
        a = 0.0
        for i in range(1, n_present):
            a += weights[order[i - 1]]
            low, high = column[order[i - 1]], column[order[i]]
            if not high > low:
                continue
            threshold = midpoint(low, high)
            share = (threshold - lower) * per_unit
            if rule == BETTER and missing > 0.0:
                right = split_gain(criterion, a, total, share, node.n_outliers)
                left = split_gain(criterion, a + missing, total, share, node.n_outliers)
                gain, goes_right = max(left, right), right > left
            else:
                gain = split_gain(criterion, a, present, share, known * node.n_outliers)
                gain = with_missing(criterion, gain, known)
                goes_right = present - a > a
            if gain > best_gain:
                best, best_threshold, best_n_left, best_gain = slot, threshold, i, gain
                missing_right = goes_right
    return best, best_threshold, best_n_left, best_gain, missing_right


@inner_kernel
def mark_left(
    node: Sorted,
    slot: int,
    n_below: int,
    weights: np.ndarray,
    marked: np.ndarray,
    rule: int,
    missing_right: bool,
    key: np.uint64,
) -> None:
    """Mark the points that go left of a split.

    Parameters
    ----------
    node : Sorted
    slot : int
        The slot of the split's feature.
    n_below : int
        Points that have a value below the threshold.
    weights : float64 array of shape (m,)
    marked : uint8 array of shape (m,)
        Receives the marks.
    rule : {MAJORITY, PROPORTION, BETTER}
    missing_right : bool
        Whether points without a value go right, except under the rule `PROPORTION`: each draws its
        side then, with probabilities in proportion to the points that have one.
    key : uint64
        Seed of the node's stream.
    """
    order = node.orders[node.buffer, slot, node.start : node.end]
    n_present = count_present(node.values[slot], order)
    below, present = 0.0, 0.0
    for i in range(n_present):
        present += weights[order[i]]
        if i < n_below:
            marked[order[i]] = 1
            below = present
    for i in range(n_present, order.shape[0]):
        goes_left = not missing_right
        if rule == PROPORTION:
            goes_left = (
                uniform(derive(key, np.uint64(order[i]) + _STREAM_MISSING)) * present < below
            )
        marked[order[i]] = 1 if goes_left else 0


@inner_kernel
def distribute_marked(
    node: Sorted,
    slot: int,
    members: np.ndarray | None,
    weights: np.ndarray,
    marked: np.ndarray,
    constant: np.ndarray,
) -> tuple[np.intp, float, float]:
    """Hand the marked points of a node to its left child and the others to its right child.

    The marks are cleared. ``members`` receives the points of the children, or, if it is None, the
    orders do. Other parameters as in `mark_left` and `partition_orders`.

    Returns
    -------
    n_left, left, right
        The number of points that go left, and the weights of both children.
    """
    order = node.orders[node.buffer, slot, node.start : node.end]
    n_left, left, right = np.intp(0), 0.0, 0.0
    for i in range(order.shape[0]):
        if marked[order[i]]:
            n_left += 1
            left += weights[order[i]]
        else:
            right += weights[order[i]]
    if members is not None:
        next_left, next_right = node.start, node.start + n_left
        for i in range(order.shape[0]):
            if marked[order[i]]:
                members[next_left] = order[i]
                next_left += 1
            else:
                members[next_right] = order[i]
                next_right += 1
    else:
        for j in range(constant.shape[0]):
            if not constant[j]:
                here, there = node.orders[node.buffer, j], node.orders[1 - node.buffer, j]
                source, target = here[node.start : node.end], there[node.start : node.end]
                partition_by_marks(source, target, np.intp(0), n_left, marked)
    for i in range(order.shape[0]):
        marked[order[i]] = 0
    return n_left, left, right
