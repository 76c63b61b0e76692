"""How the children of a node receive its points, in ascending order of every feature.

A split partitions the node's orders stably. There are two buffers: a node's orders are in the one
that its depth's parity names, and a split writes its children's to the other, so that nothing is
copied back.

Indices are unsigned: numba checks every signed one for being negative, which doubles the time of
loops as short as these.
"""

from __future__ import annotations

import numpy as np

from ..kernels import inner_kernel, kernel

# The marks of more points than these are bits; of fewer, bytes take less time.
_MOST_MARKED = 2**18

# Where fewer than one of so many points is marked, the processor predicts the side of a point.
_FEW_MARKED = 32

_BIT, _SIX, _LOW_6 = np.uint64(1), np.uint64(6), np.uint64(63)


@inner_kernel(forceinline=True)
def copy_points(source: np.ndarray, target: np.ndarray) -> None:
    """Copy points from one array to another; an assignment of slices would allocate a buffer."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel(inline="always")
def _is_marked(point: np.uint32, marks: np.ndarray) -> np.uintp:
    """Return 1 for a point that is marked, and 0 for another; a mark is a byte or a bit."""
    # The compiler knows the size, and keeps one of the two.
    if marks.itemsize == 1:
        return np.uintp(marks[point])
    return np.uintp((marks[np.uint64(point) >> _SIX] >> (np.uint64(point) & _LOW_6)) & _BIT)


@inner_kernel(forceinline=True)
def _flip(order: np.ndarray, marks: np.ndarray) -> None:
    """Turn over the marks of points: twice, and they are as before."""
    for i in range(order.shape[0]):
        point = np.uint64(order[i])
        if marks.itemsize == 1:
            marks[point] ^= np.uint8(1)
        else:
            marks[point >> _SIX] ^= _BIT << (point & _LOW_6)


@inner_kernel(forceinline=True)
def partition_by_marks(
    source: np.ndarray, target: np.ndarray, to_marked: int, to_others: int, marks: np.ndarray
) -> None:
    """Write the marked points from ``to_marked`` on and the others from ``to_others`` on.

    No branch depends on the data: the processor cannot predict the side of a point. One place is
    counted, and the other follows from it, because two sums would wait for each other.
    """
    next_marked, both = np.uintp(to_marked), np.uintp(to_marked + to_others)
    for i in range(np.uintp(source.shape[0])):
        point = source[i]
        is_marked = _is_marked(point, marks)
        target[next_marked if is_marked else both + np.uintp(i) - next_marked] = point
        next_marked += is_marked


@inner_kernel(forceinline=True)
def _partition_by_few(
    source: np.ndarray, target: np.ndarray, to_marked: int, to_others: int, marks: np.ndarray
) -> None:
    """Partition as `partition_by_marks` does, where few points are marked."""
    next_marked, next_other = np.uintp(to_marked), np.uintp(to_others)
    for i in range(np.uintp(source.shape[0])):
        point = source[i]
        if _is_marked(point, marks):
            target[next_marked] = point
            next_marked += np.uintp(1)
        else:
            target[next_other] = point
            next_other += np.uintp(1)


@inner_kernel(forceinline=True)
def _partition_others(
    orders: np.ndarray,
    buffer: int,
    start: int,
    end: int,
    best: int,
    marked: tuple[int, int],
    constant: np.ndarray,
    marks: np.ndarray,
) -> None:
    """Partition the orders of all features but the split's, whose points ``marked`` are marked."""
    smaller = orders[buffer, best, marked[0] : marked[1]]
    n, n_marked = end - start, marked[1] - marked[0]
    # The marked points go to where they are in the order of the split's feature.
    to_marked, to_others = marked[0] - start, n_marked if marked[0] == start else 0
    _flip(smaller, marks)
    for j in range(constant.shape[0]):
        if constant[j] or j == best:
            continue
        source, target = orders[buffer, j, start:end], orders[1 - buffer, j, start:end]
        if _FEW_MARKED * n_marked < n:
            _partition_by_few(source, target, to_marked, to_others, marks)
        else:
            partition_by_marks(source, target, to_marked, to_others, marks)
    _flip(smaller, marks)


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
    middle = start + n_left
    # The points on the smaller side are marked: most splits cut off little.
    smaller = (start, middle) if 2 * n_left <= end - start else (middle, end)
    if marked.shape[0] > _MOST_MARKED:
        _partition_others(orders, buffer, start, end, best, smaller, constant, bitmap)
    else:
        _partition_others(orders, buffer, start, end, best, smaller, constant, marked)
    if not constant[best]:
        copy_points(orders[buffer, best, start:end], orders[1 - buffer, best, start:end])
