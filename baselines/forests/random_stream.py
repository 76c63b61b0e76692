"""A random stream for compiled code: its state is an argument, so threads share nothing."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def next_bits(state: NDArray[np.uint64]) -> np.uint64:
    """Advance `state`, of shape (1,), by one step and return 64 random bits (splitmix64)."""
    state[0] += GOLDEN
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND
    return bits ^ (bits >> np.uint64(31))


@njit(cache=True, nogil=True)
def uniform_integer(state: NDArray[np.uint64], high: int) -> int:
    """Draw an integer from [0, high), for `high` up to 2**31.

    The 53 high bits times `high`: its bias is below 2**-22 and it needs no division.
    """
    return int(np.float64(next_bits(state) >> np.uint64(11)) * (high * 2.0**-53))


@njit(cache=True, nogil=True)
def bootstrap_counts(state: NDArray[np.uint64], n_samples: int) -> NDArray[np.int32]:
    """Return how often each of `n_samples` points is drawn in `n_samples` draws."""
    counts = np.zeros(n_samples, dtype=np.int32)
    for _ in range(n_samples):
        counts[uniform_integer(state, n_samples)] += 1
    return counts
