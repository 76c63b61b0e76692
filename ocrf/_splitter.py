"""The best split of a node along its features, without looking at every threshold.

In all but small nodes the gains of whole runs of thresholds are bounded first, and only the runs
that might beat the best split are searched. The split found equals that of an exhaustive search.

The gain of a split is a convex function of (a, lambda), the points and the share of the volume that
go left (`_criterion`), so over a rectangle of such pairs it is largest in a corner. The thresholds
between two points of the sorted order span such a rectangle: two evaluations bound a whole run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._criterion import ENTROPY, GINI, entropy_gain, gini_gain
from .kernels import inner_kernel, kernel

# Nodes of fewer points are searched without runs.
_SEARCH_BY_RUNS = 64

# Thresholds per run, times _LONGER in nodes of _LARGE points, and again for each _LARGER times as
# many: there, fetching the values at the runs' ends costs more than searching a few longer runs.
_RUN, _LONGER, _LARGE, _LARGER = 16, 4, 4096, 16

# In the place of the gain of a threshold between equal values: below all that is to be beaten.
_NO_THRESHOLD = -2.0

# A run is skipped if its bound is smaller by more than rounding can explain.
_ROUNDING = 1.0 + 1e-6


class Sorted(NamedTuple):
    """The points of a node in ascending order of each feature, and its box.

    There is a slot for each of the tree's features, or for each feature that a node searches.
    """

    values: np.ndarray  # float64, (n_slots, m): values of the sub-sample, feature by feature
    orders: np.ndarray  # uint32, (2, n_slots, m): in two buffers
    buffer: int  # the points are orders[buffer, slot, start:end]
    start: int
    end: int
    lower: np.ndarray  # float64, (n_slots,): the box
    upper: np.ndarray
    n_outliers: float  # hidden outliers in the node


class Search(NamedTuple):
    """Work space of a search."""

    run: np.ndarray  # float64, (2, longest_search(m)): values of a run, and their gains
    bounds: np.ndarray  # float64, (n_slots, most_runs(m)): the bound of each run
    # Of features whose best splits gain the same: intp, (n_slots, 2): their slots, and the points
    # that go left.
    tied: np.ndarray
    tied_thresholds: np.ndarray  # float64, (n_slots,)


@kernel(inline="always")
def midpoint(low: float, high: float) -> float:
    """Return the threshold between two consecutive distinct values: low < threshold <= high."""
    threshold = 0.5 * low + 0.5 * high
    # Between neighbouring floats there is no midpoint; `x < threshold` must still send low left.
    return threshold if threshold > low else high


@kernel(inline="always")
def _run_length(n: int) -> int:
    """Return the number of thresholds in a run of a node of n points."""
    length, large = _RUN, _LARGE
    while n >= large:
        length *= _LONGER
        large *= _LARGER
    return length


@kernel(inline="always")
def _n_runs(n: int) -> int:
    """Return the number of runs of a node of n points."""
    length = _run_length(n)
    return (n - 1 + length - 1) // length


def most_runs(m: int) -> int:
    """Return the largest number of runs that a node of at most m points has."""
    most, length, large = 0, _RUN, _LARGE
    while m >= large:
        most = max(most, (large - 2) // length + 1)
        length *= _LONGER
        large *= _LARGER
    return max(most, (m - 2) // length + 1)


def longest_search(m: int) -> int:
    """Return how many values the search of a node of at most m points compares together."""
    return max(most_runs(m), _run_length.py_func(m), _SEARCH_BY_RUNS) + 1


@inner_kernel
def _bound_runs(criterion: int, node: Sorted, slot: int, search: Search) -> tuple[float, int]:
    """Bound from above what each run of thresholds can gain; -1 where it has none.

    A gain grows with the distance of a / n from lambda, so that of a rectangle's four corners two
    suffice: the most points on the least volume, and the fewest on the most.

    Returns
    -------
    bound, run
        The largest bound and the first run that has it.
    """
    order = node.orders[node.buffer, slot, node.start : node.end]
    column, edges, bounds = node.values[slot], search.run[0], search.bounds[slot]
    n = order.shape[0]
    runs, length = _n_runs(n), _run_length(n)
    for run in range(runs):
        edges[run] = column[order[run * length]]
    edges[runs] = column[order[n - 1]]
    bottom, per_unit = node.lower[slot], 1.0 / (node.upper[slot] - node.lower[slot])
    total, n_outliers = np.float64(n), node.n_outliers
    # Two loops, one without a branch on the criterion: the compiler makes vectors of the first.
    if criterion == GINI:
        for run in range(runs):
            low, high = (edges[run] - bottom) * per_unit, (edges[run + 1] - bottom) * per_unit
            a_min = np.float64(1 + run * length)
            a_max = min(np.float64((run + 1) * length), total - 1.0)
            dense = gini_gain(a_max, total, low, n_outliers)
            sparse = gini_gain(a_min, total, high, n_outliers)
            bounds[run] = max(dense, sparse) * _ROUNDING if high > low else -1.0
    elif criterion == ENTROPY:
        for run in range(runs):
            low, high = (edges[run] - bottom) * per_unit, (edges[run + 1] - bottom) * per_unit
            a_min = np.float64(1 + run * length)
            a_max = min(np.float64((run + 1) * length), total - 1.0)
            dense = entropy_gain(a_max, total, low, n_outliers)
            sparse = entropy_gain(a_min, total, high, n_outliers)
            bounds[run] = max(dense, sparse) * _ROUNDING if high > low else -1.0
    else:
        raise ValueError("unknown criterion")
    largest, at = -1.0, 0
    for run in range(runs):
        if bounds[run] > largest:
            largest, at = bounds[run], run
    return largest, at


@inner_kernel
def _search_run(
    criterion: int, node: Sorted, slot: int, first: int, last: int, best: float, search: Search
) -> tuple[float, float, int]:
    """Try the thresholds below the points ``first`` ... ``last`` - 1 of a node, in ascending order.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    node : Sorted
    slot : int
        The slot of the feature.
    first, last : int
        Places in the node's order, 1 <= first <= last <= n.
    best : float
        Gain to be reached.
    search : Search

    Returns
    -------
    gain, threshold, n_left
        The first threshold of maximal gain; ``n_left`` is 0 if none reaches ``best``.
    """
    run = node.orders[node.buffer, slot, node.start + first - 1 : node.start + last]
    column, values, gains = node.values[slot], search.run[0], search.run[1]
    for i in range(run.shape[0]):
        values[i] = column[run[i]]
    k = run.shape[0] - 1
    lower, per_unit = node.lower[slot], 1.0 / (node.upper[slot] - node.lower[slot])
    n, n_outliers = np.float64(node.end - node.start), node.n_outliers
    # Loops over contiguous arrays, the first without a branch: the compiler makes vectors of it.
    if criterion == GINI:
        for i in range(k):
            low, high = values[i], values[i + 1]
            share = (midpoint(low, high) - lower) * per_unit
            gain = gini_gain(np.float64(first + i), n, share, n_outliers)
            gains[i] = gain if high > low else _NO_THRESHOLD
    elif criterion == ENTROPY:
        for i in range(k):
            low, high = values[i], values[i + 1]
            gains[i] = _NO_THRESHOLD
            if high > low:
                share = (midpoint(low, high) - lower) * per_unit
                gains[i] = entropy_gain(np.float64(first + i), n, share, n_outliers)
    else:
        raise ValueError("unknown criterion")
    at = -1
    for i in range(k):
        if gains[i] >= best and (at < 0 or gains[i] > best):
            best, at = gains[i], i
    if at < 0:
        return best, 0.0, 0
    return best, midpoint(values[at], values[at + 1]), first + at


@kernel(inline="always")
def _note_split(
    search: Search, slot: int, found: float, threshold: float, n_left: int, gain: float, n_tied: int
) -> tuple[float, int]:
    """Note a split that gains no less than those before; return its gain and how many tie."""
    if found > gain:
        n_tied = 0
    # Of a feature's splits that gain the same, the first one counts.
    if n_tied == 0 or search.tied[n_tied - 1, 0] != slot:
        search.tied[n_tied, 0], search.tied[n_tied, 1] = slot, n_left
        search.tied_thresholds[n_tied] = threshold
        n_tied += 1
    return found, n_tied


@inner_kernel
def best_split(
    criterion: int, node: Sorted, searched: np.ndarray, n_searched: int, search: Search
) -> tuple[int, float]:
    """Find the splits of maximal gain of a node, one per feature.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    node : Sorted
    searched : int array
        ``searched[:n_searched]`` are the slots of the features to search, none of them constant in
        the node.
    n_searched : int
    search : Search
        Receives the splits, in the order of the features. Of a feature's splits that gain the same
        it is the one with the lowest threshold.

    Returns
    -------
    n_tied, gain
        How many splits have the maximal gain; 0 if there is none.
    """
    n = node.end - node.start
    gain, n_tied = -1.0, 0
    if n < _SEARCH_BY_RUNS:
        for k in range(n_searched):
            slot = searched[k]
            found, cut, count = _search_run(criterion, node, slot, np.intp(1), n, gain, search)
            if count > 0:
                gain, n_tied = _note_split(search, slot, found, cut, count, gain, n_tied)
        return n_tied, gain

    largest, promising, promising_run = -1.0, np.intp(-1), 0
    for k in range(n_searched):
        bound, run = _bound_runs(criterion, node, searched[k], search)
        if bound > largest:
            largest, promising, promising_run = bound, searched[k], run
    if promising < 0:
        return n_tied, gain
    # The gain of the most promising run is a mark that the bounds of most other runs do not reach.
    length = _run_length(n)
    first = 1 + promising_run * length
    mark, _, _ = _search_run(
        criterion, node, promising, first, min(first + length, n), gain, search
    )
    for k in range(n_searched):
        slot = searched[k]
        for run in range(_n_runs(n)):
            if search.bounds[slot, run] >= mark:
                first = 1 + run * length
                found, cut, count = _search_run(
                    criterion, node, slot, first, min(first + length, n), gain, search
                )
                if count > 0:
                    gain, n_tied = _note_split(search, slot, found, cut, count, gain, n_tied)
                    mark = max(mark, gain)
    return n_tied, gain
