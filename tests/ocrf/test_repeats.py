"""Rows that occur several times are scored once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocrf import OneClassRF
from ocrf._scoring import predictor
from ocrf._scoring.repeats import find_repeats


def repeated(n_rows, n_distinct, n_features, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_distinct, n_features))[rng.integers(0, n_distinct, n_rows)]


@given(
    n_rows=st.integers(256, 700),
    n_distinct=st.integers(1, 300),
    n_features=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_repeats_are_those_of_numpy(n_rows, n_distinct, n_features, seed):
    X = repeated(n_rows, n_distinct, n_features, seed)
    repeats = find_repeats(X, n_trees=100)
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    if repeats is None:
        look = n_rows // 8
        assert len(np.unique(X[:look], axis=0)) > 0.99 * look
        return
    # In the order of their first occurrence.
    order = np.argsort(first)
    np.testing.assert_array_equal(repeats.first, first[order])
    np.testing.assert_array_equal(repeats.place, np.argsort(order)[place.reshape(-1)])


def test_rows_that_differ_in_one_value_are_told_apart():
    X = np.zeros((2048, 3))
    X[1024:, 2] = np.arange(1024) % 4
    repeats = find_repeats(X, n_trees=100)
    np.testing.assert_array_equal(X[repeats.first][:, 2], [0, 1, 2, 3])
    np.testing.assert_array_equal(repeats.place, X[:, 2])


@pytest.mark.parametrize(
    ("shape", "n_trees"), [((255, 2), 100), ((2000, 11), 10)], ids=["few rows", "wide rows"]
)
def test_no_search_where_scoring_takes_as_long(shape, n_trees):
    assert find_repeats(np.zeros(shape), n_trees) is None


def test_no_search_where_the_first_rows_have_no_repeats():
    X = np.random.default_rng(0).normal(size=(4000, 2))
    X[1000:] = 0.0
    assert find_repeats(X, n_trees=100) is None
    assert find_repeats(X[::-1].copy(), n_trees=100) is not None


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("scoring", ["depth", "density", "typical_cell"])
@pytest.mark.parametrize("has_missing", [False, True])
def test_scores_are_those_of_each_row_alone(monkeypatch, n_jobs, scoring, has_missing):
    X = repeated(3000, 400, 3, seed=1)
    if has_missing:
        X[X[:, 0] > 1.0, 1] = np.nan
    forest = OneClassRF(
        n_estimators=10, scoring=scoring, out_of_bounds="maximal", n_jobs=n_jobs, random_state=0
    ).fit(X[:1000])
    rows = np.vstack([1.2 * X, -0.0 * X])
    scores = forest.score_samples(rows)
    assert find_repeats(rows, 10) is not None
    monkeypatch.setattr(predictor, "find_repeats", lambda rows, n_trees: None)
    np.testing.assert_array_equal(scores, forest.score_samples(rows))
