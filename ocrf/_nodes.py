"""The nodes of trees: 32 bytes each, in the form in which they are walked.

For the walk a node is 16 bytes, two 64-bit words: the threshold, and the feature (upper half)
with the left child (lower half, counted from the tree's root; the right child is the next node).
A leaf is its own left child.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ._scratch import scratch_together

SHIFT = np.uint64(32)
LOW_32 = np.uint64(0xFFFFFFFF)


class Nodes(NamedTuple):
    """The nodes of trees, one after the other."""

    packed: np.ndarray  # uint64, (n_nodes, 2): the threshold's bits, feature << 32 | left child
    n_samples: np.ndarray  # int32
    depth: np.ndarray  # int32
    log_volume: np.ndarray  # float64: log of the cell's share of the training data's box


def room_for_nodes(size: int) -> Nodes:
    """Return room for that many nodes; what is not used takes no memory."""
    return Nodes(
        *scratch_together(
            ((size, 2), np.uint64), (size, np.int32), (size, np.int32), (size, np.float64)
        )
    )


def join_nodes(parts: list[Nodes]) -> Nodes:
    """Join parts of a forest, which are emptied on the way.

    Field by field, so that never more than one field is in memory twice.
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


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def log_ratio(part: float, whole: float) -> float:
    """Return log(part / whole), also where the quotient of two positive numbers underflows."""
    ratio = part / whole
    return np.log(ratio) if ratio > 0.0 else np.log(part) - np.log(whole)
