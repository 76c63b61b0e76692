"""Walking rows down the trees, block by block: compact nodes, one tree at a time.

For the walk a node is 16 bytes, two 64-bit words: the threshold, and the feature (upper half) with the
left child (lower half, counted from the tree's root; the right child is the next node). A leaf is its own
left child and sends everybody there, so that a walk of as many steps as the tree is deep ends in the leaf
whatever its depth: no branch depends on the data, and the rows of a block overlap in the processor.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Rows of a block: their features and positions stay in the fastest cache, and a tree that is
# fetched from memory serves them all.
BLOCK_ROWS = 512

_SHIFT = np.int64(32)
_LOW_32 = np.int64(0xFFFFFFFF)


def pack_nodes(left, feature, threshold, first_node):
    """Return the compact nodes of trees that lie one after the other.

    Parameters
    ----------
    left, feature : int32 arrays of shape (n_nodes,)
        Left child counted from the tree's root, and column; -1 in a leaf.
    threshold : float64 array of shape (n_nodes,)
    first_node : int64 array of shape (n_trees + 1,)
        Where each tree begins; the last entry is ``n_nodes``.

    Returns
    -------
    nodes : int64 array of shape (n_nodes, 2)
        The threshold's bits, and ``feature << 32 | left``.
    """
    is_leaf = left < 0
    own = np.arange(left.shape[0]) - np.repeat(first_node[:-1], np.diff(first_node))
    nodes = np.empty((left.shape[0], 2), np.int64)
    nodes[:, 0] = np.where(is_leaf, np.inf, threshold).view(np.int64)
    nodes[:, 1] = np.where(is_leaf, own, left)
    nodes[:, 1] |= np.where(is_leaf, 0, feature).astype(np.int64) << _SHIFT
    return nodes


@njit(cache=True, nogil=True)
def walk_block(X, start, stop, thresholds, links, first, n_steps, position):
    """Find the leaves of rows ``start`` ... ``stop - 1`` in one tree.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features), C-contiguous
    thresholds : float64 array of shape (n_nodes, 2)
        The compact nodes as floats (column 0 is read).
    links : int64 array of shape (n_nodes, 2)
        The same memory as integers (column 1 is read).
    first, n_steps : int
        The tree's first node and depth.
    position : int64 array of shape (>= stop - start,)
        Receives the leaves, as positions in the node arrays.
    """
    n = stop - start
    for i in range(n):
        position[i] = first
    for _ in range(n_steps):
        for i in range(n):
            node = position[i]
            link = links[node, 1]
            goes_right = X[start + i, link >> _SHIFT] >= thresholds[node, 0]
            position[i] = first + (link & _LOW_32) + goes_right


@njit(cache=True, nogil=True)
def sum_over_trees(X, thresholds, links, first_node, tree_depth, leaf_value, block_rows, total):
    """Add up the values of each row's leaves, ``total[i]`` = sum over trees.

    Trees are added in their order for every row, so that neither the size of the blocks nor the
    number of threads shows in the result.
    """
    n_samples = X.shape[0]
    position = np.empty(block_rows, np.int64)
    for start in range(0, n_samples, block_rows):
        stop = min(start + block_rows, n_samples)
        for i in range(start, stop):
            total[i] = 0.0
        for t in range(tree_depth.shape[0]):
            walk_block(X, start, stop, thresholds, links, first_node[t], tree_depth[t], position)
            for i in range(stop - start):
                total[start + i] += leaf_value[position[i]]


@njit(cache=True, nogil=True)
def log_sum_exp_over_trees(
    X, thresholds, links, first_node, tree_depth, leaf_value, block_rows, total
):
    """Add up the exponentials of each row's leaf values, ``total[i]`` = log sum over trees exp.

    The running maximum is taken out, so that values of any magnitude neither over- nor underflow.
    """
    n_samples = X.shape[0]
    position = np.empty(block_rows, np.int64)
    largest = np.empty(block_rows)
    for start in range(0, n_samples, block_rows):
        stop = min(start + block_rows, n_samples)
        for i in range(stop - start):
            total[start + i] = 0.0
            largest[i] = -np.inf
        for t in range(tree_depth.shape[0]):
            walk_block(X, start, stop, thresholds, links, first_node[t], tree_depth[t], position)
            for i in range(stop - start):
                value = leaf_value[position[i]]
                if value > largest[i]:
                    total[start + i] = total[start + i] * np.exp(largest[i] - value) + 1.0
                    largest[i] = value
                else:
                    total[start + i] += np.exp(value - largest[i])
        for i in range(stop - start):
            total[start + i] = largest[i] + np.log(total[start + i])


@njit(cache=True, nogil=True)
def leaves_over_trees(X, thresholds, links, first_node, tree_depth, block_rows, leaves):
    """Find each row's leaf in each tree, counted from the tree's root, ``leaves[i, t]``."""
    n_samples = X.shape[0]
    position = np.empty(block_rows, np.int64)
    for start in range(0, n_samples, block_rows):
        stop = min(start + block_rows, n_samples)
        for t in range(tree_depth.shape[0]):
            walk_block(X, start, stop, thresholds, links, first_node[t], tree_depth[t], position)
            for i in range(stop - start):
                leaves[start + i, t] = position[i] - first_node[t]


@njit(cache=True, nogil=True)
def outside_box(X, lower, upper, outside):
    """Mark the rows that lie outside a box in at least one feature."""
    for i in range(X.shape[0]):
        out = False
        for j in range(X.shape[1]):
            out |= (X[i, j] < lower[j]) | (X[i, j] > upper[j])
        outside[i] = out
