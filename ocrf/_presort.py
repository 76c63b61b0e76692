"""Sorting, once per forest: every value becomes the rank of its value in its column."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _rank_sorted(column, order, ranks):
    rank = 0
    previous = column[order[0]]
    for i in range(order.shape[0]):
        value = column[order[i]]
        if value != previous:
            rank += 1
            previous = value
        ranks[order[i]] = rank
    return rank + 1


@njit(cache=True, nogil=True)
def sort_by_rank(ranks, n_ranks, order, keys, spare_order, spare_keys, counts):
    """Sort 0 ... len(ranks) - 1 by rank, stably, into ``order``: a radix sort.

    Parameters
    ----------
    ranks : uint32 array of shape (n,)
        Ranks below ``n_ranks``, in the order of the ids 0 ... n - 1.
    order : int32 array of shape (n,)
        Receives the ids in ascending order of rank.
    keys, spare_keys, spare_order
        Work space of shape (n,); ``counts`` of shape (2048,).
    """
    n = ranks.shape[0]
    n_bits = 1
    while (np.int64(1) << n_bits) < n_ranks:
        n_bits += 1
    # Counters beyond the number of items cost more than they save.
    widest = 11
    while widest > 6 and (1 << widest) > 2 * n:
        widest -= 1
    n_passes = (n_bits + widest - 1) // widest
    width = (n_bits + n_passes - 1) // n_passes
    mask = np.uint32((1 << width) - 1)
    # The last pass must end in `order`.
    into_order = n_passes % 2 == 1
    for p in range(n_passes):
        shift = np.uint32(p * width)
        for digit in range(1 << width):
            counts[digit] = 0
        from_order, from_keys = (spare_order, spare_keys) if into_order else (order, keys)
        to_order, to_keys = (order, keys) if into_order else (spare_order, spare_keys)
        if p == 0:
            from_keys = ranks
        for i in range(n):
            counts[(from_keys[i] >> shift) & mask] += 1
        total = 0
        for digit in range(1 << width):
            count = counts[digit]
            counts[digit] = total
            total += count
        for i in range(n):
            key = from_keys[i]
            digit = (key >> shift) & mask
            slot = counts[digit]
            counts[digit] = slot + 1
            to_keys[slot] = key
            to_order[slot] = i if p == 0 else from_order[i]
        into_order = not into_order


def rank_columns(X):
    """Return the rank of every value among its column's distinct values.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)

    Returns
    -------
    ranks : uint32 array of shape (n_features, n_samples)
    n_ranks : int64 array of shape (n_features,)
        Distinct values per column.
    lower, upper : float64 arrays of shape (n_features,)
        The bounding box of the data.
    """
    n_samples, n_features = X.shape
    ranks = np.empty((n_features, n_samples), np.uint32)
    n_ranks = np.empty(n_features, np.int64)
    lower, upper = np.empty(n_features), np.empty(n_features)
    for j in range(n_features):
        column = np.ascontiguousarray(X[:, j], dtype=np.float64)
        order = np.argsort(column)
        n_ranks[j] = _rank_sorted(column, order, ranks[j])
        lower[j], upper[j] = column[order[0]], column[order[-1]]
    return ranks, n_ranks, lower, upper
