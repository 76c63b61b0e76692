"""Every algorithm of conf/algorithm keeps what the harness relies on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin

from baselines.conformance import CHECKS, run_checks


@pytest.mark.parametrize("name", CHECKS)
def test_detector_conforms(detector: Any, name: str) -> None:
    CHECKS[name](detector)


class WrongWayRound(OutlierMixin, BaseEstimator):
    """A detector with the defects that the checks are there to find."""

    def __init__(self, random_state: object = None) -> None:
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: object = None) -> WrongWayRound:
        self.mean_ = X.mean(axis=0)
        self.random_state = None
        X += 1.0
        return self

    def score_samples(self, X: np.ndarray) -> np.ndarray:
        distance = np.linalg.norm(X - self.mean_, axis=1) + np.random.random(len(X))
        distance[distance > 100.0] = np.nan
        return distance if len(X) > 1 else distance[0]

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return self.score_samples(X) ** 2

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X))


def test_every_check_can_fail() -> None:
    detector = WrongWayRound(random_state=3)
    outcomes = dict(run_checks(detector))
    assert outcomes.keys() == CHECKS.keys()
    passed = {name for name, failure in outcomes.items() if failure is None}
    assert passed == {"constant columns are accepted"}
    assert "with probability 0." in str(outcomes["normal points score higher"])


def test_check_of_constant_columns_can_fail() -> None:
    class DividesByVariance(WrongWayRound):
        def fit(self, X: np.ndarray, y: object = None) -> DividesByVariance:
            self.width_ = X.max(axis=0) - X.min(axis=0)
            return self

        def score_samples(self, X: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                return -np.linalg.norm(X / self.width_, axis=1)

    failed = {name for name, failure in run_checks(DividesByVariance()) if failure is not None}
    assert "constant columns are accepted" in failed
