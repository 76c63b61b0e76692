"""From leaves to scores: the paper's depth score, and the two densities of its supplementary."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma

from ._arrays import read_only
from ._traversal import log_sum_exp_over_trees, sum_over_trees
from ._trees import Trees


def average_path_length(n: Any) -> np.ndarray:
    """Return c(n), the average depth of a point in an extremely randomised tree on n points.

    c(n) = 2 H(n - 1) - 2 (n - 1) / n with the harmonic number H, and c(1) = 0 (section 3.2,
    after Liu, Ting and Zhou, 2008).

    Parameters
    ----------
    n : int or array of int

    Returns
    -------
    c : float64, same shape

    Examples
    --------
    >>> average_path_length([1, 2, 256]).round(4).tolist()
    [0.0, 1.0, 10.2487]
    """
    n = np.maximum(np.asarray(n, dtype=np.float64), 1.0)
    # H(n - 1) = digamma(n) + Euler's constant; exactly 0 for n = 1, where rounding would show.
    return np.where(n > 1.0, 2.0 * (digamma(n) + np.euler_gamma) - 2.0 * (n - 1.0) / n, 0.0)


def published_path_length(n: Any) -> np.ndarray:
    """Return c(n) as the authors' program had it: 2 (ln n + 0.5772) - 2 (n - 1) / n, c(1) = 1.

    Parameters
    ----------
    n : int or array of int

    Returns
    -------
    c : float64, same shape

    Examples
    --------
    >>> published_path_length([1, 2, 256]).round(4).tolist()
    [1.0, 1.5407, 10.2526]
    """
    n = np.maximum(np.asarray(n, dtype=np.float64), 1.0)
    return np.where(n > 1.0, 2.0 * (np.log(n) + 0.5772) - 2.0 * (n - 1.0) / n, 1.0)


# The scores by depth: c(n), and what is added to a depth that counts the root as 0.
_DEPTHS = {"depth": (average_path_length, 0.0), "published_depth": (published_path_length, 1.0)}


def is_depth(scoring: str) -> bool:
    """Tell the scores by depth from the densities."""
    return scoring in _DEPTHS


def leaf_depths(scoring: str, depth: np.ndarray, n_node_samples: np.ndarray) -> np.ndarray:
    """Return each node's depth plus c of its number of points."""
    path_length, root_depth = _DEPTHS[scoring]
    largest = int(n_node_samples.max())
    if largest > n_node_samples.shape[0]:
        return depth + (root_depth + path_length(n_node_samples))
    # Most leaves hold few points: evaluate c once per number, not once per node.
    return depth + (root_depth + path_length(np.arange(largest + 1)))[n_node_samples]


def leaf_log_densities(
    n_node_samples: np.ndarray, log_volume: np.ndarray, n_subsample: int
) -> np.ndarray:
    """Return log((n_t / n) / Leb(X_t)): 0 is as dense as the uniform law on the data's box."""
    return np.log(n_node_samples / n_subsample) - log_volume


def depth_scores(
    scoring: str, total_depth: np.ndarray, n_trees: int, n_subsample: int
) -> np.ndarray:
    """Turn sums of leaf depths into -s(x), log2 s(x) = -(mean of d_t + c(n_t)) / c(n)."""
    path_length, _ = _DEPTHS[scoring]
    scale = path_length(n_subsample)
    return -np.exp2(-total_depth / (n_trees * scale))


def leaf_values(scoring: str, trees: Trees, n_subsample: int) -> np.ndarray:
    """Return what each node adds to a row's score, should the row end there."""
    if is_depth(scoring):
        return leaf_depths(scoring, trees.depth, trees.n_samples)
    if scoring == "density":
        return leaf_log_densities(trees.n_samples, trees.log_volume, n_subsample)
    return trees.n_samples / n_subsample


def score_rows(
    scoring: str,
    trees: Trees,
    leaf_value: np.ndarray,
    n_subsample: int,
    rows: np.ndarray,
    block_size: int,
) -> np.ndarray:
    """Score rows.

    Parameters
    ----------
    scoring : {"depth", "published_depth", "density", "typical_cell"}
    trees : Trees
    leaf_value : float64 array of shape (n_nodes,)
        `leaf_values` of the same scoring.
    n_subsample : int
    rows : float64 array of shape (n_rows, n_features), C-contiguous
    block_size : int
        Rows that are taken down a tree together; it does not show in the result.

    Returns
    -------
    scores : float64 array of shape (n_rows,)
    """
    packed = read_only(trees.packed)
    walk = (read_only(rows), packed.view(np.float64), packed, read_only(trees.first_node))
    n_trees = trees.first_node.shape[0] - 1
    total = np.empty(rows.shape[0])
    if scoring == "density":
        log_sum_exp_over_trees(*walk, read_only(leaf_value), block_size, total)
        return total - np.log(n_trees)
    sum_over_trees(*walk, read_only(leaf_value), block_size, total)
    if is_depth(scoring):
        return depth_scores(scoring, total, n_trees, n_subsample)
    log_volume = np.empty(rows.shape[0])
    log_sum_exp_over_trees(*walk, read_only(trees.log_volume), block_size, log_volume)
    return np.log(total) - log_volume
