"""Weights are multiplicities: integer weights are repeated rows, zeros are absent rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ocrf import OneClassRF
from ocrf._input import quantile
from ocrf._params import resolve_max_samples

SCORINGS = ["depth", "published_depth", "density", "typical_cell"]


def repeated(X, weights):
    return np.repeat(X, weights, axis=0)


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("contamination", ["auto", 0.1, 0.37])
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
def test_integer_weights_are_repeated_rows(X, scoring, contamination, adversary):
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    forest = OneClassRF(
        n_estimators=10,
        max_samples=1.0,
        min_samples_split=4,
        scoring=scoring,
        contamination=contamination,
        adversary=adversary,
        out_of_bounds="maximal",
        random_state=0,
    )
    weighted = clone(forest).fit(X, sample_weight=weights)
    plain = clone(forest).fit(repeated(X, weights))
    assert weighted.max_depth_ == plain.max_depth_
    np.testing.assert_array_equal(weighted.score_samples(X), plain.score_samples(X))
    np.testing.assert_array_equal(weighted.predict(X), plain.predict(X))
    assert weighted.offset_ == plain.offset_
    np.testing.assert_allclose(
        weighted.feature_importances_, plain.feature_importances_, rtol=1e-12
    )
    for a, b in zip(weighted.estimators_, plain.estimators_, strict=True):
        np.testing.assert_array_equal(a.threshold, b.threshold)
        np.testing.assert_array_equal(a.weighted_n_node_samples, b.n_node_samples)


@pytest.mark.parametrize("total", [2000.0, 20.0, 0.5, 1e-250])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_quantile_is_that_of_the_weights_whatever_their_sum(total, share):
    """The largest score below which at most that share of the weights lies."""
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=2000), rng.random(2000)
    weights[::7] = 0.0
    weights *= total / weights.sum()
    found = quantile(scores, share, weights)
    below = weights[scores < found].sum() / total
    assert below <= share < below + 2 * weights.max() / total
    even = np.full(2000, total / 2000)
    assert quantile(scores, share, even) == pytest.approx(np.quantile(scores, share), rel=1e-9)


@pytest.mark.parametrize("max_samples", ["auto", 0.5])
def test_weights_of_zero_are_absent_rows(X, max_samples):
    kept = np.random.default_rng(0).random(len(X)) < 0.6
    weights = np.where(kept, 2.0, 0.0)
    forest = OneClassRF(n_estimators=10, max_samples=max_samples, contamination=0.1, random_state=0)
    zeros = clone(forest).fit(X, sample_weight=weights)
    absent = clone(forest).fit(X[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(zeros.score_samples(X), absent.score_samples(X))
    assert zeros.offset_ == absent.offset_
    rows = np.flatnonzero(kept)
    for a, b in zip(zeros.estimators_samples_, absent.estimators_samples_, strict=True):
        np.testing.assert_array_equal(a, rows[b])


def test_weights_of_one_change_nothing(X):
    forest = OneClassRF(n_estimators=5, random_state=0)
    np.testing.assert_array_equal(
        clone(forest).fit(X, sample_weight=np.ones(len(X))).score_samples(X),
        clone(forest).fit(X).score_samples(X),
    )


def test_a_heavy_row_is_normal(X):
    far = np.full((1, 3), 30.0)
    data = np.concatenate([X, far])
    forest = OneClassRF(max_samples=1.0, random_state=0)
    weights = np.ones(len(data))
    light = clone(forest).fit(data, sample_weight=weights).score_samples(far)
    weights[-1] = 300.0
    assert clone(forest).fit(data, sample_weight=weights).score_samples(far) > light + 0.1


def test_nodes_sum_the_weights_of_their_points(X):
    weights = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X))
    forest = OneClassRF(n_estimators=3, random_state=0).fit(X, sample_weight=weights)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        leaves = tree.apply(X[rows])
        sums = np.bincount(leaves, weights[rows], minlength=tree.node_count)
        np.testing.assert_allclose(
            sums[tree.is_leaf], tree.weighted_n_node_samples[tree.is_leaf], rtol=1e-12
        )
        assert not tree.weighted_n_node_samples.flags.writeable


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0, 1.0, 1.0], "must not be negative; row 0 has -1"),
        ([np.nan, 1.0, 1.0], "Input sample_weight contains NaN"),
        ([np.inf, 1.0, 1.0], "Input sample_weight contains infinity"),
        ([1.0, 1.0], r"sample_weight.shape == \(2,\), expected \(3,\)"),
        (
            [0.1, 0.2, 0.3],
            "counts 0.6 times on average, which must be 2 at least; scale the weights",
        ),
        ([1e308, 1e308, 1e308], "sample_weight sums to inf, and may sum to 9.0072e.15 at most"),
        ([1e16, 1.0, 1.0], "sample_weight sums to 1e.16"),
        ([0.0, 0.0, 0.0], "non-zero|every sample_weight is 0"),
        (np.ma.masked_greater([1.0, 1.0, 9.0], 5.0), "sample_weight has masked values"),
        (np.full(3, np.timedelta64(3, "s")), "sample_weight holds dates or durations"),
    ],
)
def test_bad_weights_are_named(weights, message):
    forest = OneClassRF(n_estimators=2)
    with pytest.raises(ValueError, match=message):
        forest.fit([[0.0], [1.0], [2.0]], sample_weight=weights)
    with pytest.raises(NotFittedError):
        forest.predict([[0.0]])


@pytest.mark.parametrize("max_samples", ["auto", 0.5, 1.0])
def test_one_row_with_a_weight_is_repeated_rows(max_samples):
    X = np.array([[1.0, 2.0], [5.0, 5.0]])
    # A sub-sample of two rows of one read, and wrote, beyond it.
    assert resolve_max_samples(max_samples, 1) == 1
    forest = OneClassRF(n_estimators=2, max_samples=max_samples, random_state=0)
    weighted = forest.fit(X, sample_weight=[3.0, 0.0])
    plain = OneClassRF(n_estimators=2, random_state=0).fit(X[[0, 0, 0]])
    np.testing.assert_array_equal(weighted.score_samples(X), plain.score_samples(X))
