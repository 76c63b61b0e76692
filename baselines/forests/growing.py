"""Grow one tree that tells two classes apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from baselines.forests.grouping import ONES, group_by_rank, make_workspace
from baselines.forests.random_stream import uniform_integer
from baselines.forests.ranking import RankedPoints

#: Gains, in bits times points, up to this are rounding errors of the entropy table.
SMALLEST_GAIN = 1e-9


class Tree(NamedTuple):
    """A tree as parallel arrays over its nodes; node 0 is the root.

    Attributes
    ----------
    feature : ndarray of int32
        The feature that the node compares, -1 in a leaf.
    threshold : ndarray of float64
        Points up to the threshold go left.
    left : ndarray of int32
        The left child; the right child is the next node.
    vote : ndarray of int8
        The majority class in the node, class 1 when they tie.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    vote: NDArray[np.int8]


def entropy_table(total: int) -> NDArray[np.float64]:
    """Return c log2(c) for every count c from 0 to `total`.

    Class counts are integers, so a node's entropy needs three look-ups and no logarithm.
    """
    counts = np.arange(total + 1, dtype=np.float64)
    counts[0] = 1.0
    table = counts * np.log2(counts)
    table[0] = 0.0
    return table


@njit(cache=True, nogil=True)
def midpoint(low: float, high: float) -> float:
    """Return a threshold t with low <= t < high, their middle if rounding permits."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@njit(cache=True, nogil=True)
def grow_tree(
    points: RankedPoints,
    counts: NDArray[np.int32],
    labels: NDArray[np.uint8],
    max_features: int,
    first_gain: bool,
    table: NDArray[np.float64],
    state: NDArray[np.uint64],
) -> Tree:
    """Grow a tree until its leaves are pure or cannot be split.

    Parameters
    ----------
    points : RankedPoints
        The points.
    counts : ndarray of shape (n_samples,)
        How often each point is in the tree's sample; points with 0 are out of bag.
    labels : ndarray of shape (n_samples,)
        Class 0 or 1 of each point.
    max_features : int
        Number of features drawn at a node, without replacement. A feature that is constant in the
        node counts as drawn; when all of them are, the node is a leaf.
    first_gain : bool
        True: features are tried one at a time and the first with a positive entropy gain is split
        on (Desir et al.'s program). False: the best Gini split of all drawn features, ties broken
        at random (R's randomForest).
    table : ndarray
        `entropy_table` of at least ``counts.sum()``; not used by the Gini rule.
    state : ndarray of shape (1,)
        Random stream.

    Returns
    -------
    tree : Tree
        The grown tree.
    """
    n_features, n_samples = points.ranks.shape
    order = np.empty(n_samples, dtype=np.int32)
    # Counts by class, as group_by_rank wants them, moved along with the order.
    weight = np.empty(n_samples, dtype=np.uint64)
    n_points = 0
    root_zeros = 0
    root_ones = 0
    for point in range(n_samples):
        count = counts[point]
        if count == 0:
            continue
        order[n_points] = point
        if labels[point] == 0:
            weight[n_points] = np.uint64(count)
            root_zeros += count
        else:
            weight[n_points] = np.uint64(count) << ONES
            root_ones += count
        n_points += 1

    capacity = 2 * n_points
    feature = np.empty(capacity, dtype=np.int32)
    threshold = np.empty(capacity, dtype=np.float64)
    left = np.empty(capacity, dtype=np.int32)
    vote = np.empty(capacity, dtype=np.int8)
    right_order = np.empty(n_points, dtype=np.int32)
    right_weight = np.empty(n_points, dtype=np.uint64)
    space = make_workspace(n_points, n_samples)
    candidates = np.arange(n_features)

    # node, start, stop, points of class 0, points of class 1. A split pops one entry and pushes
    # two; a tree of n points is never deeper than n.
    stack = np.empty((n_points + 1, 5), dtype=np.int64)
    stack[0] = np.array([0, 0, n_points, root_zeros, root_ones])
    n_stacked = 1
    n_nodes = 1

    while n_stacked > 0:
        n_stacked -= 1
        node, start, stop, zeros, ones = stack[n_stacked]
        feature[node] = -1
        threshold[node] = 0.0
        left[node] = -1
        vote[node] = 0 if zeros > ones else 1
        if zeros == 0 or ones == 0 or stop - start < 2:
            continue

        best_feature = -1
        best_score = -np.inf
        best_low = 0
        best_high = 0
        best_zeros = 0
        best_ones = 0
        n_ties = 0
        total = zeros + ones
        parent = 0.0
        if first_gain:
            parent = table[total] - table[zeros] - table[ones]
        for drawn in range(max_features):
            other = drawn + uniform_integer(state, n_features - drawn)
            candidate = candidates[other]
            candidates[other] = candidates[drawn]
            candidates[drawn] = candidate

            n_groups = group_by_rank(
                points.ranks[candidate], order[start:stop], weight[start:stop], space
            )
            zeros_left = 0
            ones_left = 0
            for group in range(n_groups - 1):
                zeros_left += space.zeros[group]
                ones_left += space.ones[group]
                n_left = zeros_left + ones_left
                n_right = total - n_left
                zeros_right = zeros - zeros_left
                ones_right = ones - ones_left
                if first_gain:
                    score = parent - (
                        (table[n_left] - table[zeros_left] - table[ones_left])
                        + (table[n_right] - table[zeros_right] - table[ones_right])
                    )
                else:
                    # Minimal Gini impurity is maximal sum of squares over size.
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
                    best_feature = candidate
                    best_low = space.rank[group]
                    best_high = space.rank[group + 1]
                    best_zeros = zeros_left
                    best_ones = ones_left
            if first_gain:
                if best_score > SMALLEST_GAIN:
                    break
                best_feature = -1
                best_score = -np.inf
        if best_feature < 0:
            continue

        # Without a branch, which nothing could predict, and keeping the order: points in ascending
        # order are read from memory in passing.
        rank = points.ranks[best_feature]
        i = start
        n_right = 0
        for position in range(start, stop):
            point = order[position]
            both = weight[position]
            goes_right = rank[point] > best_low
            order[i] = point
            weight[i] = both
            right_order[n_right] = point
            right_weight[n_right] = both
            n_right += goes_right
            i += not goes_right
        order[i:stop] = right_order[:n_right]
        weight[i:stop] = right_weight[:n_right]
        feature[node] = best_feature
        levels = points.levels[best_feature]
        threshold[node] = midpoint(levels[best_low], levels[best_high])
        left[node] = n_nodes
        stack[n_stacked, 0] = n_nodes + 1
        stack[n_stacked, 1] = i
        stack[n_stacked, 2] = stop
        stack[n_stacked, 3] = zeros - best_zeros
        stack[n_stacked, 4] = ones - best_ones
        n_stacked += 1
        stack[n_stacked, 0] = n_nodes
        stack[n_stacked, 1] = start
        stack[n_stacked, 2] = i
        stack[n_stacked, 3] = best_zeros
        stack[n_stacked, 4] = best_ones
        n_stacked += 1
        n_nodes += 2

    return Tree(
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        left[:n_nodes].copy(),
        vote[:n_nodes].copy(),
    )


@njit(cache=True, nogil=True)
def find_leaf(tree: Tree, point: NDArray[np.float64]) -> int:
    """Return the leaf of `tree` that `point`, of shape (n_features,), falls into."""
    node = 0
    while tree.feature[node] >= 0:
        go_right = point[tree.feature[node]] > tree.threshold[node]
        node = tree.left[node] + go_right
    return node


@njit(cache=True, nogil=True)
def add_votes(tree: Tree, X: NDArray[np.float64], votes: NDArray[np.int32]) -> None:
    """Add the tree's vote for class 1 to `votes`, of shape (n_samples,)."""
    for i in range(X.shape[0]):
        votes[i] += tree.vote[find_leaf(tree, X[i])]
