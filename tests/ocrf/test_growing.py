"""Trees against their plain twin, and against the proxy as the paper prints it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocrf import OneClassRF, _forest
from ocrf._growing import work_space
from ocrf.kernels.arrays import read_only
from tests.ocrf import twin
from tests.ocrf.samples import KINDS, sample


def assert_equals_twin(forest, X, weights=None):
    forest.fit(X, sample_weight=weights)
    if weights is not None:
        X, weights = X[weights > 0], weights[weights > 0]
    for tree, seed in zip(forest.estimators_, forest._tree_seeds, strict=True):
        twin.assert_same(tree, twin.grow(X, seed, forest, tree.gamma, weights))


def with_missing(X, share, seed):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


# Sums of these are exact in any order.
WEIGHTS = [0.0, 0.25, 0.5, 1.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_equal_the_plain_twin(kind, criterion, adversary, seed):
    X = sample(kind, 150, 4, seed)
    forest = OneClassRF(
        n_estimators=4,
        max_samples=0.8,
        max_features_node=2,
        criterion=criterion,
        adversary=adversary,
        gamma=(0.1, 10.0),
        max_depth=None,
        random_state=seed,
    )
    assert_equals_twin(forest, X)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("kind", ["normal", "ties", "heavy tails", "spikes"])
def test_large_nodes_equal_the_plain_twin(kind, criterion):
    X = sample(kind, 2000, 3, 0)
    forest = OneClassRF(
        n_estimators=2, max_samples=1.0, max_depth=4, criterion=criterion, random_state=0
    )
    assert_equals_twin(forest, X)


@pytest.mark.parametrize("n_samples", [70_000, 300_000])
def test_very_large_nodes_take_the_best_of_all_thresholds(n_samples):
    """Long runs of thresholds, marks in bits, and points picked from the order of all rows."""
    X = sample("normal", n_samples, 3, 0)
    X[:, 1] = X[:, 1].round(2)
    forest = OneClassRF(
        n_estimators=1, max_samples=0.9, max_features_node=None, max_depth=3, random_state=0
    )
    tree = forest.fit(X).estimators_[0]
    inside = X[forest.estimators_samples_[0]]
    pending = [(0, inside, inside.min(axis=0), inside.max(axis=0))]
    while pending:
        node, points, lower, upper = pending.pop()
        n = len(points)
        assert tree.n_node_samples[node] == n
        if tree.depth[node] == 3:
            continue
        splits = []
        for j in range(3):
            values, counts = np.unique(points[:, j], return_counts=True)
            a, cuts = np.cumsum(counts)[:-1], 0.5 * values[:-1] + 0.5 * values[1:]
            share = (cuts - lower[j]) * (1.0 / (upper[j] - lower[j]))
            excess = a - n * share
            gains = excess * excess / ((a + n * share) * ((n - a) + n * (1.0 - share)))
            splits.append((gains.max(), j, cuts[gains.argmax()]))
        _, j, cut = max(splits)
        assert (tree.feature[node], tree.threshold[node]) == (j, cut)
        goes_left = points[:, j] < cut
        middle = np.where(np.arange(3) == j, cut, upper), np.where(np.arange(3) == j, cut, lower)
        pending.append((tree.children_left[node], points[goes_left], lower, middle[0]))
        pending.append((tree.children_right[node], points[~goes_left], middle[1], upper))


@pytest.mark.parametrize("n_features", [1, 2, 40])
@pytest.mark.parametrize("max_features_node", [1, 3, None])
def test_few_of_many_features_equal_the_plain_twin(n_features, max_features_node):
    X = sample("ties", 120, n_features, 3)
    X[:, ::3] = sample("normal", 120, n_features, 4)[:, ::3]
    forest = OneClassRF(
        n_estimators=3,
        max_features_tree=1.0,
        max_features_node=max_features_node,
        random_state=0,
    )
    assert_equals_twin(forest, X)


@pytest.mark.parametrize("max_features_node", [1, 3, None])
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
@pytest.mark.parametrize("kind", KINDS)
def test_sorting_node_by_node_grows_the_same_trees(monkeypatch, kind, adversary, max_features_node):
    X = sample(kind, 700, 9, 2)
    fitted = []
    for node_by_node in (False, True):
        monkeypatch.setattr(work_space, "sorts_node_by_node", lambda *_, how=node_by_node: how)
        forest = OneClassRF(
            n_estimators=5,
            max_samples=1.0,
            max_features_tree=8,
            max_features_node=max_features_node,
            adversary=adversary,
            max_depth=None,
            random_state=0,
        )
        fitted.append(forest.fit(X))
    kept, sorted_ = fitted
    np.testing.assert_array_equal(kept._grown.trees.packed, sorted_._grown.trees.packed)
    np.testing.assert_array_equal(kept._grown.trees.log_volume, sorted_._grown.trees.log_volume)
    np.testing.assert_array_equal(kept.feature_importances_, sorted_.feature_importances_)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_samples", [60, 500])
def test_of_features_that_tie_the_one_drawn_first_is_split(n_samples, criterion):
    """All are searched, in ascending order: the draw is made where it decides, and only there."""
    X = np.repeat(sample("normal", n_samples, 2, 0), 4, axis=1)
    forest = OneClassRF(
        n_estimators=6,
        max_samples=1.0,
        max_features_tree=1.0,
        max_features_node=None,
        criterion=criterion,
        random_state=0,
    )
    assert_equals_twin(forest, X)
    assert len({tree.feature[0] for tree in forest.estimators_}) > 1
    split = np.concatenate([tree.feature[~tree.is_leaf] for tree in forest.estimators_])
    assert len(np.unique(split)) == X.shape[1]


@pytest.mark.parametrize("max_features_tree", [2, 12])
def test_a_feature_too_narrow_to_split_takes_no_ones_place(max_features_tree):
    """One over the width of such a box is infinite."""
    X = np.random.default_rng(0).normal(size=(300, 12))
    X[:, 1:] *= 1e-310
    forest = OneClassRF(
        n_estimators=30, max_features_tree=max_features_tree, max_features_node=1, random_state=0
    ).fit(X)
    for tree in forest.estimators_:
        assert set(tree.feature[~tree.is_leaf]) == ({0} if 0 in tree.features else set())
    assert any(tree.node_count > 20 for tree in forest.estimators_)


@given(
    values=st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=2, max_size=25),
    scale=st.sampled_from([1.0, 1e-12, 1e12, 0.1]),
    criterion=st.sampled_from(["gini", "entropy"]),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=60, deadline=None)
def test_any_small_integers_equal_the_plain_twin(values, scale, criterion, seed):
    forest = OneClassRF(n_estimators=2, criterion=criterion, max_depth=None, random_state=seed)
    assert_equals_twin(forest, np.array(values) * scale)


@pytest.mark.parametrize("seed", [5])
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_splits_minimise_the_papers_proxy(criterion, adversary, seed):
    """The proxy as printed (Gini: I_G^OC-ad; entropy: I_S^OC-ad), at every node of a tree."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(200, 2)), rng.normal(4, 0.3, size=(40, 2))])
    gamma = 0.7
    forest = OneClassRF(
        n_estimators=1,
        max_samples=1.0,
        gamma=gamma,
        criterion=criterion,
        adversary=adversary,
        max_depth=5,
        random_state=seed,
    ).fit(X)
    (tree,) = forest.estimators_

    def proxy(a, n, share, n_outliers):
        total = 0.0
        for inliers, outliers in ((a, n_outliers * share), (n - a, n_outliers * (1 - share))):
            if criterion == "gini":
                total += inliers * outliers / (inliers + outliers)
            else:
                total += inliers * np.log2((inliers + outliers) / inliers)
        return total

    def check(k, points, lower, upper):
        if tree.is_leaf[k]:
            return
        n = len(points)
        n_outliers = gamma * n
        if adversary == "naive":
            n_outliers = gamma * len(X) * np.prod((upper - lower) / np.ptp(X, axis=0))
        proxies = {}
        for j in range(2):
            for threshold, a in twin.candidates(points[:, j].tolist()):
                share = (threshold - lower[j]) / (upper[j] - lower[j])
                proxies[j, threshold] = proxy(a, n, share, n_outliers)
        j, threshold = tree.feature[k], tree.threshold[k]
        assert proxies[j, threshold] <= min(proxies.values()) * (1 + 1e-10)
        left_upper, right_lower = upper.copy(), lower.copy()
        left_upper[j] = right_lower[j] = threshold
        goes_left = points[:, j] < threshold
        check(tree.children_left[k], points[goes_left], lower, left_upper)
        check(tree.children_right[k], points[~goes_left], right_lower, upper)

    check(0, X, X.min(axis=0), X.max(axis=0))
    assert not tree.is_leaf[0]


def test_hidden_outliers_may_vanish():
    """In 1000 dimensions the naive adversary's share of a box underflows; splits stay sound."""
    X = np.random.default_rng(0).normal(size=(60, 1000))
    forest = OneClassRF(
        n_estimators=3,
        adversary="naive",
        max_features_tree=1.0,
        max_features_node=None,
        max_samples=30,
        random_state=0,
    )
    for criterion in ("gini", "entropy"):
        forest.set_params(criterion=criterion)
        assert_equals_twin(forest, X)
        assert all(tree.node_count > 5 for tree in forest.estimators_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", ["majority", "proportion", "better"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("kind", ["normal", "ties", "symmetric", "constant columns", "spikes"])
def test_trees_with_weights_and_missing_values_equal_the_plain_twin(
    monkeypatch, kind, criterion, rule, weighted
):
    monkeypatch.setattr(OneClassRF, "_missing_rule", rule)
    X = with_missing(sample(kind, 150, 4, 1), 0.3, 2)
    weights = np.random.default_rng(0).choice(WEIGHTS, size=150) if weighted else None
    forest = OneClassRF(
        n_estimators=4,
        max_samples=0.8,
        max_features_node=2,
        criterion=criterion,
        gamma=(0.1, 10.0),
        max_depth=None,
        random_state=0,
    )
    assert_equals_twin(forest, X, weights)


@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
@pytest.mark.parametrize("max_features_node", [1, None])
@pytest.mark.parametrize("kind", KINDS)
def test_trees_with_weights_equal_the_plain_twin(kind, max_features_node, adversary):
    X = sample(kind, 300, 9, 1)
    forest = OneClassRF(
        n_estimators=3, max_features_node=max_features_node, adversary=adversary, random_state=0
    )
    assert_equals_twin(forest, X, np.random.default_rng(0).choice(WEIGHTS, size=300))


@given(
    values=st.lists(
        st.lists(st.sampled_from([np.nan, -2.0, 0.0, 1.0, 1.5]), min_size=3, max_size=3),
        min_size=2,
        max_size=25,
    ),
    weights=st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=25, max_size=25),
    criterion=st.sampled_from(["gini", "entropy"]),
    max_features_node=st.sampled_from([1, 3]),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=60, deadline=None)
def test_any_holes_equal_the_plain_twin(values, weights, criterion, max_features_node, seed):
    X, weights = np.array(values), np.array(weights)[: len(values)]
    forest = OneClassRF(
        n_estimators=2,
        criterion=criterion,
        max_features_node=max_features_node,
        max_depth=None,
        random_state=seed,
    )
    assert_equals_twin(forest, X, weights if weights.sum() >= 2 else None)


@pytest.mark.parametrize("node_by_node", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_weighted_search_finds_the_splits_of_the_fast_one(
    monkeypatch, kind, criterion, node_by_node
):
    X = sample(kind, 700, 5, 3)
    monkeypatch.setattr(work_space, "sorts_node_by_node", lambda *_: node_by_node)
    forest = OneClassRF(
        n_estimators=4, criterion=criterion, max_features_node=2, max_depth=None, random_state=0
    )
    plain = forest.fit(X)._grown.trees
    ones = read_only(np.ones(len(X)))
    monkeypatch.setattr(_forest, "resolve_weights", lambda _, X: (X, ones, None))
    weighted = forest.fit(X)._grown.trees
    np.testing.assert_array_equal(plain.packed, weighted.packed)
    np.testing.assert_array_equal(plain.log_volume, weighted.log_volume)
    np.testing.assert_array_equal(plain.n_samples, weighted.weight)
