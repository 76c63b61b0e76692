"""A random stream for compiled code: its state is an argument, so threads share nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ocrf.kernels import GOLDEN, kernel, mix, njit


@kernel
def next_bits(state: NDArray[np.uint64]) -> np.uint64:
    """Advance `state`, of shape (1,), by one step and return 64 random bits (splitmix64)."""
    state[0] += GOLDEN
    return mix(state[0])


@kernel
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
