"""What the estimator's parameters mean, and which values are refused."""

import re

import numpy as np
import pytest

from ocrf import OneClassRF
from ocrf._params import resolve_max_samples


def test_defaults_are_the_papers():
    assert OneClassRF().get_params() == {
        "n_estimators": 100,
        "max_samples": "auto",
        "max_features_tree": "auto",
        "max_features_node": 5,
        "gamma": 1.0,
        "max_depth": "auto",
        "criterion": "gini",
        "min_samples_split": 2,
        "out_of_bounds": None,
        "contamination": "auto",
        "n_jobs": None,
        "random_state": None,
        "warm_start": False,
        "adversary": "adaptive",
        "scoring": "depth",
        "min_log_density": None,
        "max_log_density": None,
    }


@pytest.mark.parametrize(
    ("n", "max_samples", "expected"),
    [
        (1000, "auto", 200),
        (300, "auto", 100),
        (60, "auto", 60),
        (1000, 0.5, 500),
        (1000, 17, 17),
        (30, 0.01, 2),
        (30, 1.0, 30),
    ],
)
def test_sub_sample_sizes(n, max_samples, expected):
    X = np.random.default_rng(0).normal(size=(n, 2))
    forest = OneClassRF(n_estimators=2, max_samples=max_samples).fit(X)
    assert forest.max_samples_ == expected
    assert forest.max_depth_ == int(np.ceil(np.log2(expected)))
    for rows in forest.estimators_samples_:
        assert len(rows) == len(np.unique(rows)) == expected
        assert 0 <= rows.min() <= rows.max() < n


def test_sub_sample_beyond_the_data_is_said():
    with pytest.warns(UserWarning, match=r"max_samples=50 is greater than .* 20") as caught:
        assert OneClassRF(max_samples=50).fit(np.eye(20)).max_samples_ == 20
    assert [warning.filename for warning in caught] == [__file__]


def test_more_features_than_there_are_are_refused_for_trees_and_all_of_them_for_nodes(X):
    """As scikit-learn's isolation forest and random forests do with theirs."""
    with pytest.raises(ValueError, match=r"max_features_tree=4 is greater than .* features, 3;"):
        OneClassRF(max_features_tree=4).fit(X)
    some = OneClassRF(n_estimators=3, max_features_tree=2, max_features_node=4, random_state=0)
    assert some.fit(X).max_features_node_ == 2
    every = OneClassRF(n_estimators=3, max_features_tree=2, max_features_node=None, random_state=0)
    np.testing.assert_array_equal(some.score_samples(X), every.fit(X).score_samples(X))


@pytest.mark.parametrize(
    ("n", "max_samples", "n_subsample"), [(2**32, 100, 100), (2**31, 1.0, 2**31)]
)
def test_more_rows_than_the_kernels_count_are_refused(n, max_samples, n_subsample):
    with pytest.raises(ValueError, match=f"got {n} samples and sub-samples of {n_subsample}"):
        resolve_max_samples(max_samples, n)
    assert resolve_max_samples(2**30, 2**32 - 1) == 2**30


def test_numbers_beyond_any_tree_say_the_same_as_the_largest(X):
    plain = OneClassRF(n_estimators=3, max_depth=None, random_state=0).fit(X)
    deep = OneClassRF(n_estimators=3, max_depth=10**30, random_state=0).fit(X)
    np.testing.assert_array_equal(plain.score_samples(X), deep.score_samples(X))
    stumps = OneClassRF(n_estimators=3, min_samples_split=10**30, random_state=0).fit(X)
    assert [tree.node_count for tree in stumps.estimators_] == [1, 1, 1]


@pytest.mark.parametrize(
    ("d", "tree", "node", "expected"),
    [
        (20, "auto", 5, (10, 5)),
        (6, "auto", 5, (5, 5)),
        (3, "auto", 5, (3, 3)),
        (20, 0.25, None, (5, 5)),
        (20, 7, 0.5, (7, 3)),
        (20, 0.001, 3, (1, 1)),
    ],
)
def test_feature_numbers(d, tree, node, expected):
    X = np.random.default_rng(0).normal(size=(50, d))
    forest = OneClassRF(n_estimators=3, max_features_tree=tree, max_features_node=node).fit(X)
    assert (forest.max_features_tree_, forest.max_features_node_) == expected
    for fitted, columns in zip(forest.estimators_, forest.estimators_features_, strict=True):
        assert len(np.unique(columns)) == expected[0]
        assert set(fitted.feature[fitted.feature >= 0]) <= set(columns)


@pytest.mark.parametrize(
    "gamma", [np.float32(2), np.float16(2), np.int8(2), (np.float32(2), np.float32(2)), [2, 2]]
)
def test_numbers_of_other_types_are_numbers(X, gamma):
    forest = OneClassRF(n_estimators=2, gamma=gamma, random_state=0).fit(X)
    np.testing.assert_array_equal(forest.gammas_, 2.0)


def test_rows_at_the_threshold_are_normal():
    """As in scikit-learn: with ties there, fewer than the share are anomalies."""
    X = np.array([[0.0]] * 96 + [[1.0]] * 4)
    forest = OneClassRF(n_estimators=5, contamination=0.02, random_state=0).fit(X)
    scores = forest.score_samples(X)
    assert (scores == forest.offset_).sum() == 4
    np.testing.assert_array_equal(forest.predict(X), 1)


@pytest.mark.parametrize("seed", [0])
def test_every_row_and_feature_is_drawn_alike(seed):
    X = np.random.default_rng(seed).normal(size=(40, 10))
    forest = OneClassRF(
        n_estimators=2000, max_samples=8, max_features_tree=0.3, random_state=seed
    ).fit(X)
    rows = np.bincount(np.concatenate(forest.estimators_samples_), minlength=40)
    columns = np.bincount(np.concatenate(forest.estimators_features_), minlength=10)
    # Binomial counts, five standard deviations.
    assert abs(rows - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)
    assert abs(columns - 600).max() < 5 * np.sqrt(2000 * 0.3 * 0.7)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_estimators", 0),
        ("max_samples", "all"),
        ("max_samples", 1),
        ("max_samples", 1.5),
        ("max_features_tree", 0),
        ("max_features_node", "auto"),
        ("gamma", 0.0),
        ("gamma", -1),
        ("gamma", (1.0,)),
        ("gamma", (2.0, 1.0)),
        ("gamma", ("low", "high")),
        ("gamma", (1.0, np.inf)),
        ("gamma", 10**400),
        ("gamma", 1e101),
        ("gamma", (1e-101, 1.0)),
        ("max_depth", 0),
        ("criterion", "mse"),
        ("adversary", "fair"),
        ("scoring", "votes"),
        ("min_samples_split", 1),
        ("min_log_density", "low"),
        ("min_log_density", np.nan),
        ("max_log_density", [1.0]),
        ("out_of_bounds", "minimal"),
        ("contamination", 0.0),
        ("contamination", 0.6),
        ("random_state", "seed"),
    ],
)
def test_bad_parameters_are_named_at_fit(X, parameter, value):
    forest = OneClassRF(**{parameter: value})
    with pytest.raises(ValueError, match=f"'{parameter}' parameter of OneClassRF") as caught:
        forest.fit(X)
    assert re.escape(repr(value))[:3] in re.escape(str(caught.value))


@pytest.mark.parametrize(("low", "high"), [(5.0, -5.0), (1.0, 1.0)])
def test_density_bounds_that_leave_no_node_to_split_are_refused(low, high):
    """Every tree was a single leaf, and all scores were equal, without a word."""
    forest = OneClassRF(min_log_density=low, max_log_density=high)
    with pytest.raises(ValueError, match=f"min_log_density={low} must be below"):
        forest.fit([[0.0], [1.0], [2.0]])
