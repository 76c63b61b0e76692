"""Traversing trees with blocks of rows.

The rows of a block go down a tree together: a node holds the list of the rows that reach it, and a
branch-free partition distributes the list to its children. The node's threshold and the column of
its feature stay in the cache for the whole list, where a row on its own would fetch a node and a
value at every step. Many rows that lie close together are marked instead (`marked_rows`). Lists of
a few rows are not partitioned: their rows go down one by one. Nor are those of nodes whose children
are both leaves: each row's total receives the value of one of them.
"""

from __future__ import annotations

import numpy as np

from ..kernels import inner_kernel, kernel, njit
from .marked_rows import follow_together, stay_together
from .row_block import FEATURE, LOW_32, MISSING_RIGHT, SHIFT, Block, add_pending, load_block

# Partitioning a list of fewer rows takes longer than traversing with each of them.
_SHORTEST_LIST = 8

_ONE = np.uintp(1)


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
    for i in range(n_rows):
        lists[0, i] = i
    pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3] = 0, 0, n_rows, 0
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
        elif stay_together(rows):
            n_pending = follow_together(
                block, thresholds, links, node, start, end, which, n_pending
            )
        else:
            n_left = partition_by_value(
                rows, columns[link >> SHIFT], thresholds[node, 0], lists[1 - which, start:end]
            )
            middle = start + n_left
            left_last = n_left <= end - middle
            for k in range(2):
                is_left = (k == 1) == left_last
                child, a, b = (left, start, middle) if is_left else (right, middle, end)
                if b > a:
                    n_pending = add_pending(block, n_pending, child, a, b, 1 - which)


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
            number = columns[(link >> SHIFT) & FEATURE, i]
            goes_right = number >= thresholds[at, 0]
            if np.isnan(number):
                goes_right = link >= MISSING_RIGHT
            at = left + np.uintp(goes_right)
            link = links[at, 1]
            left = np.uintp(link & LOW_32)
        total[i] += value[at]


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
