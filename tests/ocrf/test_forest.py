"""The estimator: inputs, parameters, scores and inspection."""

import dataclasses
import pickle
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble._iforest import _average_path_length

from ocrf import OneClassRF
from ocrf._params import resolve_max_samples
from ocrf._scoring import average_path_length

SCORINGS = ["depth", "density", "typical_cell"]


@pytest.fixture(scope="module", name="X")
def make_inliers():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(500, 3)), rng.normal(5, 0.5, size=(100, 3))])


@pytest.fixture(scope="module")
def outliers():
    return np.random.default_rng(1).uniform(-12, 12, size=(100, 3))


def test_defaults_are_the_papers():
    assert OneClassRF().get_params() == {
        "n_estimators": 100,
        "max_samples": "auto",
        "max_features_tree": "auto",
        "max_features_node": 5,
        "gamma": 1.0,
        "max_depth": "auto",
        "criterion": "gini",
        "min_samples_split": 2,
        "out_of_bounds": None,
        "contamination": "auto",
        "n_jobs": None,
        "random_state": None,
        "adversary": "adaptive",
        "scoring": "depth",
        "min_log_density": None,
        "max_log_density": None,
    }


@pytest.mark.parametrize(
    ("n", "max_samples", "expected"),
    [
        (1000, "auto", 200),
        (300, "auto", 100),
        (60, "auto", 60),
        (1000, 0.5, 500),
        (1000, 17, 17),
        (30, 0.01, 2),
        (30, 1.0, 30),
    ],
)
def test_sub_sample_sizes(n, max_samples, expected):
    X = np.random.default_rng(0).normal(size=(n, 2))
    forest = OneClassRF(n_estimators=2, max_samples=max_samples).fit(X)
    assert forest.max_samples_ == expected
    assert forest.max_depth_ == int(np.ceil(np.log2(expected)))
    for rows in forest.estimators_samples_:
        assert len(rows) == len(np.unique(rows)) == expected
        assert 0 <= rows.min() <= rows.max() < n


def test_sub_sample_beyond_the_data_is_said():
    with pytest.warns(UserWarning, match=r"max_samples=50 is greater than .* 20"):
        assert OneClassRF(max_samples=50).fit(np.eye(20)).max_samples_ == 20


@pytest.mark.parametrize(
    ("n", "max_samples", "n_subsample"), [(2**32, 100, 100), (2**31, 1.0, 2**31)]
)
def test_more_rows_than_the_kernels_count_are_refused(n, max_samples, n_subsample):
    with pytest.raises(ValueError, match=f"got {n} samples and sub-samples of {n_subsample}"):
        resolve_max_samples(max_samples, n)
    assert resolve_max_samples(2**30, 2**32 - 1) == 2**30


def test_numbers_beyond_any_tree_say_the_same_as_the_largest(X):
    plain = OneClassRF(n_estimators=3, max_depth=None, random_state=0).fit(X)
    deep = OneClassRF(n_estimators=3, max_depth=10**30, random_state=0).fit(X)
    np.testing.assert_array_equal(plain.score_samples(X), deep.score_samples(X))
    stumps = OneClassRF(n_estimators=3, min_samples_split=10**30, random_state=0).fit(X)
    assert [tree.node_count for tree in stumps.estimators_] == [1, 1, 1]


@pytest.mark.parametrize(
    ("d", "tree", "node", "expected"),
    [
        (20, "auto", 5, (10, 5)),
        (6, "auto", 5, (5, 5)),
        (3, "auto", 5, (3, 3)),
        (20, 0.25, None, (5, 5)),
        (20, 7, 0.5, (7, 3)),
        (20, 0.001, 3, (1, 1)),
    ],
)
def test_feature_numbers(d, tree, node, expected):
    X = np.random.default_rng(0).normal(size=(50, d))
    forest = OneClassRF(n_estimators=3, max_features_tree=tree, max_features_node=node).fit(X)
    assert (forest.max_features_tree_, forest.max_features_node_) == expected
    for fitted, columns in zip(forest.estimators_, forest.estimators_features_, strict=True):
        assert len(np.unique(columns)) == expected[0]
        assert set(fitted.feature[fitted.feature >= 0]) <= set(columns)


@pytest.mark.parametrize("seed", [0])
def test_every_row_and_feature_is_drawn_alike(seed):
    X = np.random.default_rng(seed).normal(size=(40, 10))
    forest = OneClassRF(
        n_estimators=2000, max_samples=8, max_features_tree=0.3, random_state=seed
    ).fit(X)
    rows = np.bincount(np.concatenate(forest.estimators_samples_), minlength=40)
    columns = np.bincount(np.concatenate(forest.estimators_features_), minlength=10)
    # Binomial counts, five standard deviations.
    assert abs(rows - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)
    assert abs(columns - 600).max() < 5 * np.sqrt(2000 * 0.3 * 0.7)


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("adversary", ["adaptive", "naive"])
def test_outliers_score_lower(X, outliers, scoring, adversary):
    forest = OneClassRF(scoring=scoring, adversary=adversary, random_state=0).fit(X)
    inside = forest.score_samples(X)
    far = forest.score_samples(outliers)
    assert (inside[:, None] > far[None]).mean() > 0.9
    assert forest.predict(outliers).mean() < forest.predict(X).mean()


@pytest.mark.parametrize("scoring", SCORINGS)
def test_scores_follow_from_the_leaves(X, scoring):
    """The three formulas, straight from the trees."""
    forest = OneClassRF(n_estimators=30, scoring=scoring, random_state=0).fit(X)
    counts, volumes, depths = [], [], []
    for tree in forest.estimators_:
        leaves = tree.apply(X)
        counts.append(tree.n_node_samples[leaves] / forest.max_samples_)
        volumes.append(np.exp(tree.log_volume[leaves]))
        depths.append(tree.depth[leaves] + average_path_length(tree.n_node_samples[leaves]))
    if scoring == "depth":
        expected = -(2 ** -(np.mean(depths, axis=0) / average_path_length(forest.max_samples_)))
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


def test_contamination_sets_the_share_of_outliers(X):
    for contamination in (0.02, 0.1, 0.5):
        forest = OneClassRF(contamination=contamination, random_state=0).fit(X)
        assert (forest.predict(X) == -1).mean() == pytest.approx(contamination, abs=0.01)
    forest = OneClassRF(random_state=0).fit(X)
    assert forest.offset_ == -0.5
    np.testing.assert_array_equal(forest.decision_function(X), forest.score_samples(X) + 0.5)


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: X[::-1][::-1],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
    ],
)
def test_memory_layout_is_irrelevant(X, convert):
    forest = OneClassRF(n_estimators=10, random_state=0)
    expected = clone(forest).fit(X).score_samples(X)
    np.testing.assert_array_equal(clone(forest).fit(convert(X)).score_samples(convert(X)), expected)


def test_read_only_input(X):
    frozen = X.copy()
    frozen.setflags(write=False)
    forest = OneClassRF(n_estimators=10, random_state=0).fit(frozen)
    expected = OneClassRF(n_estimators=10, random_state=0).fit(X).score_samples(X)
    np.testing.assert_array_equal(forest.score_samples(frozen), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_other_number_types(X, dtype):
    narrow = (10 * X).astype(dtype)
    forest = OneClassRF(n_estimators=10, random_state=0).fit(narrow)
    wide = OneClassRF(n_estimators=10, random_state=0).fit(narrow.astype(np.float64))
    np.testing.assert_array_equal(
        forest.score_samples(narrow), wide.score_samples(narrow.astype(np.float64))
    )


def test_input_is_left_alone(X):
    copy = X.copy()
    OneClassRF(n_estimators=3).fit(X).score_samples(X)
    np.testing.assert_array_equal(X, copy)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[np.nan, 1.0], [0.0, 1.0]], "Input X contains NaN"),
        ([[np.inf, 1.0], [0.0, 1.0]], "infinity"),
        (np.empty((0, 2)), r"Found array with 0 sample\(s\)"),
        (np.ones((1, 2)), r"Found array with 1 sample\(s\) .* minimum of 2"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        ([1.0, 2.0], "Expected 2D array"),
        ([[0.0, -1.7e308], [0.0, 1.7e308]], "column 1 of X spans more than a float64 can hold"),
    ],
)
def test_bad_data_are_named(data, message):
    with pytest.raises(ValueError, match=message):
        OneClassRF().fit(data)


def test_sparse_input_is_refused(X):
    with pytest.raises(TypeError, match="Sparse data was passed"):
        OneClassRF().fit(sparse.csr_matrix(X))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        OneClassRF(n_estimators=2).fit(X).score_samples(sparse.csr_matrix(X))


def test_wrong_width_at_scoring(X):
    forest = OneClassRF(n_estimators=2).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but OneClassRF is expecting 3"):
        forest.score_samples(X[:, :2])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_estimators", 0),
        ("max_samples", "all"),
        ("max_samples", 1),
        ("max_samples", 1.5),
        ("max_features_tree", 0),
        ("max_features_node", "auto"),
        ("gamma", 0.0),
        ("gamma", -1),
        ("gamma", (1.0,)),
        ("gamma", (2.0, 1.0)),
        ("gamma", ("low", "high")),
        ("gamma", (1.0, np.inf)),
        ("max_depth", 0),
        ("criterion", "mse"),
        ("adversary", "fair"),
        ("scoring", "votes"),
        ("min_samples_split", 1),
        ("min_log_density", "low"),
        ("min_log_density", np.nan),
        ("max_log_density", [1.0]),
        ("out_of_bounds", "minimal"),
        ("contamination", 0.0),
        ("contamination", 0.6),
        ("random_state", "seed"),
    ],
)
def test_bad_parameters_are_named_at_fit(X, parameter, value):
    forest = OneClassRF(**{parameter: value})
    with pytest.raises(ValueError, match=f"'{parameter}' parameter of OneClassRF") as caught:
        forest.fit(X)
    assert re.escape(repr(value))[:3] in re.escape(str(caught.value))


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
    with pytest.raises(ValueError, match="Input X contains NaN"):
        tree.apply([[0.0, np.nan, 0.0]])


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
