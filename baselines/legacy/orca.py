"""Orca as its two programs and their wrapper of 2016 reported it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KDTree
from sklearn.utils._param_validation import Interval

from baselines.detector import TransductiveDetector
from baselines.legacy.arithmetic import single_precision
from baselines.orca.outliers import search_tree

#: Digits of a score in the report that the wrapper read.
PRINTED_DIGITS = 6


class Orca2016(TransductiveDetector):
    """Orca (Bay and Schwabacher 2003) by the programs of 2016 and the wrapper around them.

    It exists for the replay of the published tables alone. For anything else use `baselines.Orca`,
    from which it differs in five ways:

    - numbers are in single precision;
    - a column is rescaled to [0, 1] by a range whose upper end may be too low: the preprocessor
      passed the rows once, and a row that set a new minimum was not compared with the maximum;
    - a score is the number that was printed, of six digits;
    - one reported point fewer was read than had been asked for;
    - the first point scores 0 whatever it is.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of nearest training points, all of them if there are fewer.
    report : float, default=0.125
        Share of the points to be scored that is asked for, rounded down. All others score 0.
    contamination : float in (0, 0.5], default=0.1
        Share of anomalies among the training points, which sets `offset_`.

    Attributes
    ----------
    X_train_ : ndarray of shape (n_samples, n_features)
        The training points.
    offset_ : float
        Threshold on `score_samples`, computed when asked for.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TransductiveDetector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "report": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self, n_neighbors: int = 5, *, report: float = 0.125, contamination: float = 0.1
    ) -> None:
        self.n_neighbors = n_neighbors
        self.report = report
        self.contamination = contamination

    def _fit(self, X: NDArray[np.float64]) -> None:
        self.tree_ = KDTree(_rescale(X))
        super()._fit(X)

    def _score_samples(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        chosen = self._at_fit
        k = min(chosen.n_neighbors, len(self.X_train_))
        scores = search_tree(self.tree_, _rescale(X), k, max(int(chosen.report * len(X)) - 1, 0))
        reported = np.flatnonzero(scores)
        scores[reported] = [float(f"{score:.{PRINTED_DIGITS}g}") for score in scores[reported]]
        scores[0] = 0.0
        return -scores


def _rescale(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map the columns to [0, 1] by their own range, as one pass over the rows finds it."""
    single = single_precision(X)
    lowest = np.minimum.accumulate(single, axis=0)
    compared = np.ones(X.shape, dtype=bool)
    compared[0] = False
    compared[1:] = single[1:] >= lowest[:-1]
    upper = np.where(compared, single, np.finfo(np.float32).min).max(axis=0)
    with np.errstate(over="ignore"):
        width = (upper - lowest[-1]).astype(np.float64)
    width[width == 0.0] = np.inf  # a constant column is 0
    scaled = (single.astype(np.float64) - lowest[-1]) / width
    largest = np.finfo(np.float32).max
    return np.clip(scaled, -largest, largest).astype(np.float32).astype(np.float64)
