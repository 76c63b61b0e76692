"""The nodes of trees, in the form in which they are traversed, and one tree for inspection.

A node takes 32 bytes, of which a traversal reads 16, two 64-bit words: the threshold, and the
feature (upper half) with the left child (lower half, counted from the tree's root; the right child
is the next node). A leaf is its own left child.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_array

from .._refusals import naming_columns
from ..kernels.arrays import read_only, scratch_together
from .row_block import LOW_32, MISSING_RIGHT, SHIFT, block_rows, new_block
from .traversal import leaves_of_tree


class Nodes(NamedTuple):
    """The nodes of trees, one after the other."""

    packed: np.ndarray  # uint64, (n_nodes, 2): the threshold's bits, feature << 32 | left child
    n_samples: np.ndarray  # int32
    depth: np.ndarray  # int32
    log_volume: np.ndarray  # float64: log of the box's share of the training data's box
    weight: np.ndarray  # float64: sum of the weights, or empty where every point counts once


def room_for_nodes(size: int, is_weighted: bool) -> Nodes:
    """Allocate so many nodes; those that are not written to take no memory."""
    return Nodes(
        *scratch_together(
            ((size, 2), np.uint64),
            (size, np.int32),
            (size, np.int32),
            (size, np.float64),
            (size if is_weighted else 0, np.float64),
        )
    )


def join_nodes(parts: list[Nodes]) -> Nodes:
    """Join parts of a forest and empty the list.

    One field after the other, so that at most one field is in memory twice.
    """
    fields = [list(pieces) for pieces in zip(*parts, strict=True)]
    parts.clear()
    joined = []
    while fields:
        joined.append(np.concatenate(fields.pop(0)))
    return Nodes(*joined)


def pack_nodes(left: np.ndarray, feature: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the compact nodes of one tree.

    Parameters
    ----------
    left, feature : int32 arrays of shape (n_nodes,)
        Left child and column; -1 in a leaf.
    threshold : float64 array of shape (n_nodes,)

    Returns
    -------
    packed : uint64 array of shape (n_nodes, 2)
    """
    own = np.arange(left.shape[0])
    is_leaf = left < 0
    packed = np.empty((left.shape[0], 2), np.uint64)
    packed[:, 0] = threshold.view(np.uint64)
    packed[:, 1] = np.where(is_leaf, own, left).astype(np.uint64)
    packed[:, 1] |= np.where(is_leaf, 0, feature).astype(np.uint64) << SHIFT
    return packed


def unpack_nodes(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `pack_nodes` packed: left, feature, threshold."""
    links = packed[:, 1]
    left = (links & LOW_32).astype(np.int32)
    feature = (links >> SHIFT).astype(np.int32)
    is_leaf = left == np.arange(left.shape[0])
    left[is_leaf] = feature[is_leaf] = -1
    return left, feature, packed[:, 0].copy().view(np.float64)


class Trees(NamedTuple):
    """The trees of a forest, one after the other."""

    first_node: np.ndarray  # int64, (n_trees + 1,): where each tree begins, and the last one ends
    packed: np.ndarray  # uint64, (n_nodes, 2): threshold, feature and left child
    n_samples: np.ndarray  # int32, (n_nodes,)
    depth: np.ndarray  # int32
    log_volume: np.ndarray  # float64
    weight: np.ndarray  # float64, or empty where every point counts once
    # bool, (n_nodes,): where a row without a value goes; or empty: to both children, in proportion.
    missing_right: np.ndarray


def node_sizes(trees: Trees) -> np.ndarray:
    """Return the points of each node, or the sums of their weights."""
    return trees.weight if trees.weight.size else trees.n_samples


def join_trees(parts: list[Nodes], n_nodes: np.ndarray, has_directions: bool) -> Trees:
    """Join the trees of a forest.

    Parameters
    ----------
    parts : list of Nodes
        The trees one after the other. The list is emptied.
    n_nodes : int64 array of shape (n_trees,)
        Nodes of each tree.
    has_directions : bool
        Whether rows that lack a value go where the node says, not to both children.
    """
    nodes = join_nodes(parts)
    links, missing_right = nodes.packed[:, 1], np.empty(0, bool)
    if nodes.weight.size:
        if has_directions:
            missing_right = links >= MISSING_RIGHT
        links &= MISSING_RIGHT - np.uint64(1)
    return Trees(np.concatenate([[0], np.cumsum(n_nodes)]), *nodes, missing_right)


def missing_right(trees: Trees, part: slice) -> np.ndarray:
    """Tell for each node of a tree whether a row that lacks the value of its feature goes right.

    If no directions are stored: to the child with more points, or left if both have as many.
    """
    if trees.missing_right.size:
        return trees.missing_right[part]
    left = (trees.packed[part, 1] & LOW_32).astype(np.intp)
    is_leaf = left == np.arange(left.size)
    size = node_sizes(trees)[part]
    return ~is_leaf & (size[np.where(is_leaf, left, left + 1)] > size[left])


def unpack_tree(
    trees: Trees, t: int, *, features: np.ndarray, n_features: int, gamma: float
) -> OneClassTree:
    """Return one of the trees, for inspection."""
    part = slice(trees.first_node[t], trees.first_node[t + 1])
    left, feature, threshold = unpack_nodes(trees.packed[part])
    return OneClassTree(
        children_left=left,
        children_right=np.where(left < 0, left, left + 1),
        feature=feature,
        threshold=threshold,
        # These are the forest's own arrays: writing to them would change its scores.
        n_node_samples=read_only(trees.n_samples[part]),
        depth=read_only(trees.depth[part]),
        log_volume=read_only(trees.log_volume[part]),
        weighted_n_node_samples=read_only(node_sizes(trees)[part].astype(np.float64)),
        missing_go_to_left=~missing_right(trees, part),
        features=features,
        n_features=n_features,
        gamma=gamma,
    )


@dataclass(frozen=True, eq=False, repr=False)
class OneClassTree:
    """A fitted tree. Node 0 is the root; a leaf has children and feature -1.

    Attributes
    ----------
    children_left, children_right : int32 arrays of shape (n_nodes,)
        A row goes left where ``x[feature] < threshold``.
    feature : int32 array of shape (n_nodes,)
        Columns of the training data.
    threshold : float64 array of shape (n_nodes,)
        0 in a leaf.
    n_node_samples : int32 array of shape (n_nodes,)
        Points of the tree's sub-sample in the node, n_t.
    depth : int32 array of shape (n_nodes,)
        0 at the root.
    log_volume : float64 array of shape (n_nodes,)
        Natural logarithm of the box's volume over the tree's features, where the bounding box of
        the training data has volume 1. Features that are constant in the sub-sample do not count.
    weighted_n_node_samples : float64 array of shape (n_nodes,)
        Sums of the points' weights; the same numbers without `sample_weight`.
    missing_go_to_left : bool array of shape (n_nodes,)
        Whether `apply` sends a row that lacks the value of the node's feature left: it goes to the
        child with more points. (Scores average over both.)
    features : int64 array
        The columns that the tree was grown on.
    n_features : int
        Number of columns of the training data.
    gamma : float
        The tree's expected number of hidden outliers per observation.
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    n_node_samples: np.ndarray
    depth: np.ndarray
    log_volume: np.ndarray
    weighted_n_node_samples: np.ndarray
    missing_go_to_left: np.ndarray
    features: np.ndarray
    n_features: int
    gamma: float

    def __repr__(self) -> str:
        """Return a line, where the arrays would fill pages."""
        return (
            f"OneClassTree(node_count={self.node_count}, max_depth={self.max_depth}, "
            f"gamma={self.gamma:g})"
        )

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return self.feature.shape[0]

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depth.max())

    @property
    def is_leaf(self) -> np.ndarray:
        """Boolean array of shape (n_nodes,)."""
        return self.children_left < 0

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All the columns of the training data.

        Returns
        -------
        leaves : int64 array of shape (n_samples,)

        Raises
        ------
        ValueError
            If `X` has not as many columns as the training data, is infinite, a masked array, or
            holds dates.
        """
        with naming_columns(X):
            X = check_array(
                X, dtype=np.float64, order="C", input_name="X", ensure_all_finite="allow-nan"
            )
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the tree was grown on {self.n_features}."
            )
        nodes = pack_nodes(self.children_left, self.feature, self.threshold)
        missing = bool(np.isnan(X).any())
        if missing:
            nodes[:, 1] |= np.where(self.missing_go_to_left, np.uint64(0), MISSING_RIGHT)
        leaves = np.empty(X.shape[0], np.int64)
        packed, block = read_only(nodes), new_block(X.shape[1], block_rows(X.shape[1]))
        directed = True if missing else None
        leaves_of_tree(read_only(X), packed.view(np.float64), packed, block, directed, leaves)
        return leaves

    def decision_path(self, X: Any) -> csr_matrix:
        """Return which nodes each row goes through, root and leaf included.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All the columns of the training data.

        Returns
        -------
        indicator : CSR matrix of shape (n_samples, n_nodes)
            1 where the row passes through the node.
        """
        leaves = self.apply(X)
        parent = np.full(self.node_count, -1)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.children_left[inner]] = inner
        parent[self.children_right[inner]] = inner
        lengths = self.depth[leaves] + 1
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        indices = np.empty(indptr[-1], np.int64)
        node, last = leaves.copy(), indptr[1:] - 1
        pending = np.arange(leaves.shape[0])
        while pending.size:
            indices[last[pending]] = node[pending]
            last[pending] -= 1
            node[pending] = parent[node[pending]]
            pending = pending[node[pending] >= 0]
        ones = np.ones(indices.shape[0], np.int64)
        return csr_matrix((ones, indices, indptr), shape=(leaves.shape[0], self.node_count))
