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
    weights : ndarray of shape (n_points,)
        How often each of them is in the tree's sample, as `weigh` counts it.
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
    """
    n_features = points.ranks.shape[0]
    bag, weights_in_bag = fill_bag(weights)
    capacity = 2 * bag.size
    tree = Tree(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.float64),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int8),
    )
    n_nodes = _grow(
        points,
        bag,
        weights_in_bag,
        max_features,
        first_gain,
        entropies,
        state,
        np.arange(n_features),
        # A split pops one entry and pushes two; a tree of n points is never deeper than n.
        np.empty((bag.size + 1, 5), dtype=np.int64),
        np.empty_like(bag),
        np.empty_like(weights_in_bag),
        make_workspace(bag.size, points.levels.shape[1]),
        tree,
    )
    return Tree(
        tree.feature[:n_nodes].copy(),
        tree.threshold[:n_nodes].copy(),
        tree.left[:n_nodes].copy(),
        tree.vote[:n_nodes].copy(),
    )


@kernel
def _grow(
    points: RankedPoints,
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
) -> int:
    """Write the nodes of a tree to `tree`, in the memory given; return how many there are."""
    n_features = features.size
    both = weights.sum()
    # Node, start, stop, points of class 0, points of class 1.
    n_stacked = push(stack, 0, 0, 0, bag.size, both & ZEROS_MASK, both >> ONES)
    n_nodes = 1
    while n_stacked > 0:
        n_stacked -= 1
        node, start, stop, zeros, ones = stack[n_stacked]
        tree.feature[node] = -1
        tree.threshold[node] = 0.0
        tree.left[node] = -1
        tree.vote[node] = 0 if zeros > ones else 1
        if zeros == 0 or ones == 0:
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
        tree.feature[node] = split.feature
        tree.threshold[node] = midpoint(levels[split.low], levels[split.high])
        tree.left[node] = n_nodes
        n_stacked = push(
            stack, n_stacked, n_nodes + 1, middle, stop, zeros - split.n_zeros, ones - split.n_ones
        )
        n_stacked = push(stack, n_stacked, n_nodes, start, middle, split.n_zeros, split.n_ones)
        n_nodes += 2
    return n_nodes


@njit(cache=True, nogil=True)
def fill_bag(weights: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """Return the points that are in the sample, in ascending order, and their weights."""
    points = np.empty(weights.size, dtype=np.int32)
    n_points = 0
    for point in range(weights.size):
        points[n_points] = point
        n_points += weights[point] > 0
    points = points[:n_points].copy()
    return points, weights[points]


@kernel
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


@kernel
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
    for position in range(n_right):
        points[n_left + position] = spare_points[position]
        weights[n_left + position] = spare_weights[position]
    return n_left
