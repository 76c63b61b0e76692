"""Digests of a preprocessed table: one without the order of its rows, one with it.

Every source of a data set must serve the table with the first. Its rows may come in any order
(OpenML and UCI need not agree). The last bit of a logarithm depends on the processor, so each value
is rounded to single precision before it is hashed. The order of the columns counts in both.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

# The constants of splitmix64's finaliser: a bijection of 64-bit words in which every input bit
# flips every output bit with probability close to one half.
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
# Rows that are hashed together: their words stay in the processor's cache.
_BLOCK = 1 << 14
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def row_hashes(X: NDArray[np.float64], y: NDArray[np.int8]) -> NDArray[np.uint64]:
    """Hash every row, with its label, to a 64-bit word.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Labels.

    Returns
    -------
    ndarray of shape (n_samples,), uint64
        Equal for equal rows (values compared in single precision, and -0 equal to 0).
    """
    words = y.astype(np.uint64)
    with np.errstate(over="ignore"):  # a value beyond single precision counts as infinite
        for start in range(0, len(words), _BLOCK):
            block = words[start : start + _BLOCK]
            _mix(block)
            # Adding 0 turns -0 into 0.
            singles = (X[start : start + _BLOCK].T + 0.0).astype(np.float32)
            for column in singles:
                block ^= np.ascontiguousarray(column).view(np.uint32)
                _mix(block)
    return words


def _mix(words: NDArray[np.uint64]) -> None:
    """Apply splitmix64's step to every word, in place."""
    words += _INCREMENT
    for shift, multiplier in zip(_SHIFTS, _MULTIPLIERS, strict=False):
        words ^= words >> shift
        words *= multiplier
    words ^= words >> _SHIFTS[-1]


def table_digest(X: NDArray[np.float64], y: NDArray[np.int8]) -> str:
    """Digest a table, whatever the order of its rows.

    Returns
    -------
    str
        32 hexadecimal digits: half of the sha256 of the shape and of the sorted row hashes.
    """
    return _digest(X.shape, np.sort(row_hashes(X, y)))


def ordered_digest(X: NDArray[np.float64], y: NDArray[np.int8]) -> str:
    """Digest a table with its rows in the order that they have.

    A protocol that cuts a table in file order depends on it; the others do not.

    Returns
    -------
    str
        32 hexadecimal digits: half of the sha256 of the shape and of the row hashes.
    """
    return _digest(X.shape, row_hashes(X, y))


def _digest(shape: tuple[int, ...], hashes: NDArray[np.uint64]) -> str:
    state = hashlib.sha256(f"{shape[0]}x{shape[1]}:".encode())
    state.update(hashes.astype("<u8").tobytes())
    return state.hexdigest()[:32]
