"""Grow one tree that tells two classes apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from baselines.forests.grouping import ONES, group_by_rank, make_workspace
from baselines.forests.random_stream import uniform_integer
from baselines.forests.ranking import RankedPoints
from baselines.forests.splitting import SMALLEST_GAIN, Split, midpoint, search_feature
from baselines.forests.tree import Tree
from ocrf.kernels import njit


@njit(cache=True, nogil=True)
def grow_tree(
    points: RankedPoints,
    counts: NDArray[np.int32],
    labels: NDArray[np.uint8],
    max_features: int,
    first_gain: bool,
    entropies: NDArray[np.float64],
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
    entropies : ndarray
        `entropy_table` of at least ``counts.sum()``; not used by the Gini rule.
    state : ndarray of shape (1,)
        Random stream.

    Returns
    -------
    tree : Tree
        The grown tree.
    """
    n_features, n_samples = points.ranks.shape
    bag, weights, n_zeros, n_ones = fill_bag(counts, labels)
    capacity = 2 * bag.size
    feature = np.empty(capacity, dtype=np.int32)
    threshold = np.empty(capacity, dtype=np.float64)
    left = np.empty(capacity, dtype=np.int32)
    vote = np.empty(capacity, dtype=np.int8)
    space = make_workspace(bag.size, n_samples)
    spare_points = np.empty_like(bag)
    spare_weights = np.empty_like(weights)
    features = np.arange(n_features)

    # Node, start, stop, points of class 0, points of class 1. A split pops one entry and pushes
    # two; a tree of n points is never deeper than n.
    stack = np.empty((bag.size + 1, 5), dtype=np.int64)
    n_stacked = push(stack, 0, 0, 0, bag.size, n_zeros, n_ones)
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
        split = Split(-1, -np.inf, 0, 0, 0, 0, 0)
        for drawn in range(max_features):
            other = drawn + uniform_integer(state, n_features - drawn)
            candidate = features[other]
            features[other] = features[drawn]
            features[drawn] = candidate
            n_groups = group_by_rank(
                points.ranks[candidate], bag[start:stop], weights[start:stop], space
            )
            split = search_feature(
                candidate,
                space.rank[:n_groups],
                space.zeros,
                space.ones,
                zeros,
                ones,
                first_gain,
                entropies,
                state,
                split,
            )
            if first_gain:
                if split.score > SMALLEST_GAIN:
                    break
                split = Split(-1, -np.inf, 0, 0, 0, 0, 0)
        if split.feature < 0:
            continue
        middle = start + partition(
            points.ranks[split.feature],
            split.low,
            bag[start:stop],
            weights[start:stop],
            spare_points,
            spare_weights,
        )
        levels = points.levels[split.feature]
        feature[node] = split.feature
        threshold[node] = midpoint(levels[split.low], levels[split.high])
        left[node] = n_nodes
        n_stacked = push(
            stack, n_stacked, n_nodes + 1, middle, stop, zeros - split.n_zeros, ones - split.n_ones
        )
        n_stacked = push(stack, n_stacked, n_nodes, start, middle, split.n_zeros, split.n_ones)
        n_nodes += 2
    return Tree(
        feature[:n_nodes].copy(),
        threshold[:n_nodes].copy(),
        left[:n_nodes].copy(),
        vote[:n_nodes].copy(),
    )


@njit(cache=True, nogil=True)
def fill_bag(
    counts: NDArray[np.int32], labels: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.uint64], int, int]:
    """Return the points that a tree is grown on.

    Returns
    -------
    points : ndarray of shape (n_points,)
        The points that are in the sample, in ascending order.
    weights : ndarray of shape (n_points,)
        How often each of them is, as `group_by_rank` takes it.
    n_zeros, n_ones : int
        Sizes of the classes in the sample.
    """
    n_samples = counts.size
    points = np.empty(n_samples, dtype=np.int32)
    weights = np.empty(n_samples, dtype=np.uint64)
    n_points = 0
    n_zeros = 0
    n_ones = 0
    for point in range(n_samples):
        count = counts[point]
        if count == 0:
            continue
        points[n_points] = point
        if labels[point] == 0:
            weights[n_points] = np.uint64(count)
            n_zeros += count
        else:
            weights[n_points] = np.uint64(count) << ONES
            n_ones += count
        n_points += 1
    return points[:n_points].copy(), weights[:n_points].copy(), n_zeros, n_ones


@njit(cache=True, nogil=True)
def push(
    stack: NDArray[np.int64], size: int, node: int, start: int, stop: int, zeros: int, ones: int
) -> int:
    """Put a node on the stack; return the new size of the stack."""
    stack[size, 0] = node
    stack[size, 1] = start
    stack[size, 2] = stop
    stack[size, 3] = zeros
    stack[size, 4] = ones
    return size + 1


@njit(cache=True, nogil=True)
def partition(
    rank: NDArray[np.int32],
    low: int,
    points: NDArray[np.int32],
    weights: NDArray[np.uint64],
    spare_points: NDArray[np.int32],
    spare_weights: NDArray[np.uint64],
) -> int:
    """Move the points of a node with a rank up to `low` to the front, the others behind them.

    Returns
    -------
    n_left : int
        How many have a rank up to `low`.
    """
    # The loop has no branch: the processor could not predict it. The points stay in ascending
    # order, so that their values are read from memory in sequence.
    n_left = 0
    n_right = 0
    for position in range(points.size):
        point = points[position]
        weight = weights[position]
        goes_right = rank[point] > low
        points[n_left] = point
        weights[n_left] = weight
        spare_points[n_right] = point
        spare_weights[n_right] = weight
        n_right += goes_right
        n_left += not goes_right
    points[n_left:] = spare_points[:n_right]
    weights[n_left:] = spare_weights[:n_right]
    return n_left
