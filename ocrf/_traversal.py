"""Taking rows down the trees, block by block.

Down a tree, rows travel in company: a node holds the list of the block's rows that reach it, and
hands it on to its children by a branch-free partition. Its threshold and its feature's column
stay at hand for the whole list, where a row that walks alone would fetch a node and a value at
every step. Only when few are left do they walk alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ._nodes import LOW_32, SHIFT

# What a block's columns take. Smaller ones would fit the second-level cache, but the more rows go
# down a large tree together, the longer they keep company.
_BLOCK_BYTES = 4 * 1024 * 1024

# Fewer rows than these do not pay for a tree's nodes, unless they take more memory than this.
_FEW_ROWS, _MOST_BLOCK_BYTES = 256, 16 * 1024 * 1024

# A list of fewer rows costs more than it saves.
_COMPANY = 8

# Pending nodes of a depth-first walk that takes the smaller child first: log2 of the rows at most.
_MAX_PENDING = 34

_ONE = np.uintp(1)


def block_rows(n_features: int) -> int:
    """Return how many rows are taken through a tree together."""
    row_bytes = 8 * n_features
    few = max(min(_FEW_ROWS, _MOST_BLOCK_BYTES // row_bytes), 1)
    return min(max(_BLOCK_BYTES // row_bytes, few), 65536)


@njit(cache=True, nogil=True)
def partition_by_value(
    rows: np.ndarray, column: np.ndarray, threshold: float, result: np.ndarray
) -> np.intp:
    """Write the rows below the threshold from the front, the others from the back.

    Returns
    -------
    n_left : int
    """
    to_left, to_right = np.uintp(0), np.uintp(rows.shape[0] - 1)
    for i in range(rows.shape[0]):
        row = rows[i]
        goes_right = np.uintp(column[row] >= threshold)
        result[to_right if goes_right else to_left] = row
        to_left += _ONE - goes_right
        to_right -= goes_right
    return np.intp(to_left)


@njit(cache=True, nogil=True)
def find_leaves(
    columns: np.ndarray,
    n_rows: int,
    thresholds: np.ndarray,
    links: np.ndarray,
    lists: np.ndarray,
    leaves: np.ndarray,
) -> None:
    """Find the leaf of each row of a block in one tree.

    Parameters
    ----------
    columns : float64 array of shape (n_features, >= n_rows)
        The block's rows, feature by feature.
    thresholds : float64 array of shape (n_nodes, 2)
        The tree's compact nodes as floats (column 0 is read).
    links : uint64 array of shape (n_nodes, 2)
        The same memory as integers (column 1 is read).
    lists : uint32 array of shape (2, >= n_rows)
        Work space.
    leaves : uint32 array of shape (>= n_rows,)
        Receives the leaves, counted from the tree's root.
    """
    pending = np.empty((_MAX_PENDING, 4), np.intp)  # node, start, end, which of the lists
    pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3] = 0, 0, n_rows, 0
    for i in range(n_rows):
        lists[0, i] = i
    n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        node, start, end, turn = (
            np.uintp(pending[n_pending, 0]),
            pending[n_pending, 1],
            pending[n_pending, 2],
            pending[n_pending, 3],
        )
        rows = lists[turn, start:end]
        link = links[node, 1]
        left = np.uintp(link & LOW_32)
        if left == node:
            for i in range(rows.shape[0]):
                leaves[rows[i]] = np.uint32(node)
        elif end - start < _COMPANY:
            for i in range(rows.shape[0]):
                row = rows[i]
                at, to, way = node, left, link
                while to != at:
                    goes_right = columns[way >> SHIFT, row] >= thresholds[at, 0]
                    at = to + np.uintp(goes_right)
                    way = links[at, 1]
                    to = np.uintp(way & LOW_32)
                leaves[row] = np.uint32(at)
        else:
            n_left = partition_by_value(
                rows, columns[link >> SHIFT], thresholds[node, 0], lists[1 - turn, start:end]
            )
            middle = start + n_left
            left_last = n_left <= end - middle
            for k in range(2):
                is_left = (k == 1) == left_last
                a, b = (start, middle) if is_left else (middle, end)
                if b > a:
                    pending[n_pending, 0] = np.intp(left) if is_left else np.intp(left) + 1
                    pending[n_pending, 1] = a
                    pending[n_pending, 2] = b
                    pending[n_pending, 3] = 1 - turn
                    n_pending += 1


@njit(cache=True, nogil=True)
def load_block(X: np.ndarray, start: int, stop: int, columns: np.ndarray) -> None:
    """Copy rows ``start`` ... ``stop - 1`` of ``X`` into ``columns``, feature by feature."""
    for i in range(start, stop):
        for j in range(X.shape[1]):
            columns[j, i - start] = X[i, j]


@njit(cache=True, nogil=True)
def sum_over_trees(
    X: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    first_node: np.ndarray,
    leaf_value: np.ndarray,
    size: int,
    total: np.ndarray,
) -> None:
    """Add up the values of each row's leaves, ``total[i]`` = sum over trees.

    Trees are added in their order for every row, so that neither the size of the blocks nor the
    number of threads shows in the result.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features), C-contiguous
    thresholds, links : arrays of shape (n_nodes, 2)
        The compact nodes of all trees, as floats and as integers.
    first_node : int64 array of shape (n_trees + 1,)
    leaf_value : float64 array of shape (n_nodes,)
    size : int
        Rows of a block.
    total : float64 array of shape (n_samples,)
    """
    columns = np.empty((X.shape[1], size))
    lists = np.empty((2, size), np.uint32)
    leaves = np.empty(size, np.uint32)
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        load_block(X, start, stop, columns)
        part = total[start:stop]
        part[:] = 0.0
        for t in range(first_node.shape[0] - 1):
            a, b = first_node[t], first_node[t + 1]
            find_leaves(columns, stop - start, thresholds[a:b], links[a:b], lists, leaves)
            value = leaf_value[a:b]
            for i in range(part.shape[0]):
                part[i] += value[leaves[i]]


@njit(cache=True, nogil=True)
def log_sum_exp_over_trees(
    X: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    first_node: np.ndarray,
    leaf_value: np.ndarray,
    size: int,
    total: np.ndarray,
) -> None:
    """Add up the exponentials of each row's leaf values, ``total[i]`` = log sum over trees exp.

    The running maximum is taken out, so that values of any magnitude neither over- nor underflow.
    Parameters as in `sum_over_trees`.
    """
    columns = np.empty((X.shape[1], size))
    lists = np.empty((2, size), np.uint32)
    leaves = np.empty(size, np.uint32)
    largest = np.empty(size)
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        load_block(X, start, stop, columns)
        part = total[start:stop]
        part[:] = 0.0
        largest[:] = -np.inf
        for t in range(first_node.shape[0] - 1):
            a, b = first_node[t], first_node[t + 1]
            find_leaves(columns, stop - start, thresholds[a:b], links[a:b], lists, leaves)
            for i in range(part.shape[0]):
                value = leaf_value[a + leaves[i]]
                if value > largest[i]:
                    part[i] = part[i] * np.exp(largest[i] - value) + 1.0
                    largest[i] = value
                else:
                    part[i] += np.exp(value - largest[i])
        for i in range(part.shape[0]):
            part[i] = largest[i] + np.log(part[i])


@njit(cache=True, nogil=True)
def leaves_of_tree(
    X: np.ndarray, thresholds: np.ndarray, links: np.ndarray, size: int, result: np.ndarray
) -> None:
    """Find each row's leaf in one tree, counted from its root."""
    columns = np.empty((X.shape[1], size))
    lists = np.empty((2, size), np.uint32)
    leaves = np.empty(size, np.uint32)
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        load_block(X, start, stop, columns)
        find_leaves(columns, stop - start, thresholds, links, lists, leaves)
        result[start:stop] = leaves[: stop - start]


@njit(cache=True, nogil=True)
def outside_box(X: np.ndarray, lower: np.ndarray, upper: np.ndarray, outside: np.ndarray) -> None:
    """Mark the rows that lie outside a box in at least one feature."""
    for i in range(X.shape[0]):
        out = False
        for j in range(X.shape[1]):
            out |= (X[i, j] < lower[j]) | (X[i, j] > upper[j])
        outside[i] = out
