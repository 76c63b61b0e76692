"""From leaves to scores: the paper's depth score, and the two densities of its supplementary."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma


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


def leaf_depths(depth: np.ndarray, n_node_samples: np.ndarray) -> np.ndarray:
    """Return each node's depth, counted from 0 at the root, plus c of its number of points."""
    largest = int(n_node_samples.max())
    if largest > n_node_samples.shape[0]:
        return depth + average_path_length(n_node_samples)
    # Most leaves hold few points: evaluate c once per number, not once per node.
    return depth + average_path_length(np.arange(largest + 1))[n_node_samples]


def leaf_log_densities(
    n_node_samples: np.ndarray, log_volume: np.ndarray, n_subsample: int
) -> np.ndarray:
    """Return log((n_t / n) / Leb(X_t)): 0 is as dense as the uniform law on the data's box."""
    return np.log(n_node_samples / n_subsample) - log_volume


def depth_scores(total_depth: np.ndarray, n_trees: int, n_subsample: int) -> np.ndarray:
    """Turn sums of leaf depths into -s(x), log2 s(x) = -(mean of d_t + c(n_t)) / c(n)."""
    scale = average_path_length(n_subsample)
    return -np.exp2(-total_depth / (n_trees * scale))
