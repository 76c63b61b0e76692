"""The cell of the node at hand, and the features that are constant in it, along a depth-first walk.

Nothing is kept per pending node but its depth and its side. What a node changes is written down,
and undone when the walk comes back from below it: with ever so many features a node costs no more
than the features that it looks at.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def enter_cell(
    path: np.ndarray,
    path_bounds: np.ndarray,
    level: int,
    depth: int,
    side: int,
    lower: np.ndarray,
    upper: np.ndarray,
) -> None:
    """Turn the cell of the last node entered into that of the next one.

    Parameters
    ----------
    path : intp array of shape (max_depth, 2)
        Feature and side (1 for right) of the splits that lead to the last node, and of its own.
    path_bounds : float64 array of shape (max_depth, 2)
        Their thresholds, and the bounds that they replaced.
    level, depth : int
        Depths of the last node entered and of the next one, whose parent is the last node or one
        of its ancestors.
    side : int
    lower, upper : float64 arrays of shape (d,)
        The cell.
    """
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


@njit(cache=True, nogil=True)
def forget_constants(
    constants: np.ndarray, n_constants: int, depth: int, constant: np.ndarray
) -> int:
    """Take back what nodes at or below a depth found to be constant; return what remains.

    Parameters
    ----------
    constants : intp array of shape (d, 2)
        The features that are marked, and the depths of the nodes that marked them.
    n_constants, depth : int
    constant : bool array of shape (d,)
        The marks.
    """
    while n_constants > 0 and constants[n_constants - 1, 1] >= depth:
        n_constants -= 1
        constant[constants[n_constants, 0]] = False
    return n_constants
