"""Grow one tree that tells two classes apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from baselines.forests.grouping import Workspace, group_by_rank, make_workspace
from baselines.forests.random_stream import uniform_integer
from baselines.forests.ranking import ONES, ZEROS_MASK, RankedPoints
from baselines.forests.splitting import SMALLEST_GAIN, Split, midpoint, search_feature
from baselines.forests.tree import Tree
from ocrf.kernels import kernel, njit


@njit(cache=True, nogil=True)
def grow_tree(
    points: RankedPoints,
    weights: NDArray[np.uint64],
    followed: NDArray[np.bool_],
    max_features: int,
    first_gain: bool,
    entropies: NDArray[np.float64],
    state: NDArray[np.uint64],
) -> tuple[Tree, NDArray[np.int32]]:
    """Grow a tree until its leaves are pure or cannot be split.

    Parameters
    ----------
    points : RankedPoints
        The points.
    weights : ndarray of shape (n_points,)
        How often each of them is in the tree's sample, as `weigh` counts it.
    followed : ndarray of shape (n_points,)
        Points whose leaf is asked for, in the sample or not.
    max_features : int
        Number of features drawn at a node, without replacement. A feature that is constant in the
        node counts as drawn; when all of them are, the node is a leaf.
    first_gain : bool
        True: features are tried one at a time and the first with a positive entropy gain is split
        on (Desir et al.'s program). False: the best Gini split of all drawn features, ties broken
        at random (R's randomForest).
    entropies : ndarray
        `entropy_table` of at least the size of the sample; not used by the Gini rule.
    state : ndarray of shape (1,)
        Random stream.

    Returns
    -------
    tree : Tree
        The grown tree.
    leaf_of : ndarray of shape (n_points,)
        The leaf of every point that is in the sample or followed.
    """
    n_features = points.ranks.shape[0]
    n_in_bag, bag = fill_bag(weights, followed)
    weights_in_bag = weights[bag]
    leaf_of = np.empty(weights.size, dtype=np.int32)
    capacity = 2 * n_in_bag
    tree = Tree(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.float64),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int8),
    )
    n_nodes = _grow(
        points,
        n_in_bag,
        bag,
        weights_in_bag,
        max_features,
        first_gain,
        entropies,
        state,
        np.arange(n_features),
        # A split pops one entry and pushes two; a tree of n points is never deeper than n.
        np.empty((n_in_bag + 1, 6), dtype=np.int64),
        np.empty_like(bag),
        np.empty_like(weights_in_bag),
        make_workspace(n_in_bag, points.levels.shape[1]),
        tree,
        leaf_of,
    )
    tree = Tree(
        tree.feature[:n_nodes].copy(),
        tree.threshold[:n_nodes].copy(),
        tree.left[:n_nodes].copy(),
        tree.vote[:n_nodes].copy(),
    )
    return tree, leaf_of


@kernel
def _grow(
    points: RankedPoints,
    n_in_bag: int,
    bag: NDArray[np.int32],
    weights: NDArray[np.uint64],
    max_features: int,
    first_gain: bool,
    entropies: NDArray[np.float64],
    state: NDArray[np.uint64],
    features: NDArray[np.int64],
    stack: NDArray[np.int64],
    spare_points: NDArray[np.int32],
    spare_weights: NDArray[np.uint64],
    space: Workspace,
    tree: Tree,
    leaf_of: NDArray[np.int32],
) -> int:
    """Write the nodes of a tree to `tree`, in the memory given; return how many there are."""
    n_features = features.size
    both = weights.sum()
    # Node, where its points in the sample start and stop, where those that are only followed stop,
    # points of class 0, points of class 1.
    n_stacked = push(stack, 0, 0, 0, n_in_bag, bag.size, both & ZEROS_MASK, both >> ONES)
    n_nodes = 1
    while n_stacked > 0:
        n_stacked -= 1
        node, start, stop, end, zeros, ones = stack[n_stacked]
        tree.feature[node] = -1
        tree.threshold[node] = 0.0
        tree.left[node] = -1
        tree.vote[node] = 0 if zeros > ones else 1
        if zeros == 0 or ones == 0:
            write_leaf(node, bag[start:end], leaf_of)
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
            write_leaf(node, bag[start:end], leaf_of)
            continue
        levels = points.levels[split.feature]
        threshold = midpoint(levels[split.low], levels[split.high])
        # The partition is stable, so that points in the sample stay before the others.
        n_left, n_left_in_bag = partition(
            points.ranks[split.feature],
            rank_below(threshold, levels, split.low, split.high),
            stop - start,
            bag[start:end],
            weights[start:end],
            spare_points,
            spare_weights,
        )
        middle = start + n_left
        right_stop = stop + n_left - n_left_in_bag
        tree.feature[node] = split.feature
        tree.threshold[node] = threshold
        tree.left[node] = n_nodes
        n_stacked = push(
            stack,
            n_stacked,
            n_nodes + 1,
            middle,
            right_stop,
            end,
            zeros - split.n_zeros,
            ones - split.n_ones,
        )
        n_stacked = push(
            stack,
            n_stacked,
            n_nodes,
            start,
            start + n_left_in_bag,
            middle,
            split.n_zeros,
            split.n_ones,
        )
        n_nodes += 2
    return n_nodes


@njit(cache=True, nogil=True)
def fill_bag(
    weights: NDArray[np.uint64], followed: NDArray[np.bool_]
) -> tuple[int, NDArray[np.int32]]:
    """Return how many points are in the sample, and these before those that are only followed.

    Either are in ascending order.
    """
    in_bag = weights > 0
    bag = np.flatnonzero(in_bag)
    return bag.size, np.concatenate((bag, np.flatnonzero(followed & ~in_bag))).astype(np.int32)


@kernel
def push(
    stack: NDArray[np.int64],
    size: int,
    node: int,
    start: int,
    stop: int,
    end: int,
    zeros: int,
    ones: int,
) -> int:
    """Put a node on the stack; return the new size of the stack."""
    stack[size, 0] = node
    stack[size, 1] = start
    stack[size, 2] = stop
    stack[size, 3] = end
    stack[size, 4] = zeros
    stack[size, 5] = ones
    return size + 1


@kernel
def rank_below(threshold: float, levels: NDArray[np.float64], low: int, high: int) -> int:
    """Return the last rank with a value up to `threshold`, from `low` up and below `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        if levels[middle] <= threshold:
            low = middle
        else:
            high = middle
    return low


@kernel
def write_leaf(leaf: int, points: NDArray[np.int32], leaf_of: NDArray[np.int32]) -> None:
    """Note the leaf of its points."""
    for point in points:
        leaf_of[point] = leaf


@kernel
def partition(
    rank: NDArray[np.int32],
    low: int,
    n_in_bag: int,
    points: NDArray[np.int32],
    weights: NDArray[np.uint64],
    spare_points: NDArray[np.int32],
    spare_weights: NDArray[np.uint64],
) -> tuple[int, int]:
    """Move the points of a node with a rank up to `low` to the front, the others behind them.

    Returns
    -------
    n_left, n_left_in_bag : int
        How many have a rank up to `low`, of all and of the first `n_in_bag`.
    """
    # The loop has no branch: the processor could not predict it. The points stay in ascending
    # order, so that their values are read from memory in sequence.
    n_left = 0
    n_left_in_bag = 0
    n_right = 0
    for position in range(points.size):
        point = points[position]
        weight = weights[position]
        goes_right = rank[np.uint32(point)] > low
        points[n_left] = point
        weights[n_left] = weight
        spare_points[n_right] = point
        spare_weights[n_right] = weight
        n_right += goes_right
        n_left += not goes_right
        if position < n_in_bag:
            n_left_in_bag = n_left
    for position in range(n_right):
        points[n_left + position] = spare_points[position]
        weights[n_left + position] = spare_weights[position]
    return n_left, n_left_in_bag
