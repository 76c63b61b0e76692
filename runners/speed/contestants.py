"""The forests that are timed: OneClassRF as the tables are made with it, and isolation forests.

A comparison depends on the size of the sub-samples. The isolation forests run with their usual 256
rows per tree; scikit-learn's and isotree's also with as many rows as OneClassRF takes.
"""

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

_USUAL_ROWS = 256


def _same_rows(n_samples: int) -> int:
    """Return the rows of OneClassRF's sub-samples by default."""
    return min(max(n_samples // 5, 100), n_samples)


def _usual_rows(n_samples: int) -> int:
    return min(_USUAL_ROWS, n_samples)


class _Contestant:
    """A forest that is made when the number of rows is known; higher scores are more normal."""

    def __init__(
        self,
        make: Callable[[int], Any],
        rows: Callable[[int], int],
        score: Callable[[Any, np.ndarray], np.ndarray],
    ) -> None:
        self._make, self._rows, self._score = make, rows, score

    def fit(self, X: np.ndarray) -> _Contestant:
        self.forest = self._make(self._rows(X.shape[0]))
        self.forest.fit(X)
        return self

    def score_samples(self, X: np.ndarray) -> np.ndarray:
        return self._score(self.forest, X)


def _oneclassrf(n_jobs: int, random_state: int) -> _Contestant:
    def make(_: int) -> ocrf.OneClassRF:
        return ocrf.OneClassRF(
            max_features_node=None,
            out_of_bounds="maximal",
            n_jobs=n_jobs,
            random_state=random_state,
        )

    return _Contestant(make, _same_rows, lambda forest, X: forest.score_samples(X))


def _iforest(rows: Callable[[int], int]) -> Callable[[int, int], _Contestant]:
    from sklearn.ensemble import IsolationForest

    def contestant(n_jobs: int, random_state: int) -> _Contestant:
        def make(max_samples: int) -> Any:
            return IsolationForest(
                max_samples=max_samples, n_jobs=n_jobs, random_state=random_state
            )

        return _Contestant(make, rows, lambda forest, X: forest.score_samples(X))

    return contestant


def _isotree(rows: Callable[[int], int]) -> Callable[[int, int], _Contestant]:
    def contestant(n_jobs: int, random_state: int) -> _Contestant:
        from isotree import IsolationForest

        def make(sample_size: int) -> Any:
            # Its model of the 2008 paper: single-variable uniform cuts, 100 trees.
            return IsolationForest(
                ndim=1,
                ntrees=100,
                sample_size=sample_size,
                missing_action="fail",
                nthreads=n_jobs,
                random_seed=random_state,
            )

        return _Contestant(make, rows, lambda forest, X: -forest.predict(X))

    return contestant


def _pyod(n_jobs: int, random_state: int) -> _Contestant:
    from pyod.models.iforest import IForest

    def make(max_samples: int) -> Any:
        return IForest(max_samples=max_samples, n_jobs=n_jobs, random_state=random_state)

    # PyOD's scores are higher for outliers.
    return _Contestant(make, _usual_rows, lambda forest, X: -forest.decision_function(X))


_MAKERS: dict[str, tuple[str, Callable[[int, int], _Contestant]]] = {
    OURS: ("ocrf", _oneclassrf),
    REFERENCE: ("sklearn", _iforest(_usual_rows)),
    "isotree": ("isotree", _isotree(_usual_rows)),
    "pyod_iforest": ("pyod", _pyod),
    "iforest_same_rows": ("sklearn", _iforest(_same_rows)),
    "isotree_same_rows": ("isotree", _isotree(_same_rows)),
}


def available() -> list[str]:
    """Return the contestants whose package is installed, OneClassRF first."""
    return [name for name, (package, _) in _MAKERS.items() if find_spec(package) is not None]


def missing() -> list[str]:
    """Return the contestants whose package is not installed."""
    return [name for name in _MAKERS if name not in available()]


def make(name: str, n_jobs: int, random_state: int) -> _Contestant:
    """Return an unfitted forest with `fit(X)`, `score_samples(X)`, and then `forest`."""
    return _MAKERS[name][1](n_jobs, random_state)


def threads(n_jobs: int) -> AbstractContextManager[Any]:
    """Return a context in which scikit-learn's forest uses that many threads to score, too."""
    return parallel_config(backend="threading", n_jobs=n_jobs)
