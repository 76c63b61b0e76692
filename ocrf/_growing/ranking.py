"""Ranks, once per forest: every value is replaced by its rank in its column.

Where a column has more distinct values than the table of `RankedData.distinct` holds, its order may
be kept in the place of its ranks.

Values are sorted as integers of the same order: the bits of a float, with the sign bit set where it
is positive, and all bits turned over where it is negative. NaN, a missing value, comes last: its
sign bit is not set.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..kernels import inner_kernel, kernel
from ..kernels.arrays import read_only, scratch, scratch_together
from ..kernels.threads import map_in_threads
from .sorting import N_COUNTS, PairSpace, sort_pairs

# Places by which a value may be moved on average to complete an order: that takes about as long as
# sorting by the lower halves.
_MENDING_STEPS = 8

# A table of a column's distinct values is read by rank if it fits the cache, and small beside the
# column.
_MOST_DISTINCT, _ROWS_PER_DISTINCT = 32768, 8

_SIGN = np.uint64(1) << np.uint64(63)
_KEY_OF_INFINITY = np.float64(np.inf).view(np.uint64) | _SIGN


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


@inner_kernel
def _read_column(bits: np.ndarray, j: int, keys: np.ndarray, rows: np.ndarray) -> None:
    """Write the keys of a column, the bits of whose values are given, and their rows."""
    for i in range(bits.shape[0]):
        b = bits[i, j]
        # Both zeros are one value.
        b = np.uint64(0) if b == _SIGN else b
        keys[i] = ~b if b & _SIGN else b | _SIGN
        rows[i] = i


@kernel(inline="always")
def _bits_of(key: np.uint64) -> np.uint64:
    """Return the bits of the value of a key."""
    return key ^ _SIGN if key & _SIGN else ~key


@kernel
def _complete_order(keys: np.ndarray, rows: np.ndarray) -> bool:
    """Make a nearly ascending order ascending, by insertion; give up where it is too far from it.

    Returns
    -------
    is_ascending : bool
    """
    steps = _MENDING_STEPS * keys.shape[0]
    for i in range(1, keys.shape[0]):
        key, row, at = keys[i], rows[i], i
        if keys[i - 1] <= key:
            continue
        while at > 0 and keys[at - 1] > key:
            keys[at], rows[at] = keys[at - 1], rows[at - 1]
            at -= 1
        keys[at], rows[at] = key, row
        steps -= i - at
        if steps < 0:
            return False
    return True


@inner_kernel
def _count_present(keys: np.ndarray) -> int:
    """Count the keys that are not those of missing values, which come last."""
    n = keys.shape[0]
    while n > 0 and keys[n - 1] > _KEY_OF_INFINITY:
        n -= 1
    return n


@inner_kernel
def _rank_sorted(
    keys: np.ndarray, rows: np.ndarray, n_present: int, ranks: np.ndarray, table: np.ndarray
) -> np.int64:
    """Turn ascending keys into ranks; return the number of ranks.

    Missing values have the rank after that of the last value. ``table`` receives the bits of the
    distinct values, up to its end.
    """
    last = np.uint32(table.shape[0] - 1)
    rank, previous = np.uint32(0), keys[0]
    table[0] = _bits_of(previous)
    for i in range(n_present):
        key = keys[i]
        rank += np.uint32(key > previous)
        previous = key
        ranks[rows[i]] = rank
        table[min(rank, last)] = _bits_of(key)
    for i in range(n_present, keys.shape[0]):
        ranks[rows[i]] = rank + np.uint32(1)
        table[min(rank + np.uint32(1), last)] = _bits_of(keys[i])
    return np.int64(rank) + np.int64(1 if n_present == keys.shape[0] else 2)


@kernel
def _rank_some(
    bits: np.ndarray,
    first: int,
    end: int,
    keeps_orders: bool,
    pairs: PairSpace,
    table: np.ndarray,
    ranks: np.ndarray,
    distinct: np.ndarray,
    n_ranks: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> None:
    """Rank the columns ``first`` ... ``end`` - 1; all values are the bits of floats."""
    keys, rows = pairs.keys, pairs.rows
    for j in range(first, end):
        _read_column(bits, j, keys, rows)
        # The upper halves distinguish most values, in half the passes.
        sort_pairs(np.intp(32), pairs)
        if not _complete_order(keys, rows):
            _read_column(bits, j, keys, rows)
            sort_pairs(np.intp(64), pairs)
        n_present = _count_present(keys)
        n_ranks[j] = _rank_sorted(keys, rows, n_present, ranks[j], table)
        if n_ranks[j] <= table.shape[0]:
            for rank in range(n_ranks[j]):
                distinct[j, rank] = table[rank]
        elif keeps_orders:
            for i in range(rows.shape[0]):
                ranks[j, i] = rows[i]
        lower[j], upper[j] = _bits_of(keys[0]), _bits_of(keys[max(n_present - 1, 0)])


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
    distinct = scratch((n_features, n_distinct), np.float64)
    n_ranks = np.empty(n_features, np.int64)
    lower, upper = np.empty(n_features), np.empty(n_features)
    as_bits = [array.view(np.uint64) for array in (distinct, lower, upper)]

    def rank_some(first: int, end: int) -> None:
        pair = (n_samples, np.uint64), (n_samples, np.uint32)
        table, *space = scratch_together(
            (n_distinct, np.uint64), *pair, *pair, ((2, N_COUNTS), np.uint32), dense=True
        )
        results = ranks, as_bits[0], n_ranks, *as_bits[1:]
        _rank_some(X.view(np.uint64), first, end, keeps_orders, PairSpace(*space), table, *results)

    n_jobs = min(n_jobs, n_features)
    limits = np.linspace(0, n_features, n_jobs + 1).astype(int).tolist()
    map_in_threads(lambda part: rank_some(*part), pairwise(limits), n_jobs)
    if weights is None:
        weights = read_only(np.empty(0))
    # Trees prepare for orders (`sort_root`), which takes time.
    keeps_orders = keeps_orders and bool((n_ranks > n_distinct).any())
    return RankedData(X, ranks, distinct, n_ranks, lower, upper, weights, keeps_orders)
