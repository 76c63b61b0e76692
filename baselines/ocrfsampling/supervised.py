"""OCRFsampling as Table S1 was really made: with the training labels."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, column_or_1d

from baselines.ocrfsampling.forest import SamplingOneClassForest


class SupervisedSamplingOneClassForest(SamplingOneClassForest):
    """OCRFsampling that is given the labels of its training points.

    In the paper's outlier detection experiments the program got them: training rows labelled
    anomalous were added to the generated outliers. This class does so by design, to reproduce the
    OCRFsampling column of Table S1. It is not a one-class method, its tags say that it requires
    labels, and the harness hands them over only when the run allows it.

    The parameters are those of `SamplingOneClassForest`.
    """

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn to tell targets from generated and known outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            1 for a known anomaly, 0 for a target; at least two targets.

        Returns
        -------
        self : SupervisedSamplingOneClassForest
            The fitted detector.

        Raises
        ------
        ValueError
            If `y` is missing or holds anything but 0 and 1, or less than two targets are left.
        """
        name = type(self).__name__
        X = self._start_fit(X)
        if y is None:
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None: 1 for a known anomaly, "
                "0 for a target"
            )
        labels = column_or_1d(y)
        check_consistent_length(X, labels)
        if not np.isin(labels, (0, 1)).all():
            raise ValueError(f"{name}: y must hold 0 (target) and 1 (anomaly) only")
        known = labels == 1
        if (~known).sum() < 2:
            raise ValueError(f"{name}: y leaves {(~known).sum()} targets, two are needed")
        self._fit_targets(X[~known], X[known])
        return self._finish_fit(X)

    def fit_predict(self, X: ArrayLike, y: object = None) -> NDArray[np.int64]:
        """Fit, and tell anomalies among the training points from normal ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            1 for a known anomaly, 0 for a target; at least two targets.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 for an anomaly, +1 for a normal point.

        Raises
        ------
        ValueError
            As `fit` does.
        """
        return self.fit(X, y).predict(X)

    def __sklearn_tags__(self) -> Tags:
        """Say that labels are required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
