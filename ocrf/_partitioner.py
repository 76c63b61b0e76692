"""A node's points in ascending order of its features, and how its children receive theirs.

A tree that searches most of its features in every node keeps its points in the order of all of
them: `sort_root` sorts them once, and each split partitions the orders stably. There are two
buffers: a node's orders are in the one that its depth's parity names, and a split writes its
children's to the other, so that nothing is copied back. Instead of sorting the points by a feature
with many distinct values, those of the sub-sample are picked from the order of all rows.

A tree that searches a few of very many features would keep orders that no node reads: it keeps a
list of each node's points instead, and `sort_members` sorts them by the features that the node
searches.

Indices are unsigned: numba checks every signed one for being negative, which doubles the time of
loops as short as these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._sorting import RankedData, SortSpace, bit_length, count_present, sort_by_key
from .kernels import inner_kernel

# Trees with at least so many features per feature searched in a node sort node by node: measured,
# both ways take the same time there.
_FEATURES_PER_SEARCHED = 8

# Fewer points than these are sorted by insertion.
_FEW_POINTS = 32

# The marks of more points than these are bits; of fewer, bytes take less time.
_MOST_MARKED = 2**18

# Where fewer than one of so many points is marked, blocks of so many points are moved together.
_FEW_MARKED, _BLOCK = 64, np.uintp(8)

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
    keys: np.ndarray  # uint32, (m + 1,): work space of sorting
    # uint32, (n_samples,): the points of the sub-sample's rows; empty where none are picked
    of_row: np.ndarray
    sorting: SortSpace


def sorts_node_by_node(n_features_tree: int, n_features_node: int) -> bool:
    """Tell whether a tree sorts the points of each node, or those of the root only."""
    return n_features_tree >= _FEATURES_PER_SEARCHED * n_features_node


@inner_kernel
def _pick_points(
    ascending: np.ndarray, bitmap: np.ndarray, points: Points, order: np.ndarray
) -> None:
    """Write the points of the rows that have a bit to ``order``, in the order of the rows."""
    keys, of_row = points.keys, points.of_row
    k = np.uint64(0)
    for i in range(ascending.shape[0]):
        # As in `_draw_into`: every row is written, and kept if its bit is set.
        row = np.uint64(ascending[i])
        keys[k] = row
        k += (bitmap[row >> _SIX] >> (row & _LOW_6)) & _BIT
    for i in range(order.shape[0]):
        order[i] = of_row[keys[i]]


@inner_kernel
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
    keys = points.keys[:m]
    for j in range(d):
        column, column_values = np.uintp(columns[j]), values[j]
        column_ranks, order = data.ranks[column], points.orders[0, j]
        is_in_table = data.n_ranks[column] <= n_distinct
        if data.keeps_orders and not is_in_table:
            _pick_points(column_ranks, bitmap, points, order)
        else:
            for i in range(m):
                keys[i] = column_ranks[rows[i]]
            if is_in_table:
                distinct = data.distinct[column]
                for i in range(m):
                    column_values[i] = distinct[keys[i]]
            sort_by_key(keys, bit_length(data.n_ranks[column] - 1), order, points.sorting)
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
    rows, ranks, keys = points.rows, data.ranks[column], points.keys
    n = members.shape[0]
    order = points.orders[0, slot, start : start + n]
    low = high = ranks[rows[members[0]]]
    for i in range(n):
        rank = ranks[rows[members[i]]]
        keys[i] = rank
        low, high = min(low, rank), max(high, rank)
    if low == high:
        return False
    if n <= _FEW_POINTS:
        for i in range(n):
            key, point, at = keys[i], members[i], i
            while at > 0 and keys[at - 1] > key:
                keys[at], order[at] = keys[at - 1], order[at - 1]
                at -= 1
            keys[at], order[at] = key, point
    else:
        for i in range(n):
            keys[i] -= low
        sort_by_key(keys[:n], bit_length(high - low), order, points.sorting)
        for i in range(n):
            order[i] = members[order[i]]
    for i in range(n):
        points.values[slot, members[i]] = data.X[rows[members[i]], column]
    return True


@inner_kernel(forceinline=True)
def copy_points(source: np.ndarray, target: np.ndarray) -> None:
    """Copy points from one array to another; an assignment of slices would allocate a buffer."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@inner_kernel(forceinline=True)
def _mark(order: np.ndarray, mark: int, marked: np.ndarray) -> None:
    """Set the marks of points."""
    for i in range(order.shape[0]):
        marked[order[i]] = mark


@inner_kernel(forceinline=True)
def _flip_bits(order: np.ndarray, bitmap: np.ndarray) -> None:
    """Set the bits of points that are not set, and clear the others."""
    for i in range(order.shape[0]):
        point = np.uint64(order[i])
        bitmap[point >> _SIX] ^= _BIT << (point & _LOW_6)


@inner_kernel(forceinline=True)
def partition_by_marks(
    source: np.ndarray, target: np.ndarray, to_marked: int, to_others: int, marked: np.ndarray
) -> None:
    """Write the marked points from ``to_marked`` on and the others from ``to_others`` on.

    No branch depends on the data: the processor cannot predict the side of a point. One place is
    counted, and the other follows from it, because two sums would wait for each other.
    """
    next_marked, both = np.uintp(to_marked), np.uintp(to_marked + to_others)
    for i in range(np.uintp(source.shape[0])):
        point = source[i]
        is_marked = np.uintp(marked[point])
        target[next_marked if is_marked else both + np.uintp(i) - next_marked] = point
        next_marked += is_marked


@inner_kernel(forceinline=True)
def _partition_by_few(
    source: np.ndarray, target: np.ndarray, to_marked: int, to_others: int, marked: np.ndarray
) -> None:
    """Partition as `partition_by_marks` does, where few points are marked: in most blocks, none."""
    next_marked, both = np.uintp(to_marked), np.uintp(to_marked + to_others)
    n = np.uintp(source.shape[0])
    end = n - n % _BLOCK
    for first in range(np.uintp(0), end, _BLOCK):
        some = np.uint8(0)
        for i in range(_BLOCK):
            some |= marked[source[first + i]]
        if some:
            for i in range(first, first + _BLOCK):
                point = source[i]
                is_marked = np.uintp(marked[point])
                target[next_marked if is_marked else both + i - next_marked] = point
                next_marked += is_marked
        else:
            for i in range(first, first + _BLOCK):
                target[both + i - next_marked] = source[i]
    rest = np.intp(next_marked), np.intp(both + end - next_marked)
    partition_by_marks(source[end:], target, *rest, marked)


@inner_kernel(forceinline=True)
def _partition_by_bits(
    source: np.ndarray, target: np.ndarray, to_marked: int, to_others: int, bitmap: np.ndarray
) -> None:
    """Partition as `partition_by_marks` does, where marks are bits."""
    next_marked, both = np.uintp(to_marked), np.uintp(to_marked + to_others)
    for i in range(np.uintp(source.shape[0])):
        point = source[i]
        word, place = np.uint64(point) >> _SIX, np.uint64(point) & _LOW_6
        is_marked = np.uintp((bitmap[word] >> place) & _BIT)
        target[next_marked if is_marked else both + np.uintp(i) - next_marked] = point
        next_marked += is_marked


@inner_kernel(forceinline=True)
def partition_orders(
    orders: np.ndarray,
    buffer: int,
    start: int,
    end: int,
    best: int,
    n_left: int,
    constant: np.ndarray,
    marked: np.ndarray,
    bitmap: np.ndarray,
) -> None:
    """Put the points that go left in front of the others, in the order of every feature.

    Parameters
    ----------
    orders : uint32 array of shape (2, d, m)
        The node's points are ``orders[buffer, j, start:end]`` for each feature j; they go to
        ``orders[1 - buffer, j, start:end]``.
    best, n_left : int
        The split's feature, whose first ``n_left`` points go left.
    constant : bool array of shape (d,)
        Features whose order is not read below this node.
    marked : uint8 array of shape (m,)
        Work space, zero before and after.
    bitmap : uint64 array
        The same with a bit per point: of many points it stays in the cache where ``marked`` would
        not.
    """
    n = end - start
    middle = start + n_left
    # Marks are set and cleared on the smaller side: most splits cut off little.
    mark_left = 2 * n_left <= n
    a, b = (start, middle) if mark_left else (middle, end)
    to_marked, to_others = (0, n_left) if mark_left else (n_left, 0)
    smaller, in_bits = orders[buffer, best, a:b], marked.shape[0] > _MOST_MARKED
    if in_bits:
        _flip_bits(smaller, bitmap)
    else:
        _mark(smaller, np.uint8(1), marked)
    for j in range(constant.shape[0]):
        if constant[j]:
            continue
        source, target = orders[buffer, j, start:end], orders[1 - buffer, j, start:end]
        if j == best:
            copy_points(source, target)
        elif in_bits:
            _partition_by_bits(source, target, to_marked, to_others, bitmap)
        elif _FEW_MARKED * smaller.shape[0] < n:
            _partition_by_few(source, target, to_marked, to_others, marked)
        else:
            partition_by_marks(source, target, to_marked, to_others, marked)
    if in_bits:
        _flip_bits(smaller, bitmap)
    else:
        _mark(smaller, np.uint8(0), marked)
