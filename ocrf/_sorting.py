"""Sorting, once per forest: every value is replaced by its rank in its column.

Where a column has more distinct values than the table of `RankedData.distinct` holds, its order may
be kept in the place of its ranks.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ._parallel import map_in_threads
from ._workspace import read_only, scratch, scratch_together
from .kernels import inner_kernel, kernel

# Digits of the radix sort have at most so many bits: the counters fit the first-level cache.
_WIDEST_DIGIT = 11
N_COUNTS = 1 << _WIDEST_DIGIT

# Places by which a value may be moved on average to mend an order: that takes about as long as a
# full sort.
_MENDING_STEPS = 8

# A table of a column's distinct values is read by rank if it fits the cache, and small beside the
# column.
_MOST_DISTINCT, _ROWS_PER_DISTINCT = 32768, 8


class SortSpace(NamedTuple):
    """Work space of `sort_by_key` for up to n keys."""

    order: np.ndarray  # uint32, (n,)
    keys: np.ndarray  # uint32, (n,)
    counts: np.ndarray  # uint32, (N_COUNTS,)


class RankedData(NamedTuple):
    """The training data and the ranks of their values (`rank_columns`)."""

    X: np.ndarray  # float64, (n_samples, n_features), C-contiguous
    # uint32, (n_features, n_samples): or, of columns whose order is kept, the rows in that order
    ranks: np.ndarray
    distinct: np.ndarray  # float64, (n_features, n_distinct): values by rank, where they fit
    n_ranks: np.ndarray  # int64, (n_features,): distinct values per column, missing being one
    lower: np.ndarray  # float64, (n_features,): the bounding box; NaN where no value is present
    upper: np.ndarray
    weights: np.ndarray  # float64, (n_samples,), or empty where every row counts once
    keeps_orders: bool  # of columns whose distinct values do not fit


@kernel(inline="always")
def bit_length(n: int) -> int:
    """Return the number of bits of a non-negative integer."""
    bits = 0
    while n > 0:
        bits += 1
        n >>= 1
    return bits


@inner_kernel
def _sort_pass(
    keys: np.ndarray,
    order: np.ndarray,
    first_pass: bool,
    last_pass: bool,
    shift: np.uint32,
    mask: np.uint32,
    counts: np.ndarray,
    new_keys: np.ndarray,
    new_order: np.ndarray,
) -> None:
    """Sort stably by one digit.

    Before the first pass the ids are in order, so it does not read them; after the last pass no one
    reads the keys, so it does not write them.
    """
    for digit in range(mask + 1):
        counts[digit] = 0
    for i in range(keys.shape[0]):
        counts[(keys[i] >> shift) & mask] += np.uint32(1)
    total = np.uint32(0)
    for digit in range(mask + 1):
        count = counts[digit]
        counts[digit] = total
        total += count
    for i in range(keys.shape[0]):
        key = keys[i]
        digit = (key >> shift) & mask
        slot = counts[digit]
        counts[digit] = slot + np.uint32(1)
        new_order[slot] = np.uint32(i) if first_pass else order[i]
        if not last_pass:
            new_keys[slot] = key


@kernel
def sort_by_key(keys: np.ndarray, n_bits: int, order: np.ndarray, space: SortSpace) -> None:
    """Sort 0 ... len(keys) - 1 by key, stably: a radix sort.

    Parameters
    ----------
    keys : uint32 array of shape (n,)
        Below 2**n_bits. Overwritten.
    order : uint32 array of shape (n,)
        Receives the ids in ascending order of key.
    space : SortSpace
    """
    n = keys.shape[0]
    spare_order, spare_keys, counts = space.order[:n], space.keys[:n], space.counts
    n_bits = max(n_bits, 1)
    # More counters than items would cost more than they save.
    widest = min(max(bit_length(n), 6), _WIDEST_DIGIT)
    n_passes = (n_bits + widest - 1) // widest
    width = (n_bits + n_passes - 1) // n_passes
    mask = np.uint32((1 << width) - 1)
    for p in range(n_passes):
        # The passes write to two places in turn, and the last one to `order`.
        here, there = (spare_order, order) if (n_passes - p) % 2 == 1 else (order, spare_order)
        from_keys, to_keys = (keys, spare_keys) if p % 2 == 0 else (spare_keys, keys)
        _sort_pass(
            from_keys,
            here,
            p == 0,
            p == n_passes - 1,
            np.uint32(p * width),
            mask,
            counts,
            to_keys,
            there,
        )


@inner_kernel
def _upper_halves(bits: np.ndarray, keys: np.ndarray) -> None:
    """Map the bits of floats to the upper halves of integers of the same order."""
    sign = np.uint64(1) << np.uint64(63)
    for i in range(bits.shape[0]):
        b = bits[i]
        keys[i] = np.uint32((~b if b & sign else b | sign) >> np.uint64(32))


@kernel
def _mend_order(column: np.ndarray, order: np.ndarray) -> bool:
    """Make a nearly ascending order ascending, by insertion; give up where it is too far from it.

    Returns
    -------
    is_ascending : bool
    """
    steps = _MENDING_STEPS * order.shape[0]
    for i in range(1, order.shape[0]):
        item = order[i]
        value = column[item]
        at = i
        while at > 0 and column[order[at - 1]] > value:
            order[at] = order[at - 1]
            at -= 1
        order[at] = item
        steps -= i - at
        if steps < 0:
            return False
    return True


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
def _rank_sorted(
    column: np.ndarray, order: np.ndarray, ranks: np.ndarray, table: np.ndarray
) -> np.int64:
    """Turn an order into ranks; return the number of ranks, 0 if the order is not ascending.

    Missing values come last, and have the rank after that of the last value. ``table`` receives the
    distinct values, up to its end.
    """
    n_present, last = count_present(column, order), np.uint32(table.shape[0] - 1)
    rank = np.uint32(0)
    previous = table[0] = column[order[0]]
    for i in range(n_present):
        value = column[order[i]]
        if value < previous:
            return np.int64(0)
        rank += np.uint32(value > previous)
        previous = value
        ranks[order[i]] = rank
        table[min(rank, last)] = value
    for i in range(n_present, order.shape[0]):
        ranks[order[i]] = rank + np.uint32(1)
        table[min(rank + np.uint32(1), last)] = np.nan
    n_ranks = np.int64(rank) + np.int64(1)
    return n_ranks if n_present == order.shape[0] else n_ranks + np.int64(1)


@kernel
def _rank_from(
    X: np.ndarray,
    first: int,
    last: int,
    is_sorted: bool,
    keeps_orders: bool,
    column: np.ndarray,
    bits: np.ndarray,
    order: np.ndarray,
    table: np.ndarray,
    space: SortSpace,
    ranks: np.ndarray,
    distinct: np.ndarray,
    n_ranks: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> int:
    """Rank the columns ``first`` ... ``last`` - 1 up to the first that is hard to sort.

    ``is_sorted`` says that ``order`` is the first column's already; ``bits`` is the memory of
    ``column`` as integers.

    Returns
    -------
    at : int
        The column that is hard to sort, or ``last``.
    """
    for j in range(first, last):
        for i in range(X.shape[0]):
            column[i] = X[i, j]
        if not is_sorted or j > first:
            # The upper halves of the floats distinguish most values, in half the passes.
            _upper_halves(bits, ranks[j])
            sort_by_key(ranks[j], np.intp(32), order, space)
        n_ranks[j] = _rank_sorted(column, order, ranks[j], table)
        if n_ranks[j] == 0:
            if not _mend_order(column, order):
                return j
            n_ranks[j] = _rank_sorted(column, order, ranks[j], table)
        if n_ranks[j] <= table.shape[0]:
            for rank in range(n_ranks[j]):
                distinct[j, rank] = table[rank]
        elif keeps_orders:
            for i in range(X.shape[0]):
                ranks[j, i] = order[i]
        lower[j] = column[order[0]]
        upper[j] = column[order[max(count_present(column, order) - 1, 0)]]
    return last


def _rank_some(
    X: np.ndarray, keeps_orders: bool, first: int, last: int, *results: np.ndarray
) -> None:
    """Rank the columns ``first`` ... ``last`` - 1, in work space of their own."""
    n_samples, n_distinct = X.shape[0], results[1].shape[1]
    column, table, order, *spare = scratch_together(
        (n_samples, np.float64),
        (n_distinct, np.float64),
        *[(n_samples, np.uint32)] * 3,
        (N_COUNTS, np.uint32),
        dense=True,
    )
    work = column, column.view(np.uint64), order, table, SortSpace(*spare)
    at = _rank_from(X, first, last, False, keeps_orders, *work, *results)
    while at < last:
        order[:] = np.argsort(column)
        at = _rank_from(X, at, last, True, keeps_orders, *work, *results)


def rank_columns(
    X: np.ndarray,
    n_jobs: int = 1,
    weights: np.ndarray | None = None,
    keeps_orders: bool = False,
) -> RankedData:
    """Rank every value among its column's distinct values.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features), C-contiguous, read-only
        NaN is a missing value; its sign bit is not set.
    n_jobs : int, default=1
        Threads; each takes its share of the columns.
    weights : float64 array of shape (n_samples,), optional
        Positive, read-only.
    keeps_orders : bool, default=False
        Whether to keep the orders of columns whose distinct values do not fit; rows that are equal
        come in any order.

    Returns
    -------
    data : RankedData
    """
    n_samples, n_features = X.shape
    (ranks,) = scratch_together(((n_features, n_samples), np.uint32), dense=True)
    n_distinct = min(_MOST_DISTINCT, max(n_samples // _ROWS_PER_DISTINCT, 1))
    results = (
        ranks,
        scratch((n_features, n_distinct), np.float64),
        np.empty(n_features, np.int64),
        np.empty(n_features),
        np.empty(n_features),
    )
    n_jobs = min(n_jobs, n_features)
    limits = np.linspace(0, n_features, n_jobs + 1).astype(int).tolist()
    map_in_threads(
        lambda part: _rank_some(X, keeps_orders, *part, *results), pairwise(limits), n_jobs
    )
    if weights is None:
        weights = read_only(np.empty(0))
    # Trees prepare for orders (`sort_root`), which takes time.
    keeps_orders = keeps_orders and bool((results[2] > n_distinct).any())
    return RankedData(X, *results, weights, keeps_orders)
