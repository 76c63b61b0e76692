"""Small random streams for the kernels: one per tree and one per node, whatever the thread.

numba's own generator is a hidden state of the thread. Here the state is an argument, so that a
tree depends on its seed alone, and a node on its seed and its place in the tree: the order in
which nodes are visited, and the threads that visit them, leave no trace.

The generator is splitmix64 (Steele, Lea and Flood, 2014).
"""

from __future__ import annotations

import numpy as np
from numba import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_11, _SHIFT_32 = np.uint64(11), np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)

# What a stream is for is part of its seed, so that no two streams of a tree overlap.
STREAM_SAMPLES, STREAM_FEATURES, STREAM_GAMMA, STREAM_NODES = (np.uint64(i) for i in range(1, 5))


@njit(cache=True, nogil=True, inline="always")
def mix(z: np.uint64) -> np.uint64:
    """Return 64 well-mixed bits of ``z`` (uint64)."""
    z = (z ^ (z >> _SHIFT_30)) * _MULTIPLIER_1
    z = (z ^ (z >> _SHIFT_27)) * _MULTIPLIER_2
    return z ^ (z >> _SHIFT_31)


@njit(cache=True, nogil=True, inline="always")
def derive(seed: np.uint64, stream: np.uint64) -> np.uint64:
    """Return the seed of a stream of its own: a purpose of a tree, or a child of a node."""
    return mix(seed + GOLDEN * (stream + np.uint64(1)))


@njit(cache=True, nogil=True, inline="always")
def next_below(state: np.uint64, bound: int) -> tuple[np.uint64, np.int64]:
    """Advance ``state`` and draw an integer in [0, bound), exactly uniform for bound <= 2**32.

    Lemire's multiplication, with the rejection that removes its bias.

    Returns
    -------
    (state, value) : (uint64, int64)
    """
    limit = np.uint64(bound)
    while True:
        state += GOLDEN
        product = (mix(state) >> _SHIFT_32) * limit
        low = product & _LOW_32
        # The costly modulo is needed only in the rare case that the draw may be rejected.
        if low >= limit or low >= ((_LOW_32 + np.uint64(1)) - limit) % limit:
            return state, np.int64(product >> _SHIFT_32)


@njit(cache=True, nogil=True, inline="always")
def uniform(seed: np.uint64) -> float:
    """Return the float in [0, 1) that belongs to ``seed``."""
    return np.float64(mix(seed + GOLDEN) >> _SHIFT_11) * 2.0**-53
