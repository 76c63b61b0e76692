"""One tree of the forest, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_array

from ._arrays import read_only
from ._nodes import pack_nodes
from ._traversal import block_rows, leaves_of_tree


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
        Natural logarithm of the cell's volume over the tree's features, where the bounding box of
        the training data has volume 1. Features that are constant in the sub-sample do not count.
    features : int64 array
        The columns that the tree was grown on.
    n_features : int
        Number of columns of the training data.
    gamma : float
        The tree's expected number of outliers per inlier.
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    n_node_samples: np.ndarray
    depth: np.ndarray
    log_volume: np.ndarray
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
            If `X` has not as many columns as the training data, or is not finite.
        """
        X = read_only(check_array(X, dtype=np.float64, order="C", input_name="X"))
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the tree was grown on {self.n_features}."
            )
        nodes = read_only(pack_nodes(self.children_left, self.feature, self.threshold))
        leaves = np.empty(X.shape[0], np.int64)
        leaves_of_tree(X, nodes.view(np.float64), nodes, block_rows(X.shape[1]), leaves)
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
