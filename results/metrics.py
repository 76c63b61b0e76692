"""ROC and precision-recall metrics of one experiment: exact, and as the paper computed them.

The paper reports areas under curves averaged over ten splits on a grid of 1000 points. Since the
trapezoidal rule is linear, the area of the mean curve is the mean of the areas: each experiment can
be reduced to its own two areas and two curves, and nothing is lost by averaging later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

GRID_POINTS = 1000

#: Metrics of one experiment; the first of each pair is exact, the second is the paper's.
METRICS = ("roc_auc", "average_precision", "roc_auc_curve", "pr_auc_curve")


@dataclass(frozen=True)
class Evaluation:
    """Metrics and curves of one experiment.

    Attributes
    ----------
    metrics : dict of str to float
        ``roc_auc`` and ``average_precision`` (exact), ``roc_auc_curve`` and ``pr_auc_curve`` (areas
        under the two curves below).
    curves : dict of str to ndarray of shape (1000,)
        ``roc``: true positive rate over an even grid of false positive rates in [0, 1];
        ``pr``: precision over an even grid of recalls in [0, 1].
    """

    metrics: dict[str, float]
    curves: dict[str, NDArray[np.float64]]


def evaluate(y_true: ArrayLike, anomaly_scores: ArrayLike) -> Evaluation:
    """Judge anomaly scores against the labels of the test points.

    Parameters
    ----------
    y_true : array-like of shape (n_test,)
        1 for an anomaly, 0 for a normal point. Both must occur.
    anomaly_scores : array-like of shape (n_test,)
        Finite; higher = more abnormal (``-score_samples``).

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If the shapes differ, a score is not finite, a label is neither 0 nor 1, or one class is
        absent.

    Examples
    --------
    >>> evaluation = evaluate([0, 0, 0, 1], [0.1, 0.4, 0.2, 0.3])
    >>> round(evaluation.metrics["roc_auc"], 3)
    0.667
    >>> evaluation.metrics["average_precision"]
    0.5
    """
    y, scores = _checked(y_true, anomaly_scores)
    roc = interpolated_roc_curve(y, scores)
    pr = interpolated_pr_curve(y, scores)
    metrics = {
        "roc_auc": float(roc_auc_score(y, scores)),
        "average_precision": float(average_precision_score(y, scores)),
        "roc_auc_curve": curve_area(roc),
        "pr_auc_curve": curve_area(pr),
    }
    return Evaluation(metrics, {"roc": roc, "pr": pr})


def interpolated_roc_curve(y: NDArray[np.int8], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the true positive rate on the grid of false positive rates; it starts at 0.

    Even a perfect ranking therefore stays below an area of 1: half a grid step is lost.
    """
    false_positive_rate, true_positive_rate, _ = roc_curve(y, scores)
    curve = np.interp(grid(), false_positive_rate, true_positive_rate)
    curve[0] = 0.0
    return curve


def interpolated_pr_curve(y: NDArray[np.int8], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the precision on the grid of recalls; it starts at 1.

    Linear interpolation between precisions is not average precision: where many scores are tied
    the area is far too high. It also depends on the order of the points that share one recall; the
    paper's is that of scikit-learn's arrays reversed, which leaves the least precise of them last,
    and it is from there that ``np.interp`` goes on.
    """
    precision, recall, _ = precision_recall_curve(y, scores)
    curve = np.interp(grid(), recall[::-1], precision[::-1])
    curve[0] = 1.0
    return curve


def curve_area(curve: NDArray[np.float64]) -> float:
    """Area under a curve given on :func:`grid`, by the trapezoidal rule."""
    return float(np.trapezoid(curve, grid()))


def grid() -> NDArray[np.float64]:
    """Return the 1000 abscissae that all curves share."""
    return np.linspace(0.0, 1.0, GRID_POINTS)


def _checked(
    y_true: ArrayLike, anomaly_scores: ArrayLike
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Both arrays in the types the rest relies on, or one error that names what is wrong."""
    y = np.asarray(y_true)
    scores = np.asarray(anomaly_scores, dtype=np.float64)
    if y.ndim != 1 or y.shape != scores.shape:
        raise ValueError(
            "y_true and anomaly_scores must be one-dimensional and equally long; "
            f"got shapes {y.shape} and {scores.shape}"
        )
    n_bad = int(np.count_nonzero(~np.isfinite(scores)))
    if n_bad:
        raise ValueError(f"anomaly_scores must be finite; {n_bad} of {scores.size} are not")
    labels = np.unique(y)
    if not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y_true must hold 0 (normal) and 1 (anomaly) only; got {labels[:5]}")
    if labels.size < 2:
        raise ValueError(
            "y_true must hold both normal points (0) and anomalies (1); "
            f"all {y.size} test points are {labels.tolist()}"
        )
    return y.astype(np.int8), scores
