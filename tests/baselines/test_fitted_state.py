"""What a detector keeps of a fit: all of it or nothing, and the parameters as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from baselines import (
    Detector,
    LeastSquaresAnomalyDetection,
    Orca,
    PyODDetector,
    RandomForestClustering,
    SamplingOneClassForest,
    SupervisedSamplingOneClassForest,
)

DETECTORS: list[Detector] = [
    SamplingOneClassForest(10, random_state=0),
    SupervisedSamplingOneClassForest(10, random_state=0),
    Orca(),
    Orca(search="tree", random_state=0),
    LeastSquaresAnomalyDetection(random_state=0),
    RandomForestClustering(2, 10, random_state=0),
    PyODDetector("KNN"),
]


def name_of(value: Any) -> str:
    return str(value).replace(" ", "")


@pytest.fixture(params=DETECTORS, ids=name_of)
def detector(request: pytest.FixtureRequest) -> Detector:
    kind: type[Detector] = type(request.param)
    return kind(**request.param.get_params())


@pytest.fixture
def wide() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((60, 8))


@pytest.fixture
def narrow(wide: np.ndarray) -> np.ndarray:
    return wide[:, :3].copy()


def fit(detector: Detector, X: np.ndarray) -> Detector:
    labels = [np.arange(len(X)) % 5 == 0] if get_tags(detector).target_tags.required else []
    return detector.fit(X, *labels)


def assert_unfitted(detector: Detector, *batches: np.ndarray) -> None:
    for X in batches:
        for method in (detector.score_samples, detector.decision_function, detector.predict):
            with pytest.raises(NotFittedError):
                method(X)
    assert not hasattr(detector, "offset_")


def test_nothing_is_left_of_a_fit_before_one_that_fails(
    detector: Detector, wide: np.ndarray, narrow: np.ndarray
) -> None:
    fit(detector, wide)
    overflowing = narrow.copy()
    overflowing[:2, 1] = [-1.7e308, 1.7e308]
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="spans more than a float64"):
        fit(detector, overflowing)
    assert_unfitted(detector, wide, narrow)


@pytest.mark.parametrize("earlier_fit", [False, True])
def test_an_interrupted_fit_is_none(
    detector: Detector,
    wide: np.ndarray,
    narrow: np.ndarray,
    earlier_fit: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(self: Detector, X: np.ndarray) -> None:
        raise KeyboardInterrupt

    if earlier_fit:
        fit(detector, wide)
    with monkeypatch.context() as patched:
        patched.setattr(type(detector), "_set_offset", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(detector, narrow)
    assert_unfitted(detector, wide, narrow)
    assert np.isfinite(fit(detector, narrow).predict(narrow)).all()


def test_too_large_a_subspace_leaves_no_forest(wide: np.ndarray, narrow: np.ndarray) -> None:
    forest = SamplingOneClassForest(10, krsm=8, random_state=0).fit(wide)
    with pytest.raises(ValueError, match="krsm=8 is more than the 3 features"):
        forest.fit(narrow)
    assert_unfitted(forest, wide, narrow)


@pytest.mark.parametrize("labels", [None, np.full(60, 2), np.ones(60), np.zeros(59)])
def test_bad_labels_leave_no_forest(
    wide: np.ndarray, narrow: np.ndarray, labels: np.ndarray | None
) -> None:
    forest = SupervisedSamplingOneClassForest(10, random_state=0).fit(wide, np.zeros(60))
    with pytest.raises(ValueError, match=r"\by\b|inconsistent"):
        forest.fit(narrow, labels)
    assert_unfitted(forest, wide, narrow)


def test_a_parameter_out_of_range_leaves_the_earlier_fit(
    detector: Detector, wide: np.ndarray, narrow: np.ndarray
) -> None:
    scores = fit(detector, wide).score_samples(wide)
    detector.set_params(contamination=0.7)
    with pytest.raises(ValueError, match="contamination"):
        fit(detector, narrow)
    np.testing.assert_array_equal(detector.score_samples(wide), scores)


@pytest.mark.parametrize(
    ("detector", "later"),
    [
        (SamplingOneClassForest(10, random_state=0), {"reject_out_of_bounds": True}),
        (SamplingOneClassForest(10, random_state=0), {"n_estimators": 3, "contamination": 0.4}),
        (Orca(), {"search": "tree", "random_state": 3}),
        (Orca(search="tree"), {"search": "scan", "block_size": 0}),
        (Orca(), {"scaling": "train"}),
        (Orca(), {"scaling": "bogus"}),
        (Orca(), {"report": None, "n_neighbors": 2}),
        (Orca(), {"contamination": 0.4}),
        (LeastSquaresAnomalyDetection(random_state=0), {"batch_size": 0, "sigma": 1.0}),
        (RandomForestClustering(2, 10, random_state=0), {"mtry": 0}),
        (RandomForestClustering(2, 10, random_state=0), {"synthetic": "addcl2", "n_forests": 3}),
        (RandomForestClustering(2, 10, random_state=0), {"n_trees": 5, "contamination": 0.4}),
        (PyODDetector("KNN"), {"detector": "ECOD", "contamination": 0.4}),
    ],
    ids=name_of,
)
def test_parameters_that_are_set_later_wait_for_the_next_fit(
    detector: Detector, later: dict[str, Any], wide: np.ndarray
) -> None:
    test = wide[:24] * np.linspace(0.5, 3.0, 24)[:, np.newaxis]
    detector.fit(wide)
    scores, offset = detector.score_samples(test), detector.offset_
    detector.set_params(**later)
    np.testing.assert_array_equal(detector.score_samples(test), scores)
    assert detector.offset_ == offset


def test_memory_and_threads_are_those_of_now(wide: np.ndarray) -> None:
    detector = RandomForestClustering(2, 10, max_memory_gb=1e-9, random_state=0).fit(wide)
    with pytest.raises(MemoryError):
        detector.score_samples(wide)
    scores = detector.set_params(max_memory_gb=1.0).score_samples(wide)
    np.testing.assert_array_equal(detector.set_params(n_jobs=2).score_samples(wide), scores)
