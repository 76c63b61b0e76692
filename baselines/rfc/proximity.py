"""Out-of-bag proximities of one forest, summed row by row without a matrix of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocrf.kernels import njit

#: In place of a leaf, where a row is in the bag of a tree.
IN_BAG = -1


class LeafGroups(NamedTuple):
    """The rows of each leaf, in every tree of a forest.

    Attributes
    ----------
    members : ndarray of shape (n_trees, n_rows)
        The out-of-bag rows of each tree, those of one leaf side by side.
    start, stop : ndarray of shape (n_trees, n_rows)
        Where the leaf of a row lies in `members`; empty where the row is in the bag.
    out_of_bag : ndarray of shape (n_rows, n_words)
        One bit per tree: whether the row is out of its bag.
    """

    members: NDArray[np.uint32]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    out_of_bag: NDArray[np.uint64]


@njit(cache=True, nogil=True)
def group_by_leaf(leaves: NDArray[np.int32], order: NDArray[np.int64]) -> LeafGroups:
    """Gather the rows of every leaf.

    Parameters
    ----------
    leaves : ndarray of shape (n_trees, n_rows)
        The leaf of every row in every tree, or `IN_BAG`.
    order : ndarray of shape (n_rows,)
        A number for each row: the members of a leaf are sorted by it.

    Returns
    -------
    groups : LeafGroups
        The rows of each leaf.
    """
    n_trees, n_rows = leaves.shape
    members = np.empty((n_trees, n_rows), dtype=np.uint32)
    start = np.zeros((n_trees, n_rows), dtype=np.int32)
    stop = np.zeros((n_trees, n_rows), dtype=np.int32)
    out_of_bag = np.zeros((n_rows, (n_trees + 63) // 64), dtype=np.uint64)
    rows = np.argsort(order)
    for tree in range(n_trees):
        ends = np.zeros(leaves[tree].max() + 2, dtype=np.int32)
        for row in range(n_rows):
            ends[leaves[tree, row] + 1] += 1
        ends[0] = 0  # the rows in the bag
        for leaf in range(1, ends.size):
            ends[leaf] += ends[leaf - 1]
        for row in range(n_rows):
            leaf = leaves[tree, row]
            if leaf != IN_BAG:
                start[tree, row] = ends[leaf]
                stop[tree, row] = ends[leaf + 1]
                out_of_bag[row, tree // 64] |= np.uint64(1) << np.uint64(tree % 64)
        for row in rows:
            leaf = leaves[tree, row]
            if leaf != IN_BAG:
                members[tree, ends[leaf]] = row
                ends[leaf] += 1
    return LeafGroups(members, start, stop, out_of_bag)


@njit(cache=True, nogil=True)
def count_bits(bits: np.uint64) -> np.uint64:
    """Return the number of ones in a word."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + (
        (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True, error_model="numpy")
def proximity_sums(groups: LeafGroups, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum the proximities of some rows to all rows.

    The proximity of two rows is the share of common leaves among the trees where both are out of
    bag, 0 if there is none, and 1 for a row and itself. One row is done at a time, and only the
    rows that share a leaf with it are touched: the memory is that of the leaves, and the time grows
    with the number of pairs that share one. It is added in the order in which the leaves name the
    rows, those of the first tree first.

    Parameters
    ----------
    groups : LeafGroups
        The rows of each leaf.
    rows : ndarray of shape (n_sums,)
        The rows whose sums are asked for.

    Returns
    -------
    sums : ndarray of shape (n_sums,)
        Sums of proximities, between 1 and n_rows.
    """
    n_trees, n_rows = groups.start.shape
    n_words = groups.out_of_bag.shape[1]
    common = np.zeros(n_rows, dtype=np.int32)
    # Every visit writes its row to the end of `met`, which grows only if the row is new: one place
    # more than there are rows. A branch instead would be mispredicted for a third of the visits.
    # Unsigned: signed indices would be compared with 0 first.
    met = np.empty(n_rows + 1, dtype=np.uint32)
    both = np.empty(n_rows, dtype=np.int32)
    proximities = np.empty(n_rows)
    sums = np.empty(rows.size)
    for i in range(rows.size):
        row = rows[i]
        n_met = 0
        for tree in range(n_trees):
            for other in groups.members[tree, groups.start[tree, row] : groups.stop[tree, row]]:
                met[n_met] = other
                n_met += common[other] == 0
                common[other] += 1
        common[row] = 0  # the row and itself are added apart
        # One short loop after the other: none of their steps waits for the one before it, except
        # those of the sum.
        both[:n_met] = 0
        for word in range(n_words):
            bits = groups.out_of_bag[row, word]
            for j in range(n_met):
                both[j] += count_bits(bits & groups.out_of_bag[met[j], word])
        for j in range(n_met):
            proximities[j] = common[met[j]] / both[j]
        for j in range(n_met):
            common[met[j]] = 0
        total = 1.0
        for j in range(n_met):
            total += proximities[j]
        sums[i] = total
    return sums
