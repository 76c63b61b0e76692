"""Go forward in the Mersenne Twister by whole blocks, without making its numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ocrf.kernels import njit

#: Words of the state, which are also the words that one step of it makes.
BLOCK = 624
_APART = 397


def skip(generator: np.random.RandomState, words: int) -> None:
    """Drop the next 32-bit words of a generator: 30 million take some hundredths of a second."""
    name, key, place, *gauss = generator.get_state(legacy=True)
    # A place is in 1 ... BLOCK: where nothing is left, the next word begins with a new block.
    blocks, rest = divmod(int(place) + words - 1, BLOCK)
    state = np.array(key, dtype=np.uint32)
    _next_blocks(state, blocks)
    generator.set_state((name, state, rest + 1, *gauss))


@njit(cache=True, nogil=True)
def _next_blocks(state: NDArray[np.uint32], n: int) -> None:
    """Replace the state by the one n blocks on (Matsumoto and Nishimura 1998), in place."""
    for _ in range(n):
        # Three loops, in none of which a word depends on one of the same loop.
        for i in range(BLOCK - _APART):
            state[i] = state[i + _APART] ^ _mixed(state[i], state[i + 1])
        for i in range(BLOCK - _APART, BLOCK - 1):
            state[i] = state[i + _APART - BLOCK] ^ _mixed(state[i], state[i + 1])
        state[BLOCK - 1] = state[_APART - 1] ^ _mixed(state[BLOCK - 1], state[0])


@njit(cache=True, nogil=True, inline="always")
def _mixed(high: np.uint32, low: np.uint32) -> np.uint32:
    word = (high & np.uint32(0x80000000)) | (low & np.uint32(0x7FFFFFFF))
    odd = np.uint32(0) - (word & np.uint32(1))
    return np.uint32((word >> np.uint32(1)) ^ (odd & np.uint32(0x9908B0DF)))
