"""Traversing trees with blocks of rows.

The rows of a block go down a tree together: a node holds the list of the rows that reach it, and a
branch-free partition distributes the list to its children. The node's threshold and the column of
its feature stay in the cache for the whole list, where a row on its own would fetch a node and a
value at every step. Lists of a few rows are not partitioned: their rows go down one by one. Nor are
those of nodes whose children are both leaves: each row's total receives the value of one of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernels import inner_kernel, kernel, njit

# The second word of a node: the feature above SHIFT, the left child below it (`_tree`).
SHIFT = np.uint64(32)
LOW_32 = np.uint64(0xFFFFFFFF)

# The highest bit of the second word, where values may be missing: rows without one go right.
MISSING_RIGHT = np.uint64(1 << 63)
_FEATURE = np.uint64(0x7FFFFFFF)

# Bytes of a block's columns. Smaller blocks would fit the second-level cache, but the more rows go
# down a large tree together, the longer their lists are.
_BLOCK_BYTES = 4 * 1024 * 1024

# The lists count rows in 16 bits; half of what these count leaves the totals of a block, and its
# lists, in the second-level cache.
_MOST_ROWS = 32768

# Reading a tree's nodes pays for at least so many rows, unless these take more memory than this.
_FEW_ROWS, _MOST_BLOCK_BYTES = 256, 16 * 1024 * 1024

# Partitioning a list of fewer rows takes longer than traversing with each of them.
_SHORTEST_LIST = 8

# Pending nodes of a depth-first walk that takes the smaller child first: log2 of the rows at most.
_MAX_PENDING = 34

_ONE = np.uintp(1)


class Block(NamedTuple):
    """A block of rows, and what a traversal works with."""

    columns: np.ndarray  # float64, (n_features, size): the rows, feature by feature
    lists: np.ndarray  # uint16, (2, size): rows by node; a node's children use the other list
    pending: np.ndarray  # intp, (_MAX_PENDING, 4): node, start, end, index of the list


def new_block(n_features: int, size: int) -> Block:
    """Allocate a block of up to ``size`` rows."""
    return Block(
        np.empty((n_features, size)),
        np.empty((2, size), np.uint16),
        np.empty((_MAX_PENDING, 4), np.intp),
    )


def block_rows(n_features: int) -> int:
    """Return the number of rows in a block."""
    row_bytes = 8 * n_features
    few = max(min(_FEW_ROWS, _MOST_BLOCK_BYTES // row_bytes), 1)
    return min(max(_BLOCK_BYTES // row_bytes, few), _MOST_ROWS)


@inner_kernel(forceinline=True)
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


@inner_kernel
def _add_to_both(
    rows: np.ndarray,
    column: np.ndarray,
    threshold: float,
    left_value: float,
    right_value: float,
    total: np.ndarray,
) -> None:
    """Add the value of one of two leaves to each row of their parent."""
    for i in range(rows.shape[0]):
        row = rows[i]
        total[row] += right_value if column[row] >= threshold else left_value


@inner_kernel
def add_leaf_values(
    block: Block,
    n_rows: int,
    thresholds: np.ndarray,
    links: np.ndarray,
    value: np.ndarray,
    total: np.ndarray,
) -> None:
    """Add the value of each row's leaf in one tree to the row's total.

    Parameters
    ----------
    block : Block
    n_rows : int
        Rows in the block.
    thresholds : float64 array of shape (n_nodes, 2)
        The tree's packed nodes as floats (column 0 is read).
    links : uint64 array of shape (n_nodes, 2)
        The same memory as integers (column 1 is read).
    value : array of shape (>= n_nodes,)
    total : array of shape (>= n_rows,)
    """
    columns, lists, pending = block.columns, block.lists, block.pending
    pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3] = 0, 0, n_rows, 0
    for i in range(n_rows):
        lists[0, i] = i
    n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        node, start, end, which = (
            np.uintp(pending[n_pending, 0]),
            pending[n_pending, 1],
            pending[n_pending, 2],
            pending[n_pending, 3],
        )
        rows = lists[which, start:end]
        link = links[node, 1]
        left = np.uintp(link & LOW_32)
        right = left + _ONE
        if left == node:
            node_value = value[node]
            for i in range(rows.shape[0]):
                total[rows[i]] += node_value
        elif links[left, 1] == np.uint64(left) and links[right, 1] == np.uint64(right):
            _add_to_both(
                rows,
                columns[link >> SHIFT],
                thresholds[node, 0],
                value[left],
                value[right],
                total,
            )
        elif end - start < _SHORTEST_LIST:
            for i in range(rows.shape[0]):
                row = rows[i]
                at, to, way = node, left, link
                while to != at:
                    goes_right = columns[way >> SHIFT, row] >= thresholds[at, 0]
                    at = to + np.uintp(goes_right)
                    way = links[at, 1]
                    to = np.uintp(way & LOW_32)
                total[row] += value[at]
        else:
            n_left = partition_by_value(
                rows, columns[link >> SHIFT], thresholds[node, 0], lists[1 - which, start:end]
            )
            middle = start + n_left
            left_last = n_left <= end - middle
            for k in range(2):
                is_left = (k == 1) == left_last
                a, b = (start, middle) if is_left else (middle, end)
                if b > a:
                    pending[n_pending, 0] = np.intp(left) if is_left else np.intp(right)
                    pending[n_pending, 1] = a
                    pending[n_pending, 2] = b
                    pending[n_pending, 3] = 1 - which
                    n_pending += 1


@inner_kernel
def _add_leaf_values_of_missing(
    block: Block,
    n_rows: int,
    thresholds: np.ndarray,
    links: np.ndarray,
    value: np.ndarray,
    total: np.ndarray,
) -> None:
    """Add as `add_leaf_values` does, where values may be missing, row by row.

    The links have the bits `MISSING_RIGHT`.
    """
    columns = block.columns
    for i in range(n_rows):
        at = np.uintp(0)
        link = links[at, 1]
        left = np.uintp(link & LOW_32)
        while left != at:
            number = columns[(link >> SHIFT) & _FEATURE, i]
            goes_right = number >= thresholds[at, 0]
            if np.isnan(number):
                goes_right = link >= MISSING_RIGHT
            at = left + np.uintp(goes_right)
            link = links[at, 1]
            left = np.uintp(link & LOW_32)
        total[i] += value[at]


@inner_kernel
def load_block(X: np.ndarray, start: int, stop: int, columns: np.ndarray) -> None:
    """Copy rows ``start`` ... ``stop - 1`` of ``X`` into ``columns``, feature by feature."""
    for i in range(start, stop):
        for j in range(X.shape[1]):
            columns[j, i - start] = X[i, j]


@kernel
def sum_over_trees(
    X: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    first_node: np.ndarray,
    leaf_value: np.ndarray,
    block: Block,
    directed: bool | None,
    total: np.ndarray,
) -> None:
    """Add up the values of each row's leaves, ``total[i]`` = sum over trees.

    For every row the trees are added in their order, so that the result depends neither on the size
    of the blocks nor on the number of threads.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features), C-contiguous
    thresholds, links : arrays of shape (n_nodes, 2)
        The packed nodes of all trees, as floats and as integers.
    first_node : int64 array of shape (n_trees + 1,)
    leaf_value : float64 array of shape (n_nodes,)
    block : Block
        Work space.
    directed : True or None
        True where values may be missing and the links have the bits `MISSING_RIGHT`. Where it is
        None, numba compiles nothing for missing values.
    total : float64 array of shape (n_samples,)
    """
    size = block.lists.shape[1]
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        load_block(X, start, stop, block.columns)
        part = total[start:stop]
        part[:] = 0.0
        for t in range(first_node.shape[0] - 1):
            a, b = first_node[t], first_node[t + 1]
            tree = thresholds[a:b], links[a:b], leaf_value[a:b]
            if directed is not None:
                _add_leaf_values_of_missing(block, stop - start, *tree, part)
            else:
                add_leaf_values(block, stop - start, *tree, part)


@njit(cache=True, nogil=True)
def log_sum_exp_over_trees(
    X: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    first_node: np.ndarray,
    leaf_value: np.ndarray,
    block: Block,
    directed: bool | None,
    total: np.ndarray,
) -> None:
    """Add up the exponentials of each row's leaf values, ``total[i]`` = log sum over trees exp.

    The running maximum is subtracted, so that values of any magnitude neither over- nor underflow.
    Parameters as in `sum_over_trees`.
    """
    size = block.lists.shape[1]
    largest, found = np.empty(size), np.empty(size)
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        load_block(X, start, stop, block.columns)
        part = total[start:stop]
        part[:] = 0.0
        largest[:] = -np.inf
        for t in range(first_node.shape[0] - 1):
            a, b = first_node[t], first_node[t + 1]
            tree = thresholds[a:b], links[a:b], leaf_value[a:b]
            found[:] = 0.0
            if directed is not None:
                _add_leaf_values_of_missing(block, stop - start, *tree, found)
            else:
                add_leaf_values(block, stop - start, *tree, found)
            for i in range(part.shape[0]):
                value = found[i]
                if value > largest[i]:
                    part[i] = part[i] * np.exp(largest[i] - value) + 1.0
                    largest[i] = value
                else:
                    part[i] += np.exp(value - largest[i])
        for i in range(part.shape[0]):
            part[i] = largest[i] + np.log(part[i])


@njit(cache=True, nogil=True)
def leaves_of_tree(
    X: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    block: Block,
    directed: bool | None,
    result: np.ndarray,
) -> None:
    """Find each row's leaf in one tree, counted from its root."""
    size = block.lists.shape[1]
    numbers = np.arange(links.shape[0])
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        load_block(X, start, stop, block.columns)
        part = result[start:stop]
        part[:] = 0
        if directed is not None:
            _add_leaf_values_of_missing(block, stop - start, thresholds, links, numbers, part)
        else:
            add_leaf_values(block, stop - start, thresholds, links, numbers, part)


@kernel
def outside_box(X: np.ndarray, lower: np.ndarray, upper: np.ndarray, outside: np.ndarray) -> None:
    """Mark the rows that lie outside a box in at least one feature."""
    for i in range(X.shape[0]):
        out = False
        for j in range(X.shape[1]):
            out |= (X[i, j] < lower[j]) | (X[i, j] > upper[j])
        outside[i] = out
