"""Scaling of columns, fitted on one table and applied to others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]


class Standard:
    """`sklearn.preprocessing.StandardScaler`, to the last digit.

    It does the same arithmetic without the validation, which takes several times as long where
    tables are small, and overwrites what it transforms.
    """

    mean: Table
    deviation: Table

    def fit(self, X: Table) -> Standard:
        """Learn means and standard deviations of the columns from the values that are not NaN."""
        missing = np.isnan(X)
        n: Any = len(X)
        total: Any = np.sum
        if missing.any():
            n -= np.count_nonzero(missing, axis=0)
            total = np.nansum
        mean = total(X, axis=0) / n
        centred = X - mean
        # Where the mean is rounded, the sum of what is left of it corrects the sum of squares.
        rest = total(centred, axis=0) ** 2 / n
        centred **= 2
        variance = (total(centred, axis=0) - rest) / n
        # Columns that may be constant but for rounding are not blown up.
        epsilon = np.finfo(np.float64).eps
        constant = variance <= n * epsilon * variance + (n * mean * epsilon) ** 2
        self.mean, self.deviation = mean, np.where(constant, 1.0, np.sqrt(variance))
        return self

    def transform(self, X: Table) -> Table:
        """Scale a table in place, and return it."""
        X -= self.mean
        X /= self.deviation
        return X


def scaler_of(kind: str) -> Any:
    """Return a scaler with `fit` and `transform`, which may overwrite its argument."""
    if kind == "standard":
        return Standard()
    # Here, not at the top: processes that only fetch would wait a second for scikit-learn.
    from sklearn import preprocessing

    return {"minmax": preprocessing.MinMaxScaler, "robust": preprocessing.RobustScaler}[kind]()
