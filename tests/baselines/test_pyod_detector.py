"""The PyOD adapter."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from pyod.models.knn import KNN
from scipy.spatial.distance import cdist
from sklearn.neighbors import LocalOutlierFactor

from baselines import PyODDetector
from baselines.pyod_detector import find_detector


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((100, 3))


def test_scores_and_threshold_are_turned_round(points: np.ndarray) -> None:
    test = points[:20] * 3
    theirs = KNN(contamination=0.2, n_neighbors=7).fit(points)
    ours = PyODDetector("KNN", contamination=0.2, params={"n_neighbors": 7}).fit(points)
    np.testing.assert_array_equal(ours.score_samples(test), -theirs.decision_function(test))
    np.testing.assert_array_equal(ours.predict(test) == -1, theirs.predict(test) == 1)
    assert ours.offset_ == -theirs.threshold_


def test_random_state_is_handed_on(points: np.ndarray) -> None:
    def scores(seed: int) -> np.ndarray:
        return PyODDetector("LODA", random_state=seed).fit(points).score_samples(points)

    np.testing.assert_array_equal(scores(1), scores(1))
    assert not np.array_equal(scores(1), scores(2))


def test_unknown_detector_is_answered_with_those_there_are(points: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"no detector 'ECD'; .*it has ABOD, .*ECOD, .*VAE"):
        PyODDetector("ECD").fit(points)


def test_unknown_parameter_is_answered_with_those_there_are(points: np.ndarray) -> None:
    with pytest.raises(ValueError, match="KNN has no parameter 5; it has"):
        PyODDetector("KNN", params={5: 3}).fit(points)
    with pytest.raises(ValueError, match=r"KNN has no parameter k; it has .*n_neighbors"):
        PyODDetector("KNN", params={"k": 3}).fit(points)


def test_missing_extra_is_named(points: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    # None in sys.modules makes an import fail as if the package were not installed.
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    for module in ("pyod.models.auto_encoder", "pyod.models.base_dl"):
        monkeypatch.delitem(__import__("sys").modules, module, raising=False)
    with pytest.raises(ImportError, match="PyOD's AutoEncoder needs the package 'torch'"):
        find_detector("AutoEncoder")


def test_supervised_detectors_are_refused(
    points: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NeedsLabels:
        def fit(self, X: np.ndarray, y: np.ndarray) -> None:
            raise AssertionError("not to be called")

    monkeypatch.setattr("baselines.pyod_detector.find_detector", lambda name: NeedsLabels)
    with pytest.raises(ValueError, match="XGBOD learns from labels"):
        PyODDetector("XGBOD").fit(points)


def test_graph_and_time_series_detectors_are_not_offered() -> None:
    for name in ("DOMINANT", "MatrixProfile", "AudioAE"):
        with pytest.raises(ValueError, match="no detector"):
            find_detector(name)


def test_scores_that_are_not_finite_are_refused() -> None:
    repeated = np.repeat(np.eye(3), 20, axis=0)
    with pytest.raises(ValueError, match="PyOD's ABOD gives training points scores that"):
        PyODDetector("ABOD").fit(repeated)


def test_what_numba_compiles_is_compiled_before_the_first_fit() -> None:
    # Processes of their own: here the kernels may have been compiled by another test.
    program = """
import os
import sys

import numpy as np
from baselines import PyODDetector
from baselines.pyod_detector import _kernels, find_detector
names = ("HBOS", "ECOD", "COPOD")
for name in names:
    find_detector(name)  # imported, and not compiled
for name in names:
    if pid := os.fork():
        assert os.waitpid(pid, 0)[1] == 0, name
        continue
    PyODDetector.warm_up({"detector": name})
    kernels = _kernels(sys.modules[find_detector(name).__module__])
    before = [len(kernel.signatures) for kernel in kernels]
    PyODDetector(name).fit(np.eye(20)).score_samples(np.eye(20))
    os._exit(not sum(before) or before != [len(kernel.signatures) for kernel in kernels])
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_kernels_that_start_threads_are_not_run_before_a_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PyODDetector, "fit", lambda *_: pytest.fail("fitted"))
    PyODDetector.warm_up({"detector": "QMCD"})


@pytest.mark.parametrize(
    ("detector", "params", "words"),
    [
        ("KNN", {"algorithm": "uto"}, "params.algorithm='uto'.*'kd_tree'"),
        ("KNN", {"n_neighbors": "ten"}, "params.n_neighbors='ten'"),
        ("KNN", {"n_neighbors": 0}, "params.n_neighbors=0"),
        ("GMM", {"covariance_type": "fuxll"}, "params.covariance_type='fuxll'.*'tied'"),
        ("IForest", {"n_estimators": [200, 200]}, r"params.n_estimators=\[200, 200\]"),
        ("CBLOF", {"use_weights": "x"}, "params.use_weights is true or false, not 'x'"),
    ],
)
def test_a_value_that_pyod_refuses_is_refused_before_a_fit(
    detector: str, params: dict[str, object], words: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        PyODDetector.check_parameters({"detector": detector, "params": params})


@pytest.mark.parametrize(
    ("detector", "params"),
    [
        ("KNN", {"n_neighbors": 500, "metric": "manhattan"}),  # more than the points it is tried on
        ("KNN", {"metric": "haversine", "algorithm": "ball_tree"}),  # for two features alone
        ("KNN", {"metric": "seuclidean", "metric_params": {"V": [1.0, 2.0, 3.0]}}),
        ("PCA", {"n_components": 30, "svd_solver": "full"}),  # of more features than it is tried on
    ],
)
def test_what_depends_on_the_data_is_left_to_them(detector: str, params: dict[str, object]) -> None:
    PyODDetector.check_parameters({"detector": detector, "params": params})


@pytest.mark.parametrize(("detector", "method"), [("KNN", "mean"), ("LOF", None)])
def test_training_scores_leave_a_point_out_of_its_own_neighbourhood(
    points: np.ndarray, detector: str, method: str | None
) -> None:
    params = {"n_neighbors": 4} | ({"method": method} if method else {})
    fitted = PyODDetector(detector, params=params, training_scores=True).fit(points)
    if detector == "LOF":
        expected = LocalOutlierFactor(n_neighbors=4).fit(points).negative_outlier_factor_
    else:
        distances = np.sort(cdist(points, points), axis=1)
        expected = -distances[:, 1:5].mean(axis=1)
    np.testing.assert_allclose(fitted.score_samples(points), expected)
    with pytest.raises(ValueError, match="only the points that were trained on"):
        fitted.score_samples(points[::-1])
