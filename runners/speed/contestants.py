"""The forests that are timed: OneClassRF as the tables are made with it, and isolation forests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import parallel_config

import ocrf

OURS = "oneclassrf"
REFERENCE = "iforest"


class _IsotreeScores:
    """isotree's own method names behind scikit-learn's, so that all are timed alike."""

    def __init__(self, n_jobs: int, random_state: int) -> None:
        from isotree import IsolationForest

        # Its model of the 2008 paper: single-variable uniform cuts, 100 trees on 256 rows.
        self._forest = IsolationForest(
            ndim=1,
            ntrees=100,
            sample_size=256,
            missing_action="fail",
            nthreads=n_jobs,
            random_seed=random_state,
        )

    def fit(self, X: np.ndarray) -> _IsotreeScores:
        self._forest.fit(X)
        return self

    def score_samples(self, X: np.ndarray) -> np.ndarray:
        return -self._forest.predict(X)


def _oneclassrf(n_jobs: int, random_state: int) -> Any:
    return ocrf.OneClassRF(
        max_features_node=None, out_of_bounds="maximal", n_jobs=n_jobs, random_state=random_state
    )


def _iforest(n_jobs: int, random_state: int) -> Any:
    from sklearn.ensemble import IsolationForest

    return IsolationForest(n_jobs=n_jobs, random_state=random_state)


class _PyodScores:
    """PyOD's `decision_function`, which is higher for outliers, behind scikit-learn's name."""

    def __init__(self, n_jobs: int, random_state: int) -> None:
        from pyod.models.iforest import IForest

        self._forest = IForest(n_jobs=n_jobs, random_state=random_state)

    def fit(self, X: np.ndarray) -> _PyodScores:
        self._forest.fit(X)
        return self

    def score_samples(self, X: np.ndarray) -> np.ndarray:
        return -self._forest.decision_function(X)


_MAKERS: dict[str, tuple[str, Callable[[int, int], Any]]] = {
    OURS: ("ocrf", _oneclassrf),
    REFERENCE: ("sklearn", _iforest),
    "isotree": ("isotree", _IsotreeScores),
    "pyod_iforest": ("pyod", _PyodScores),
}


def available() -> list[str]:
    """Return the contestants whose package is installed, OneClassRF first."""
    return [name for name, (package, _) in _MAKERS.items() if find_spec(package) is not None]


def missing() -> list[str]:
    """Return the contestants whose package is not installed."""
    return [name for name in _MAKERS if name not in available()]


def make(name: str, n_jobs: int, random_state: int) -> Any:
    """Return an unfitted forest with `fit(X)` and `score_samples(X)`."""
    return _MAKERS[name][1](n_jobs, random_state)


def threads(n_jobs: int) -> AbstractContextManager[Any]:
    """Return a context in which scikit-learn's forest uses that many threads to score, too."""
    return parallel_config(backend="threading", n_jobs=n_jobs)
