"""Scoring rows that lack values: by the leaves that they may reach, in proportion."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._trees.row_block import LOW_32, MISSING_RIGHT, SHIFT
from .._trees.tree import Trees, missing_right, node_sizes
from ..kernels import kernel, njit
from ..kernels.arrays import read_only

_ONE = np.uintp(1)


def has_missing(X: np.ndarray) -> bool:
    """Tell whether a value is NaN, in one pass over finite data."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = X.sum()
    return bool(np.isnan(total) and np.isnan(X).any())


class Missing(NamedTuple):
    """How rows that lack values go down the trees."""

    marked: np.ndarray  # uint64, (n_nodes, 2): nodes with directions, or empty
    left_share: np.ndarray  # float64, (n_nodes,): without directions, or empty
    max_depth: int


def how_missing(trees: Trees) -> Missing:
    """Prepare the scoring of rows that lack values."""
    max_depth = int(trees.depth.max())
    if trees.missing_right.size:
        return Missing(packed_for_missing(trees), np.empty(0), max_depth)
    return Missing(np.empty((0, 2), np.uint64), read_only(left_shares(trees)), max_depth)


def left_shares(trees: Trees) -> np.ndarray:
    """Return the left child's share of each node's points; 1 in a leaf."""
    size = node_sizes(trees)
    left = (trees.packed[:, 1] & LOW_32).astype(np.intp)
    left += np.repeat(trees.first_node[:-1], np.diff(trees.first_node))
    is_leaf = left == np.arange(left.size)
    right = np.where(is_leaf, left, left + 1)
    return np.where(is_leaf, 1.0, size[left] / (size[left] + size[right]))


def packed_for_missing(trees: Trees) -> np.ndarray:
    """Return the packed nodes with the marks of `missing_right`."""
    packed = trees.packed.copy()
    for part in (slice(a, b) for a, b in pairwise(trees.first_node)):
        packed[part, 1] |= np.where(missing_right(trees, part), MISSING_RIGHT, np.uint64(0))
    return packed


@kernel
def _expected_value(
    row: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    left_share: np.ndarray,
    leaf_value: np.ndarray,
    in_logs: bool,
    pending: np.ndarray,
    pending_share: np.ndarray,
) -> float:
    """Average the values of the leaves of one tree that a row may reach.

    Where the row lacks the value of a node's feature, ``left_share`` of it goes left and the rest
    right. ``in_logs`` says that the values, and the average, are logarithms.
    """
    pending[0], pending_share[0] = 0, 1.0
    n_pending = 1
    largest, total = -np.inf, 0.0
    while n_pending > 0:
        n_pending -= 1
        node, share = np.uintp(pending[n_pending]), pending_share[n_pending]
        link = links[node, 1]
        left = np.uintp(link & LOW_32)
        while left != node:
            value = row[link >> SHIFT]
            if np.isnan(value):
                right_share = share * (1.0 - left_share[node])
                if right_share > 0.0:
                    pending[n_pending], pending_share[n_pending] = left + _ONE, right_share
                    n_pending += 1
                share *= left_share[node]
                node = left
            else:
                node = left + np.uintp(value >= thresholds[node, 0])
            link = links[node, 1]
            left = np.uintp(link & LOW_32)
        if not in_logs:
            total += share * leaf_value[node]
        elif share > 0.0:
            value = leaf_value[node] + np.log(share)
            if value > largest:
                total = total * np.exp(largest - value) + 1.0
                largest = value
            else:
                total += np.exp(value - largest)
    return largest + np.log(total) if in_logs else total


@njit(cache=True, nogil=True)
def average_over_leaves(
    X: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    first_node: np.ndarray,
    leaf_value: np.ndarray,
    left_share: np.ndarray,
    max_depth: int,
    in_logs: bool,
    total: np.ndarray,
) -> None:
    """Add up the expected values of rows that may lack values, over the trees.

    Rows without missing values receive exactly what `sum_over_trees`, or, ``in_logs``,
    `log_sum_exp_over_trees` computes.

    Parameters
    ----------
    left_share : float64 array of shape (n_nodes,)
        The left child's share of each node's points.
    max_depth : int
        Depth of the deepest leaf.
    in_logs : bool
        Whether values are logarithms of what is added up.

    Other parameters as in `sum_over_trees`.
    """
    pending, pending_share = np.empty(max_depth + 2, np.intp), np.empty(max_depth + 2)
    for i in range(X.shape[0]):
        largest, sum_ = -np.inf, 0.0
        for t in range(first_node.shape[0] - 1):
            a, b = first_node[t], first_node[t + 1]
            value = _expected_value(
                X[i],
                thresholds[a:b],
                links[a:b],
                left_share[a:b],
                leaf_value[a:b],
                in_logs,
                pending,
                pending_share,
            )
            if not in_logs:
                sum_ += value
            elif value > largest:
                sum_ = sum_ * np.exp(largest - value) + 1.0
                largest = value
            else:
                sum_ += np.exp(value - largest)
        total[i] = largest + np.log(sum_) if in_logs else sum_
