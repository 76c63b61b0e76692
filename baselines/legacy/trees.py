"""Trees as the libraries of 2016 grew them, depth first: extremely randomised, and OneClassRF's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.legacy.arithmetic import integer_between, uniform_between
from ocrf.kernels import njit

#: A node whose impurity is no larger is a leaf.
SMALLEST_IMPURITY = 1e-7
#: Values of a feature no further apart than this are equal.
EQUAL = np.float32(1e-7)
#: A node whose box has a smaller volume is a leaf (OneClassRF).
SMALLEST_VOLUME = 1e-15
LEAF = -1

_EMPTY = np.empty(0)


class Tree(NamedTuple):
    """A grown tree; its nodes in the order in which they were made, the root first.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,)
        The feature that a node splits, `LEAF` in a leaf.
    threshold : ndarray of shape (n_nodes,)
        Values up to it go left.
    children : ndarray of shape (n_nodes, 2)
        The left and the right child.
    depth, n_samples : ndarrays of shape (n_nodes,)
        Edges from the root, and training points inside.
    """

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    children: NDArray[np.int64]
    depth: NDArray[np.int64]
    n_samples: NDArray[np.int64]


@njit(cache=True, nogil=True)
def path_lengths(tree: Tree, X: NDArray[np.float32], leaf_lengths: NDArray[np.float64]) -> NDArray:
    """Return what the leaf of each row adds to its path: its depth, and a length for its size.

    Parameters
    ----------
    tree : Tree
    X : float32 ndarray of shape (n_rows, n_features)
        The tree's own features only.
    leaf_lengths : ndarray of shape (n_samples + 1,)
        The expected length of the path inside a leaf, by its number of points.
    """
    lengths = np.empty(len(X))
    for i in range(len(X)):
        node = 0
        while tree.feature[node] != LEAF:
            goes_right = X[i, tree.feature[node]] > tree.threshold[node]
            node = tree.children[node, int(goes_right)]
        lengths[i] = tree.depth[node] + leaf_lengths[tree.n_samples[node]]
    return lengths


@njit(cache=True, nogil=True)
def grow(
    X: NDArray[np.float32],
    targets: NDArray[np.float64],
    max_depth: int,
    seed: int,
) -> Tree:
    """Grow a tree.

    Features are drawn without replacement, those known to be constant in a node's ancestors counted
    separately: drawing one of them costs a draw and nothing else. An extremely randomised tree
    stops at the first feature that varies and draws its threshold uniformly between its extremes;
    OneClassRF's searches all of them.

    Parameters
    ----------
    X : float32 ndarray of shape (n_samples, n_features)
        The tree's rows and features.
    targets : ndarray of shape (n_samples,) or (0,)
        What an extremely randomised regression tree is trained on: its thresholds do not depend on
        them, but a node in which they hardly vary is a leaf. Empty for OneClassRF's trees.
    max_depth : int
        Nodes at this depth are leaves.
    seed : int
        State of the xorshift.
    """
    n, n_features = X.shape
    extra = targets.size > 0
    state = np.array([seed], dtype=np.uint32)
    size = 2 * n
    feature, threshold = np.full(size, LEAF, dtype=np.int64), np.zeros(size)
    children, depth = np.zeros((size, 2), dtype=np.int64), np.zeros(size, dtype=np.int64)
    n_samples = np.zeros(size, dtype=np.int64)
    rows = np.arange(n)
    features, constant = np.arange(n_features), np.empty(n_features, dtype=np.int64)
    lower, upper = np.empty(n_features, dtype=np.float32), np.empty(n_features, dtype=np.float32)
    for j in range(n_features):
        lower[j], upper[j] = X[:, j].min(), X[:, j].max()
    n_nodes = 0
    # first and last row, parent, side, constant features, impurity, and the box with its volume
    waiting = [(0, n, -1, 0, 0, np.inf, lower, upper, _volume(lower, upper))]
    while len(waiting):
        start, end, parent, side, n_known, impurity, lower, upper, volume = waiting.pop()
        node = n_nodes
        n_nodes += 1
        if parent >= 0:
            children[parent, side] = node
            depth[node] = depth[parent] + 1
        n_samples[node] = end - start
        if end - start < 2 or depth[node] >= max_depth or impurity <= SMALLEST_IMPURITY:
            continue
        if not extra and volume < SMALLEST_VOLUME:
            continue
        found, cut, n_constant = _split(
            X, rows[start:end], extra, features, constant, n_known, lower, upper, volume, state
        )
        if found == LEAF:
            continue
        feature[node], threshold[node] = found, cut
        middle = start + _partition(X, rows[start:end], found, cut)
        left = right = np.inf
        left_upper, right_lower = upper, lower
        left_volume = right_volume = volume
        if extra:
            left = _variance(targets, rows[start:middle])
            right = _variance(targets, rows[middle:end])
        else:
            left_upper, right_lower = upper.copy(), lower.copy()
            left_upper[found] = right_lower[found] = cut
            width = np.float64(upper[found] - lower[found])
            left_volume = volume * np.float64(left_upper[found] - lower[found]) / width
            right_volume = volume * np.float64(upper[found] - right_lower[found]) / width
        waiting.append((middle, end, node, 1, n_constant, right, right_lower, upper, right_volume))
        waiting.append((start, middle, node, 0, n_constant, left, lower, left_upper, left_volume))
    return Tree(
        feature[:n_nodes],
        threshold[:n_nodes],
        children[:n_nodes],
        depth[:n_nodes],
        n_samples[:n_nodes],
    )


@njit(cache=True, nogil=True)
def _split(
    X: NDArray[np.float32],
    rows: NDArray[np.int64],
    extra: bool,
    features: NDArray[np.int64],
    constant: NDArray[np.int64],
    n_known: int,
    lower: NDArray[np.float32],
    upper: NDArray[np.float32],
    volume: float,
    state: NDArray[np.uint32],
) -> tuple[int, float, int]:
    """Draw features until one varies (`extra`), or search all of them for the best split.

    `features` is kept as: constant ones already drawn, other known constant ones, constant ones
    found now, features still to be drawn, features that were looked at. Its known part is put back
    in the order of `constant`, since siblings go on from the same order.

    Returns
    -------
    feature, threshold, n_constant
        The feature is `LEAF` if none varies.
    """
    best, best_cut, smallest = LEAF, 0.0, np.inf
    n_drawn_constant, n_constant, undrawn = 0, n_known, len(features)
    while undrawn > n_constant and not (extra and best != LEAF):
        n_new = n_constant - n_known
        place = integer_between(n_drawn_constant, undrawn - n_new, state)
        if place < n_known:
            features[place], features[n_drawn_constant] = (
                features[n_drawn_constant],
                features[place],
            )
            n_drawn_constant += 1
            continue
        place += n_new
        j = features[place]
        values = X[rows, j]
        smallest_value, largest_value = values.min(), values.max()
        if largest_value <= smallest_value + EQUAL:
            features[place], features[n_constant] = features[n_constant], j
            n_constant += 1
            continue
        undrawn -= 1
        features[place], features[undrawn] = features[undrawn], j
        if extra:
            best = j
            best_cut = uniform_between(np.float64(smallest_value), np.float64(largest_value), state)
            if best_cut == largest_value:
                best_cut = np.float64(smallest_value)
        else:
            values.sort()
            proxy, cut = _best_threshold(values, lower[j], upper[j], volume)
            if proxy < smallest:
                best, best_cut, smallest = j, np.float64(cut), proxy
    features[:n_known] = constant[:n_known]
    constant[n_known:n_constant] = features[n_known:n_constant]
    return best, best_cut, n_constant


@njit(cache=True, nogil=True)
def _best_threshold(
    values: NDArray[np.float32], lower: np.float32, upper: np.float32, volume: float
) -> tuple[float, np.float32]:
    """Minimise the adaptive Gini proxy with gamma = 1 over the midpoints of sorted values.

    Which values are in single precision and which in double, and the order of operations, are those
    of the published program. Single: the sum behind a midpoint, the box's width, the expected
    numbers of outliers and their squares. Double: all else.
    """
    n = len(values)
    width = np.float64(upper - lower)
    smallest, best = np.inf, values[0]
    for k in range(1, n):
        if values[k] <= values[k - 1] + EQUAL:
            continue
        middle = np.float64(values[k - 1] + values[k]) / 2.0
        right = volume * (upper - middle) / width
        left = volume * (middle - lower) / width
        proxy = _weighted_gini(n - k, np.float32(n * right / (right + left))) + _weighted_gini(
            k, np.float32(n * left / (right + left))
        )
        if proxy < smallest:
            smallest, best = proxy, np.float32(middle)
            if best == values[k]:
                best = values[k - 1]
    return smallest, best


@njit(cache=True, nogil=True)
def _weighted_gini(n_points: int, n_outliers: np.float32) -> float:
    """Return a child's Gini impurity of points against expected outliers, times their number."""
    count = np.float64(n_points)
    total = count + n_outliers
    impurity = 1.0 - (count * count + np.float64(n_outliers * n_outliers)) / (total * total)
    return total * impurity


@njit(cache=True, nogil=True)
def _partition(X: NDArray[np.float32], rows: NDArray[np.int64], feature: int, cut: float) -> int:
    """Put the rows that go left first, and return their number."""
    place, end = 0, len(rows)
    while place < end:
        if X[rows[place], feature] <= cut:
            place += 1
        else:
            end -= 1
            rows[place], rows[end] = rows[end], rows[place]
    return end


@njit(cache=True, nogil=True)
def _variance(targets: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
    """Return the mean squared deviation of the rows' targets."""
    total, squares = 0.0, 0.0
    for row in rows:
        total += targets[row]
        squares += targets[row] * targets[row]
    return squares / len(rows) - (total / len(rows)) ** 2


@njit(cache=True, nogil=True)
def _volume(lower: NDArray[np.float32], upper: NDArray[np.float32]) -> float:
    """Return a box's volume: the widths in single precision, their product in double."""
    volume = 1.0
    for j in range(len(lower)):
        volume *= np.float64(upper[j] - lower[j])
    return volume
