"""Judge the scores of one experiment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from results.metrics.curves import interpolated_pr_curve, interpolated_roc_curve
from results.metrics.definitions import METRICS, USUAL_METRICS, check_metrics
from results.metrics.ranking import Ranking


@dataclass(frozen=True)
class Evaluation:
    """Metrics and curves of one experiment.

    Attributes
    ----------
    metrics : dict of str to float
    curves : dict of str to ndarray of shape (1000,)
        ``roc``: true positive rate over an even grid of false positive rates in [0, 1];
        ``pr``: precision over an even grid of recalls in [0, 1].
    """

    metrics: dict[str, float]
    curves: dict[str, NDArray[np.float64]]


def evaluate(
    y_true: ArrayLike, anomaly_scores: ArrayLike, metrics: Iterable[str] = ()
) -> Evaluation:
    """Judge anomaly scores against the labels of the test points.

    Parameters
    ----------
    y_true : array-like of shape (n_test,)
        1 for an anomaly, 0 for a normal point. Both must occur.
    anomaly_scores : array-like of shape (n_test,)
        Finite; higher = more abnormal (``-score_samples``).
    metrics : iterable of str
        Metrics beside :data:`~results.metrics.USUAL_METRICS`, which are always computed.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If the shapes differ, a score is not finite, a label is neither 0 nor 1, one class is
        absent, or a metric is unknown.

    Examples
    --------
    >>> evaluation = evaluate([0, 0, 0, 1], [0.1, 0.4, 0.2, 0.3], ["best_f1"])
    >>> round(evaluation.metrics["roc_auc"], 3)
    0.667
    >>> evaluation.metrics["average_precision"]
    0.5
    >>> round(evaluation.metrics["best_f1"], 3)
    0.667
    """
    names = dict.fromkeys([*USUAL_METRICS, *check_metrics(metrics)])
    ranking = Ranking.of(*_checked(y_true, anomaly_scores))
    curves = {"roc": interpolated_roc_curve(ranking), "pr": interpolated_pr_curve(ranking)}
    return Evaluation({name: METRICS[name].compute(ranking, curves) for name in names}, curves)


def _checked(
    y_true: ArrayLike, anomaly_scores: ArrayLike
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Return both arrays in the types that the metrics take, or name what is wrong with them."""
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
    n_normal, n_anomalies = np.count_nonzero(y == 0), np.count_nonzero(y == 1)
    if n_normal + n_anomalies < y.size:
        raise ValueError(
            f"y_true must hold 0 (normal) and 1 (anomaly) only; got {np.unique(y)[:5]}"
        )
    if not (n_normal and n_anomalies):
        raise ValueError(
            "y_true must hold both normal points (0) and anomalies (1); "
            f"all {y.size} test points are {np.unique(y).tolist()}"
        )
    return y.astype(np.int8), scores
