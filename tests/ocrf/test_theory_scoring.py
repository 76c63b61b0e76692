"""Scores against isolation forest's own code, and against arithmetic without bounds."""

from decimal import Decimal, getcontext

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest, _iforest
from sklearn.tree import ExtraTreeRegressor
from sklearn.tree._tree import NODE_DTYPE, Tree

from ocrf import OneClassRF, OneClassTree
from ocrf._scoring.predictor import average_path_length


def float32_data(seed, n=300, d=4):
    """Return points that scikit-learn's trees, which store float32, represent exactly."""
    rng = np.random.default_rng(seed)
    return rng.standard_t(3, size=(n, d)).astype(np.float32).astype(np.float64)


def as_sklearn_tree(tree, n_features):
    """Return scikit-learn's compiled tree with the same nodes."""
    nodes = np.zeros(tree.node_count, NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = tree.children_left, tree.children_right
    nodes["feature"] = np.where(tree.is_leaf, -2, tree.feature)
    # There x <= threshold goes left, here x < threshold.
    nodes["threshold"] = np.nextafter(tree.threshold, -np.inf)
    nodes["n_node_samples"] = nodes["weighted_n_node_samples"] = tree.n_node_samples
    compiled = Tree(n_features, np.array([1], np.intp), 1)
    compiled.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.node_count,
            "nodes": nodes,
            "values": np.zeros((tree.node_count, 1, 1)),
        }
    )
    return compiled


def isolation_forest_on(forest, X):
    """Return an IsolationForest whose trees are those of a fitted OneClassRF."""
    n_trees = len(forest.estimators_)
    isolation = IsolationForest(
        n_estimators=n_trees, max_samples=forest.max_samples_, random_state=0
    ).fit(X)
    for host, tree in zip(isolation.estimators_, forest.estimators_, strict=True):
        host.tree_ = as_sklearn_tree(tree, X.shape[1])
    # What its fit keeps of its trees, made anew by its own functions.
    isolation._decision_path_lengths = tuple(
        host.tree_.compute_node_depths() for host in isolation.estimators_
    )
    isolation._average_path_length_per_tree = tuple(
        _iforest._average_path_length(host.tree_.n_node_samples) for host in isolation.estimators_
    )
    return isolation


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("max_depth", ["auto", 3])
def test_depth_score_is_isolation_forests_on_the_same_trees(monkeypatch, max_depth, seed):
    """With one and the same c(n), isolation forest's code scores our trees as we do."""
    X = float32_data(seed)
    forest = OneClassRF(
        n_estimators=20, max_samples=128, max_depth=max_depth, random_state=seed
    ).fit(X)
    new = np.concatenate([X, 4 * float32_data(seed + 100, 50)])
    approximate = isolation_forest_on(forest, X).score_samples(new)
    monkeypatch.setattr(_iforest, "_average_path_length", average_path_length)
    exact = isolation_forest_on(forest, X).score_samples(new)
    ours = forest.score_samples(new)
    np.testing.assert_allclose(ours, exact, rtol=1e-12)
    # scikit-learn takes ln(n - 1) + 0.5772 for the harmonic number; that is all the difference.
    assert 0 < np.abs(ours - approximate).max() < 0.02


@pytest.mark.parametrize("seed", [0, 1])
def test_full_trees_need_no_common_c(seed):
    """Leaves of one or two coincident points: c(1) = 0 and c(2) = 1 are the same everywhere."""
    X = float32_data(seed, 100)
    X = np.concatenate([X, X[:50]])
    forest = OneClassRF(
        n_estimators=15, max_samples=1.0, max_depth=None, max_features_node=None, random_state=seed
    ).fit(X)
    assert {n for tree in forest.estimators_ for n in tree.n_node_samples[tree.is_leaf]} == {1, 2}
    theirs = isolation_forest_on(forest, X).score_samples(X)
    # Undo the normalisation, which is the only other place of c.
    depths = np.log2(-theirs) * _iforest._average_path_length(np.array([len(X)]))[0]
    np.testing.assert_allclose(
        np.log2(-forest.score_samples(X)) * average_path_length(len(X)), depths, rtol=1e-12
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_isolation_forests_trees_are_walked_alike(seed):
    """The other way round: one of its extremely randomised trees as a OneClassTree."""
    X = float32_data(seed)
    isolation = IsolationForest(n_estimators=1, max_samples=200, random_state=seed).fit(X)
    (host,) = isolation.estimators_
    assert isinstance(host, ExtraTreeRegressor)
    theirs = host.tree_
    # Number the nodes so that siblings are neighbours.
    order, parent_first = [0], 0
    while parent_first < len(order):
        node = order[parent_first]
        if theirs.children_left[node] >= 0:
            order += [theirs.children_left[node], theirs.children_right[node]]
        parent_first += 1
    order = np.array(order)
    number = np.empty_like(order)
    number[order] = np.arange(order.size)
    leaf = theirs.children_left[order] < 0
    tree = OneClassTree(
        children_left=np.where(leaf, -1, number[theirs.children_left[order]]).astype(np.int32),
        children_right=np.where(leaf, -1, number[theirs.children_right[order]]).astype(np.int32),
        feature=np.where(leaf, -1, theirs.feature[order]).astype(np.int32),
        threshold=np.nextafter(theirs.threshold[order], np.inf),
        n_node_samples=theirs.n_node_samples[order].astype(np.int32),
        weighted_n_node_samples=theirs.weighted_n_node_samples[order],
        missing_go_to_left=np.zeros(order.size, dtype=bool),
        depth=(theirs.compute_node_depths()[order] - 1).astype(np.int32),
        log_volume=np.zeros(order.size),
        features=np.arange(4),
        n_features=4,
        gamma=1.0,
    )
    leaves = tree.apply(X)
    np.testing.assert_array_equal(order[leaves], host.apply(X.astype(np.float32)))
    depth = tree.depth[leaves] + _iforest._average_path_length(tree.n_node_samples[leaves])
    np.testing.assert_allclose(
        -np.exp2(-depth / _iforest._average_path_length([200])[0]), isolation.score_samples(X)
    )
    path = tree.decision_path(X)
    np.testing.assert_array_equal(np.asarray(path.sum(axis=1)).ravel(), tree.depth[leaves] + 1)


def trees_in_1000_dimensions(scoring, adversary, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy(size=(400, 1000))
    forest = OneClassRF(
        n_estimators=6,
        max_samples=60,
        max_features_tree=1.0,
        max_features_node=20,
        scoring=scoring,
        adversary=adversary,
        random_state=seed,
    ).fit(X)
    new = np.concatenate([X[:20], X[:5] * 50, np.full((1, 1000), 1e300)])
    return forest, new


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
@pytest.mark.parametrize("scoring", ["density", "typical_cell"])
def test_densities_in_1000_dimensions_equal_unbounded_arithmetic(scoring, adversary, seed):
    """Decimal has no smallest number; in float64 the boxes' volumes would be 0."""
    getcontext().prec = 40
    forest, new = trees_in_1000_dimensions(scoring, adversary, seed)
    leaves = [(tree, tree.apply(new)) for tree in forest.estimators_]
    assert all((np.exp(tree.log_volume) == 0).all() for tree, _ in leaves)
    expected = []
    for i in range(len(new)):
        counts = [Decimal(int(tree.n_node_samples[leaf[i]])) / 60 for tree, leaf in leaves]
        volumes = [Decimal(float(tree.log_volume[leaf[i]])).exp() for tree, leaf in leaves]
        if scoring == "density":
            mean = sum(n / v for n, v in zip(counts, volumes, strict=True)) / len(leaves)
        else:
            mean = sum(counts) / sum(volumes)
        expected.append(float(mean.ln()))
    scores = forest.score_samples(new)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert np.unique(scores).size > 5


@pytest.mark.parametrize("seed", [0])
def test_log_volumes_in_1000_dimensions_equal_the_product_of_the_widths(seed):
    getcontext().prec = 40
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy(size=(400, 1000))
    forest = OneClassRF(
        n_estimators=2, max_samples=60, max_features_tree=1.0, max_features_node=20, random_state=0
    ).fit(X)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        pending = [(0, X[rows].min(axis=0), X[rows].max(axis=0))]
        checked = 0
        while pending:
            k, lower, upper = pending.pop()
            shares = [Decimal(share) for share in (upper - lower) / np.ptp(X, axis=0)]
            volume = Decimal(1)
            for share in shares:
                volume *= share
            assert float(volume.ln()) == pytest.approx(tree.log_volume[k], rel=1e-12)
            checked += 1
            if not tree.is_leaf[k]:
                j, threshold = tree.feature[k], tree.threshold[k]
                left_upper, right_lower = upper.copy(), lower.copy()
                left_upper[j] = right_lower[j] = threshold
                pending.append((tree.children_left[k], lower, left_upper))
                pending.append((tree.children_right[k], right_lower, upper))
        assert checked == tree.node_count > 20


def test_the_density_score_of_sub_samples_integrates_to_more_than_one():
    """As the docstring says: a tree's outermost leaves reach beyond its box."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(330, 3))
    uniform = rng.uniform(X.min(axis=0), X.max(axis=0), size=(20000, 3))
    forest = OneClassRF(scoring="density", random_state=0)
    sampled = np.exp(forest.fit(X).score_samples(uniform)).mean()
    whole = np.exp(forest.set_params(max_samples=1.0).fit(X).score_samples(uniform)).mean()
    assert whole == pytest.approx(1.0, rel=0.05)
    assert sampled > 1.3


@pytest.mark.parametrize("seed", [0, 1])
def test_the_density_score_integrates_to_one(seed):
    """The supplementary: the forest's output is a step-wise density estimate."""
    X = np.random.default_rng(seed).normal(size=(150, 2))
    forest = OneClassRF(
        n_estimators=5, max_samples=1.0, scoring="density", max_depth=4, random_state=seed
    ).fit(X)
    lower, upper = X.min(axis=0), X.max(axis=0)
    edges = [
        np.unique(
            np.concatenate(
                [tree.threshold[tree.feature == j] for tree in forest.estimators_]
                + [[lower[j], upper[j]]]
            )
        )
        for j in range(2)
    ]
    centres = np.stack(np.meshgrid(*[(e[:-1] + e[1:]) / 2 for e in edges]), axis=-1)
    areas = np.outer(np.diff(edges[1]), np.diff(edges[0])) / np.prod(upper - lower)
    density = np.exp(forest.score_samples(centres.reshape(-1, 2))).reshape(areas.shape)
    assert (density * areas).sum() == pytest.approx(1.0, rel=1e-9)
    assert density.max() > 2 * density.min()
