"""The nodes of trees, one array per field, while the trees grow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Nodes(NamedTuple):
    """The nodes of trees."""

    left: np.ndarray  # int32: left child, counted from the root; -1 in a leaf. Right: the next.
    feature: np.ndarray  # int32: column of X; -1 in a leaf
    threshold: np.ndarray  # float64
    n_samples: np.ndarray  # int32
    depth: np.ndarray  # int32
    log_volume: np.ndarray  # float64: log of the cell's share of the training data's box


@njit(cache=True, nogil=True)
def new_nodes(size: int) -> Nodes:
    """Return room for that many nodes."""
    return Nodes(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.float64),
    )


@njit(cache=True, nogil=True)
def copy_nodes(source: Nodes, n: int, target: Nodes, at: int) -> None:
    """Copy the first n nodes of ``source`` to ``target``, from ``at`` on."""
    target.left[at : at + n] = source.left[:n]
    target.feature[at : at + n] = source.feature[:n]
    target.threshold[at : at + n] = source.threshold[:n]
    target.n_samples[at : at + n] = source.n_samples[:n]
    target.depth[at : at + n] = source.depth[:n]
    target.log_volume[at : at + n] = source.log_volume[:n]


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def log_ratio(part: float, whole: float) -> float:
    """Return log(part / whole), also where the quotient of two positive numbers underflows."""
    ratio = part / whole
    return np.log(ratio) if ratio > 0.0 else np.log(part) - np.log(whole)


def join_nodes(blocks: list[Nodes]) -> Nodes:
    """Join the nodes of blocks of trees, which are emptied on the way.

    Field by field, so that never more than one field is in memory twice.
    """
    if len(blocks) == 1:
        return blocks.pop()
    fields = [list(parts) for parts in zip(*blocks, strict=True)]
    blocks.clear()
    joined = []
    while fields:
        joined.append(np.concatenate(fields.pop(0)))
    return Nodes(*joined)
