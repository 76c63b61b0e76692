"""Handing a node's points on to its children, in order.

Indices are unsigned: numba guards every signed one against being negative, which doubles the time of
loops as short as these.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_ONE = np.uintp(1)


@njit(cache=True, nogil=True)
def mark_left(order, n_left, goes_left):
    """Note for each point of a node on which side of the split it lies.

    Parameters
    ----------
    order : uint32 array of shape (n,)
        The node's points in ascending order of the split's feature.
    n_left : int
    goes_left : uint8 array
        Receives 1 for the first ``n_left`` points and 0 for the others.
    """
    left, right = order[:n_left], order[n_left:]
    for i in range(left.shape[0]):
        goes_left[left[i]] = 1
    for i in range(right.shape[0]):
        goes_left[right[i]] = 0


@njit(cache=True, nogil=True)
def partition(order, n_left, goes_left, result):
    """Write the points that go left, then the others, both in their present order.

    No branch depends on the data: the side of a point is a coin toss to the processor.
    """
    to_left, to_right = np.uintp(0), np.uintp(n_left)
    for i in range(order.shape[0]):
        point = order[i]
        side = np.uintp(goes_left[point])
        result[to_left if side else to_right] = point
        to_left += side
        to_right += _ONE - side
