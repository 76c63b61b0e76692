"""Finding rows that occur several times: equal rows have equal scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import kernel
from ..kernels.arrays import read_only, scratch_together
from ..kernels.hashing import absorb

# Fewer rows are scored before their repeats would be found.
_FEWEST_ROWS = 256

# The search goes on if at least so many of the first eighth of the rows are repeats. Their share
# grows with the rows looked at, and repeats take a fiftieth of the time of scoring to find.
_LOOK, _FEWEST_REPEATS = 1 / 8, 1 / 100

_LOW_32, _ONE = np.uint64(0xFFFFFFFF), np.uint64(1)


class Repeats(NamedTuple):
    """The rows of a table, some of which are equal."""

    first: np.ndarray  # uint32, (n_distinct,): where each distinct row occurs first, ascending
    place: np.ndarray  # uint32, (n_rows,): the place in `first` of the row that each row equals


@kernel
def _find_repeats(
    words: np.ndarray,
    start: int,
    stop: int,
    n_distinct: int,
    table: np.ndarray,
    first: np.ndarray,
    place: np.ndarray,
) -> int:
    """Look at the rows ``start`` ... ``stop`` - 1; return how many distinct rows there are so far.

    Parameters
    ----------
    words : uint64 array of shape (n_rows, n_features)
        The bits of the values: 0 and -0 are different, which costs time only.
    start, stop, n_distinct : int
    table : uint64 array of a power of two as length
        Open addressing. An entry's upper half is the upper half of the row's hash, its lower half
        the row's place in ``first`` plus 1; an empty entry is zero.
    first, place : uint32 arrays of shape (n_rows,)
        As in `Repeats`.
    """
    last_slot = np.uint64(table.shape[0] - 1)
    for i in range(start, stop):
        hash_ = np.uint64(0)
        for j in range(words.shape[1]):
            hash_ = absorb(hash_, words[i, j])
        mark = hash_ & ~_LOW_32
        slot = hash_ & last_slot
        while True:
            entry = table[slot]
            if entry == 0:
                first[n_distinct], place[i] = i, n_distinct
                n_distinct += 1
                table[slot] = mark | np.uint64(n_distinct)
                break
            if entry & ~_LOW_32 == mark:
                known = np.uintp((entry & _LOW_32) - _ONE)
                row, is_equal = np.uintp(first[known]), True
                for j in range(words.shape[1]):
                    is_equal &= words[row, j] == words[i, j]
                if is_equal:
                    place[i] = known
                    break
            slot = (slot + _ONE) & last_slot
    return n_distinct


def find_repeats(rows: np.ndarray, n_trees: int) -> Repeats | None:
    """Find the rows that occur several times, unless that is not likely to save time.

    Parameters
    ----------
    rows : float64 array of shape (n_rows, n_features), C-contiguous
    n_trees : int
        Hashing more values than this for a row may take as long as scoring it.

    Returns
    -------
    repeats : Repeats or None
    """
    n_rows, n_features = rows.shape
    if n_rows < _FEWEST_ROWS or n_features > n_trees:
        return None
    table, first, place = scratch_together(
        (2 << n_rows.bit_length(), np.uint64), (n_rows, np.uint32), (n_rows, np.uint32)
    )
    words, looked_at = read_only(rows).view(np.uint64), int(_LOOK * n_rows)
    n_distinct = _find_repeats(words, 0, looked_at, 0, table, first, place)
    if n_distinct > (1 - _FEWEST_REPEATS) * looked_at:
        return None
    n_distinct = _find_repeats(words, looked_at, n_rows, n_distinct, table, first, place)
    return Repeats(first[:n_distinct], place)
