"""Rows on their way down a tree, and the nodes that they meet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import inner_kernel

# The second word of a node: the feature above SHIFT, the left child below it (`tree`).
SHIFT = np.uint64(32)
LOW_32 = np.uint64(0xFFFFFFFF)

# The highest bit of the second word, where values may be missing: rows without one go right.
MISSING_RIGHT = np.uint64(1 << 63)
FEATURE = np.uint64(0x7FFFFFFF)

# Bytes of a block's columns, and its most rows. More rows make longer lists in large trees; fewer
# fit the second-level cache. Lists count rows in 16 bits.
_BLOCK_BYTES, _MOST_ROWS = 4 * 1024 * 1024, 16384

# Reading a tree's nodes pays for at least so many rows, unless these take more memory than this.
_FEW_ROWS, _MOST_BLOCK_BYTES = 256, 16 * 1024 * 1024

# So many rows are marked (`marked_rows`), and follow so many splits at most.
FEWEST_MARKED, MOST_SPLITS = 512, 32

# Of the lists that a node's rows become, all but the last one to be taken hold half of the rows at
# most: each halving of the rows adds at most MOST_SPLITS lists.
_MOST_PENDING = _MOST_ROWS.bit_length() * (MOST_SPLITS + 1)


class Block(NamedTuple):
    """A block of rows, and what a traversal works with."""

    columns: np.ndarray  # float64, (n_features, size): the rows by feature; marks may go beyond
    lists: np.ndarray  # uint16, (2, size): rows by node; a node's children use the other list
    pending: np.ndarray  # intp, (_MOST_PENDING, 4): node, start, end, index of the list
    # For `marked_rows`:
    marks: np.ndarray  # uint8, (2, size, rounded up to 8)
    words: np.ndarray  # uint64: the same memory
    found: np.ndarray  # uint16, (size / 8, rounded up,)


def new_block(n_features: int, size: int) -> Block:
    """Allocate a block of up to ``size`` rows."""
    n_words = -(-size // 8)
    words = np.empty((2, n_words), np.uint64)
    return Block(
        # As wide as the marks, if there will be any: very wide data have blocks of a few rows.
        columns=np.empty((n_features, 8 * n_words if size >= FEWEST_MARKED else size)),
        lists=np.empty((2, size), np.uint16),
        pending=np.empty((_MOST_PENDING, 4), np.intp),
        marks=words.view(np.uint8),
        words=words,
        found=np.empty(n_words, np.uint16),
    )


def block_rows(n_features: int) -> int:
    """Return the number of rows in a block."""
    row_bytes = 8 * n_features
    few = max(min(_FEW_ROWS, _MOST_BLOCK_BYTES // row_bytes), 1)
    return min(max(_BLOCK_BYTES // row_bytes, few), _MOST_ROWS)


@inner_kernel
def load_block(X: np.ndarray, start: int, stop: int, columns: np.ndarray) -> None:
    """Copy rows ``start`` ... ``stop - 1`` of ``X`` into ``columns``, feature by feature."""
    for i in range(start, stop):
        for j in range(X.shape[1]):
            columns[j, i - start] = X[i, j]


@inner_kernel(forceinline=True)
def add_pending(block: Block, at: int, node: np.uintp, start: int, end: int, which: int) -> int:
    """Put down a node whose rows are ``lists[which, start:end]``; return the place after it."""
    pending = block.pending
    pending[at, 0], pending[at, 1], pending[at, 2], pending[at, 3] = node, start, end, which
    return at + 1
