"""ROC and precision-recall curves as the libraries of 2016 and the paper's script made them.

Four steps differ from :mod:`results.metrics`: scores closer than 1e-8 are tied, curves lose some of
their points, they are put in order by an unstable sort (the precision-recall curve twice), and the
interpolation goes by that order where abscissae are tied. Without any one of them the published
values of the small data sets do not come out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from results.metrics.curves import grid
from results.metrics.ranking import Ranking

#: Neighbouring scores, in descending order, that differ by no more than this are tied.
TIED = 1e-8
#: A part of an array is sorted by insertion when its last place lies this far from its first.
INSERTION = 15


def legacy_roc_curve(ranking: Ranking) -> NDArray[np.float64]:
    """Return the true positive rate on the grid of false positive rates; it starts at 0."""
    false_positives, true_positives = ranking.tied(TIED).bends
    if false_positives[0] != 0:
        false_positives = np.concatenate(([0], false_positives))
        true_positives = np.concatenate(([0], true_positives))
    curve = _interpolate(false_positives / false_positives[-1], true_positives / true_positives[-1])
    curve[0] = 0.0
    return curve


def legacy_pr_curve(ranking: Ranking) -> NDArray[np.float64]:
    """Return the precision on the grid of recalls; it starts at 1.

    The curve ends where full recall is first reached.
    """
    precision, recall = ranking.tied(TIED).precision_recall
    start = len(recall) - 1 - np.searchsorted(recall[::-1], 1.0)
    precision, recall = precision[start:], recall[start:]
    order = legacy_argsort(recall)
    curve = _interpolate(recall[order], precision[order])
    curve[0] = 1.0
    return curve


def _interpolate(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Interpolate linearly between the points in their legacy order.

    On the left of a place it takes the last of the points with one abscissa, on its right the
    first. Its value at the smallest abscissa has no meaning: nothing lies to the left of it.
    """
    order = legacy_argsort(x)
    x, y = x[order], y[order]
    places = grid()
    right = np.clip(np.searchsorted(x, places), 1, len(x) - 1)
    left = right - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (y[right] - y[left]) / (x[right] - x[left])
        return slope * (places - x[left]) + y[left]


def _compiled(function: Callable[..., Any]) -> Any:
    """Compile a function, and keep the compiled code where numba can write to a folder."""
    try:
        return njit(function, cache=True, nogil=True)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
    return njit(function, nogil=True)


@_compiled
def legacy_argsort(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sort indirectly as NumPy did by default in 2016: quicksort, with insertion in short parts.

    It is not stable, and which of several equal values comes first depends on each detail: the
    pivot is the median of the first, middle and last value, the shorter part goes first, and parts
    of at most `INSERTION` + 1 values are sorted by insertion.

    Parameters
    ----------
    values : ndarray of shape (n,)

    Returns
    -------
    order : ndarray of shape (n,)
    """
    order = np.arange(values.size)
    waiting = [(0, values.size - 1)]
    while len(waiting):
        first, last = waiting.pop()
        while last - first > INSERTION:
            middle = first + (last - first) // 2
            for low, high in ((first, middle), (middle, last), (first, middle)):
                if values[order[high]] < values[order[low]]:
                    order[low], order[high] = order[high], order[low]
            pivot = values[order[middle]]
            # The pivot waits at the last place but one; the last value is known to be no smaller.
            order[middle], order[last - 1] = order[last - 1], order[middle]
            up, down = first, last - 1
            while True:
                up += 1
                while values[order[up]] < pivot:
                    up += 1
                down -= 1
                while pivot < values[order[down]]:
                    down -= 1
                if up >= down:
                    break
                order[up], order[down] = order[down], order[up]
            order[up], order[last - 1] = order[last - 1], order[up]
            if up - first < last - up:
                waiting.append((up + 1, last))
                last = up - 1
            else:
                waiting.append((first, up - 1))
                first = up + 1
        for place in range(first + 1, last + 1):
            moved = order[place]
            hole = place
            while hole > first and values[moved] < values[order[hole - 1]]:
                order[hole] = order[hole - 1]
                hole -= 1
            order[hole] = moved
    return order
