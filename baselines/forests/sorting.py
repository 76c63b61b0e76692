"""Sort the points of a node by the rank of one feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ocrf.kernels import kernel

#: Below this many keys an insertion sort beats the set-up of the radix sort's 256 counters.
INSERTION_LIMIT = 48


@kernel
def sort_keys(
    keys: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    counts: NDArray[np.int64],
    size: int,
    low: int,
    high: int,
) -> None:
    """Sort ``keys[:size]`` in place.

    Parameters
    ----------
    keys, scratch : ndarray of uint64
        A key holds a rank in its upper and a point in its lower 32 bits.
    counts : ndarray of shape (256,)
        Work space.
    size : int
        Number of keys.
    low, high : int
        Smallest and largest rank among them. Deep in a tree the two are close, which saves passes:
        the radix sort looks at the bits of ``rank - low`` only.
    """
    if size <= INSERTION_LIMIT:
        for i in range(1, size):
            key = keys[i]
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return

    digit_mask = np.uint64(255)
    offset = np.uint64(low)
    span = high - low
    shift = np.uint64(0)
    source, target = keys, scratch
    n_passes = 0
    while span > 0:
        counts[:] = 0
        for i in range(size):
            counts[(((source[i] >> np.uint64(32)) - offset) >> shift) & digit_mask] += 1
        total = 0
        for digit in range(256):
            count = counts[digit]
            counts[digit] = total
            total += count
        for i in range(size):
            digit_of_key = (((source[i] >> np.uint64(32)) - offset) >> shift) & digit_mask
            target[counts[digit_of_key]] = source[i]
            counts[digit_of_key] += 1
        source, target = target, source
        shift += np.uint64(8)
        span >>= 8
        n_passes += 1
    if n_passes % 2 == 1:
        for i in range(size):
            keys[i] = scratch[i]
