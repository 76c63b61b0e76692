"""Numbers as the programs of 2016 had them: a xorshift, sampling by rejection, single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ocrf.kernels import njit

#: One more than the largest seed that a generator hands on.
SEED_BOUND = 2**31 - 1
_BATCH = 1 << 14  # numbers drawn at a time


@njit(cache=True, nogil=True)
def next_integer(state: NDArray[np.uint32]) -> Any:
    """Advance a xorshift and return its lower 31 bits.

    Parameters
    ----------
    state : uint32 ndarray of shape (1,)
        Changed in place.

    Returns
    -------
    int
    """
    word = state[0]
    word ^= np.uint32(word << np.uint32(13))
    word ^= np.uint32(word >> np.uint32(17))
    word ^= np.uint32(word << np.uint32(5))
    state[0] = word
    return np.int64(word) & 0x7FFFFFFF


@njit(cache=True, nogil=True)
def integer_between(low: int, high: int, state: NDArray[np.uint32]) -> int:
    """Draw an integer from ``low`` ... ``high`` - 1."""
    return low + next_integer(state) % (high - low)


@njit(cache=True, nogil=True)
def uniform_between(low: float, high: float, state: NDArray[np.uint32]) -> float:
    """Draw a number from [low, high]."""
    return (high - low) * np.float64(next_integer(state)) / SEED_BOUND + low


def sample_by_rejection(rng: np.random.RandomState, n: int, k: int) -> NDArray[np.int64]:
    """Draw k of the integers 0 ... n - 1, in the order drawn: repeat until enough are distinct.

    Parameters
    ----------
    rng : RandomState
        Advanced as if the numbers were drawn one by one.
    n, k : int
        0 <= k <= n.

    Returns
    -------
    sample : ndarray of shape (k,)
    """
    sample = np.empty(k, dtype=np.int64)
    seen = np.zeros(n, dtype=np.bool_)
    n_found = 0
    while n_found < k:
        n_found = _add_distinct(
            rng.randint(n, size=min(_BATCH, k - n_found)), seen, sample, n_found
        )
    return sample


@njit(cache=True, nogil=True)
def _add_distinct(
    drawn: NDArray[np.int64],
    seen: NDArray[np.bool_],
    sample: NDArray[np.int64],
    n_found: int,
) -> int:
    """Add what has not been seen to the sample, and return how many it has now."""
    for value in drawn:
        if not seen[value]:
            seen[value] = True
            sample[n_found] = value
            n_found += 1
    return n_found


def single_precision(X: NDArray[np.float64]) -> NDArray[np.float32]:
    """Round to single precision, in which the programs of that time held their points.

    Raises
    ------
    ValueError
        If a column might span more than single precision can hold.
    """
    if np.abs(X).max() > np.finfo(np.float32).max / 2:
        raise ValueError("the programs of 2016 are in single precision, which these values exceed")
    return X.astype(np.float32)
