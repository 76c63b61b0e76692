"""A tree's points in ascending order of its features.

A tree that searches most of its features in every node keeps its points in the order of all of
them: `sort_root` sorts them once, and each split partitions the orders (`partitioner`). Instead of
sorting the points by a feature with many distinct values, those of the sub-sample are picked from
the order of all rows.

A tree that searches a few of very many features would keep orders that no node reads: it keeps a
list of each node's points instead, and `sort_members` sorts them by the features that the node
searches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import inner_kernel
from .ranking import RankedData
from .sorting import SortSpace, bit_length, key_of, packed, sort_items

# Trees with at least so many features per feature searched in a node sort node by node: measured,
# both ways take the same time there.
_FEATURES_PER_SEARCHED = 8

# Fewer points than these are sorted by insertion.
_FEW_POINTS = 32

# Rows of the training data that fit the cache while a tree's features are read from them.
_GATHER_ROWS = 1024

_BIT, _SIX, _LOW_6 = np.uint64(1), np.uint64(6), np.uint64(63)


class Points(NamedTuple):
    """A tree's sub-sample, on the tree's features. Reused from tree to tree."""

    rows: np.ndarray  # uint32, (m + 1,): the sub-sample, and a place for work
    columns: np.ndarray  # uint32, (d + 1,): the features, and a place for work
    values: np.ndarray  # float64, (n_slots, m): feature by feature
    orders: np.ndarray  # uint32, (2, n_slots, m): the points of each node in ascending order
    marked: np.ndarray  # uint8, (m,): zero between uses
    # Empty where no points are picked (`sort_root`):
    picked: np.ndarray  # uint32, (m + 1,): work space, the rows of the sub-sample
    of_row: np.ndarray  # uint32, (n_samples,): the points of the sub-sample's rows
    sorting: SortSpace


def sorts_node_by_node(n_features_tree: int, n_features_node: int) -> bool:
    """Tell whether a tree sorts the points of each node, or those of the root only."""
    return n_features_tree >= _FEATURES_PER_SEARCHED * n_features_node


@inner_kernel
def count_present(column: np.ndarray, order: np.ndarray) -> int:
    """Count the points that have a value, which come first in the order."""
    low, high = 0, order.shape[0]
    if high == 0 or not np.isnan(column[order[high - 1]]):
        return high
    while low < high:
        middle = (low + high) // 2
        if np.isnan(column[order[middle]]):
            high = middle
        else:
            low = middle + 1
    return low


@inner_kernel
def _pick_points(
    ascending: np.ndarray, bitmap: np.ndarray, points: Points, order: np.ndarray
) -> None:
    """Write the points of the rows that have a bit to ``order``, in the order of the rows."""
    picked, of_row = points.picked, points.of_row
    k = np.uint64(0)
    for i in range(ascending.shape[0]):
        # As in `_draw_into`: every row is written, and kept if its bit is set.
        row = np.uint64(ascending[i])
        picked[k] = row
        k += (bitmap[row >> _SIX] >> (row & _LOW_6)) & _BIT
    for i in range(order.shape[0]):
        order[i] = of_row[picked[i]]


@inner_kernel(is_apart=True)
def sort_root(
    data: RankedData, points: Points, bitmap: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> None:
    """Sort a tree's points by each of its features, and find their bounding box.

    Parameters
    ----------
    data : RankedData
    points : Points
        ``rows`` and ``columns`` are read, ``values`` and ``orders[0]`` are written.
    bitmap : uint64 array
        A bit per row; zero before and after.
    lower, upper : float64 arrays of shape (d,)
        Receive the box.
    """
    X, rows, columns, values = data.X, points.rows, points.columns, points.values
    d, m = values.shape
    n_distinct = data.distinct.shape[1]
    # A block of rows for all features, then the next: X comes from memory once, not d times.
    for start in range(0, m, _GATHER_ROWS):
        block = rows[start : min(start + _GATHER_ROWS, m)]
        for j in range(d):
            column, block_values = np.uintp(columns[j]), values[j, start:]
            if data.n_ranks[column] <= n_distinct:
                continue
            for i in range(block.shape[0]):
                block_values[i] = X[block[i], column]
    if data.keeps_orders:
        for i in range(m):
            row = np.uint64(rows[i])
            bitmap[row >> _SIX] |= _BIT << (row & _LOW_6)
            points.of_row[row] = i
    items = points.sorting.items
    for j in range(d):
        column, column_values = np.uintp(columns[j]), values[j]
        column_ranks, order = data.ranks[column], points.orders[0, j]
        is_in_table = data.n_ranks[column] <= n_distinct
        if data.keeps_orders and not is_in_table:
            _pick_points(column_ranks, bitmap, points, order)
        else:
            for i in range(m):
                items[i] = packed(column_ranks[rows[i]], i)
            if is_in_table:
                distinct = data.distinct[column]
                for i in range(m):
                    column_values[i] = distinct[key_of(items[i])]
            sort_items(m, bit_length(data.n_ranks[column] - 1), points.sorting, order)
        lower[j] = column_values[order[0]]
        upper[j] = column_values[order[max(count_present(column_values, order) - 1, 0)]]
    if data.keeps_orders:
        for i in range(m):
            bitmap[np.uint64(rows[i]) >> _SIX] = np.uint64(0)


@inner_kernel
def sort_members(
    data: RankedData, points: Points, members: np.ndarray, feature: int, slot: int, start: int
) -> bool:
    """Sort the points of a node by a feature, unless the feature is constant in the node.

    Parameters
    ----------
    data : RankedData
    points : Points
        ``orders[0, slot, start:]`` receives the points in ascending order, and ``values[slot]``
        their values.
    members : uint32 array of shape (n,)
        The node's points.
    feature : int
        One of the tree's, from 0 on.
    slot, start : int

    Returns
    -------
    differ : bool
        Whether there is more than one value; a missing one counts as a value.
    """
    column = points.columns[feature]
    rows, ranks, items = points.rows, data.ranks[column], points.sorting.items
    n = members.shape[0]
    order = points.orders[0, slot, start : start + n]
    low = high = ranks[rows[members[0]]]
    for i in range(n):
        rank = ranks[rows[members[i]]]
        items[i] = packed(rank, members[i])
        low, high = min(low, rank), max(high, rank)
    if low == high:
        return False
    if n <= _FEW_POINTS:
        for i in range(n):
            item, at = items[i], i
            while at > 0 and key_of(items[at - 1]) > key_of(item):
                items[at] = items[at - 1]
                at -= 1
            items[at] = item
        for i in range(n):
            order[i] = np.uint32(items[i])
    else:
        for i in range(n):
            items[i] -= packed(low, 0)
        sort_items(n, bit_length(high - low), points.sorting, order)
    for i in range(n):
        points.values[slot, members[i]] = data.X[rows[members[i]], column]
    return True
