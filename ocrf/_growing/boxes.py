"""The box of the node at hand, and the features that are constant in it, along a depth-first walk.

A box is the hyper-rectangle X_t of a node: the intersection of the sub-sample's bounding box with
the half-spaces of the splits above the node. Pending nodes store their depth and side only. Every
change of the box is recorded, and undone when the walk returns from below the node that made it, so
that a node costs as much as the features that it searches, however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import inner_kernel, kernel


class Box(NamedTuple):
    """The box of the last node entered, and the splits that lead to it."""

    lower: np.ndarray  # float64, (d,)
    upper: np.ndarray  # float64, (d,)
    path: np.ndarray  # intp, (max_depth, 2): feature and side (1 for right) of the splits
    path_bounds: np.ndarray  # float64, (max_depth, 2): their thresholds, and the bounds replaced


@kernel(inline="always")
def log_ratio(part: float, whole: float) -> float:
    """Return log(part / whole), also where the quotient of two positive numbers underflows."""
    ratio = part / whole
    return np.log(ratio) if ratio > 0.0 else np.log(part) - np.log(whole)


@inner_kernel
def find_root_box(X: np.ndarray, rows: np.ndarray, columns: np.ndarray, box: Box) -> None:
    """Set a box to the bounding box of the values that a sub-sample has.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features)
    rows : uint32 array of shape (m + 1,)
        The sub-sample; the last place is not read.
    columns : uint32 array of shape (>= d,)
    box : Box
    """
    lower, upper = box.lower, box.upper
    d, m = lower.shape[0], rows.shape[0] - 1
    for j in range(d):
        lower[j], upper[j] = np.inf, -np.inf
    for i in range(m):
        row = X[rows[i]]
        for j in range(d):
            # A missing value is neither smaller nor larger.
            value = row[columns[j]]
            lower[j] = value if value < lower[j] else lower[j]
            upper[j] = value if value > upper[j] else upper[j]


@inner_kernel
def root_log_volume(
    data_lower: np.ndarray, data_upper: np.ndarray, columns: np.ndarray, box: Box
) -> float:
    """Return the log of the root box's share of the training data's bounding box."""
    log_volume = 0.0
    for j in range(box.lower.shape[0]):
        low, high, column = box.lower[j], box.upper[j], columns[j]
        if low < high:
            log_volume += log_ratio(high - low, data_upper[column] - data_lower[column])
    return log_volume


@inner_kernel(is_apart=True)
def enter_box(box: Box, level: int, depth: int, side: int) -> None:
    """Turn the box of the last node entered into that of the next one.

    Parameters
    ----------
    box : Box
    level, depth : int
        Depths of the last node entered and of the next one, whose parent is the last node or one
        of its ancestors.
    side : int
    """
    lower, upper, path, path_bounds = box.lower, box.upper, box.path, box.path_bounds
    for k in range(level - 1, max(depth - 1, 0) - 1, -1):
        if path[k, 1]:
            lower[path[k, 0]] = path_bounds[k, 1]
        else:
            upper[path[k, 0]] = path_bounds[k, 1]
    if depth > 0:
        path[depth - 1, 1] = side
        split = path[depth - 1, 0]
        if side:
            path_bounds[depth - 1, 1] = lower[split]
            lower[split] = path_bounds[depth - 1, 0]
        else:
            path_bounds[depth - 1, 1] = upper[split]
            upper[split] = path_bounds[depth - 1, 0]


@inner_kernel
def forget_constants(
    constants: np.ndarray, n_constants: int, depth: int, constant: np.ndarray
) -> int:
    """Clear the marks that nodes at or below a depth have made; return how many marks remain.

    Parameters
    ----------
    constants : intp array of shape (d, 2)
        The marked features, and the depths of the nodes that marked them.
    n_constants, depth : int
    constant : bool array of shape (d,)
        The marks.
    """
    while n_constants > 0 and constants[n_constants - 1, 1] >= depth:
        n_constants -= 1
        constant[constants[n_constants, 0]] = False
    return n_constants
