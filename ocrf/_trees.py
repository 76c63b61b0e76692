"""The trees of a fitted forest, one after the other, every fact about a node kept once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._arrays import read_only
from ._nodes import Nodes, join_nodes, unpack_nodes
from ._tree import OneClassTree


class Trees(NamedTuple):
    """What is kept of the trees: 32 bytes a node."""

    first_node: np.ndarray  # int64, (n_trees + 1,): where each tree begins, and the last one ends
    packed: np.ndarray  # uint64, (n_nodes, 2): threshold, feature and left child (`_nodes`)
    n_samples: np.ndarray  # int32, (n_nodes,)
    depth: np.ndarray  # int32
    log_volume: np.ndarray  # float64


def join_trees(parts: list[Nodes], n_nodes: np.ndarray) -> Trees:
    """Return trees as they are kept.

    Parameters
    ----------
    parts : list of Nodes
        The trees one after the other. Emptied on the way.
    n_nodes : int64 array of shape (n_trees,)
        Nodes of each tree.
    """
    return Trees(np.concatenate([[0], np.cumsum(n_nodes)]), *join_nodes(parts))


def unpack_tree(
    trees: Trees, t: int, *, features: np.ndarray, n_features: int, gamma: float
) -> OneClassTree:
    """Return one of the trees, to be looked at."""
    part = slice(trees.first_node[t], trees.first_node[t + 1])
    left, feature, threshold = unpack_nodes(trees.packed[part])
    return OneClassTree(
        children_left=left,
        children_right=np.where(left < 0, left, left + 1),
        feature=feature,
        threshold=threshold,
        # The forest's own: who writes to them would change its scores.
        n_node_samples=read_only(trees.n_samples[part]),
        depth=read_only(trees.depth[part]),
        log_volume=read_only(trees.log_volume[part]),
        features=features,
        n_features=n_features,
        gamma=gamma,
    )
