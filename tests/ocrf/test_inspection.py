"""Looking into a fitted forest: importances, trees, pickles."""

import dataclasses
import pickle

import numpy as np
import pytest

from ocrf import OneClassRF, _inspection


@pytest.mark.parametrize("seed", [0])
def test_importances_find_the_feature_with_tails(seed):
    """The paper reads the importance of a feature as the size of its tails."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(500, 4))
    X[:, 2] = rng.standard_t(1.5, size=500)
    forest = OneClassRF(random_state=seed, max_features_node=None).fit(X)
    importances = forest.feature_importances_
    assert importances.argmax() == 2
    assert importances.sum() == pytest.approx(1.0)
    assert (importances >= 0).all()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
def test_importances_are_decreases_of_the_proxy(X, criterion, adversary):
    forest = OneClassRF(
        n_estimators=5, criterion=criterion, adversary=adversary, gamma=2.0, random_state=0
    ).fit(X)

    def impurity(n, outliers):
        if criterion == "gini":
            return n * outliers / (n + outliers)
        return n * np.log2((n + outliers) / n)

    expected = np.zeros(3)
    for tree in forest.estimators_:
        for k in np.flatnonzero(~tree.is_leaf):
            n = tree.n_node_samples[k]
            n_outliers = 2.0 * n
            if adversary == "naive":
                n_outliers = 2.0 * forest.max_samples_ * np.exp(tree.log_volume[k])
            decrease = impurity(n, n_outliers)
            for child in (tree.children_left[k], tree.children_right[k]):
                share = np.exp(tree.log_volume[child] - tree.log_volume[k])
                decrease -= impurity(tree.n_node_samples[child], n_outliers * share)
            expected[tree.feature[k]] += decrease
    np.testing.assert_allclose(
        forest.feature_importances_, expected / expected.sum(), rtol=1e-8, atol=1e-12
    )


def test_importances_of_constant_data_are_zero():
    forest = OneClassRF(n_estimators=3).fit(np.ones((10, 2)))
    np.testing.assert_array_equal(forest.feature_importances_, 0.0)
    assert len(set(forest.score_samples(np.eye(2)))) == 1


def test_apply_and_decision_path_agree_with_the_splits(X):
    forest = OneClassRF(n_estimators=3, max_depth=None, random_state=0).fit(X)
    for tree in forest.estimators_:
        leaves = tree.apply(X)
        paths = tree.decision_path(X)
        np.testing.assert_array_equal(np.asarray(paths.sum(axis=1)).ravel(), tree.depth[leaves] + 1)
        for i in range(0, len(X), 37):
            node, visited = 0, [0]
            while not tree.is_leaf[node]:
                goes_left = X[i, tree.feature[node]] < tree.threshold[node]
                node = (tree.children_left if goes_left else tree.children_right)[node]
                visited.append(node)
            assert node == leaves[i]
            assert sorted(visited) == sorted(paths[i].indices.tolist())
        # The points of a tree's sub-sample fill its leaves as they did when it was grown.
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        filled = np.bincount(tree.apply(X[rows]), minlength=tree.node_count)
        np.testing.assert_array_equal(filled[tree.is_leaf], tree.n_node_samples[tree.is_leaf])


def test_a_tree_refuses_rows_it_was_not_grown_for(X):
    tree = OneClassRF(n_estimators=1, random_state=0).fit(X).estimators_[0]
    with pytest.raises(ValueError, match="X has 2 features, but the tree was grown on 3"):
        tree.apply(X[:, :2])
    with pytest.raises(ValueError, match="Expected 2D array"):
        tree.decision_path(X[0])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        tree.apply([[0.0, np.inf, 0.0]])


def test_inspection_is_in_plain_types(X):
    forest = OneClassRF(n_estimators=2, gamma=0.5, random_state=0).fit(X)
    for tree, columns, rows in zip(
        forest.estimators_, forest.estimators_features_, forest.estimators_samples_, strict=True
    ):
        assert columns.dtype == rows.dtype == tree.features.dtype == np.int64
        assert tree.n_features == 3
        assert repr(tree) == (
            f"OneClassTree(node_count={tree.node_count}, max_depth={tree.max_depth}, gamma=0.5)"
        )


def test_per_tree_attributes_are_sequences_that_make_the_item_asked_for(X, monkeypatch):
    forest = OneClassRF(n_estimators=5, random_state=0).fit(X)
    made = []
    unpack = _inspection.unpack_tree
    monkeypatch.setattr(
        _inspection,
        "unpack_tree",
        lambda trees, t, **rest: made.append(t) or unpack(trees, t, **rest),
    )
    trees = forest.estimators_
    assert len(trees) == len(forest.estimators_features_) == len(forest.estimators_samples_) == 5
    assert trees[-1].node_count == trees[4].node_count
    assert [tree.gamma for tree in trees[1:3]] == [1.0, 1.0]
    assert made == [4, 4, 1, 2]
    with pytest.raises(IndexError):
        trees[5]
    assert [len(rows) for rows in forest.estimators_samples_] == [forest.max_samples_] * 5
    assert repr(trees) == "<5 items, one per tree>"


def test_trees_cannot_be_written_through_to_the_forest(X):
    forest = OneClassRF(n_estimators=2, scoring="typical_cell", random_state=0).fit(X)
    tree = forest.estimators_[0]
    for array in (tree.n_node_samples, tree.depth, tree.log_volume):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_a_fitted_forest_pickles_whole_and_compactly(X):
    forest = OneClassRF(n_estimators=20, max_depth=None, random_state=0).fit(X)
    pickled = pickle.dumps(forest)
    loaded = pickle.loads(pickled)
    np.testing.assert_array_equal(loaded.score_samples(X), forest.score_samples(X))
    for a, b in zip(loaded.estimators_, forest.estimators_, strict=True):
        for field in dataclasses.fields(a):
            np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name))
    n_nodes = sum(tree.node_count for tree in forest.estimators_)
    assert len(pickled) < 40 * n_nodes + 5000
