"""Building detectors from YAML, and what counts as scores."""

import hashlib
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from ocrf import OneClassRF
from runners.detectors import (
    DetectorError,
    asks_for_labels,
    build,
    check_parameters,
    check_scores,
    preloaded_packages,
    warm_up,
)
from tests.faults.detectors import WantsLabels


def test_random_state_is_given_to_those_that_take_it():
    forest = build({"_target_": "sklearn.ensemble.IsolationForest", "n_estimators": 3}, 17)
    assert (forest.random_state, forest.n_estimators, forest.n_jobs) == (17, 3, None)
    build({"_target_": "sklearn.svm.OneClassSVM"}, 17)


@pytest.mark.parametrize(("fixed", "expected"), [(None, 17), (4, 4)])
def test_a_yaml_may_fix_the_random_state(fixed, expected):
    algorithm = {"_target_": "sklearn.ensemble.IsolationForest", "random_state": fixed}
    assert build(algorithm, 17).random_state == expected


def test_threads_are_handed_on_when_there_are_several():
    assert build({"_target_": "sklearn.ensemble.IsolationForest"}, 0, n_jobs=3).n_jobs == 3


def test_nested_objects_are_built():
    algorithm = {
        "_target_": "sklearn.pipeline.Pipeline",
        "steps": [["forest", {"_target_": "sklearn.ensemble.IsolationForest"}]],
    }
    assert type(build(algorithm, 0).steps[0][1]).__name__ == "IsolationForest"


class Holds:
    """No estimator of scikit-learn's."""

    def __init__(self, inner, random_state=None):
        self.inner, self.random_state = inner, random_state


FOREST = {"_target_": "sklearn.ensemble.IsolationForest"}
PIPELINE = {
    "_target_": "sklearn.pipeline.Pipeline",
    "steps": [["pca", {"_target_": "sklearn.decomposition.PCA"}], ["forest", FOREST]],
}


def states(detector):
    return {
        name: value
        for name, value in detector.get_params(deep=True).items()
        if name.endswith("random_state")
    }


def test_random_state_reaches_every_nested_parameter_of_that_name():
    found = states(build(PIPELINE, 17))
    assert set(found) == {"pca__random_state", "forest__random_state"}
    assert None not in found.values()
    assert len(set(found.values())) == 2
    assert states(build(PIPELINE, 17)) == found
    assert not set(states(build(PIPELINE, 18)).values()) & set(found.values())


def test_nested_seeds_that_the_yaml_fixes_stay():
    fixed = {**PIPELINE, "steps": [["forest", {**FOREST, "random_state": 4}]]}
    assert states(build(fixed, 17)) == {"forest__random_state": 4}


def test_a_nested_object_behind_one_of_another_kind_is_seeded_too():
    built = build({"_target_": f"{__name__}.Holds", "inner": {"deep": [PIPELINE]}}, 17)
    assert built.random_state == 17
    assert None not in states(built.inner["deep"][0]).values()


def test_a_default_object_is_seeded_too():
    bagging = build({"_target_": "sklearn.ensemble.BaggingRegressor", "estimator": PIPELINE}, 17)
    found = states(bagging)
    assert found.pop("random_state") == 17
    assert len(found) == 2
    assert None not in found.values()


def test_scores_of_a_pipeline_follow_from_the_random_state(rng):
    X = rng.normal(size=(80, 3))
    scores = [build(PIPELINE, seed).fit(X).score_samples(X) for seed in (3, 3, 4)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        ({}, "_target_ is missing"),
        ({"_target_": "no.such.Class"}, "'no.such.Class' cannot be imported"),
        (
            {"_target_": "no.such.Class"},
            r"module named 'no'; the folder that holds no\.py .* PYTHONPATH",
        ),
        ({"_target_": "Mine"}, r"MODULE\.CLASS, and 'Mine' has no dot"),
        ({"_target_": "sklearn.no.Class"}, "cannot be imported: .*No module named 'sklearn.no'"),
        (
            {"_target_": "sklearn.pipeline.Pipeline", "steps": [["x", {"_target_": "mine.A"}]]},
            r"'mine.A' cannot be imported: No module named 'mine'; the folder .* PYTHONPATH",
        ),
        (
            {"_target_": "sklearn.ensemble.IsolationForrest"},
            "imported: sklearn.ensemble has no IsolationForrest; did you mean IsolationForest",
        ),
        ({"_target_": "sklearn.__version__"}, "is not a class"),
        (
            {"_target_": "sklearn.svm.OneClassSVM", "nuu": 0.1},
            "no parameter 'nuu'; it has .*gamma.*nu",
        ),
    ],
)
def test_a_wrong_yaml_is_named(algorithm, message):
    with pytest.raises(DetectorError, match=message):
        build(algorithm, 0)


def test_only_a_tag_asks_for_labels():
    assert asks_for_labels(WantsLabels())
    assert not asks_for_labels(build({"_target_": "sklearn.ensemble.IsolationForest"}, 0))
    assert not asks_for_labels(object())


@pytest.mark.parametrize("scores", [[1, 2, 3], np.float32([1, 2, 3]), pd.Series([1, 2, 3])])
def test_scores_become_float64(scores):
    assert check_scores(scores, 3).dtype == np.float64


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], r"wrong number of scores: .* shape \(2,\), expected \(3,\)"),
        ([[1.0], [2.0], [3.0]], r"shape \(3, 1\)"),
        (None, "wrong number|not numbers"),
        ([1.0, np.nan, np.inf], "1 NaN, 1 infinite of 3"),
        ([2.0, 2.0, 2.0], r"all 3 scores are equal \(2\)"),
        (["a", "b", "c"], "not numbers"),
        (np.array([1 + 2j, 2, 3]), "not numbers: complex128"),
        (np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]), "masked"),
        (pd.Series([1.0, 2.0, 3.0]).sort_values(ascending=False), "index is not 0, 1, 2"),
    ],
)
def test_what_are_no_scores_is_named(scores, message):
    with pytest.raises(DetectorError, match=message):
        check_scores(scores, 3)


def test_equal_scores_of_points_outside_the_box_name_the_parameter():
    rng = np.random.default_rng(0)
    forest = OneClassRF(n_estimators=2, out_of_bounds="maximal", random_state=0)
    forest.fit(rng.normal(size=(30, 2000)))
    outside = forest.score_samples(rng.normal(size=(20, 2000)))
    with pytest.raises(DetectorError, match=r"all 20 scores are equal .* out_of_bounds=maximal"):
        check_scores(outside, 20, forest)
    with pytest.raises(DetectorError, match=r"equal \(1\)$"):
        check_scores([1.0, 1.0], 2, OneClassRF())


class Prepared:
    """Remembers what it was prepared with."""

    seen: ClassVar[list[dict]] = []

    @classmethod
    def warm_up(cls, given):
        cls.seen.append(given)
        raise RuntimeError("the fit says it")


def test_a_class_may_prepare_its_fits_and_what_fails_then_is_left_to_them():
    warm_up({"_target_": f"{__name__}.Prepared", "k": 3})
    warm_up({"_target_": "sklearn.svm.OneClassSVM"})
    warm_up({"_target_": "no.such.Class"})
    assert Prepared.seen == [{"k": 3}]


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        ({"_target_": "sklearn.ensemble.IsolationForest"}, {"sklearn"}),
        ({"_target_": "baselines.PyODDetector", "detector": "HBOS"}, {"sklearn"}),
        ({"_target_": "ocrf.OneClassRF"}, {"ocrf", "sklearn"}),
        ({"_target_": "baselines.Orca"}, {"baselines", "sklearn"}),
        ({"_target_": "statsmodels.api.Detector"}, {"ocrf", "baselines", "sklearn"}),
        ({"_target_": "tests.faults.detectors.Healthy"}, set()),
        (
            {
                "_target_": "sklearn.pipeline.Pipeline",
                "steps": [
                    ["scale", {"_target_": "sklearn.preprocessing.RobustScaler"}],
                    ["forest", {"_target_": "ocrf.OneClassRF"}],
                ],
            },
            {"ocrf", "sklearn"},
        ),
    ],
)
def test_packages_are_preloaded_for_those_that_may_call_them(algorithm, expected):
    assert preloaded_packages(algorithm) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import numpy", set()),
        ("import numpy\nfrom sklearn.svm import OneClassSVM", {"sklearn"}),
        ("from ocrf import OneClassRF", {"ocrf", "sklearn"}),
        ("def fit():\n    import baselines.orca", {"baselines", "sklearn"}),
        ("from helpers_of_kernels import forest", {"ocrf", "sklearn"}),
        ("import statsmodels.api", {"ocrf", "baselines", "sklearn"}),  # may import anything itself
    ],
)
def test_packages_are_preloaded_for_what_a_users_module_imports(
    source, expected, tmp_path, monkeypatch
):
    name = f"kernels_{hashlib.sha256(source.encode()).hexdigest()[:8]}"
    (tmp_path / f"{name}.py").write_text(source)
    (tmp_path / "helpers_of_kernels.py").write_text("from ocrf import OneClassRF as forest")
    monkeypatch.syspath_prepend(tmp_path)
    assert preloaded_packages({"_target_": f"{name}.Detector"}) == expected


def test_parameters_are_validated_before_a_fit_nested_ones_too():
    forest = {"_target_": "ocrf.OneClassRF", "gamma": -1}
    pipeline = {"_target_": "sklearn.pipeline.Pipeline", "steps": [["forest", forest]]}
    for algorithm in (forest, pipeline):
        with pytest.raises(ValueError, match="'gamma' parameter of OneClassRF"):
            check_parameters(build(algorithm, 0))
    check_parameters(build(forest | {"gamma": 1.0}, 0))
    check_parameters(WantsLabels())


def test_a_module_that_a_user_s_own_imports_is_named_as_it_is(tmp_path, monkeypatch):
    (tmp_path / "mine_here.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DetectorError, match="No module named 'no_such_library'") as caught:
        build({"_target_": "mine_here.A"}, 0)
    assert "PYTHONPATH" not in str(caught.value)
