"""Traversing a tree with marked rows, where most of them stay together.

Most splits cut off few of a node's rows. With lists, all the others are copied at every split, and
the value of each is looked up. Here the rows of a node are bytes, one for each row of a range of
the block: a split compares the whole range with its threshold, many values in one instruction, and
only the rows that are cut off become a list. This goes on from the node to the child with more
rows, until these are too few for their range.
"""

from __future__ import annotations

import numpy as np

from ..kernels import inner_kernel
from .row_block import FEWEST_MARKED, LOW_32, MOST_SPLITS, SHIFT, Block, add_pending

# Measured: a node's rows are marked if more than one in so many of their range are its.
_RANGE_PER_ROW = 3

_ONE, _EIGHT = np.uintp(1), np.uintp(8)
_NO_MARK, _ALL_MARKS = np.uint64(0), np.uint64(0x0101010101010101)
_HIGHEST_BYTE = np.uint64(56)


@inner_kernel
def _ends(rows: np.ndarray) -> tuple[int, int]:
    """Return the lowest and the highest row of a list, which ascends or descends."""
    a, b = int(rows[0]), int(rows[rows.shape[0] - 1])
    return (a, b) if a < b else (b, a)


@inner_kernel
def _pays(n_rows: int, n_range: int) -> bool:
    """Tell whether marking rows takes less time than a list of them."""
    return n_rows >= FEWEST_MARKED and n_range < _RANGE_PER_ROW * n_rows


@inner_kernel
def stay_together(rows: np.ndarray) -> bool:
    """Tell whether the rows of a list are to be marked."""
    lowest, highest = _ends(rows)
    return _pays(rows.shape[0], highest - lowest)


@inner_kernel
def _mark(rows: np.ndarray, first: int, marks: np.ndarray) -> None:
    """Mark the rows of a list, and no others; the first mark is that of the row ``first``."""
    marks[:] = 0
    lowest, highest = _ends(rows)
    if highest - lowest == rows.shape[0] - 1:
        marks[lowest - first : highest + 1 - first] = 1
    else:
        for i in range(rows.shape[0]):
            marks[int(rows[i]) - first] = 1


@inner_kernel
def _mark_right(
    marks: np.ndarray, column: np.ndarray, threshold: float, goes_right: np.ndarray
) -> None:
    """Mark those of the marked rows that go right."""
    for i in range(marks.shape[0]):
        goes_right[i] = marks[i] & np.uint8(column[i] >= threshold)


@inner_kernel
def _count(words: np.ndarray) -> int:
    """Count the marks in words of eight."""
    n = np.uint64(0)
    for i in range(words.shape[0]):
        # The product's highest byte is the sum of the word's bytes.
        n += (words[i] * _ALL_MARKS) >> _HIGHEST_BYTE
    return int(n)


@inner_kernel
def _list(
    words: np.ndarray, marks: np.ndarray, first: int, found: np.ndarray, rows: np.ndarray
) -> None:
    """Write the marked rows, one at least, in ascending order to ``rows``, which they fill.

    But for the last word, no branch depends on the data: the processor could not predict it.
    """
    n_words = np.uintp(0)
    for i in range(words.shape[0]):
        found[n_words] = i
        n_words += np.uintp(words[i] != _NO_MARK)
    n, last = np.uintp(0), n_words - _ONE
    for w in range(last):
        at = np.uintp(found[w]) * _EIGHT
        for k in range(8):
            # Every row is written; the next one replaces it unless it is marked. There is room:
            # the last word has a mark.
            rows[n] = np.uintp(first) + at + np.uintp(k)
            n += np.uintp(marks[at + np.uintp(k)])
    at = np.uintp(found[last]) * _EIGHT
    for k in range(8):
        if marks[at + np.uintp(k)]:
            rows[n] = np.uintp(first) + at + np.uintp(k)
            n += _ONE


@inner_kernel
def follow_together(
    block: Block,
    thresholds: np.ndarray,
    links: np.ndarray,
    node: np.uintp,
    start: int,
    end: int,
    which: int,
    n_pending: int,
) -> int:
    """Go from a node to the larger child, split by split, and leave lists of all its rows pending.

    Parameters
    ----------
    block : Block
    thresholds, links : arrays of shape (n_nodes, 2)
        The tree's packed nodes as floats and as integers.
    node : int
        With children.
    start, end, which : int
        The node's rows are ``block.lists[which, start:end]``, which ascend or descend. The lists
        take their place. That of the rows never cut off is at the end, and lies lowest on the
        stack: it is taken up last.
    n_pending : int

    Returns
    -------
    n_pending : int
    """
    rows = block.lists[which, start:end]
    lowest, highest = _ends(rows)
    first, last = lowest // 8, highest // 8 + 1
    words, right_words = block.words[0, first:last], block.words[1, first:last]
    first *= 8
    last *= 8
    marks, goes_right = block.marks[0, first:last], block.marks[1, first:last]
    _mark(rows, first, marks)
    rest = n_pending
    n_pending += 1
    for _ in range(MOST_SPLITS):
        n, link = end - start, links[node, 1]
        left = np.uintp(link & LOW_32)
        column = block.columns[link >> SHIFT, first:last]
        _mark_right(marks, column, thresholds[node, 0], goes_right)
        n_cut, right = _count(right_words), left + _ONE
        if 2 * n_cut <= n:
            cut, node = right, left
            for i in range(words.shape[0]):
                words[i] ^= right_words[i]
        else:
            n_cut, cut, node = n - n_cut, left, right
            for i in range(words.shape[0]):
                right_words[i], words[i] = words[i] ^ right_words[i], right_words[i]
        if n_cut > 0:
            middle = start + n_cut
            _list(right_words, goes_right, first, block.found, block.lists[which, start:middle])
            n_pending = add_pending(block, n_pending, cut, start, middle, which)
            start = middle
        # Asked after a split, not before: the rest would be taken up again and get no further down.
        if links[node, 1] == np.uint64(node) or not _pays(end - start, last - first):
            break
    _list(words, marks, first, block.found, block.lists[which, start:end])
    add_pending(block, rest, node, start, end, which)
    return n_pending
