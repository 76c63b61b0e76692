"""Out-of-bag proximities of one forest, summed row by row without a matrix of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.forests.tree import Tree, find_leaf
from ocrf.kernels import njit

IN_BAG = -1


@njit(cache=True, nogil=True)
def out_of_bag_leaves(
    tree: Tree,
    X: NDArray[np.float64],
    counts: NDArray[np.int32],
    leaves: NDArray[np.int32],
) -> None:
    """Write to `leaves` the leaf of every out-of-bag row of `X`, and `IN_BAG` for the others.

    Parameters
    ----------
    tree : Tree
        A grown tree.
    X : ndarray of shape (n_rows, n_features)
        The real rows.
    counts : ndarray of shape (n_samples,)
        How often the tree's sample holds each row; the real rows come first.
    leaves : ndarray of shape (n_rows,)
        Output.
    """
    for row in range(X.shape[0]):
        leaves[row] = IN_BAG if counts[row] > 0 else find_leaf(tree, X[row])


class LeafGroups(NamedTuple):
    """The rows of each leaf, in every tree of a forest.

    Attributes
    ----------
    members : ndarray of shape (n_trees, n_rows)
        The out-of-bag rows of each tree, those of one leaf side by side.
    start, stop : ndarray of shape (n_rows, n_trees)
        Where the leaf of a row lies in `members`; empty where the row is in the bag.
    out_of_bag : ndarray of shape (n_rows, n_words)
        One bit per tree: whether the row is out of its bag.
    """

    members: NDArray[np.int32]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    out_of_bag: NDArray[np.uint64]


@njit(cache=True, nogil=True)
def group_by_leaf(leaves: NDArray[np.int32]) -> LeafGroups:
    """Gather the rows of every leaf; `leaves` has shape (n_trees, n_rows)."""
    n_trees, n_rows = leaves.shape
    members = np.empty((n_trees, n_rows), dtype=np.int32)
    start = np.zeros((n_rows, n_trees), dtype=np.int32)
    stop = np.zeros((n_rows, n_trees), dtype=np.int32)
    out_of_bag = np.zeros((n_rows, (n_trees + 63) // 64), dtype=np.uint64)
    for tree in range(n_trees):
        ends = np.zeros(leaves[tree].max() + 2, dtype=np.int32)
        for row in range(n_rows):
            ends[leaves[tree, row] + 1] += 1
        ends[0] = 0  # the rows in the bag
        for leaf in range(1, ends.size):
            ends[leaf] += ends[leaf - 1]
        filled = ends.copy()
        for row in range(n_rows):
            leaf = leaves[tree, row]
            if leaf == IN_BAG:
                continue
            members[tree, filled[leaf]] = row
            filled[leaf] += 1
            start[row, tree] = ends[leaf]
            stop[row, tree] = ends[leaf + 1]
            out_of_bag[row, tree // 64] |= np.uint64(1) << np.uint64(tree % 64)
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


@njit(cache=True, nogil=True)
def proximity_sums(groups: LeafGroups, first_row: int) -> NDArray[np.float64]:
    """Sum every row's proximities to all rows.

    The proximity of two rows is the share of common leaves among the trees where both are out of
    bag, 0 if there is none, and 1 for a row and itself. One row is done at a time, and only the
    rows that share a leaf with it are touched: the memory is that of the leaves, and the time grows
    with the number of pairs that share one.

    Parameters
    ----------
    groups : LeafGroups
        The rows of each leaf.
    first_row : int
        The sums of the rows before this one are left out.

    Returns
    -------
    sums : ndarray of shape (n_rows - first_row,)
        Sums of proximities, between 1 and n_rows.
    """
    n_rows, n_trees = groups.start.shape
    n_words = groups.out_of_bag.shape[1]
    common = np.zeros(n_rows, dtype=np.int32)
    # Every visit writes its row to the end of `met`, which grows only if the row is new: one place
    # more than there are rows. A branch instead would be mispredicted for a third of the visits.
    met = np.empty(n_rows + 1, dtype=np.int32)
    sums = np.empty(n_rows - first_row, dtype=np.float64)
    for row in range(first_row, n_rows):
        n_met = 0
        for tree in range(n_trees):
            for position in range(groups.start[row, tree], groups.stop[row, tree]):
                other = groups.members[tree, position]
                met[n_met] = other
                n_met += common[other] == 0
                common[other] += 1
        total = 1.0  # the row and itself
        for i in range(n_met):
            other = met[i]
            if other != row:
                both = np.uint64(0)
                for word in range(n_words):
                    both += count_bits(
                        groups.out_of_bag[row, word] & groups.out_of_bag[other, word]
                    )
                total += common[other] / both
            common[other] = 0
        sums[row - first_row] = total
    return sums
