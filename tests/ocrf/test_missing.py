"""Missing values: both children in proportion, and defined answers where nothing is present."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from ocrf import OneClassRF
from ocrf._growing import work_space
from ocrf._scoring.predictor import average_path_length

SCORINGS = ["depth", "published_depth", "density", "typical_cell"]


@pytest.fixture(name="holes")
def make_holes(X):
    return np.where(np.random.default_rng(7).random(X.shape) < 0.3, np.nan, X)


def reach(tree, X):
    """Return the share of each row that reaches each node, of shape (n_nodes, n_rows)."""
    shares = np.zeros((tree.node_count, len(X)))
    shares[0] = 1.0
    for node in np.flatnonzero(~tree.is_leaf):
        left, right = tree.children_left[node], tree.children_right[node]
        value = X[:, tree.feature[node]]
        left_share = tree.weighted_n_node_samples[left] / tree.weighted_n_node_samples[node]
        goes_left = np.where(np.isnan(value), left_share, value < tree.threshold[node])
        shares[left], shares[right] = shares[node] * goes_left, shares[node] * (1.0 - goes_left)
    return shares * tree.is_leaf[:, None]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("trained_on", ["holes", "all values"])
def test_scores_average_over_the_leaves_in_proportion(X, holes, trained_on, weighted):
    data = holes if trained_on == "holes" else X
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X)) if weighted else None
    forest = OneClassRF(n_estimators=7, max_samples=1.0, random_state=0)
    forest.fit(data, sample_weight=weights)
    trees = forest.estimators_
    size = [tree.weighted_n_node_samples for tree in trees]
    depths = [
        (tree.depth + average_path_length(n)) @ reach(tree, holes)
        for tree, n in zip(trees, size, strict=True)
    ]
    scale = average_path_length(size[0][0])
    np.testing.assert_allclose(
        forest.score_samples(holes), -np.exp2(-np.mean(depths, axis=0) / scale), rtol=1e-12
    )
    densities = [
        (n / n[0] / np.exp(tree.log_volume)) @ reach(tree, holes)
        for tree, n in zip(trees, size, strict=True)
    ]
    forest.set_params(scoring="density").fit(data, sample_weight=weights)
    np.testing.assert_allclose(
        forest.score_samples(holes), np.log(np.mean(densities, axis=0)), rtol=1e-10, atol=1e-10
    )
    shares = [(n / n[0]) @ reach(tree, holes) for tree, n in zip(trees, size, strict=True)]
    volumes = [np.exp(tree.log_volume) @ reach(tree, holes) for tree in trees]
    forest.set_params(scoring="typical_cell").fit(data, sample_weight=weights)
    np.testing.assert_allclose(
        forest.score_samples(holes),
        np.log(np.sum(shares, axis=0)) - np.log(np.sum(volumes, axis=0)),
        rtol=1e-10,
        atol=1e-10,
    )


@pytest.mark.parametrize("scoring", SCORINGS)
def test_rows_with_all_values_score_alike_beside_others(X, holes, scoring):
    forest = OneClassRF(n_estimators=10, scoring=scoring, random_state=0).fit(holes)
    mixed = forest.score_samples(np.concatenate([X, holes]))[: len(X)]
    np.testing.assert_array_equal(mixed, forest.score_samples(X))
    forest.set_params(n_jobs=2)
    np.testing.assert_array_equal(forest.score_samples(X), mixed)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_rows_and_columns_without_any_value(X, scoring):
    data = np.column_stack([X, np.full(len(X), np.nan)])
    data[::50] = np.nan
    forest = OneClassRF(
        n_estimators=20, scoring=scoring, out_of_bounds="maximal", random_state=0
    ).fit(data)
    scores = forest.score_samples(data)
    assert np.isfinite(scores).all()
    # Nothing is known of these rows: they are alike, and neither the best nor the worst.
    assert len(set(scores[::50])) == 1
    assert scores.min() < scores[0] < scores.max()
    assert all(3 not in tree.feature for tree in forest.estimators_)
    assert np.isfinite(forest.feature_importances_).all()
    nothing = OneClassRF(n_estimators=2, scoring=scoring, random_state=0)
    nothing.fit(np.full((10, 2), np.nan))
    assert len(set(nothing.score_samples([[np.nan, 1.0], [0.0, np.nan]]))) == 1


def test_a_missing_coordinate_is_not_out_of_bounds(X):
    forest = OneClassRF(n_estimators=20, out_of_bounds="maximal", random_state=0).fit(X)
    rows = np.array([[np.nan, 0.0, 0.0], [np.nan, 0.0, 1e6], [0.0, 0.0, 0.0]])
    scores = forest.score_samples(rows)
    assert scores[1] == scores.min() < scores[0]
    plain = OneClassRF(n_estimators=20, random_state=0).fit(X).score_samples(rows)
    np.testing.assert_array_equal(scores[[0, 2]], plain[[0, 2]])


def test_the_kind_of_nan_and_of_float_is_irrelevant(holes):
    forest = OneClassRF(n_estimators=5, random_state=0)
    expected = clone(forest).fit(holes).score_samples(holes)
    negative = np.where(np.isnan(holes), np.copysign(np.nan, -1.0), holes)
    np.testing.assert_array_equal(clone(forest).fit(negative).score_samples(negative), expected)
    narrow = holes.astype(np.float32)
    wide = narrow.astype(np.float64)
    np.testing.assert_array_equal(
        clone(forest).fit(narrow).score_samples(narrow), clone(forest).fit(wide).score_samples(wide)
    )


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_sorting_node_by_node_and_threads_grow_the_same_trees(monkeypatch, holes, criterion):
    fitted = []
    for node_by_node, n_jobs in ((False, 1), (True, 1), (True, 2)):
        monkeypatch.setattr(work_space, "sorts_node_by_node", lambda *_, how=node_by_node: how)
        forest = OneClassRF(
            n_estimators=8, criterion=criterion, max_depth=None, n_jobs=n_jobs, random_state=0
        )
        fitted.append(forest.fit(holes)._grown.trees)
    for other in fitted[1:]:
        np.testing.assert_array_equal(fitted[0].packed, other.packed)
        np.testing.assert_array_equal(fitted[0].weight, other.weight)


def test_apply_sends_rows_to_the_larger_child(X, holes):
    forest = OneClassRF(n_estimators=3, random_state=0).fit(X)
    for tree in forest.estimators_:
        for i, leaf in enumerate(tree.apply(holes)[:50]):
            node = 0
            while not tree.is_leaf[node]:
                left, right = tree.children_left[node], tree.children_right[node]
                value = holes[i, tree.feature[node]]
                larger_left = tree.n_node_samples[left] >= tree.n_node_samples[right]
                assert tree.missing_go_to_left[node] == larger_left
                goes_left = larger_left if np.isnan(value) else value < tree.threshold[node]
                node = left if goes_left else right
            assert node == leaf


def test_forests_with_holes_pickle(holes):
    forest = OneClassRF(n_estimators=3, random_state=0).fit(holes)
    loaded = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(loaded.score_samples(holes), forest.score_samples(holes))


@pytest.mark.parametrize("seed", [0, 1])
def test_anomalies_are_found_among_holes(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(500, 6)), rng.normal(6.0, 1.0, size=(25, 6))])
    X = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    scores = OneClassRF(random_state=seed).fit(X).score_samples(X)
    assert np.mean(scores[500:, None] < scores[None, :500]) > 0.95


def test_infinity_is_refused(X):
    forest = OneClassRF(n_estimators=2).fit(X)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        forest.score_samples([[np.inf, np.nan, 0.0]])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        OneClassRF().fit([[np.inf, np.nan], [0.0, 1.0]])


@pytest.mark.parametrize("weighted", [False, True])
def test_contributions_stay_additive(X, holes, weighted):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(X)) if weighted else None
    forest = OneClassRF(n_estimators=20, random_state=0).fit(holes, sample_weight=weights)
    for rows in (holes, X):
        total = forest.feature_contributions(rows).sum(axis=1) + forest.mean_log2_score_
        np.testing.assert_allclose(total, np.log2(-forest.score_samples(rows)), atol=1e-12)
    # A value that is missing moves nothing.
    np.testing.assert_array_equal(forest.feature_contributions(holes)[np.isnan(holes)], 0.0)
