"""The best split of a node along its features, without looking at every threshold.

In all but small nodes the gains of whole runs of thresholds are bounded first, and only the runs
that might beat the best split are searched. The split found equals that of an exhaustive search.

The gain of a split is a convex function of (a, lambda), the points and the share of the volume that
go left (`criterion`), so over a rectangle of such pairs it is largest in a corner. The thresholds
between two points of the sorted order span such a rectangle: two evaluations bound a whole run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import inner_kernel, kernel
from .criterion import ENTROPY, GINI, entropy_gain, gini_gain

# Nodes of fewer points are searched without runs.
_SEARCH_BY_RUNS = 32

# Thresholds per run, times _LONGER in nodes of _LARGE points, and again for each _LARGER times as
# many: there, fetching the values at the runs' ends costs more than searching a few longer runs.
_RUN, _LONGER, _LARGE, _LARGER = 16, 4, 4096, 16

# Thresholds are tried when so many are waiting: what is known of them fits the cache.
_TOGETHER = 128

# Bounds and gains are computed for a multiple of so many, in whole vectors of the processor: arrays
# have room for what is past the end, and nobody reads it.
_LANES = 8

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

    edges: np.ndarray  # float64, (most_runs(m) + 1,): the values at the runs' ends
    bounds: np.ndarray  # float64, (n_slots, most_runs(m)): the bound of each run
    # Thresholds that are tried together, (most_together(m),): the slots of their features (intp),
    # and as float64 the points and the shares of the volume to the left, and the gains.
    slots: np.ndarray
    n_left: np.ndarray
    shares: np.ndarray
    gains: np.ndarray
    # Of features whose best splits gain the same: intp, (n_slots, 2): their slots, and the points
    # that go left.
    tied: np.ndarray


@kernel(inline="always")
def midpoint(low: float, high: float) -> float:
    """Return the threshold between two consecutive distinct values: low < threshold <= high."""
    threshold = 0.5 * low + 0.5 * high
    # Between neighbouring floats there is no midpoint; `x < threshold` must still send low left.
    return threshold if threshold > low else high


@kernel(inline="always")
def threshold_above(node: Sorted, slot: int, n_left: int) -> float:
    """Return the threshold that sends a node's first ``n_left`` points left."""
    order, at = node.orders[node.buffer, slot], node.start + n_left
    return midpoint(node.values[slot, order[at - 1]], node.values[slot, order[at]])


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


@kernel(inline="always")
def _in_lanes(n: int) -> int:
    """Return n rounded up to a multiple of `_LANES`."""
    return (n + _LANES - 1) // _LANES * _LANES


def most_runs(m: int) -> int:
    """Return the largest number of runs that a node of at most m points has, in whole lanes."""
    most, length, large = 0, _RUN, _LARGE
    while m >= large:
        most = max(most, (large - 2) // length + 1)
        length *= _LONGER
        large *= _LARGER
    return _in_lanes.py_func(max(most, (m - 2) // length + 1))


def most_together(m: int) -> int:
    """Return how many thresholds are tried together in a node of m points, in whole lanes."""
    return _in_lanes.py_func(_TOGETHER + max(_run_length.py_func(m), _SEARCH_BY_RUNS))


@inner_kernel(forceinline=True)
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
    column, edges, bounds = node.values[slot], search.edges, search.bounds[slot]
    n = order.shape[0]
    runs, length = _n_runs(n), _run_length(n)
    for run in range(runs):
        edges[run] = column[order[run * length]]
    edges[runs] = column[order[n - 1]]
    bottom, per_unit = node.lower[slot], 1.0 / (node.upper[slot] - node.lower[slot])
    total, n_outliers = np.float64(n), node.n_outliers
    # Two loops, one without a branch on the criterion: the compiler makes vectors of the first.
    if criterion == GINI:
        for run in range(_in_lanes(runs)):
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


@inner_kernel(forceinline=True)
def _add_run(
    node: Sorted, slot: int, first: int, last: int, n_added: int, search: Search
) -> np.intp:
    """Add the thresholds below the points ``first`` ... ``last`` - 1 of a node to those to try.

    No branch depends on the data, as in `partitioner`: a threshold between equal values is written
    too, and the next one takes its place.

    Parameters
    ----------
    node : Sorted
    slot : int
        The slot of the feature.
    first, last : int
        Places in the node's order, 1 <= first <= last <= n.
    n_added : int
        Thresholds added before.
    search : Search

    Returns
    -------
    n_added : int
    """
    run = node.orders[node.buffer, slot, node.start + first - 1 : node.start + last]
    column, lower = node.values[slot], node.lower[slot]
    per_unit = 1.0 / (node.upper[slot] - lower)
    slots, n_left, shares, k = search.slots, search.n_left, search.shares, np.uintp(n_added)
    low = column[run[0]]
    for i in range(1, run.shape[0]):
        high = column[run[i]]
        slots[k], n_left[k] = slot, np.float64(first - 1 + i)
        shares[k] = (midpoint(low, high) - lower) * per_unit
        k += np.uintp(high > low)
        low = high
    return np.intp(k)


@inner_kernel(forceinline=True)
def _try_added(
    criterion: int, node: Sorted, n_added: int, gain: float, n_tied: np.intp, search: Search
) -> tuple[float, np.intp]:
    """Note the added thresholds of maximal gain, one per feature, if none before gains more.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    node : Sorted
    n_added : int
    gain : float
        Gain to be reached.
    n_tied : int
        Splits noted before, which have that gain.
    search : Search

    Returns
    -------
    gain, n_tied
        As before, or those of the thresholds noted.
    """
    slots, n_left, shares, gains = search.slots, search.n_left, search.shares, search.gains
    n, n_outliers = np.float64(node.end - node.start), node.n_outliers
    # Loops over contiguous arrays, without a branch: the compiler makes vectors of the first.
    if criterion == GINI:
        for i in range(_in_lanes(n_added)):
            gains[i] = gini_gain(n_left[i], n, shares[i], n_outliers)
    elif criterion == ENTROPY:
        for i in range(n_added):
            gains[i] = entropy_gain(n_left[i], n, shares[i], n_outliers)
    else:
        raise ValueError("unknown criterion")
    tied = search.tied
    for i in range(n_added):
        if gains[i] >= gain:
            if gains[i] > gain:
                gain, n_tied = gains[i], np.intp(0)
            # Of a feature's splits that gain the same, the first one counts.
            if n_tied == 0 or tied[n_tied - 1, 0] != slots[i]:
                tied[n_tied, 0], tied[n_tied, 1] = slots[i], np.intp(n_left[i])
                n_tied += 1
    return gain, n_tied


@inner_kernel(forceinline=True)
def best_split(
    criterion: int, node: Sorted, searched: np.ndarray, n_searched: int, search: Search
) -> tuple[np.intp, float]:
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
    is_small = n < _SEARCH_BY_RUNS
    length, n_runs = (n, 1) if is_small else (_run_length(n), _n_runs(n))
    gain, n_tied, n_added = -1.0, np.intp(0), np.intp(0)
    if not is_small:
        largest, promising, promising_run = -1.0, np.intp(-1), 0
        for k in range(n_searched):
            bound, run = _bound_runs(criterion, node, searched[k], search)
            if bound > largest:
                largest, promising, promising_run = bound, searched[k], run
        if promising < 0:
            return n_tied, gain
        # The gain of the most promising run is a mark that the bounds of most other runs do not
        # reach.
        first = 1 + promising_run * length
        n_added = _add_run(node, promising, first, min(first + length, n), n_added, search)
        gain, _ = _try_added(criterion, node, n_added, gain, n_tied, search)
        n_added = np.intp(0)
    for k in range(n_searched):
        slot = searched[k]
        for run in range(n_runs):
            if is_small or search.bounds[slot, run] >= gain:
                first = 1 + run * length
                n_added = _add_run(node, slot, first, min(first + length, n), n_added, search)
                if n_added >= _TOGETHER:
                    gain, n_tied = _try_added(criterion, node, n_added, gain, n_tied, search)
                    n_added = np.intp(0)
    gain, n_tied = _try_added(criterion, node, n_added, gain, n_tied, search)
    return n_tied, gain
