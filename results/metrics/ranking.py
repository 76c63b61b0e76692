"""The test points of one experiment, ranked by their scores, and counted once for all metrics.

scikit-learn's functions sort the scores, count, and check their input anew for each metric. Here
all share the counts, and come out as scikit-learn's do, to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """What lies above each threshold.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, from the highest to the lowest.
    false_positives, true_positives : ndarray of shape (n_thresholds,)
        Normal points and anomalies with this score or a higher one.
    """

    thresholds: Floats
    false_positives: Counts
    true_positives: Counts

    @classmethod
    def of(cls, y: ArrayLike, scores: ArrayLike) -> Ranking:
        """Rank points.

        Parameters
        ----------
        y : array-like of shape (n_test,)
            1 for an anomaly, 0 for a normal point; both occur.
        scores : array-like of shape (n_test,)
            Finite; higher = more abnormal.
        """
        scores = np.asarray(scores, dtype=np.float64)
        ascending = np.sort(scores)
        starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
        distinct = ascending[starts]
        # Few points are anomalies: finding their places is quicker than sorting labels along.
        places = np.searchsorted(distinct, np.sort(scores[np.asarray(y) == 1]))
        found = np.bincount(places, minlength=len(distinct))[::-1].cumsum()
        return cls(distinct[::-1], (len(scores) - starts)[::-1] - found, found)

    def tied(self, tolerance: float) -> Ranking:
        """Return the ranking where neighbouring scores that differ by no more are tied."""
        last = np.append(-np.diff(self.thresholds) > tolerance, True)
        if last.all():
            return self
        return Ranking(self.thresholds[last], self.false_positives[last], self.true_positives[last])

    @cached_property
    def bends(self) -> tuple[Counts, Counts]:
        """False and true positives at the first and last threshold, and where both do not go on."""
        false, true = self.false_positives, self.true_positives
        if len(true) <= 2:
            return false, true
        kept = np.ones(len(true), dtype=bool)
        kept[1:-1] = (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0)
        return false[kept], true[kept]

    @cached_property
    def roc(self) -> tuple[Floats, Floats]:
        """False and true positive rates, as from `sklearn.metrics.roc_curve`: (0, 0) to (1, 1)."""
        false, true = (np.concatenate([[0], counts]) for counts in self.bends)
        return false / false[-1], true / true[-1]

    @cached_property
    def precision_recall(self) -> tuple[Floats, Floats]:
        """Precisions and recalls, as from `sklearn.metrics.precision_recall_curve`: to (1, 0)."""
        found = self.true_positives[::-1]
        precision = found / (found + self.false_positives[::-1])
        return np.append(precision, 1.0), np.append(found / found[0], 0.0)
