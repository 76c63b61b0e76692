"""Runs of neighbouring thresholds: what no threshold of a run can gain more than.

The gain of a split is a convex function of (a, lambda), the points and the share of the volume that
go left (`_criteria`), so over a rectangle of such pairs it is largest in a corner. The thresholds
between two points of the sorted order span such a rectangle: two evaluations bound a whole run.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ._criteria import GINI, entropy_gain, gini_gain

# Thresholds per run: in large nodes fetching the values at the runs' ends costs more than looking
# into a few longer runs.
_RUN, LONG_RUN, _LARGE_NODE = 16, 64, 4096

# A run is passed over when its bound is smaller by more than rounding can explain.
_ROUNDING = 1.0 + 1e-6


@njit(cache=True, nogil=True, inline="always")
def run_length(n: int) -> int:
    """Return the number of thresholds in a run of a node of n points."""
    return _RUN if n < _LARGE_NODE else LONG_RUN


@njit(cache=True, nogil=True, inline="always")
def n_runs(n: int) -> int:
    """Return the number of runs of a node of n points."""
    length = run_length(n)
    return (n - 1 + length - 1) // length


@njit(cache=True, nogil=True, inline="always")
def most_runs(m: int) -> int:
    """Return the largest number of runs that a node of at most m points has."""
    return max(n_runs(m), n_runs(min(m, _LARGE_NODE - 1)))


@njit(cache=True, nogil=True, error_model="numpy")
def bound_runs(
    criterion: int,
    values: np.ndarray,
    orders: np.ndarray,
    turn: int,
    j: int,
    start: int,
    end: int,
    lower: np.ndarray,
    upper: np.ndarray,
    n_outliers: float,
    work: np.ndarray,
    bounds: np.ndarray,
) -> tuple[float, int]:
    """Bound from above what each run of thresholds can gain; -1 where it has none.

    A gain grows with the distance of a / n from lambda, so that of a rectangle's four corners two
    suffice: the most points on the least volume, and the fewest on the most.

    Returns
    -------
    bound, run
        The largest bound and the first run that has it.
    """
    order, column, edges, bounds = orders[turn, j, start:end], values[j], work[0], bounds[j]
    n = order.shape[0]
    runs, length = n_runs(n), run_length(n)
    for run in range(runs):
        edges[run] = column[order[run * length]]
    edges[runs] = column[order[n - 1]]
    total, bottom, per_unit = np.float64(n), lower[j], 1.0 / (upper[j] - lower[j])
    if criterion == GINI:
        for run in range(runs):
            low, high = (edges[run] - bottom) * per_unit, (edges[run + 1] - bottom) * per_unit
            a_min = np.float64(1 + run * length)
            a_max = min(np.float64((run + 1) * length), total - 1.0)
            dense = gini_gain(a_max, total, low, n_outliers)
            sparse = gini_gain(a_min, total, high, n_outliers)
            bounds[run] = max(dense, sparse) * _ROUNDING if high > low else -1.0
    else:
        for run in range(runs):
            low, high = (edges[run] - bottom) * per_unit, (edges[run + 1] - bottom) * per_unit
            a_min = np.float64(1 + run * length)
            a_max = min(np.float64((run + 1) * length), total - 1.0)
            dense = entropy_gain(a_max, total, low, n_outliers)
            sparse = entropy_gain(a_min, total, high, n_outliers)
            bounds[run] = max(dense, sparse) * _ROUNDING if high > low else -1.0
    largest, at = -1.0, 0
    for run in range(runs):
        if bounds[run] > largest:
            largest, at = bounds[run], run
    return largest, at
