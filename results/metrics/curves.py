"""The ROC and precision-recall curves of one experiment on the grid of 1000 points of the paper.

The paper reports areas under curves averaged over ten splits. Since the trapezoidal rule is linear,
the area of the mean curve is the mean of the areas: each experiment can be reduced to its own two
areas and two curves, and nothing is lost by averaging later.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from results.metrics.ranking import Ranking

GRID_POINTS = 1000


def grid() -> NDArray[np.float64]:
    """Return the 1000 abscissae that all curves share."""
    return np.linspace(0.0, 1.0, GRID_POINTS)


def interpolated_roc_curve(ranking: Ranking) -> NDArray[np.float64]:
    """Return the true positive rate on the grid of false positive rates; it starts at 0.

    The area of a perfect ranking is therefore below 1: it lacks half a step of the grid.
    """
    curve = np.interp(grid(), *ranking.roc)
    curve[0] = 0.0
    return curve


def interpolated_pr_curve(ranking: Ranking) -> NDArray[np.float64]:
    """Return the precision on the grid of recalls; it starts at 1.

    Linear interpolation between precisions is not average precision: where many scores are tied,
    the area is far too high. The curve also depends on the order of the points that share one
    recall. Here they stand in the order of scikit-learn's arrays reversed, where the least precise
    point comes last, and ``np.interp`` continues from that point. The published curves had them in
    the order that an unstable sort left (`results.metrics.legacy_curves`), which no rule replaces.
    """
    precision, recall = ranking.precision_recall
    curve = np.interp(grid(), recall[::-1], precision[::-1])
    curve[0] = 1.0
    return curve


def curve_area(curve: NDArray[np.float64]) -> float:
    """Return the area under a curve given on :func:`grid`, by the trapezoidal rule."""
    return float(np.trapezoid(curve, grid()))
