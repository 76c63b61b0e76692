"""Trees against their plain twin, and what must hold for every tree."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocrf import OneClassRF, _forest
from tests.ocrf import twin


def sample(kind, n, d, seed):
    """Draw data of a kind that has broken, or could break, a split search."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "ties":
        X = rng.integers(0, 6, size=(n, d)).astype(float)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(n // 4, 1), size=n)]
    elif kind == "constant columns":
        X[:, ::2] = 3.0
    elif kind == "symmetric":
        # Mirrored points make exact ties between different splits.
        X = np.round(np.concatenate([X, -X])[:n], 1)
    elif kind == "heavy tails":
        X = rng.standard_cauchy(size=(n, d)) ** 3
    elif kind == "identical":
        X[:] = 1.0
    elif kind == "spikes":
        X = np.where(rng.random((n, d)) < 0.8, 0.0, X)
    return X


KINDS = [
    "normal",
    "ties",
    "duplicates",
    "constant columns",
    "symmetric",
    "heavy tails",
    "identical",
    "spikes",
]


def assert_equals_twin(forest, X):
    forest.fit(X)
    for tree, seed in zip(forest.estimators_, forest._tree_seeds, strict=True):
        twin.assert_same(tree, twin.grow(X, seed, forest, tree.gamma))


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
        monkeypatch.setattr(_forest, "sorts_node_by_node", lambda *_, how=node_by_node: how)
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
    np.testing.assert_array_equal(kept._trees.packed, sorted_._trees.packed)
    np.testing.assert_array_equal(kept._trees.log_volume, sorted_._trees.log_volume)
    np.testing.assert_array_equal(kept.feature_importances_, sorted_.feature_importances_)


@pytest.mark.parametrize("max_features_tree", [2, 12])
def test_a_feature_too_narrow_to_split_takes_no_ones_place(max_features_tree):
    """One over the width of such a cell is infinite."""
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


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_leaves_share_out_points_and_volume(kind, seed):
    X = sample(kind, 300, 5, seed)
    forest = OneClassRF(n_estimators=10, max_features_node=None, random_state=seed).fit(X)
    for tree in forest.estimators_:
        leaf = tree.is_leaf
        assert tree.n_node_samples[leaf].sum() == tree.n_node_samples[0] == forest.max_samples_
        np.testing.assert_allclose(
            np.exp(tree.log_volume[leaf] - tree.log_volume[0]).sum(), 1.0, rtol=1e-12
        )
        assert tree.log_volume[0] <= 0
        inner = np.flatnonzero(~leaf)
        left, right = tree.children_left[inner], tree.children_right[inner]
        counts = tree.n_node_samples
        np.testing.assert_array_equal(counts[left] + counts[right], counts[inner])
        assert tree.max_depth <= forest.max_depth_


@pytest.mark.parametrize(
    "column",
    [
        [1.0, np.nextafter(1.0, 2.0)],
        [1.0, np.nextafter(1.0, 0.0)],
        1.0 + 2.0**-52 * np.arange(8),
        [0.0, 1e-200, 1e200],
        [-1e300, 0.0, 5e-324, 1e300],
    ],
)
def test_no_leaf_is_without_volume(column):
    """Neighbouring floats have no midpoint, and shares of a cell may be below the smallest float."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice(column, 200), rng.normal(size=200)])
    for scoring in ("density", "typical_cell"):
        forest = OneClassRF(n_estimators=10, max_depth=None, scoring=scoring, random_state=0).fit(X)
        assert np.isfinite(forest.score_samples(X)).all()
    for tree in forest.estimators_:
        assert 0 in tree.feature
        assert np.isfinite(tree.log_volume).all()
        shares = np.exp(tree.log_volume[tree.is_leaf] - tree.log_volume[0])
        np.testing.assert_allclose(shares.sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "ties", "duplicates"])
def test_unbounded_trees_end_in_coincident_points(kind):
    X = sample(kind, 200, 3, 0)
    forest = OneClassRF(n_estimators=3, max_samples=1.0, max_depth=None, random_state=0).fit(X)
    for tree in forest.estimators_:
        leaves = tree.apply(X)
        for leaf in np.unique(leaves):
            assert len(np.unique(X[leaves == leaf], axis=0)) == 1


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_trees_do_not_depend_on_threads(n_jobs, seed):
    X = sample("normal", 1000, 6, seed)
    one = OneClassRF(n_estimators=23, random_state=seed).fit(X)
    several = OneClassRF(n_estimators=23, random_state=seed, n_jobs=n_jobs).fit(X)
    for a, b in zip(one.estimators_, several.estimators_, strict=True):
        np.testing.assert_array_equal(a.feature, b.feature)
        np.testing.assert_array_equal(a.threshold, b.threshold)
    np.testing.assert_array_equal(one.score_samples(X), several.score_samples(X))


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_affine_maps_of_columns_change_nothing_but_thresholds(criterion, seed):
    """Powers of two and an added constant that is exact: no rounding, so equality is exact."""
    X = np.round(sample("normal", 400, 4, seed) * 2**20) / 2**20
    scale, shift = np.array([4.0, 0.5, 1.0, 2.0**-10]), np.array([1.0, -3.0, 0.0, 8.0])
    plain = OneClassRF(n_estimators=10, criterion=criterion, random_state=seed).fit(X)
    mapped = OneClassRF(n_estimators=10, criterion=criterion, random_state=seed).fit(
        X * scale + shift
    )
    for a, b in zip(plain.estimators_, mapped.estimators_, strict=True):
        np.testing.assert_array_equal(a.feature, b.feature)
        np.testing.assert_array_equal(a.n_node_samples, b.n_node_samples)
    np.testing.assert_array_equal(plain.score_samples(X), mapped.score_samples(X * scale + shift))


@pytest.mark.parametrize("scoring", ["depth", "published_depth", "density", "typical_cell"])
@pytest.mark.parametrize("seed", [0, 1])
def test_any_affine_map_changes_scores_by_rounding_only(scoring, seed):
    rng = np.random.default_rng(seed)
    X = sample("normal", 400, 4, seed)
    scale, shift = rng.uniform(0.01, 100, 4), rng.normal(size=4)
    plain = OneClassRF(n_estimators=20, scoring=scoring, random_state=seed).fit(X)
    mapped = OneClassRF(n_estimators=20, scoring=scoring, random_state=seed).fit(X * scale + shift)
    np.testing.assert_allclose(
        plain.score_samples(X), mapped.score_samples(X * scale + shift), rtol=1e-6, atol=1e-6
    )


def test_mirrored_columns_are_searched_alike():
    """A split and its mirror image gain the same: no side of a feature is preferred."""
    X = sample("normal", 500, 1, 0)
    plain = OneClassRF(n_estimators=5, max_samples=1.0, random_state=0).fit(X)
    mirrored = OneClassRF(n_estimators=5, max_samples=1.0, random_state=0).fit(-X)
    for a, b in zip(plain.estimators_, mirrored.estimators_, strict=True):
        np.testing.assert_allclose(np.sort(a.threshold), np.sort(-b.threshold), atol=1e-12)


@pytest.mark.parametrize("bound", [-1.0, 0.0, 2.0])
def test_density_bounds_make_leaves(bound):
    X = sample("normal", 400, 2, 0)
    log_density = {}
    for name in ("min_log_density", "max_log_density"):
        forest = OneClassRF(n_estimators=5, random_state=0, max_depth=None, **{name: bound}).fit(X)
        for tree in forest.estimators_:
            density = np.log(tree.n_node_samples / forest.max_samples_) - tree.log_volume
            inner = density[~tree.is_leaf]
            if name == "min_log_density":
                assert (inner > bound).all()
            else:
                assert (inner < bound).all()
            log_density.setdefault(name, []).append(density[tree.is_leaf])
    assert sum(map(len, itertools.chain(*log_density.values()))) > 20


@pytest.mark.parametrize("min_samples_split", [2, 5, 50])
def test_small_nodes_are_leaves(min_samples_split):
    X = sample("normal", 400, 3, 0)
    forest = OneClassRF(
        n_estimators=5, max_depth=None, min_samples_split=min_samples_split, random_state=0
    ).fit(X)
    for tree in forest.estimators_:
        assert (tree.n_node_samples[~tree.is_leaf] >= min_samples_split).all()
        assert (tree.n_node_samples[tree.is_leaf] < min_samples_split).all()


@pytest.mark.parametrize("seed", [0])
def test_gamma_ranges_are_drawn_per_tree(seed):
    X = sample("normal", 300, 2, seed)
    forest = OneClassRF(n_estimators=400, gamma=(0.01, 100.0), random_state=seed).fit(X)
    logs = np.log10(forest.gammas_)
    assert logs.min() > -2
    assert logs.max() < 2
    # Uniform on [-2, 2]: mean 0, standard deviation 4 / sqrt(12), five standard errors.
    assert abs(logs.mean()) < 5 * 1.155 / 20
    assert abs(logs.std() - 1.155) < 0.15
    np.testing.assert_array_equal(OneClassRF(n_estimators=3).fit(X).gammas_, 1.0)


@pytest.mark.parametrize("seed", [0])
def test_equal_splits_are_shared_out_among_features(seed):
    """Two copies of a column tie at every node; neither may always win."""
    X = np.repeat(sample("normal", 300, 1, seed), 2, axis=1)
    forest = OneClassRF(n_estimators=50, max_features_node=None, random_state=seed).fit(X)
    assert 0.3 < forest.feature_importances_[0] < 0.7


def test_neighbouring_floats_are_separated():
    """Between neighbouring floats the midpoint rounds to one of them; both orders must split."""
    for low in (1.0, np.nextafter(1.0, 2.0), 0.1):
        X = np.array([[low], [np.nextafter(low, 2.0)]] * 4)
        forest = OneClassRF(n_estimators=1, max_samples=1.0, random_state=0).fit(X)
        (tree,) = forest.estimators_
        assert tree.n_node_samples.tolist() == [8, 4, 4]
        assert len(set(tree.apply(X).tolist())) == 2


def test_hidden_outliers_may_vanish():
    """In 1000 dimensions the naive adversary's share of a cell underflows; splits stay sound."""
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
