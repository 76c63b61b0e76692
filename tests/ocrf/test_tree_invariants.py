"""What must hold for every tree: volumes, threads, maps of the columns, leaves, draws."""

import itertools

import numpy as np
import pytest

from ocrf import OneClassRF
from tests.ocrf.samples import KINDS, sample


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
    """Neighbouring floats have no midpoint, and shares of a box may be below the smallest float."""
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
