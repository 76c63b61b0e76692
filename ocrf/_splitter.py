"""The best split of a node along one feature."""

from __future__ import annotations

from numba import njit

from ._criteria import split_gain


@njit(cache=True, nogil=True, inline="always")
def midpoint(low, high):
    """Return the threshold between two consecutive distinct values: low < threshold <= high."""
    threshold = 0.5 * low + 0.5 * high
    # Between neighbouring floats there is no midpoint; `x < threshold` must still send low left.
    return threshold if threshold > low else high


@njit(cache=True, nogil=True)
def best_split_sorted(criterion, values, order, start, end, lower, upper, n_outliers, best_gain):
    """Search the thresholds of one feature, given the node's points in ascending order.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    values : float64 array
        The feature's value of every point of the sub-sample.
    order : int32 array
        ``order[start:end]`` are the node's points in ascending order of ``values``.
    lower, upper : float
        The node's cell along the feature.
    n_outliers : float
        Hidden outliers in the node.
    best_gain : float
        Gain to be beaten.

    Returns
    -------
    gain, threshold, n_left
        The first (lowest) threshold of maximal gain; ``n_left`` is 0 when none beats ``best_gain``.
    """
    n = end - start
    per_unit = 1.0 / (upper - lower)
    best_threshold, best_left = 0.0, 0
    previous = values[order[start]]
    for i in range(1, n):
        value = values[order[start + i]]
        if value > previous:
            threshold = midpoint(previous, value)
            share = (threshold - lower) * per_unit
            gain = split_gain(criterion, float(i), float(n), share, n_outliers)
            if gain > best_gain:
                best_gain, best_threshold, best_left = gain, threshold, i
            previous = value
    return best_gain, best_threshold, best_left
