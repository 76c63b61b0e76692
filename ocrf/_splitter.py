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

from ._criteria import split_gain

# Thresholds per run, and the size from which nodes are searched by runs.
RUN = 16
SEARCH_BY_RUNS = 48

# A run is passed over when its bound is smaller by more than rounding can explain.
_ROUNDING = 1.0 + 1e-6


@njit(cache=True, nogil=True, inline="always")
def midpoint(low, high):
    """Return the threshold between two consecutive distinct values: low < threshold <= high."""
    threshold = 0.5 * low + 0.5 * high
    # Between neighbouring floats there is no midpoint; `x < threshold` must still send low left.
    return threshold if threshold > low else high


@njit(cache=True, nogil=True, inline="always")
def rectangle_bound(criterion, a_min, a_max, n, share_min, share_max, n_outliers):
    """Bound the gain of all splits with a in [a_min, a_max] and lambda in [share_min, share_max].

    A gain grows with the distance of a / n from lambda, so two of the four corners suffice.
    """
    dense = split_gain(criterion, a_max, n, share_min, n_outliers)
    sparse = split_gain(criterion, a_min, n, share_max, n_outliers)
    return max(dense, sparse) * _ROUNDING


@njit(cache=True, nogil=True)
def search_run(criterion, values, order, start, n, first, last, lower, per_unit, n_outliers, best):
    """Try the thresholds below the points ``first`` ... ``last`` - 1 of a node, in ascending order.

    Parameters
    ----------
    values : float64 array
        The feature's value of every point of the sub-sample.
    order : int32 array
        ``order[start : start + n]`` are the node's points in ascending order of ``values``.
    first, last : int
        Places in that order, 1 <= first <= last <= n.
    lower, per_unit : float
        Where the node's cell begins along the feature, and one over its width.
    n_outliers : float
        Hidden outliers in the node.
    best : float
        Gain to be beaten.

    Returns
    -------
    gain, threshold, n_left
        The first threshold of maximal gain; ``n_left`` is 0 when none beats ``best``.
    """
    threshold, n_left = 0.0, np.intp(0)
    previous = values[order[start + first - 1]]
    for i in range(first, last):
        value = values[order[start + i]]
        if value > previous:
            middle = midpoint(previous, value)
            share = (middle - lower) * per_unit
            gain = split_gain(criterion, np.float64(i), np.float64(n), share, n_outliers)
            if gain > best:
                best, threshold, n_left = gain, middle, i
            previous = value
    return best, threshold, n_left


@njit(cache=True, nogil=True)
def bound_runs(criterion, values, order, start, n, lower, per_unit, n_outliers, bounds):
    """Bound from above what each run of RUN thresholds can gain; -1 where it has none.

    Returns
    -------
    bound, run
        The largest bound and the first run that has it.
    """
    n_runs = (n - 1 + RUN - 1) // RUN
    largest, at = -1.0, np.intp(0)
    low = values[order[start]]
    for run in range(n_runs):
        first = 1 + run * RUN
        last = min(first + RUN, n)
        high = values[order[start + last - 1]]
        bound = -1.0
        if high > low:
            bound = rectangle_bound(
                criterion,
                np.float64(first),
                np.float64(last - 1),
                np.float64(n),
                (low - lower) * per_unit,
                (high - lower) * per_unit,
                n_outliers,
            )
            if bound > largest:
                largest, at = bound, run
        bounds[run] = bound
        low = high
    return largest, at


@njit(cache=True, nogil=True, inline="always")
def n_runs(n):
    """Return the number of runs of a node of n points."""
    return (n - 1 + RUN - 1) // RUN


@njit(cache=True, nogil=True)
def best_split(criterion, values, orders, start, n, searched, lower, upper, n_outliers, bounds):
    """Find the split of maximal gain of a node.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    values : float64 array of shape (d, m)
        The values of the sub-sample, feature by feature.
    orders : int32 array of shape (d, m)
        ``orders[j, start : start + n]`` are the node's points in ascending order of feature j.
    searched : int array
        The features to search, none of them constant in the node. Of equal splits the
        first found wins: the first feature of ``searched``, its lowest threshold.
    lower, upper : float64 arrays of shape (d,)
        The node's cell.
    n_outliers : float
        Hidden outliers in the node.
    bounds : float64 array of shape (d, n_runs(m))
        Work space.

    Returns
    -------
    feature, threshold, n_left, gain
        ``feature`` is -1 if there is no split.
    """
    gain, threshold, n_left, feature = -1.0, 0.0, np.intp(0), np.intp(-1)
    to_beat = -1.0
    by_runs = n >= SEARCH_BY_RUNS
    if by_runs:
        largest, best_run = -1.0, np.intp(0)
        for j in searched:
            per_unit = 1.0 / (upper[j] - lower[j])
            bound, run = bound_runs(
                criterion, values[j], orders[j], start, n, lower[j], per_unit, n_outliers, bounds[j]
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
                start,
                n,
                first,
                min(first + RUN, n),
                lower[j],
                per_unit,
                n_outliers,
                -1.0,
            )
            feature = np.intp(-1)
    for j in searched:
        per_unit = 1.0 / (upper[j] - lower[j])
        if by_runs:
            for run in range(n_runs(n)):
                if bounds[j, run] >= max(to_beat, gain):
                    first = 1 + run * RUN
                    found, cut, count = search_run(
                        criterion,
                        values[j],
                        orders[j],
                        start,
                        n,
                        first,
                        min(first + RUN, n),
                        lower[j],
                        per_unit,
                        n_outliers,
                        gain,
                    )
                    if count > 0:
                        gain, threshold, n_left, feature = found, cut, count, j
        else:
            found, cut, count = search_run(
                criterion,
                values[j],
                orders[j],
                start,
                n,
                1,
                n,
                lower[j],
                per_unit,
                n_outliers,
                gain,
            )
            if count > 0:
                gain, threshold, n_left, feature = found, cut, count, j
    return feature, threshold, n_left, gain
