"""Scores: the three of them, their thresholds, and what they depend on."""

import math

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.ensemble._iforest import _average_path_length

from ocrf import OneClassRF
from ocrf._scoring.predictor import average_path_length

SCORINGS = ["depth", "published_depth", "density", "typical_cell"]


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
def test_outliers_score_lower(X, outliers, scoring, adversary):
    forest = OneClassRF(scoring=scoring, adversary=adversary, random_state=0).fit(X)
    inside = forest.score_samples(X)
    far = forest.score_samples(outliers)
    assert (inside[:, None] > far[None]).mean() > 0.9
    assert forest.predict(outliers).mean() < forest.predict(X).mean()


def path_as_run(n):
    return 1.0 if n == 1 else 2 * (math.log(n) + 0.5772) - 2 * (n - 1) / n


@pytest.mark.parametrize("scoring", SCORINGS)
def test_scores_follow_from_the_leaves(X, scoring):
    """The three formulas, straight from the trees."""
    forest = OneClassRF(n_estimators=30, scoring=scoring, random_state=0).fit(X)
    counts, volumes, depths, published = [], [], [], []
    for tree in forest.estimators_:
        leaves = tree.apply(X)
        counts.append(tree.n_node_samples[leaves] / forest.max_samples_)
        volumes.append(np.exp(tree.log_volume[leaves]))
        depths.append(tree.depth[leaves] + average_path_length(tree.n_node_samples[leaves]))
        published.append([1 + tree.depth[t] + path_as_run(tree.n_node_samples[t]) for t in leaves])
    if scoring == "depth":
        expected = -(2 ** -(np.mean(depths, axis=0) / average_path_length(forest.max_samples_)))
    elif scoring == "published_depth":
        expected = -(2 ** -(np.mean(published, axis=0) / path_as_run(forest.max_samples_)))
    elif scoring == "density":
        expected = np.log(np.mean(np.divide(counts, volumes), axis=0))
    else:
        expected = np.log(np.sum(counts, axis=0) / np.sum(volumes, axis=0))
    np.testing.assert_allclose(forest.score_samples(X), expected, rtol=1e-12, atol=1e-12)


def test_average_path_length_is_isolation_forests():
    n = np.array([1, 2, 3, 10, 100, 10_000])
    harmonic = np.array([np.sum(1.0 / np.arange(1, k)) for k in n])
    np.testing.assert_allclose(
        average_path_length(n), np.where(n > 1, 2 * harmonic - 2 * (n - 1) / n, 0)
    )
    # scikit-learn approximates the harmonic number by a logarithm.
    np.testing.assert_allclose(average_path_length(n[4:]), _average_path_length(n[4:]), rtol=2e-3)


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("scoring", ["density", "typical_cell"])
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
def test_densities_are_finite_in_a_thousand_dimensions(scoring, adversary, seed):
    X = np.random.default_rng(seed).normal(size=(200, 1000))
    forest = OneClassRF(
        n_estimators=20,
        max_features_tree=1.0,
        max_features_node=None,
        scoring=scoring,
        adversary=adversary,
        random_state=seed,
    ).fit(X)
    scores = forest.score_samples(np.concatenate([X, X * 100]))
    assert np.isfinite(scores).all()
    assert scores[:200].std() > 0


@pytest.mark.parametrize("seed", [0])
def test_a_uniform_sample_has_density_one(seed):
    X = np.random.default_rng(seed).uniform(size=(20_000, 2))
    forest = OneClassRF(
        n_estimators=10, scoring="typical_cell", max_depth=3, random_state=seed
    ).fit(X)
    assert forest.score_samples(X).mean() == pytest.approx(0.0, abs=0.15)


def test_out_of_bounds_gives_the_batchs_lowest_score(X):
    plain = OneClassRF(random_state=0).fit(X)
    maximal = OneClassRF(random_state=0, out_of_bounds="maximal").fit(X)
    beyond = X.max(axis=0) + np.array([1e-9, 0, 0])
    batch = np.vstack([X[:50], beyond, X[50:60]])
    scores = maximal.score_samples(batch)
    expected = plain.score_samples(batch)
    assert scores[50] == expected.min()
    expected[50] = expected.min()
    np.testing.assert_array_equal(scores, expected)
    # On the box is not outside it, and the box is the training data's, not a sub-sample's.
    corners = np.stack([X.min(axis=0), X.max(axis=0)])
    np.testing.assert_array_equal(maximal.score_samples(corners), plain.score_samples(corners))
    np.testing.assert_array_equal(maximal.score_samples(X), plain.score_samples(X))


def test_isolation_forest_finds_one_extreme_coordinate_among_few_more_often():
    """The docstring and the README say so."""
    missed = {"ours": 0, "theirs": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, row = rng.normal(size=(1000, 3)), rng.normal(size=(1, 3))
        row[0, 0] = 20.0
        for name, forest in (
            ("ours", OneClassRF(contamination=0.05, random_state=seed)),
            ("theirs", IsolationForest(contamination=0.05, random_state=seed)),
        ):
            missed[name] += forest.fit(X).predict(row)[0] == 1
    assert 4 < missed["ours"] < 16
    assert missed["theirs"] < missed["ours"]


def test_contamination_sets_the_share_of_outliers(X):
    for contamination in (0.02, 0.1, 0.5):
        forest = OneClassRF(contamination=contamination, random_state=0).fit(X)
        assert (forest.predict(X) == -1).mean() == pytest.approx(contamination, abs=0.01)
    forest = OneClassRF(random_state=0).fit(X)
    assert forest.offset_ == -0.5
    np.testing.assert_array_equal(forest.decision_function(X), forest.score_samples(X) + 0.5)


@pytest.mark.parametrize("n_estimators", [1, 3, 100])
def test_rows_that_are_all_equal_are_inliers(n_estimators):
    """Their scores equal the threshold but for the rounding of a mean over the trees."""
    X = np.ones((100, 3))
    for scoring in SCORINGS:
        if scoring == "published_depth":  # where a leaf counts one level more
            continue
        forest = OneClassRF(n_estimators=n_estimators, scoring=scoring, random_state=0).fit(X)
        np.testing.assert_array_equal(forest.decision_function(X), np.zeros(100))
        np.testing.assert_array_equal(forest.predict(X), np.ones(100))


def test_out_of_bounds_set_after_the_fit_waits_for_the_next(X):
    forest = OneClassRF(n_estimators=5, random_state=0).fit(X)
    expected = forest.score_samples(3 * X)
    forest.set_params(out_of_bounds="maximal")
    np.testing.assert_array_equal(forest.score_samples(3 * X), expected)
    assert (forest.fit(X).score_samples(3 * X) != expected).any()


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_scoring_set_after_the_fit_waits_for_the_next(X, scoring):
    forest = OneClassRF(n_estimators=5, random_state=0).fit(X)
    before = forest.score_samples(X)
    forest.set_params(scoring=scoring)
    np.testing.assert_array_equal(forest.score_samples(X), before)
    again = OneClassRF(n_estimators=5, scoring=scoring, random_state=0).fit(X)
    np.testing.assert_array_equal(forest.fit(X).score_samples(X), again.score_samples(X))


@pytest.mark.parametrize("random_state", [0, np.random.RandomState(3)])
def test_same_seed_same_scores(X, random_state):
    state = random_state if isinstance(random_state, int) else random_state.get_state()
    first = OneClassRF(n_estimators=5, random_state=random_state).fit(X).score_samples(X)
    if not isinstance(random_state, int):
        random_state.set_state(state)
    second = OneClassRF(n_estimators=5, random_state=random_state).fit(X).score_samples(X)
    np.testing.assert_array_equal(first, second)
    other = OneClassRF(n_estimators=5, random_state=99).fit(X).score_samples(X)
    assert (first != other).any()
