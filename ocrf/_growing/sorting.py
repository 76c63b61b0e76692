"""Radix sorts: of points by their ranks, and of values with the rows that they stand in.

What is sorted and what it is sorted by move together, so that no pass reads memory at random. A
pass counts the digits of the next one, which saves a reading.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import inner_kernel, kernel

# Digits have at most so many bits: the counters fit the first-level cache.
_WIDEST_DIGIT = 11
N_COUNTS = 1 << _WIDEST_DIGIT

# The places that a pass writes to are far apart where there are more items than these: fewer of
# them take less time, even in more passes.
_MANY_ITEMS, _BYTE = 2**18, 8

_ONE, _32, _64 = np.uint64(1), np.uint64(32), np.uint64(64)


class SortSpace(NamedTuple):
    """Work space of `sort_items` for up to n items."""

    items: np.ndarray  # uint64, (n,)
    spare: np.ndarray  # uint64, (n,)
    counts: np.ndarray  # uint32, (2, N_COUNTS)


class PairSpace(NamedTuple):
    """Work space of `sort_pairs` for n pairs."""

    keys: np.ndarray  # uint64, (n,)
    rows: np.ndarray  # uint32, (n,)
    spare_keys: np.ndarray  # uint64, (n,)
    spare_rows: np.ndarray  # uint32, (n,)
    counts: np.ndarray  # uint32, (2, N_COUNTS)


@kernel(inline="always")
def bit_length(n: int) -> int:
    """Return the number of bits of a non-negative integer."""
    bits = 0
    while n > 0:
        bits += 1
        n >>= 1
    return bits


@kernel(inline="always")
def packed(key: int, point: int) -> np.uint64:
    """Return the item of a point: its key, below 2**32, above its number."""
    return (np.uint64(key) << _32) | np.uint64(point)


@kernel(inline="always")
def key_of(item: np.uint64) -> np.uint64:
    """Return the key of an item."""
    return item >> _32


@inner_kernel
def _clear(counts: np.ndarray, mask: np.uint64) -> None:
    """Set the counts of all digits to zero."""
    for digit in range(mask + _ONE):
        counts[digit] = 0


@inner_kernel
def _count(keys: np.ndarray, shift: np.uint64, mask: np.uint64, counts: np.ndarray) -> None:
    """Count the keys of each digit."""
    _clear(counts, mask)
    for i in range(keys.shape[0]):
        counts[(keys[i] >> shift) & mask] += np.uint32(1)


@inner_kernel
def _find_slots(counts: np.ndarray, mask: np.uint64) -> None:
    """Turn the count of each digit into the first place of its items."""
    total = np.uint32(0)
    for digit in range(mask + _ONE):
        count = counts[digit]
        counts[digit] = total
        total += count


@inner_kernel
def _move_items(
    items: np.ndarray,
    shift: np.uint64,
    mask: np.uint64,
    slots: np.ndarray,
    next_shift: np.uint64,
    next_counts: np.ndarray,
    target: np.ndarray,
) -> None:
    """Write the items to the places of their digits, and count the next digits."""
    for i in range(items.shape[0]):
        item = items[i]
        digit = (item >> shift) & mask
        next_counts[(item >> next_shift) & mask] += np.uint32(1)
        slot = slots[digit]
        slots[digit] = slot + np.uint32(1)
        target[slot] = item


@inner_kernel
def _move_points(
    items: np.ndarray, shift: np.uint64, mask: np.uint64, slots: np.ndarray, order: np.ndarray
) -> None:
    """Write the points of the items to the places of their last digits."""
    for i in range(items.shape[0]):
        item = items[i]
        digit = (item >> shift) & mask
        slot = slots[digit]
        slots[digit] = slot + np.uint32(1)
        order[slot] = np.uint32(item)


@kernel
def sort_items(n: int, n_bits: int, space: SortSpace, order: np.ndarray) -> None:
    """Sort points by key, stably.

    Parameters
    ----------
    n : int
        Items; ``space.items`` begins with them (`packed`), and is overwritten.
    n_bits : int
        Keys are below 2**n_bits.
    space : SortSpace
    order : uint32 array of shape (n,)
        Receives the points in ascending order of key.
    """
    n_bits = max(n_bits, 1)
    # More counters than items would cost more than they save.
    widest = min(max(bit_length(n), 6), _BYTE if n > _MANY_ITEMS else _WIDEST_DIGIT)
    n_passes = (n_bits + widest - 1) // widest
    width = np.uint64((n_bits + n_passes - 1) // n_passes)
    mask, shift = (_ONE << width) - _ONE, _32
    items, spare = space.items[:n], space.spare[:n]
    _count(items, shift, mask, space.counts[0])
    for p in range(n_passes):
        source, target = (items, spare) if p % 2 == 0 else (spare, items)
        slots, next_counts = space.counts[p % 2], space.counts[1 - p % 2]
        _find_slots(slots, mask)
        if p == n_passes - 1:
            _move_points(source, shift, mask, slots, order)
        else:
            _clear(next_counts, mask)
            _move_items(source, shift, mask, slots, shift + width, next_counts, target)
        shift += width


@inner_kernel
def _move_pairs(
    keys: np.ndarray,
    rows: np.ndarray,
    shift: np.uint64,
    mask: np.uint64,
    slots: np.ndarray,
    next_counts: np.ndarray,
    target_keys: np.ndarray,
    target_rows: np.ndarray,
) -> None:
    """Write the pairs to the places of their bytes, and count the next bytes."""
    next_shift = min(shift + np.uint64(_BYTE), _64 - np.uint64(_BYTE))
    for i in range(keys.shape[0]):
        key = keys[i]
        digit = (key >> shift) & mask
        next_counts[(key >> next_shift) & mask] += np.uint32(1)
        slot = slots[digit]
        slots[digit] = slot + np.uint32(1)
        target_keys[slot], target_rows[slot] = key, rows[i]


@kernel
def sort_pairs(n_bits: int, pairs: PairSpace) -> None:
    """Sort keys by their upper bits, stably, and the rows with them.

    Parameters
    ----------
    n_bits : int
        32, or 64 for all of them.
    pairs : PairSpace
        ``keys`` and ``rows`` are sorted.
    """
    mask, counts = (_ONE << np.uint64(_BYTE)) - _ONE, pairs.counts
    shift = _64 - np.uint64(n_bits)
    _count(pairs.keys, shift, mask, counts[0])
    # An even number of passes ends where it began.
    for p in range(n_bits // _BYTE):
        _find_slots(counts[p % 2], mask)
        _clear(counts[1 - p % 2], mask)
        here, there = (pairs.keys, pairs.rows), (pairs.spare_keys, pairs.spare_rows)
        if p % 2 == 1:
            here, there = there, here
        _move_pairs(*here, shift, mask, counts[p % 2], counts[1 - p % 2], *there)
        shift += np.uint64(_BYTE)
