"""Handing a node's points on to its children, in order.

Indices are unsigned: numba guards every signed one against being negative, which doubles the time
of loops as short as these. For the same reason slices are made here and not by the caller: an
array that is handed from one compiled function to another has its references counted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_ONE = np.uintp(1)


@njit(cache=True, nogil=True)
def _mark(
    orders: np.ndarray, turn: int, feature: int, start: int, end: int, mark: int, marked: np.ndarray
) -> None:
    """Set the marks of the points at ``start`` ... ``end`` - 1 of a feature's order."""
    order = orders[turn, feature, start:end]
    for i in range(order.shape[0]):
        marked[order[i]] = mark


@njit(cache=True, nogil=True)
def _partition(
    orders: np.ndarray,
    turn: int,
    feature: int,
    start: int,
    end: int,
    to_marked: int,
    to_others: int,
    marked: np.ndarray,
) -> None:
    """Write the marked points from ``to_marked`` on and the others from ``to_others`` on.

    No branch depends on the data: the side of a point is a coin toss to the processor.
    """
    source, target = orders[turn, feature, start:end], orders[1 - turn, feature, start:end]
    next_marked, next_other = np.uintp(to_marked), np.uintp(to_others)
    for i in range(source.shape[0]):
        point = source[i]
        is_marked = np.uintp(marked[point])
        target[next_marked if is_marked else next_other] = point
        next_marked += is_marked
        next_other += _ONE - is_marked


@njit(cache=True, nogil=True)
def partition_orders(
    orders: np.ndarray,
    turn: int,
    start: int,
    end: int,
    best: int,
    n_left: int,
    constant: np.ndarray,
    marked: np.ndarray,
) -> None:
    """Put the points that go left in front of the others, in the order of every feature.

    Parameters
    ----------
    orders : uint32 array of shape (2, d, m)
        The node's points are ``orders[turn, j, start:end]`` for each feature j; they go to
        ``orders[1 - turn, j, start:end]``.
    best, n_left : int
        The split's feature, whose first ``n_left`` points go left.
    constant : bool array of shape (d,)
        Features whose order is of no use any more.
    marked : uint8 array of shape (m,)
        Work space, zero before and after.
    """
    n = end - start
    middle = start + n_left
    # Marks are set and cleared on the smaller side: most splits cut off little.
    mark_left = 2 * n_left <= n
    a, b = (start, middle) if mark_left else (middle, end)
    to_marked, to_others = (0, n_left) if mark_left else (n_left, 0)
    _mark(orders, turn, best, a, b, 1, marked)
    for j in range(constant.shape[0]):
        if j == best:
            orders[1 - turn, j, start:end] = orders[turn, j, start:end]
        elif not constant[j]:
            _partition(orders, turn, j, start, end, to_marked, to_others, marked)
    _mark(orders, turn, best, a, b, 0, marked)
