"""A grown forest, independent of parameters set later, and how leaves become scores.

The paper's depth score, and the two densities of its supplementary.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma

from .._trees.row_block import block_rows, new_block
from .._trees.traversal import log_sum_exp_over_trees, outside_box, sum_over_trees
from .._trees.tree import Trees, node_sizes
from ..kernels.arrays import read_only
from ..kernels.threads import map_in_threads
from .missing import Missing, average_over_leaves, has_missing, how_missing
from .repeats import find_repeats

# Bytes of the rows that are scored together: the limit of what is copied, or allocated per row.
_CHUNK_BYTES = 16 * 2**20

# What `find_repeats` allocates per row is as much as so many values.
_VALUES_FOR_REPEATS = 4

# Starting a thread for fewer rows than these takes longer than it saves.
_FEWEST_ROWS = 512


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
    """Return c(n) as in the authors' program: 2 (ln n + 0.5772) - 2 (n - 1) / n, c(1) = 1.

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


# The scores by depth: c(n), and the depth of the root.
_DEPTHS = {"depth": (average_path_length, 0.0), "published_depth": (published_path_length, 1.0)}


def is_depth(scoring: str) -> bool:
    """Tell whether a score is a mean depth, not a density."""
    return scoring in _DEPTHS


def leaf_depths(scoring: str, trees: Trees) -> np.ndarray:
    """Return each node's depth plus c of its number of points, or of the sum of their weights."""
    path_length, root_depth = _DEPTHS[scoring]
    if trees.weight.size:
        return trees.depth + (root_depth + path_length(trees.weight))
    largest = int(trees.n_samples.max())
    if largest > trees.n_samples.shape[0]:
        return trees.depth + (root_depth + path_length(trees.n_samples))
    # Most leaves hold few points: evaluate c once per number, not once per node.
    return trees.depth + (root_depth + path_length(np.arange(largest + 1)))[trees.n_samples]


def _shares(trees: Trees) -> np.ndarray:
    """Return n_t / n, each node's share of its tree's sub-sample."""
    size = node_sizes(trees)
    first = trees.first_node
    return size / np.repeat(size[first[:-1]], np.diff(first))


def depth_scale(scoring: str, n_trees: int, n_subsample: float) -> float:
    """Return what divides sums of leaf depths: log2 s(x) = -(sum over trees) / (T c(n))."""
    path_length, _ = _DEPTHS[scoring]
    return n_trees * float(path_length(n_subsample))


def depth_scores(
    scoring: str, total_depth: np.ndarray, n_trees: int, n_subsample: float
) -> np.ndarray:
    """Turn sums of leaf depths into -s(x), log2 s(x) = -(mean of d_t + c(n_t)) / c(n)."""
    return -np.exp2(-total_depth / depth_scale(scoring, n_trees, n_subsample))


def leaf_values(scoring: str, trees: Trees) -> np.ndarray:
    """Return what each node adds to the score of a row whose leaf it is."""
    if is_depth(scoring):
        return leaf_depths(scoring, trees)
    if scoring == "density":
        # log((n_t / n) / Leb(X_t)): 0 is as dense as the uniform law on the data's box.
        return np.log(_shares(trees)) - trees.log_volume
    return _shares(trees)


def score_rows(
    forest: GrownForest, rows: np.ndarray, block_size: int, missing: Missing | None
) -> np.ndarray:
    """Score rows, neighbours together.

    Rows near each other go through the same nodes. Where there are several blocks, the rows are
    sorted by their leaves in the first tree: lists are longer then, and read memory in its order.

    Parameters and result as in `_score_in_order`.
    """
    n_trees = forest.trees.first_node.shape[0] - 1
    # Copying many columns twice takes longer than is saved.
    if rows.shape[0] <= block_size or rows.shape[1] > n_trees or missing is not None:
        return _score_in_order(forest, rows, block_size, missing)
    first_tree = forest.trees._replace(first_node=forest.trees.first_node[:2])
    numbers = np.arange(first_tree.first_node[1], dtype=np.float64)
    in_logs = forest.scoring == "density"  # the kernel that the scores need, and no other
    leaves = _over_trees(first_tree, numbers, in_logs, rows, block_size, None)
    if numbers.size <= 2**16:
        leaves = leaves.astype(np.uint16)  # which numpy sorts by radix, in a tenth of the time
    order = np.argsort(leaves, kind="stable")
    scores = np.empty(rows.shape[0])
    scores[order] = _score_in_order(forest, read_only(rows[order]), block_size, None)
    return scores


def _score_in_order(
    forest: GrownForest, rows: np.ndarray, block_size: int, missing: Missing | None
) -> np.ndarray:
    """Score rows, block by block.

    Parameters
    ----------
    forest : GrownForest
    rows : float64 array of shape (n_rows, n_features), C-contiguous, read-only
    block_size : int
        Rows that go down a tree together; the result does not depend on it.
    missing : Missing or None
        None if no row lacks a value.

    Returns
    -------
    scores : float64 array of shape (n_rows,)
    """
    trees, scoring = forest.trees, forest.scoring
    n_trees = trees.first_node.shape[0] - 1
    if scoring == "density":
        return _over_trees(trees, forest.leaf_value, True, rows, block_size, missing) - np.log(
            n_trees
        )
    total = _over_trees(trees, forest.leaf_value, False, rows, block_size, missing)
    if is_depth(scoring):
        return depth_scores(scoring, total, n_trees, forest.n_subsample)
    return np.log(total) - _over_trees(trees, trees.log_volume, True, rows, block_size, missing)


def rows_together(n_samples: int, n_features: int, n_jobs: int) -> tuple[int, int]:
    """Return how many rows a thread takes at a time, and how many of them go down together."""
    # Enough chunks to keep the threads busy, and a limit on what their copies take.
    chunk = max(_CHUNK_BYTES // (8 * (n_features + _VALUES_FOR_REPEATS)), 1)
    if n_jobs > 1:
        chunk = min(chunk, max(-(-n_samples // (4 * n_jobs)), _FEWEST_ROWS))
    return chunk, min(block_rows(n_features), chunk)


def _over_trees(
    trees: Trees,
    value: np.ndarray,
    in_logs: bool,
    rows: np.ndarray,
    block_size: int,
    missing: Missing | None,
) -> np.ndarray:
    """Add up the values of each row's leaves; of logarithms, return the log of the sum."""
    directed = True if missing is not None and missing.marked.size > 0 else None
    packed = read_only(missing.marked if missing is not None and directed else trees.packed)
    total = np.empty(rows.shape[0])
    walk = (rows, packed.view(np.float64), packed, read_only(trees.first_node), read_only(value))
    if missing is not None and not directed:
        average_over_leaves(*walk, missing.left_share, missing.max_depth, in_logs, total)
        return total
    add_up = log_sum_exp_over_trees if in_logs else sum_over_trees
    add_up(*walk, new_block(rows.shape[1], block_size), directed, total)
    return total


class GrownForest(NamedTuple):
    """Trees, and how they score."""

    trees: Trees
    scoring: str
    leaf_value: np.ndarray  # float64, (n_nodes,): `leaf_values`
    n_subsample: float  # points of a tree's sub-sample, or the expected sum of their weights
    lower: np.ndarray  # float64, (n_features,): the training data's bounding box
    upper: np.ndarray
    out_of_bounds: str | None

    def score(self, X: np.ndarray, n_jobs: int) -> np.ndarray:
        """Score rows in threads.

        Parameters
        ----------
        X : float array of shape (n_samples, n_features)
            Finite numbers, or NaN where a value is missing.
        n_jobs : int
            Threads; the result does not depend on it.

        Returns
        -------
        scores : float64 array of shape (n_samples,)
        """
        n_samples, n_features = X.shape
        scores = np.empty(n_samples)
        outside = np.zeros(n_samples if self.out_of_bounds else 0, bool)
        chunk, size = rows_together(n_samples, n_features, n_jobs)
        missing = how_missing(self.trees) if has_missing(X) else None
        n_trees = self.trees.first_node.shape[0] - 1

        def score_chunk(start: int) -> None:
            part = slice(start, min(start + chunk, n_samples))
            rows = read_only(np.ascontiguousarray(X[part], dtype=np.float64))
            repeats = find_repeats(rows, n_trees)
            if repeats is None:
                scores[part] = score_rows(self, rows, size, missing)
            else:
                distinct = read_only(rows[repeats.first])
                scores[part] = score_rows(self, distinct, size, missing)[repeats.place]
            if self.out_of_bounds:
                outside_box(rows, read_only(self.lower), read_only(self.upper), outside[part])

        map_in_threads(score_chunk, range(0, n_samples, chunk), n_jobs)
        if self.out_of_bounds and outside.any():
            scores[outside] = scores.min()
        return scores


def grown_forest(
    trees: Trees,
    scoring: str,
    n_subsample: float,
    box: tuple[np.ndarray, np.ndarray],
    out_of_bounds: str | None,
) -> GrownForest:
    """Prepare trees for scoring; `box` is the lower and the upper corner of the training data."""
    return GrownForest(
        trees=trees,
        scoring=scoring,
        leaf_value=leaf_values(scoring, trees),
        n_subsample=n_subsample,
        lower=box[0],
        upper=box[1],
        out_of_bounds=out_of_bounds,
    )
