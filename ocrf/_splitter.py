"""The best split of a node along its features, without looking at every threshold.

The gain of a split is a convex function of (a, lambda), the points and the share of the volume that
go left (`_criteria`), so over a rectangle of such pairs it is largest in a corner. The thresholds
between two points of the sorted order span such a rectangle: two evaluations bound a whole run of
thresholds, and only the runs that might beat the best split are looked into. The split found is
the one an exhaustive search finds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ._criteria import GINI, entropy_gain, gini_gain

# Thresholds per run, and the size from which nodes are searched by runs.
RUN = 16
SEARCH_BY_RUNS = 48

# A run is passed over when its bound is smaller by more than rounding can explain.
_ROUNDING = 1.0 + 1e-6


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def midpoint(low, high):
    """Return the threshold between two consecutive distinct values: low < threshold <= high."""
    threshold = 0.5 * low + 0.5 * high
    # Between neighbouring floats there is no midpoint; `x < threshold` must still send low left.
    return threshold if threshold > low else high


@njit(cache=True, nogil=True, error_model="numpy")
def threshold_gains(criterion, sorted_values, first, n, lower, per_unit, n_outliers, gains):
    """Compute what the thresholds between neighbours of a run of sorted values gain.

    Parameters
    ----------
    sorted_values : float64 array of shape (k + 1,)
        Values of points ``first`` - 1 ... ``first`` + k - 1 of the node's order.
    n : float
        Points in the node.
    lower, per_unit : float
        Where the node's cell begins along the feature, and one over its width.
    n_outliers : float
        Hidden outliers in the node.
    gains : float64 array of shape (k,)
        Receives the gains; -1 between equal values, where no threshold fits.
    """
    # Plain loops over contiguous arrays without a branch: the compiler makes vectors of them.
    if criterion == GINI:
        for i in range(gains.shape[0]):
            low, high = sorted_values[i], sorted_values[i + 1]
            share = (midpoint(low, high) - lower) * per_unit
            gain = gini_gain(np.float64(first + i), n, share, n_outliers)
            gains[i] = gain if high > low else -1.0
    else:
        for i in range(gains.shape[0]):
            low, high = sorted_values[i], sorted_values[i + 1]
            gains[i] = -1.0
            if high > low:
                share = (midpoint(low, high) - lower) * per_unit
                gains[i] = entropy_gain(np.float64(first + i), n, share, n_outliers)


@njit(cache=True, nogil=True, error_model="numpy")
def search_run(
    criterion, values, order, first, last, lower, per_unit, n_outliers, best, run_values, gains
):
    """Try the thresholds below the points ``first`` ... ``last`` - 1 of a node, in ascending order.

    Parameters
    ----------
    values : float64 array
        The feature's value of every point of the sub-sample.
    order : uint32 array of shape (n,)
        The node's points in ascending order of ``values``.
    first, last : int
        Places in that order, 1 <= first <= last <= n.
    lower, per_unit, n_outliers : float
        As in `threshold_gains`.
    best : float
        Gain to be beaten.
    run_values, gains : float64 arrays
        Work space.

    Returns
    -------
    gain, threshold, n_left
        The first threshold of maximal gain; ``n_left`` is 0 when none beats ``best``.
    """
    run = order[first - 1 : last]
    for i in range(run.shape[0]):
        run_values[i] = values[run[i]]
    gains = gains[: last - first]
    threshold_gains(
        criterion,
        run_values,
        first,
        np.float64(order.shape[0]),
        lower,
        per_unit,
        n_outliers,
        gains,
    )
    at = np.intp(-1)
    for i in range(gains.shape[0]):
        if gains[i] > best:
            best, at = gains[i], i
    if at < 0:
        return best, 0.0, np.intp(0)
    return best, midpoint(run_values[at], run_values[at + 1]), first + at


@njit(cache=True, nogil=True, error_model="numpy")
def bound_runs(criterion, values, order, lower, per_unit, n_outliers, edges, bounds):
    """Bound from above what each run of RUN thresholds can gain; -1 where it has none.

    A gain grows with the distance of a / n from lambda, so that of a rectangle's four corners two
    suffice: the most points on the least volume, and the fewest on the most.

    Parameters
    ----------
    edges : float64 array of shape (>= n_runs(n) + 1,)
        Work space.
    bounds : float64 array of shape (n_runs(n),)
        Receives the bounds.

    Returns
    -------
    bound, run
        The largest bound and the first run that has it.
    """
    n = order.shape[0]
    last_run = bounds.shape[0] - 1
    for run in range(last_run + 1):
        edges[run] = values[order[run * RUN]]
    edges[last_run + 1] = values[order[n - 1]]
    total = np.float64(n)
    if criterion == GINI:
        for run in range(bounds.shape[0]):
            low, high = (edges[run] - lower) * per_unit, (edges[run + 1] - lower) * per_unit
            a_min, a_max = np.float64(1 + run * RUN), min(np.float64((run + 1) * RUN), total - 1.0)
            dense = gini_gain(a_max, total, low, n_outliers)
            sparse = gini_gain(a_min, total, high, n_outliers)
            bounds[run] = max(dense, sparse) * _ROUNDING if high > low else -1.0
    else:
        for run in range(bounds.shape[0]):
            low, high = (edges[run] - lower) * per_unit, (edges[run + 1] - lower) * per_unit
            a_min, a_max = np.float64(1 + run * RUN), min(np.float64((run + 1) * RUN), total - 1.0)
            dense = entropy_gain(a_max, total, low, n_outliers)
            sparse = entropy_gain(a_min, total, high, n_outliers)
            bounds[run] = max(dense, sparse) * _ROUNDING if high > low else -1.0
    largest, at = -1.0, np.intp(0)
    for run in range(bounds.shape[0]):
        if bounds[run] > largest:
            largest, at = bounds[run], run
    return largest, at


@njit(cache=True, nogil=True, inline="always")
def n_runs(n):
    """Return the number of runs of a node of n points."""
    return (n - 1 + RUN - 1) // RUN


@njit(cache=True, nogil=True, inline="always")
def work_size(m):
    """Return how many values the search of a node of at most m points looks at together."""
    return max(n_runs(m), RUN, SEARCH_BY_RUNS) + 1


@njit(cache=True, nogil=True, error_model="numpy")
def best_split(criterion, values, orders, searched, lower, upper, n_outliers, work, bounds):
    """Find the split of maximal gain of a node.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    values : float64 array of shape (d, m)
        The values of the sub-sample, feature by feature.
    orders : uint32 array of shape (d, n)
        The node's points in ascending order of each feature.
    searched : int array
        The features to search, none of them constant in the node. Of equal splits the
        first found wins: the first feature of ``searched``, its lowest threshold.
    lower, upper : float64 arrays of shape (d,)
        The node's cell.
    n_outliers : float
        Hidden outliers in the node.
    work : float64 array of shape (2, work_size(m))
    bounds : float64 array of shape (d, n_runs(m))
        Work space.

    Returns
    -------
    feature, threshold, n_left, gain
        ``feature`` is -1 if there is no split.
    """
    n = orders.shape[1]
    runs = n_runs(n)
    gain, threshold, n_left, feature = -1.0, 0.0, np.intp(0), np.intp(-1)
    to_beat = -1.0
    by_runs = n >= SEARCH_BY_RUNS
    if by_runs:
        largest, best_run = -1.0, np.intp(0)
        for j in searched:
            per_unit = 1.0 / (upper[j] - lower[j])
            bound, run = bound_runs(
                criterion,
                values[j],
                orders[j],
                lower[j],
                per_unit,
                n_outliers,
                work[0],
                bounds[j, :runs],
            )
            if bound > largest:
                largest, best_run, feature = bound, run, j
        if feature >= 0:
            # The most promising run sets a mark that most of the others cannot reach.
            j = feature
            per_unit = 1.0 / (upper[j] - lower[j])
            first = 1 + best_run * RUN
            to_beat, _, _ = search_run(
                criterion,
                values[j],
                orders[j],
                first,
                min(first + RUN, n),
                lower[j],
                per_unit,
                n_outliers,
                -1.0,
                work[0],
                work[1],
            )
            feature = np.intp(-1)
    for j in searched:
        per_unit = 1.0 / (upper[j] - lower[j])
        if by_runs:
            for run in range(runs):
                if bounds[j, run] >= max(to_beat, gain):
                    first = 1 + run * RUN
                    found, cut, count = search_run(
                        criterion,
                        values[j],
                        orders[j],
                        first,
                        min(first + RUN, n),
                        lower[j],
                        per_unit,
                        n_outliers,
                        gain,
                        work[0],
                        work[1],
                    )
                    if count > 0:
                        gain, threshold, n_left, feature = found, cut, count, j
        else:
            found, cut, count = search_run(
                criterion,
                values[j],
                orders[j],
                1,
                n,
                lower[j],
                per_unit,
                n_outliers,
                gain,
                work[0],
                work[1],
            )
            if count > 0:
                gain, threshold, n_left, feature = found, cut, count, j
    return feature, threshold, n_left, gain
