"""Random streams for compiled code, and what a tree draws: its rows, its features and its gamma.

numba's own generator is a hidden state of the thread. Here the state is an argument: a tree depends
on its seed alone, and a node on its seed and its place in the tree, whatever the order in which
nodes are visited and the threads that visit them.
"""

from __future__ import annotations

import numpy as np

from ..kernels import GOLDEN, inner_kernel, kernel, mix, njit

_SHIFT_11, _SHIFT_32 = np.uint64(11), np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_SIX, _LOW_6, _ONE = np.uint64(6), np.uint64(63), np.uint64(1)

# The purpose of a stream is part of its seed, so that no two streams of a tree overlap.
_STREAM_SAMPLES, _STREAM_FEATURES, _STREAM_GAMMA, STREAM_NODES = (np.uint64(i) for i in range(1, 5))


@kernel(inline="always")
def derive(seed: np.uint64, stream: np.uint64) -> np.uint64:
    """Return the seed of a separate stream: of a purpose of a tree, or of a child of a node."""
    return mix(seed + GOLDEN * (stream + np.uint64(1)))


@kernel(inline="always")
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


@kernel(inline="always")
def uniform(seed: np.uint64) -> float:
    """Return the float in [0, 1) that belongs to ``seed``."""
    return np.float64(mix(seed + GOLDEN) >> _SHIFT_11) * 2.0**-53


@inner_kernel(is_apart=True)
def _draw_into(seed: np.uint64, n_total: int, bitmap: np.ndarray, chosen: np.ndarray) -> None:
    """Draw ``len(chosen) - 1`` of ``range(n_total)`` without replacement, in ascending order.

    Floyd's algorithm: as many draws as items wanted and one bit per item of the total, whatever the
    total. ``bitmap`` is all zero before and after; the last place of ``chosen`` is work space.
    """
    n_chosen = chosen.shape[0] - 1
    if n_chosen == n_total:
        for i in range(n_total):
            chosen[i] = i
        return
    state = seed
    for last in range(n_total - n_chosen, n_total):
        state, drawn = next_below(state, last + 1)
        item = np.uint64(drawn)
        taken = bitmap[item >> _SIX] & (_ONE << (item & _LOW_6))
        # A choice of two values rather than a branch, which could not be predicted.
        item = np.uint64(last) if taken else item
        bitmap[item >> _SIX] |= _ONE << (item & _LOW_6)
    k = np.uint64(0)
    for word in range((n_total + 63) // 64):
        bits = bitmap[word]
        bitmap[word] = np.uint64(0)
        for number in range(64 * word, 64 * word + 64):
            # Every number is written; the place advances, which keeps it, if its bit is set.
            chosen[k] = number
            k += bits & _ONE
            bits >>= _ONE


@kernel(inline="always")
def draw_samples(
    tree_seed: np.uint64, n_samples: int, bitmap: np.ndarray, rows: np.ndarray
) -> None:
    """Draw a tree's sub-sample into ``rows[:-1]``, ascending. ``bitmap``: zeros, a bit per row."""
    _draw_into(derive(tree_seed, _STREAM_SAMPLES), n_samples, bitmap, rows)


@kernel(inline="always")
def draw_features(
    tree_seed: np.uint64, n_features: int, bitmap: np.ndarray, features: np.ndarray
) -> None:
    """Draw a tree's features into ``features[:-1]``, ascending. ``bitmap``: zeros, a bit each."""
    _draw_into(derive(tree_seed, _STREAM_FEATURES), n_features, bitmap, features)


@kernel(inline="always")
def draw_gamma(tree_seed: np.uint64, low: float, high: float) -> float:
    """Draw a tree's gamma from [low, high], uniformly on a logarithmic scale."""
    share = uniform(derive(tree_seed, _STREAM_GAMMA))
    drawn = np.exp(np.log(low) + share * (np.log(high) - np.log(low)))
    return low if low == high else drawn


@njit(cache=True, nogil=True)
def sample_rows(tree_seed: np.uint64, n_samples: int, n_chosen: int) -> np.ndarray:
    """Return the sub-sample of the tree of that seed: ascending row numbers, shape (n_chosen,)."""
    bitmap = np.zeros((n_samples + 63) // 64, np.uint64)
    rows = np.empty(n_chosen + 1, np.uint32)
    draw_samples(tree_seed, n_samples, bitmap, rows)
    return rows[:-1]


@njit(cache=True, nogil=True)
def sample_features(tree_seed: np.uint64, n_features: int, n_chosen: int) -> np.ndarray:
    """Return the features of the tree of that seed: ascending columns, shape (n_chosen,)."""
    bitmap = np.zeros((n_features + 63) // 64, np.uint64)
    features = np.empty(n_chosen + 1, np.uint32)
    draw_features(tree_seed, n_features, bitmap, features)
    return features[:-1]
