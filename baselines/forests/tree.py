"""A grown tree, and how points fall through it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocrf.kernels import njit


class Tree(NamedTuple):
    """A tree as parallel arrays over its nodes; node 0 is the root.

    Attributes
    ----------
    feature : ndarray of int32
        The feature that the node compares, -1 in a leaf.
    threshold : ndarray of float64
        Points up to the threshold go left.
    left : ndarray of int32
        The left child; the right child is the next node.
    vote : ndarray of int8
        The majority class in the node, class 1 when they tie.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    vote: NDArray[np.int8]


@njit(cache=True, nogil=True)
def find_leaf(tree: Tree, point: NDArray[np.float64]) -> int:
    """Return the leaf of `tree` that `point`, of shape (n_features,), falls into."""
    node = 0
    while tree.feature[node] >= 0:
        go_right = point[tree.feature[node]] > tree.threshold[node]
        node = tree.left[node] + go_right
    return node


@njit(cache=True, nogil=True)
def add_votes(tree: Tree, X: NDArray[np.float64], votes: NDArray[np.int32]) -> None:
    """Add the tree's vote for class 1 to `votes`, of shape (n_samples,)."""
    for i in range(X.shape[0]):
        votes[i] += tree.vote[find_leaf(tree, X[i])]
