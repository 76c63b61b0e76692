"""The best split of a node along its features, without looking at every threshold.

In all but small nodes the gains of whole runs of thresholds are bounded first (`_runs`), and only
the runs that might beat the best split are looked into. The split found is the one an exhaustive
search finds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ._criteria import GINI, entropy_gain, gini_gain
from ._runs import LONG_RUN, bound_runs, most_runs, n_runs, run_length

# Nodes of fewer points are searched without runs.
SEARCH_BY_RUNS = 64


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def midpoint(low: float, high: float) -> float:
    """Return the threshold between two consecutive distinct values: low < threshold <= high."""
    threshold = 0.5 * low + 0.5 * high
    # Between neighbouring floats there is no midpoint; `x < threshold` must still send low left.
    return threshold if threshold > low else high


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _threshold_gains(
    criterion: int,
    sorted_values: np.ndarray,
    k: int,
    first: int,
    n: float,
    lower: float,
    per_unit: float,
    n_outliers: float,
    gains: np.ndarray,
) -> None:
    """Compute what the k thresholds between neighbours of a run of sorted values gain.

    Parameters
    ----------
    sorted_values : float64 array
        Values of points ``first`` - 1 ... ``first`` + k - 1 of the node's order.
    n : float
        Points in the node.
    lower, per_unit : float
        Where the node's cell begins along the feature, and one over its width.
    n_outliers : float
        Hidden outliers in the node.
    gains : float64 array
        Receives the gains; -1 between equal values, where no threshold fits.
    """
    # Plain loops over contiguous arrays without a branch: the compiler makes vectors of them.
    if criterion == GINI:
        for i in range(k):
            low, high = sorted_values[i], sorted_values[i + 1]
            share = (midpoint(low, high) - lower) * per_unit
            gain = gini_gain(np.float64(first + i), n, share, n_outliers)
            gains[i] = gain if high > low else -1.0
    else:
        for i in range(k):
            low, high = sorted_values[i], sorted_values[i + 1]
            gains[i] = -1.0
            if high > low:
                share = (midpoint(low, high) - lower) * per_unit
                gains[i] = entropy_gain(np.float64(first + i), n, share, n_outliers)


@njit(cache=True, nogil=True, error_model="numpy")
def _search_run(
    criterion: int,
    values: np.ndarray,
    orders: np.ndarray,
    turn: int,
    j: int,
    start: int,
    end: int,
    first: int,
    last: int,
    lower: np.ndarray,
    upper: np.ndarray,
    n_outliers: float,
    best: float,
    work: np.ndarray,
) -> tuple[float, float, int]:
    """Try the thresholds below the points ``first`` ... ``last`` - 1 of a node, in ascending order.

    Parameters
    ----------
    j : int
        The feature; other parameters as in `best_split`.
    first, last : int
        Places in the node's order, 1 <= first <= last <= n.
    best : float
        Gain to be beaten.

    Returns
    -------
    gain, threshold, n_left
        The first threshold of maximal gain; ``n_left`` is 0 when none beats ``best``.
    """
    run = orders[turn, j, start + first - 1 : start + last]
    column, run_values, gains = values[j], work[0], work[1]
    for i in range(run.shape[0]):
        run_values[i] = column[run[i]]
    k = run.shape[0] - 1
    per_unit = 1.0 / (upper[j] - lower[j])
    n = np.float64(end - start)
    _threshold_gains(criterion, run_values, k, first, n, lower[j], per_unit, n_outliers, gains)
    at = -1
    for i in range(k):
        if gains[i] > best:
            best, at = gains[i], i
    if at < 0:
        return best, 0.0, 0
    return best, midpoint(run_values[at], run_values[at + 1]), first + at


@njit(cache=True, nogil=True, inline="always")
def work_size(m: int) -> int:
    """Return how many values the search of a node of at most m points looks at together."""
    return max(most_runs(m), LONG_RUN, SEARCH_BY_RUNS) + 1


@njit(cache=True, nogil=True, error_model="numpy")
def best_split(
    criterion: int,
    values: np.ndarray,
    orders: np.ndarray,
    turn: int,
    start: int,
    end: int,
    searched: np.ndarray,
    n_searched: int,
    lower: np.ndarray,
    upper: np.ndarray,
    n_outliers: float,
    work: np.ndarray,
    bounds: np.ndarray,
) -> tuple[int, float, int, float]:
    """Find the split of maximal gain of a node.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    values : float64 array of shape (d, m)
        The values of the sub-sample, feature by feature.
    orders : uint32 array of shape (2, d, m)
        ``orders[turn, j, start:end]`` are the node's points in ascending order of feature j.
    searched : int array
        ``searched[:n_searched]`` are the features to search, none of them constant in the node. Of
        equal splits the first found wins: the first feature, its lowest threshold.
    lower, upper : float64 arrays of shape (d,)
        The node's cell.
    n_outliers : float
        Hidden outliers in the node.
    work : float64 array of shape (2, work_size(m))
    bounds : float64 array of shape (d, most_runs(m))
        Work space.

    Returns
    -------
    feature, threshold, n_left, gain
        ``feature`` is -1 if there is no split.
    """
    n = end - start
    gain, threshold, n_left, feature = -1.0, 0.0, 0, -1
    if n < SEARCH_BY_RUNS:
        for k in range(n_searched):
            j = searched[k]
            found, cut, count = _search_run(
                criterion,
                values,
                orders,
                turn,
                j,
                start,
                end,
                1,
                n,
                lower,
                upper,
                n_outliers,
                gain,
                work,
            )
            if count > 0:
                gain, threshold, n_left, feature = found, cut, count, j
        return feature, threshold, n_left, gain

    largest, promising, promising_run = -1.0, -1, 0
    for k in range(n_searched):
        j = searched[k]
        bound, run = bound_runs(
            criterion, values, orders, turn, j, start, end, lower, upper, n_outliers, work, bounds
        )
        if bound > largest:
            largest, promising, promising_run = bound, j, run
    if promising < 0:
        return feature, threshold, n_left, gain
    # The most promising run sets a mark that most of the others cannot reach.
    length = run_length(n)
    first = 1 + promising_run * length
    mark, _, _ = _search_run(
        criterion,
        values,
        orders,
        turn,
        promising,
        start,
        end,
        first,
        min(first + length, n),
        lower,
        upper,
        n_outliers,
        gain,
        work,
    )
    for k in range(n_searched):
        j = searched[k]
        for run in range(n_runs(n)):
            if bounds[j, run] >= mark:
                first = 1 + run * length
                found, cut, count = _search_run(
                    criterion,
                    values,
                    orders,
                    turn,
                    j,
                    start,
                    end,
                    first,
                    min(first + length, n),
                    lower,
                    upper,
                    n_outliers,
                    gain,
                    work,
                )
                if count > 0:
                    gain, threshold, n_left, feature = found, cut, count, j
                    mark = max(mark, gain)
    return feature, threshold, n_left, gain
