"""Every metric, defined once: records, tables, figures, statistics and commands read these.

A new metric is a function and an entry in :data:`METRICS`. The names of the metrics are needed long
before any is computed: what compiles code is imported by the functions that call it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from results.metrics.curves import curve_area
from results.metrics.ranking import Ranking

Curves = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Metric:
    """One way to judge the anomaly scores of a test part.

    Attributes
    ----------
    name : str
        As in records, configurations and on the command line.
    heading : str
        Of a table's column; two metrics may share it.
    label : str
        Heading where another metric of the same table has the same `heading`.
    meaning : str
        What it measures, as tables note it.
    compute : callable
        Takes the `Ranking` of the test points, and the curves ``roc`` and ``pr`` by name; returns a
        finite number within `limits`.
    usual : bool
        Whether it is recorded under every protocol. The others are recorded under the protocols
        that name them, since they are costly or belong to one benchmark.
    higher_is_better : bool
    limits : tuple of (float, float)
        Lowest and highest value: of a valid record, and of the axis of a figure.
    curve : str or None
        Which curve of the record it is the area of.
    """

    name: str
    heading: str
    label: str
    meaning: str
    compute: Callable[[Ranking, Curves], float]
    usual: bool = False
    higher_is_better: bool = True
    limits: tuple[float, float] = (0.0, 1.0)
    curve: str | None = None


def _roc_auc(ranking: Ranking, curves: Curves) -> float:
    """``sklearn.metrics.roc_auc_score``."""
    false, true = ranking.roc
    return float(np.trapezoid(true, false))


def _average_precision(ranking: Ranking, curves: Curves) -> float:
    """``sklearn.metrics.average_precision_score``."""
    precision, recall = ranking.precision_recall
    return max(0.0, -float(np.sum(np.diff(recall) * precision[:-1])))


def _precision_at_n(ranking: Ranking, curves: Curves) -> float:
    """Precision above the score that as many points exceed as there are anomalies.

    This is ``pyod.utils.precision_n_scores``: the threshold is a percentile, interpolated between
    two scores, and points that are tied with it do not count as found.
    """
    above = ranking.false_positives + ranking.true_positives
    scores = np.repeat(ranking.thresholds, np.diff(above, prepend=0))
    threshold = np.percentile(scores, 100 * (1 - ranking.true_positives[-1] / above[-1]))
    n_above = np.count_nonzero(ranking.thresholds > threshold)
    return float(ranking.true_positives[n_above - 1] / above[n_above - 1]) if n_above else 0.0


def _best_f1(ranking: Ranking, curves: Curves) -> float:
    """F1 score of the anomalies at the threshold where it is highest."""
    precision, recall = ranking.precision_recall
    both = precision + recall
    return float(np.max(2 * precision * recall / np.where(both > 0, both, 1.0)))


def _roc_auc_2016(ranking: Ranking, curves: Curves) -> float:
    from results.metrics.legacy_curves import legacy_roc_curve

    return curve_area(legacy_roc_curve(ranking))


def _pr_auc_2016(ranking: Ranking, curves: Curves) -> float:
    from results.metrics.legacy_curves import legacy_pr_curve

    return curve_area(legacy_pr_curve(ranking))


_DEFINITIONS: Final = (
    Metric("roc_auc", "ROC", "ROC", "exact area under the ROC curve", _roc_auc, usual=True),
    Metric("average_precision", "AP", "AP", "average precision", _average_precision, usual=True),
    Metric(
        "roc_auc_curve",
        "ROC",
        "ROC (curve)",
        "area under the ROC curve averaged over the splits on a 1000-point grid",
        lambda ranking, curves: curve_area(curves["roc"]),
        usual=True,
        curve="roc",
    ),
    Metric(
        "pr_auc_curve",
        "PR",
        "PR (curve)",
        "area under the precision-recall curve averaged over the splits on a 1000-point grid "
        "(linear interpolation)",
        lambda ranking, curves: curve_area(curves["pr"]),
        usual=True,
        curve="pr",
    ),
    Metric(
        "precision_at_n",
        "P@n",
        "P@n",
        "precision above the score that n points exceed, where n is the number of anomalies; as in "
        "PyOD, points tied with that score are left out, and it is 0 where none is above",
        _precision_at_n,
    ),
    Metric(
        "roc_auc_2016",
        "ROC",
        "ROC (2016)",
        "area under the ROC curve as the libraries of 2016 made and sorted it",
        _roc_auc_2016,
    ),
    Metric(
        "pr_auc_2016",
        "PR",
        "PR (2016)",
        "area under the precision-recall curve as the libraries of 2016 made and sorted it",
        _pr_auc_2016,
    ),
    Metric("best_f1", "F1", "F1", "F1 score at the best threshold", _best_f1),
)

#: The metrics by name.
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _DEFINITIONS}
#: Those that every record of a finished experiment holds.
USUAL_METRICS: Final = tuple(metric.name for metric in _DEFINITIONS if metric.usual)
#: The areas of the paper, ROC and PR, and what measures the same exactly.
PAPER_METRICS: Final = ("roc_auc_curve", "pr_auc_curve")
EXACT_METRICS: Final = ("roc_auc", "average_precision")


def check_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names if each is a metric's.

    Raises
    ------
    ValueError
        Names the first that is not, and the metrics that there are.
    """
    names = tuple(names)
    if unknown := [name for name in names if name not in METRICS]:
        raise ValueError(f"unknown metric {unknown[0]!r}; there are: {', '.join(METRICS)}")
    return names


def metric_headings(names: Sequence[str]) -> dict[str, str]:
    """Return the heading of each metric of one table, told apart where two would read the same.

    Examples
    --------
    >>> metric_headings(["roc_auc", "roc_auc_curve", "pr_auc_curve"])
    {'roc_auc': 'ROC', 'roc_auc_curve': 'ROC (curve)', 'pr_auc_curve': 'PR'}
    """
    headings = [METRICS[name].heading for name in names]
    return {
        name: METRICS[name].label if headings.count(heading) > 1 else heading
        for name, heading in zip(names, headings, strict=True)
    }
