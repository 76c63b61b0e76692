"""Which features move the depth score of a row, and by how much.

The expected value of a node is the mean, over the points of the tree's sub-sample in it, of what
their leaves add to the score (depth plus c(n)). On the path of a row, each split replaces the
node's expected value by a child's, and this change belongs to the feature of the split. The changes
of a path sum to the leaf's value minus the root's expected value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from .._trees.row_block import LOW_32, SHIFT, Block, load_block, new_block
from .._trees.traversal import add_leaf_values
from .._trees.tree import node_sizes
from ..kernels import kernel, njit
from ..kernels.arrays import read_only
from ..kernels.threads import map_in_threads
from .missing import has_missing
from .predictor import GrownForest, depth_scale, is_depth, rows_together


def refuse_unexplained(scoring: str, out_of_bounds: str | None) -> None:
    """Raise AttributeError for a score that is not a sum over the features of a row's paths."""
    if not is_depth(scoring):
        raise AttributeError(
            f"OneClassRF: feature contributions explain scores by depth (scoring='depth' or "
            f"'published_depth'); the logarithm of the forest's {scoring} is not a sum over trees."
        )
    if out_of_bounds is not None:
        raise AttributeError(
            f"OneClassRF: feature contributions need out_of_bounds=None; with {out_of_bounds!r} a "
            "row outside the bounding box of the training data has the score of another row."
        )


class Available:
    """A method that an object has unless a check raises AttributeError.

    As with scikit-learn's ``available_if``, but the message is the check's own.

    Parameters
    ----------
    check : callable
        Takes the object.
    method : function
    """

    def __init__(self, check: Callable[[Any], None], method: Callable[..., np.ndarray]) -> None:
        @functools.wraps(method)
        def checked(owner: Any, *args: Any, **kwargs: Any) -> np.ndarray:
            check(owner)
            return method(owner, *args, **kwargs)

        self._check, self._checked = check, checked
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Callable[..., np.ndarray]:
        if owner is None:
            return self._checked
        self._check(owner)
        return MethodType(self._checked, owner)


@kernel
def find_changes(
    links: np.ndarray,
    sizes: np.ndarray,
    leaf_value: np.ndarray,
    expected: np.ndarray,
    above: np.ndarray,
    change: np.ndarray,
) -> None:
    """Find what each split of a tree changes of the expected value.

    Parameters
    ----------
    links : uint64 array of shape (n_nodes, 2)
        The tree's packed nodes (column 1 is read).
    sizes : float64 array of shape (n_nodes,)
        Points, or sums of their weights.
    leaf_value : float64 array of shape (n_nodes,)
        What each leaf adds to the score.
    expected : float64 array of shape (>= n_nodes,)
        Receives the expected value of each node.
    above : uint64 array of shape (>= n_nodes,)
        Receives the feature of the split above each node but the root (upper half), and the node
        that it splits (lower half).
    change : float64 array of shape (>= n_nodes,)
        Receives the expected value of each node but the root minus that of the node above.
    """
    # Children have larger numbers than the node above.
    for node in range(links.shape[0] - 1, -1, -1):
        link = links[node, 1]
        left = np.uintp(link & LOW_32)
        if left == np.uintp(node):
            expected[node] = leaf_value[node]
            continue
        right = left + np.uintp(1)
        n_left, n_right = sizes[left], sizes[right]
        gap = expected[right] - expected[left]
        expected[node] = expected[left] + gap * n_right / (n_left + n_right)
        change[left] = expected[left] - expected[node]
        change[right] = expected[right] - expected[node]
        above[left] = above[right] = (link & ~LOW_32) | np.uint64(node)


@njit(cache=True, nogil=True)
def add_changes_over_trees(
    X: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    first_node: np.ndarray,
    sizes: np.ndarray,
    leaf_value: np.ndarray,
    block: Block,
    result: np.ndarray,
) -> None:
    """Add up the changes at the splits on each feature along each row's paths.

    Parameters
    ----------
    X : float64 array of shape (n_rows, n_features), C-contiguous
    thresholds, links : arrays of shape (n_nodes, 2)
        The packed nodes of all trees, as floats and as integers.
    first_node : int64 array of shape (n_trees + 1,)
    sizes, leaf_value : arrays of shape (n_nodes,)
    block : Block
        Work space.
    result : float64 array of shape (n_rows, n_features)
        Receives the sums over the trees.
    """
    size = block.lists.shape[1]
    largest = np.diff(first_node).max()
    numbers, leaves = np.arange(largest), np.empty(size, np.intp)
    expected, change = np.empty(largest), np.empty(largest)
    above = np.empty(largest, np.uint64)
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        load_block(X, start, stop, block.columns)
        part = result[start:stop]
        part[:] = 0.0
        for t in range(first_node.shape[0] - 1):
            a, b = first_node[t], first_node[t + 1]
            find_changes(links[a:b], sizes[a:b], leaf_value[a:b], expected, above, change)
            leaves[:] = 0
            add_leaf_values(block, stop - start, thresholds[a:b], links[a:b], numbers, leaves)
            # From the leaf to the root: which way a row goes is for `add_leaf_values` alone to say.
            for i in range(stop - start):
                node = np.uintp(leaves[i])
                while node != np.uintp(0):
                    way = above[node]
                    part[i, way >> SHIFT] += change[node]
                    node = np.uintp(way & LOW_32)


@njit(cache=True, nogil=True)
def add_changes_of_missing(
    X: np.ndarray,
    thresholds: np.ndarray,
    links: np.ndarray,
    first_node: np.ndarray,
    sizes: np.ndarray,
    leaf_value: np.ndarray,
    max_depth: int,
    result: np.ndarray,
) -> None:
    """Add up the changes for rows that may lack values, row by row.

    A split whose value a row lacks changes nothing: the row goes to both children in proportion to
    their points, and so the mean of their expected values is the node's. Below it the changes count
    in the same proportion. Parameters as in `add_changes_over_trees`.
    """
    largest = np.diff(first_node).max()
    expected, change = np.empty(largest), np.empty(largest)
    above = np.empty(largest, np.uint64)
    pending, pending_share = np.empty(max_depth + 2, np.intp), np.empty(max_depth + 2)
    result[:] = 0.0
    for t in range(first_node.shape[0] - 1):
        a, b = first_node[t], first_node[t + 1]
        find_changes(links[a:b], sizes[a:b], leaf_value[a:b], expected, above, change)
        for i in range(X.shape[0]):
            pending[0], pending_share[0] = 0, 1.0
            n_pending = 1
            while n_pending > 0:
                n_pending -= 1
                node, share = np.uintp(pending[n_pending]), pending_share[n_pending]
                left = np.uintp(links[a + node, 1] & LOW_32)
                while left != node:
                    feature = links[a + node, 1] >> SHIFT
                    value = X[i, feature]
                    right = left + np.uintp(1)
                    if np.isnan(value):
                        n_left, n_right = sizes[a + left], sizes[a + right]
                        pending[n_pending] = right
                        pending_share[n_pending] = share * n_right / (n_left + n_right)
                        n_pending += 1
                        share *= n_left / (n_left + n_right)
                        node = left
                    else:
                        node = right if value >= thresholds[a + node, 0] else left
                        result[i, feature] += share * change[node]
                    left = np.uintp(links[a + node, 1] & LOW_32)


def feature_contributions(forest: GrownForest, X: np.ndarray, n_jobs: int) -> np.ndarray:
    """Return what the splits on each feature add to log2 s(x), in threads.

    Parameters
    ----------
    forest : GrownForest
        With a score by depth.
    X : float array of shape (n_rows, n_features)
    n_jobs : int
        Threads; the result does not depend on it.

    Returns
    -------
    contributions : float64 array of shape (n_rows, n_features)
    """
    n_rows, n_features = X.shape
    trees = forest.trees
    packed = read_only(trees.packed)
    nodes = (packed.view(np.float64), packed, read_only(trees.first_node))
    # Numbers of points as floats, as sums of weights are: kernels of one type.
    sizes = node_sizes(trees).astype(np.float64)
    values = read_only(sizes), read_only(forest.leaf_value)
    missing, max_depth = has_missing(X), int(trees.depth.max())
    contributions = np.empty((n_rows, n_features))
    chunk, size = rows_together(n_rows, n_features, n_jobs)

    def explain_chunk(start: int) -> None:
        part = slice(start, min(start + chunk, n_rows))
        rows = read_only(np.ascontiguousarray(X[part], dtype=np.float64))
        if missing:
            add_changes_of_missing(rows, *nodes, *values, max_depth, contributions[part])
        else:
            block = new_block(n_features, size)
            add_changes_over_trees(rows, *nodes, *values, block, contributions[part])

    map_in_threads(explain_chunk, range(0, n_rows, chunk), n_jobs)
    contributions /= -_scale(forest)
    return contributions


def mean_log2_score(forest: GrownForest) -> float:
    """Return the mean of log2 s over the rows that each tree was grown on, its sub-sample.

    Other rows of the training data are mostly a little more anomalous to that tree.
    """
    trees = forest.trees
    is_leaf = (trees.packed[:, 1] & LOW_32) == _place_in_tree(trees.first_node)
    sizes = node_sizes(trees)
    values = np.where(is_leaf, sizes * forest.leaf_value, 0.0)
    roots = trees.first_node[:-1]
    expected = np.add.reduceat(values, roots) / sizes[roots]
    return float(expected.sum() / -_scale(forest))


def _scale(forest: GrownForest) -> float:
    n_trees = forest.trees.first_node.shape[0] - 1
    return depth_scale(forest.scoring, n_trees, forest.n_subsample)


def _place_in_tree(first_node: np.ndarray) -> np.ndarray:
    """Return each node's number, counted from the root of its tree."""
    return np.arange(first_node[-1]) - np.repeat(first_node[:-1], np.diff(first_node))
