"""Sorting a node's points along one feature, where few of many features are searched.

A tree that searches most of its features in every node does best to keep all of them in order. One
that searches a few of very many would keep orders that nobody looks at: it keeps a list of each
node's points, and sorts them along those features alone that the node has drawn.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ._presort import bit_length, sort_by_key

# Features of a tree for each one searched in a node from which on nodes are sorted one by one:
# measured, both ways take the same time there.
_FEATURES_PER_SEARCHED = 8

# Fewer points than these are sorted by insertion.
_FEW_POINTS = 32


def sorts_node_by_node(n_features_tree: int, n_features_node: int) -> bool:
    """Tell whether a tree sorts the points of each node, or all of them once."""
    return n_features_tree >= _FEATURES_PER_SEARCHED * n_features_node


@njit(cache=True, nogil=True)
def sort_members(
    column_ranks: np.ndarray,
    rows: np.ndarray,
    members: np.ndarray,
    start: int,
    end: int,
    keys: np.ndarray,
    work: np.ndarray,
    orders: np.ndarray,
    slot: int,
) -> bool:
    """Sort the points of a node along a feature.

    Parameters
    ----------
    column_ranks : uint32 array of shape (n_samples,)
        The feature's ranks.
    rows : uint32 array of shape (>= m,)
        The tree's points.
    members : uint32 array of shape (m,)
        The node's points are ``members[start:end]``.
    keys, work : uint32 arrays of shape (m,) and (2, m)
        Work space.
    orders : uint32 array of shape (2, n_slots, m)
        ``orders[0, slot, start:end]`` receives the points in ascending order.

    Returns
    -------
    differ : bool
        Whether there is more than one value; if not, nothing is sorted.
    """
    points, order = members[start:end], orders[0, slot, start:end]
    n = points.shape[0]
    low = high = column_ranks[rows[points[0]]]
    for i in range(n):
        rank = column_ranks[rows[points[i]]]
        keys[i] = rank
        low, high = min(low, rank), max(high, rank)
    if low == high:
        return False
    if n <= _FEW_POINTS:
        for i in range(n):
            key, point, at = keys[i], points[i], i
            while at > 0 and keys[at - 1] > key:
                keys[at], order[at] = keys[at - 1], order[at - 1]
                at -= 1
            keys[at], order[at] = key, point
        return True
    for i in range(n):
        keys[i] -= low
    sort_by_key(keys[:n], bit_length(high - low), order, work)
    for i in range(n):
        order[i] = points[order[i]]
    return True
