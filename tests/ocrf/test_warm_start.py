"""Adding trees to a fitted forest: the earlier ones stay, and the whole is that of one fit."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest

from ocrf import OneClassRF
from ocrf.kernels.hashing import digest


def assert_same(a, b, X):
    assert len(a.estimators_) == len(b.estimators_)
    for one, other in zip(a.estimators_, b.estimators_, strict=True):
        for field in dataclasses.fields(one):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))
    for name in ("estimators_samples_", "estimators_features_"):
        np.testing.assert_array_equal(list(getattr(a, name)), list(getattr(b, name)))
    np.testing.assert_array_equal(a.gammas_, b.gammas_)
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)
    np.testing.assert_array_equal(a.score_samples(X), b.score_samples(X))
    assert a.offset_ == b.offset_


def random_weights(X):
    return np.random.default_rng(0).integers(0, 4, len(X)).astype(float)


@pytest.mark.parametrize(
    ("parameters", "weigh"),
    [
        ({}, None),
        ({"gamma": (0.1, 10.0), "contamination": 0.1}, None),
        ({"scoring": "typical_cell", "max_features_node": 1, "n_jobs": 2}, None),
        ({"scoring": "density", "max_depth": None}, random_weights),
    ],
)
def test_trees_that_are_added_are_those_of_one_fit(X, parameters, weigh):
    weight = None if weigh is None else weigh(X)
    whole = OneClassRF(n_estimators=12, random_state=3, **parameters).fit(X, None, weight)
    forest = OneClassRF(n_estimators=5, random_state=3, warm_start=True, **parameters)
    for n_trees in (5, 6, 12):
        forest.set_params(n_estimators=n_trees).fit(X, None, weight)
        assert len(forest.estimators_) == n_trees
    assert_same(forest, whole, X)


def test_missing_values_make_weighted_trees_of_both_fits():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[::5, 1] = np.nan
    forest = OneClassRF(n_estimators=4, random_state=0, warm_start=True).fit(X)
    forest.set_params(n_estimators=8).fit(X)
    assert_same(forest, OneClassRF(n_estimators=8, random_state=0).fit(X), X)


def test_trees_with_weights_and_trees_without_make_a_forest(X):
    forest = OneClassRF(n_estimators=4, random_state=0, warm_start=True).fit(X)
    forest.set_params(n_estimators=8).fit(X, sample_weight=np.ones(len(X)))
    other = OneClassRF(n_estimators=4, random_state=0, warm_start=True)
    other.fit(X, sample_weight=np.ones(len(X))).set_params(n_estimators=8).fit(X)
    expected = OneClassRF(n_estimators=8, random_state=0).fit(X)
    for mixed in (forest, other):
        np.testing.assert_allclose(mixed.score_samples(X), expected.score_samples(X), rtol=1e-12)


def test_random_states_draw_other_trees_but_keep_the_earlier_ones(X):
    forest = OneClassRF(n_estimators=3, random_state=np.random.RandomState(0), warm_start=True)
    before = [tree.threshold for tree in forest.fit(X).estimators_]
    after = [tree.threshold for tree in forest.set_params(n_estimators=6).fit(X).estimators_]
    for one, other in zip(before, after[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert len({len(tree) + tree.sum() for tree in after}) == 6


def test_as_many_trees_warn_and_parameters_of_scores_take_effect(X):
    forest = OneClassRF(n_estimators=5, random_state=0, warm_start=True).fit(X)
    forest.set_params(contamination=0.2, scoring="density", n_jobs=2)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        forest.fit(X)
    parameters = {"contamination": 0.2, "scoring": "density"}
    assert_same(forest, OneClassRF(n_estimators=5, random_state=0, **parameters).fit(X), X)


@pytest.mark.parametrize(
    ("changes", "data", "message"),
    [
        ({"n_estimators": 4}, lambda X: X, r"n_estimators=4 must be larger or equal to len"),
        ({}, lambda X: X[1:], r"changed: the number of rows \(from 600 to 599\)\. Fit"),
        ({}, lambda X: X[:, :2], r"changed: the number of features \(from 3 to 2\)\. Fit"),
        ({}, lambda X: 2 * X, "changed: the data or their weights. Fit on"),
        (
            {"max_samples": 50},
            lambda X: X,
            r"max_samples \(from 120 to 50\), max_depth \(from 7 to 6\)",
        ),
        ({"max_features_tree": 2}, lambda X: X, r"max_features_tree \(from 3 to 2\)"),
        ({"gamma": -1.0}, lambda X: X, "gamma"),
        ({}, lambda X: X[::-1], "the data or their weights"),
        ({"max_features_node": 1}, lambda X: X, r"max_features_node \(from 3 to 1\)"),
        ({"gamma": 2.0}, lambda X: X, r"gamma \(from 1.0 to 2.0\)"),
        ({"max_depth": 3}, lambda X: X, r"max_depth \(from 7 to 3\)"),
        ({"criterion": "entropy"}, lambda X: X, "criterion .from 'gini' to 'entropy'"),
        ({"adversary": "naive"}, lambda X: X, "adversary .from 'adaptive' to 'naive'"),
        ({"min_samples_split": 9}, lambda X: X, r"min_samples_split \(from 2 to 9\)"),
        ({"min_log_density": -1.0}, lambda X: X, r"min_log_density \(from None to -1.0\)"),
        ({"max_log_density": 1.0}, lambda X: X, r"max_log_density \(from None to 1.0\)"),
        ({"random_state": 1}, lambda X: X, r"random_state \(from 0 to 1\)"),
        ({"random_state": None}, lambda X: X, r"random_state \(from 0 to None\)"),
    ],
)
def test_what_cannot_be_added_is_refused_and_the_forest_stays(X, changes, data, message):
    forest = OneClassRF(n_estimators=5, random_state=0, warm_start=True).fit(X)
    before = forest.score_samples(X)
    forest.set_params(**({"n_estimators": 10} | changes))
    with pytest.raises(ValueError, match=message):
        forest.fit(data(X))
    assert len(forest.estimators_) == 5
    np.testing.assert_array_equal(forest.score_samples(X), before)
    # Without a warm start, all of it is a new forest.
    if "gamma" not in changes:
        assert len(forest.set_params(warm_start=False).fit(data(X)).estimators_) >= 4


def test_a_warm_start_without_a_forest_is_a_fit(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forest = OneClassRF(n_estimators=5, random_state=0, warm_start=True).fit(X)
    assert_same(forest, OneClassRF(n_estimators=5, random_state=0).fit(X), X)


def test_other_weights_are_refused(X):
    weight = random_weights(X) + 1.0
    forest = OneClassRF(n_estimators=3, random_state=0, warm_start=True).fit(X, None, weight)
    forest.set_params(n_estimators=6)
    for other in (weight[::-1], None):
        with pytest.raises(ValueError, match="the data or their weights"):
            forest.fit(X, None, other)
    assert len(forest.estimators_) == 3


def test_other_names_of_the_columns_are_refused(X):
    names = [f"x{j}" for j in range(X.shape[1])]
    forest = OneClassRF(n_estimators=2, warm_start=True, random_state=0)
    forest.fit(pd.DataFrame(X, columns=names)).set_params(n_estimators=3)
    with pytest.raises(ValueError, match=r"this has changed: the names of the features\. Fit"):
        forest.fit(pd.DataFrame(X, columns=names[::-1]))
    assert len(forest.estimators_) == 2
    assert len(forest.fit(X).estimators_) == 3
    # Data without names in between change nothing.
    assert list(forest.feature_names_in_) == names
    forest.set_params(n_estimators=4)
    with pytest.raises(ValueError, match="the names of the features"):
        forest.fit(pd.DataFrame(X, columns=names[::-1]))


def test_digests_tell_every_value_and_the_order_of_values():
    X = np.arange(1.0, 12.0)
    digests = {digest(X)}
    for i in range(len(X)):
        changed = X.copy()
        changed[i] = np.nextafter(X[i], 0.0)
        digests |= {digest(changed), digest(X[:i])}
        for j in range(i):
            swapped = X.copy()
            swapped[[i, j]] = X[[j, i]]
            digests.add(digest(swapped))
    assert len(digests) == 1 + 11 + 11 + 55
    assert digest(X.reshape(11, 1)) == digest(X)
