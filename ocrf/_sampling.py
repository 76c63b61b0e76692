"""What a tree draws before it grows: its rows, its features and its gamma."""

from __future__ import annotations

import numpy as np
from numba import njit

from ._random import STREAM_FEATURES, STREAM_GAMMA, STREAM_SAMPLES, derive, next_below, uniform

_SIX, _LOW_6, _ONE = np.uint64(6), np.uint64(63), np.uint64(1)


@njit(cache=True, nogil=True)
def _draw_into(seed: np.uint64, n_total: int, bitmap: np.ndarray, chosen: np.ndarray) -> None:
    """Draw ``len(chosen) - 1`` of ``range(n_total)`` without replacement, in ascending order.

    Floyd's algorithm: as many draws as items wanted and one bit per item of the total, whatever the
    total. ``bitmap`` comes in and goes out all zero; the last place of ``chosen`` is scratch.
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
            # Every number is written, and kept if its bit makes the place advance.
            chosen[k] = number
            k += bits & _ONE
            bits >>= _ONE


@njit(cache=True, nogil=True)
def draw_samples(
    tree_seed: np.uint64, n_samples: int, bitmap: np.ndarray, rows: np.ndarray
) -> None:
    """Draw a tree's sub-sample into ``rows[:-1]``, ascending. ``bitmap``: zeros, a bit per row."""
    _draw_into(derive(tree_seed, STREAM_SAMPLES), n_samples, bitmap, rows)


@njit(cache=True, nogil=True)
def draw_features(
    tree_seed: np.uint64, n_features: int, bitmap: np.ndarray, features: np.ndarray
) -> None:
    """Draw a tree's features into ``features[:-1]``, ascending. ``bitmap``: zeros, a bit each."""
    _draw_into(derive(tree_seed, STREAM_FEATURES), n_features, bitmap, features)


@njit(cache=True, nogil=True)
def draw_gamma(tree_seed: np.uint64, low: float, high: float) -> float:
    """Draw a tree's gamma from [low, high], uniformly on a logarithmic scale."""
    if low == high:
        return low
    share = uniform(derive(tree_seed, STREAM_GAMMA))
    return np.exp(np.log(low) + share * (np.log(high) - np.log(low)))


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
