"""What the notes of the estimator's docstring say, on simulated data."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from ocrf import OneClassRF


@pytest.mark.parametrize("d", [8, 20])
def test_one_extreme_coordinate_among_many_may_pass_as_normal(d):
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(2000, d)), rng.normal(size=(200, d))
    rows[:, 0] = 10.0
    for detector in (OneClassRF, IsolationForest):
        forest = detector(contamination=0.05, random_state=0).fit(X)
        normal = (forest.predict(rows) == 1).mean()
        assert 0.5 < normal < 1.0


def named_first(n, d):
    """Return how often a single extreme coordinate contributes most."""
    rng = np.random.default_rng(n + d)
    X, rows = rng.normal(size=(n, d)), rng.normal(size=(200, d))
    at = rng.integers(d, size=200)
    rows[np.arange(200), at] = rng.choice([-9.0, 9.0], size=200)
    contributions = OneClassRF(random_state=0).fit(X).feature_contributions(rows)
    return (contributions.argmax(axis=1) == at).mean()


def test_contributions_name_a_single_extreme_coordinate_among_few_features():
    """As README says: among many, another feature often comes first, more so with few rows."""
    assert named_first(2000, 3) > 0.9
    assert named_first(400, 30) < named_first(2000, 30) < 0.7


def test_the_densities_do_not_find_a_point_far_outside_the_box():
    X = np.random.default_rng(0).random((2000, 2))
    far = [[1e6, 1e6], [-1e6, 1e6], [1e6, 0.5]]
    for scoring, label in (("depth", -1), ("density", 1)):
        forest = OneClassRF(scoring=scoring, contamination=0.05, random_state=0).fit(X)
        assert forest.predict(far).tolist() == [label] * 3


def test_a_label_beyond_the_bounding_box_depends_on_the_batch():
    X = np.random.default_rng(0).normal(size=(500, 2))
    forest = OneClassRF(out_of_bounds="maximal", contamination=0.05, random_state=0).fit(X)
    beyond, centre = [[9.0, 0.0]], X[[forest.score_samples(X).argmax()]]
    lowest = X[[forest.score_samples(X).argmin()]]
    labels = [forest.predict(np.concatenate([beyond, other])) for other in (centre, lowest)]
    assert labels[0].tolist() == [1, 1]
    assert labels[1].tolist() == [-1, -1]
    assert forest.predict(centre).tolist() == [1]


def test_contamination_is_a_share_of_the_weights(X):
    weights = np.where(X[:, 0] > 2.0, 20.0, 1.0)
    forest = OneClassRF(contamination=0.1, random_state=0).fit(X, sample_weight=weights)
    outlying = forest.predict(X) == -1
    # Up to the row that the quantile lies in.
    assert weights[outlying].sum() / weights.sum() == pytest.approx(
        0.1, abs=weights.max() / weights.sum()
    )
    assert abs(outlying.mean() - 0.1) > 0.02


def test_the_scale_of_weights_matters_and_can_be_normalised(X):
    forest = OneClassRF(n_estimators=10, max_samples=1.0, random_state=0)
    depths, scores = [], []
    for scale in (0.1, 1.0, 100.0):
        weights = np.full(len(X), scale)
        depths.append(forest.fit(X, sample_weight=weights).max_depth_)
        scores.append(forest.fit(X, sample_weight=weights / np.mean(weights)).score_samples(X))
    assert depths[0] < depths[1] < depths[2]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[2], forest.fit(X).score_samples(X))


def test_constant_columns_do_not_score_but_take_places(X):
    padded = np.hstack([X, np.ones((len(X), 17))])
    forest = OneClassRF(random_state=0).fit(padded)
    moved = padded + np.r_[np.zeros(3), np.full(17, 99.0)]
    np.testing.assert_array_equal(forest.score_samples(moved), forest.score_samples(padded))
    assert not forest.feature_contributions(moved)[:, 3:].any()
    idle = [tree.node_count == 1 for tree in forest.estimators_]
    assert 0 < sum(idle) < len(idle)
    for columns, is_idle in zip(forest.estimators_features_, idle, strict=True):
        assert is_idle == (columns >= 3).all()


def test_a_row_without_any_value_has_the_average_score(X):
    forest = OneClassRF(contamination=0.05, random_state=0).fit(X)
    nothing = np.full((1, 3), np.nan)
    assert -forest.score_samples(nothing)[0] == pytest.approx(2**forest.mean_log2_score_)
    assert forest.predict(nothing).tolist() == [1]
