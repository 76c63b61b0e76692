"""What all detectors of this package share: validation, direction of the score, threshold."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data


class Detector(OutlierMixin, BaseEstimator):
    """Base of the detectors: public methods validate, their private twins do the work.

    A subclass implements ``_fit`` and ``_score_samples``, which get valid float64 arrays, and may
    state in ``_automatic_offset`` where ``contamination="auto"`` puts the threshold.

    Parameters that are set after `fit` count from the next `fit` on: ``_score_samples`` reads the
    parameters that change scores from ``_at_fit``. Those that change only the use of the machine,
    such as ``n_jobs``, it reads as they are now.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
    }
    _automatic_offset: ClassVar[float] = -0.5

    contamination: float | str
    offset_: float
    _at_fit: SimpleNamespace
    _is_fitted: bool = False

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn what normal points look like.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points, at least two.
        y : ignored
            Present for API consistency; no label is ever looked at.

        Returns
        -------
        self : Detector
            The fitted detector.

        Raises
        ------
        ValueError
            If a parameter is out of its range, or `X` holds missing or infinite values, fewer than
            two points, or a column whose range overflows.
        """
        valid = self._start_fit(X)
        self._fit(valid)
        return self._finish_fit(valid)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Score points: the higher, the more normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points to score.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Finite scores.
        """
        check_is_fitted(self)
        valid = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return self._score_samples(valid)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return `score_samples` shifted so that negative values are anomalies.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points to score.

        Returns
        -------
        decision : ndarray of shape (n_samples,)
            Scores minus ``offset_``.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Tell anomalies from normal points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points to judge.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 for an anomaly, +1 for a normal point.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @abstractmethod
    def _fit(self, X: NDArray[np.float64]) -> None:
        """Fit on a valid array."""

    @abstractmethod
    def _score_samples(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score a valid array."""

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted

    def _start_fit(self, X: ArrayLike) -> NDArray[np.float64]:
        """Validate parameters and training points, and delete the results of an earlier fit."""
        self._validate_params()
        # A fit that fails or is interrupted leaves parts that may not belong together, and they
        # must not score points.
        self._is_fitted = False
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self._at_fit = SimpleNamespace(**self.get_params(deep=False))
        return self._check_training_points(X)

    def _finish_fit(self, X: NDArray[np.float64]) -> Self:
        """Set the threshold; only now is the detector fitted."""
        self._set_offset(X)
        self._is_fitted = True
        return self

    def _check_training_points(self, X: ArrayLike) -> NDArray[np.float64]:
        """Validate the training points and remember their number of features."""
        valid = validate_data(
            self, X, reset=True, dtype=np.float64, order="C", ensure_min_samples=2
        )
        with np.errstate(over="ignore"):
            overflowing = np.flatnonzero(~np.isfinite(valid.max(axis=0) - valid.min(axis=0)))
        if overflowing.size:
            raise ValueError(
                f"{type(self).__name__}: column {overflowing[0]} spans more than a float64 can "
                "hold; rescale it"
            )
        return valid

    def _set_offset(self, X: NDArray[np.float64]) -> None:
        """Set the threshold: the detector's own, or a quantile of the training scores."""
        if isinstance(self.contamination, str):
            self.offset_ = self._automatic_offset
        else:
            self.offset_ = float(np.quantile(self._score_samples(X), self.contamination))


class TransductiveDetector(Detector):
    """Base of the detectors whose score of a point depends on the other points to be scored.

    They keep the training points in `fit` and do their work in `score_samples`.

    Attributes
    ----------
    X_train_ : ndarray of shape (n_samples, n_features)
        The training points.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "contamination": [Interval(Real, 0, 0.5, closed="right")],
    }

    contamination: float

    @property
    def offset_(self) -> float:  # type: ignore[override]
        """Threshold: the `contamination` quantile of the training points, scored as one batch.

        It is computed on access: scoring is all the work there is, and a batch is scored without
        it.
        """
        check_is_fitted(self)
        return float(np.quantile(self._score_samples(self.X_train_), self._at_fit.contamination))

    def _fit(self, X: NDArray[np.float64]) -> None:
        # A copy: the caller may go on to change the array that was given to fit.
        self.X_train_ = X.copy()

    def _set_offset(self, X: NDArray[np.float64]) -> None:
        """Set nothing: the threshold is computed when asked for."""
