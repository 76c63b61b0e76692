"""Well-mixed bits, and hashes that tell data apart where nobody forges them."""

from __future__ import annotations

import numpy as np

from .arrays import read_only
from .decorators import kernel

# splitmix64 (Steele, Lea and Flood, 2014): the state advances by GOLDEN, `mix` makes the output.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_HALF = np.uint64(32)


@kernel(inline="always")
def mix(z: np.uint64) -> np.uint64:
    """Return 64 well-mixed bits of ``z`` (uint64)."""
    z = (z ^ (z >> _SHIFT_30)) * _MULTIPLIER_1
    z = (z ^ (z >> _SHIFT_27)) * _MULTIPLIER_2
    return z ^ (z >> _SHIFT_31)


@kernel(inline="always")
def absorb(hash_: np.uint64, word: np.uint64) -> np.uint64:
    """Return the hash of a sequence of words with another word appended."""
    hash_ = (hash_ ^ word) * GOLDEN
    return hash_ ^ (hash_ >> _HALF)


@kernel
def _hash_words(words: np.ndarray) -> np.uint64:
    """Hash words in four sequences, whose multiplications do not wait for one another."""
    a = b = c = d = np.uint64(words.shape[0])
    whole = words.shape[0] - words.shape[0] % 4
    for i in range(0, whole, 4):
        a, b = absorb(a, words[i]), absorb(b, words[i + 1])
        c, d = absorb(c, words[i + 2]), absorb(d, words[i + 3])
    for i in range(whole, words.shape[0]):
        a = absorb(a, words[i])
    return mix(absorb(absorb(absorb(a, b), c), d))


def digest(array: np.ndarray) -> str:
    """Return the hexadecimal digits of a hash of an array's values, in their order.

    Every fit needs it, and a cryptographic hash takes thirteen times as long.

    Parameters
    ----------
    array : float64 array, C-contiguous
    """
    return f"{int(_hash_words(read_only(array).reshape(-1).view(np.uint64))):016x}"
