"""The conformance checks pass good detectors, and each catches what it is there for."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from baselines import PyODDetector
from ocrf import OneClassRF
from runners import check
from runners.conformance import CHECKS, depends_on_other_points, run_checks
from tests.faults import detectors as faults
from tests.faults.sandbox import CONF


class Good(OutlierMixin, BaseEstimator):
    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        self.offset_ = np.quantile(self.score_samples(X), 0.1)
        return self

    def score_samples(self, X):
        return -np.linalg.norm(X - self.mean_, axis=1)

    def predict(self, X):
        return np.where(self.score_samples(X) < self.offset_, -1, 1)


class Upside(Good):
    def score_samples(self, X):
        return -super().score_samples(X)


class Blind(Good):
    def score_samples(self, X):
        return np.sin(np.arange(len(X)) + self.mean_[0])


class Random(Good):
    def score_samples(self, X):
        return super().score_samples(X) + np.random.default_rng().normal(size=len(X)) * 1e-9


class Forgetful(Good):
    def fit(self, X, y=None):
        self.noise_ = np.random.default_rng().normal() * 1e-9
        return super().fit(X)

    def score_samples(self, X):
        return super().score_samples(X) * (1 + self.noise_)


class Overflows(Good):
    def score_samples(self, X):
        with np.errstate(over="ignore"):
            return -np.exp(np.linalg.norm(X - self.mean_, axis=1))


class NeedsTwo(Good):
    def score_samples(self, X):
        if len(X) < 2:
            raise ValueError("needs two points")
        return super().score_samples(X)


class Standardises(Good):
    def fit(self, X, y=None):
        self.scale_ = X.std(axis=0)
        return super().fit(X)

    def score_samples(self, X):
        with np.errstate(all="ignore"):
            return -np.linalg.norm((X - self.mean_) / getattr(self, "scale_", 1.0), axis=1)


class CentresInPlace(Good):
    def fit(self, X, y=None):
        super().fit(X)
        X -= self.mean_
        return self


class ScoresInPlace(Good):
    def score_samples(self, X):
        scores = super().score_samples(X)
        X += 1e-3
        return scores


def pipeline(random_state, last):
    return make_pipeline(StandardScaler(), last(random_state))


class Computes(Good):
    def __init__(self, random_state=None, k=3):
        self.random_state = random_state
        self.k = k + 1


class Rewrites(Good):
    def __init__(self, random_state=None, k=None):
        self.random_state = random_state
        self.k = k

    def fit(self, X, y=None):
        self.k = len(X)
        return super().fit(X)


class SaysZero(Good):
    def predict(self, X):
        return np.zeros(len(X))


class SaysOpposite(Good):
    def predict(self, X):
        return -super().predict(X)


def failed(make):
    return {result.name for result in run_checks(make) if result.problem}


@pytest.mark.parametrize(
    "make",
    [
        lambda random_state: Good(random_state),
        lambda random_state: IsolationForest(n_estimators=20, random_state=random_state),
        lambda random_state: GaussianMixture(random_state=random_state),
        lambda random_state: faults.Healthy(),
        lambda random_state: faults.WantsLabels(),
        lambda random_state: pipeline(
            random_state, lambda state: OneClassRF(n_estimators=20, random_state=state)
        ),
        lambda random_state: pipeline(random_state, lambda state: PyODDetector("HBOS")),
    ],
)
def test_good_detectors_pass(make):
    assert failed(make) == set()


@pytest.mark.parametrize(
    ("detector", "check_name"),
    [
        (Upside, "direction"),
        (Blind, "direction"),
        (Random, "determinism"),
        (Forgetful, "determinism"),
        (Overflows, "finite scores"),
        (faults.ReturnsTooFew, "finite scores"),
        (faults.ReturnsNaN, "finite scores"),
        (NeedsTwo, "one point"),
        (Standardises, "constant column"),
        (CentresInPlace, "input unchanged"),
        (ScoresInPlace, "input unchanged"),
        (Computes, "parameters"),
        (Rewrites, "parameters"),
        (SaysZero, "predictions"),
        (SaysOpposite, "predictions"),
    ],
)
def test_each_check_catches_its_fault(detector, check_name):
    def make(random_state):
        return detector(random_state) if issubclass(detector, Good) else detector()

    assert check_name in CHECKS
    assert check_name in failed(make)


def test_a_step_of_a_pipeline_that_changes_its_parameters_is_found():
    results = run_checks(lambda random_state: pipeline(random_state, Rewrites))
    [found] = [result.problem for result in results if result.problem]
    assert found == "fit changes the constructor's parameters: rewrites__k"


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda seed: OneClassRF(n_estimators=10, out_of_bounds="maximal", random_state=seed),
            True,
        ),
        (lambda seed: OneClassRF(n_estimators=10, random_state=seed), False),
        (lambda seed: faults.Healthy(), False),
    ],
)
def test_scores_that_depend_on_the_points_beside_them_are_told(make, expected):
    assert depends_on_other_points(make) == expected


def test_an_exception_is_a_finding_with_its_traceback():
    [first, *_] = run_checks(lambda random_state: faults.Raises())
    assert first.problem == "RuntimeError: the matrix is singular"
    assert "misbehave" in first.traceback


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["algorithm=healthy"], 0, "8 passed, 0 failed"),
        (["algorithm=pyod_hbos", "+algorithm.training_scores=true"], 0, "checked without training"),
        (["algorithm=oneclassrf"], 0, "note: a score depends on the other points"),
        (["algorithm=returns_nan"], 1, "scores not finite"),
        (["algorithm=healthyy"], 2, "Could not find 'algorithm/healthyy'"),
        (["algorithm=healthy", "algorithm.second=1"], 2, "Valid names in algorithm: seconds"),
        (["algorithm=missing_class"], 2, "cannot be imported"),
        ([], 2, "usage"),
        (["--help"], 0, "usage"),
    ],
)
def test_the_command_line(capsys, arguments, status, words):
    search = [f"hydra.searchpath=[file://{CONF}]"] if "=" in "".join(arguments) else []
    assert check.main([*arguments, *search]) == status
    captured = capsys.readouterr()
    assert words in captured.out + captured.err
