"""The detectors of 2016: against plain Python, against scikit-learn's trees, and their oddities."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import ExtraTreeRegressor

from baselines.legacy import IsolationForest2016, OneClassRF2016, Orca2016
from baselines.legacy.arithmetic import SEED_BOUND, next_integer, sample_by_rejection
from baselines.legacy.orca import _rescale
from baselines.legacy.trees import LEAF, _best_threshold, grow, path_lengths

NO_TARGETS = np.empty(0)


def test_xorshift_is_the_one_of_plain_integers():
    state, word = np.array([12345], dtype=np.uint32), 12345
    for _ in range(1000):
        word ^= (word << 13) & 0xFFFFFFFF
        word ^= word >> 17
        word ^= (word << 5) & 0xFFFFFFFF
        assert next_integer(state) == word % 2**31
        assert state[0] == word


@settings(deadline=None)
@given(n=st.integers(1, 200), share=st.floats(0, 1), seed=st.integers(0, 2**31 - 1))
def test_rejection_repeats_until_enough_are_distinct(n, share, seed):
    k = int(share * n)
    rng = np.random.RandomState(seed)
    expected: dict[int, None] = {}
    while len(expected) < k:
        expected[int(rng.randint(n))] = None
    sample = sample_by_rejection(np.random.RandomState(seed), n, k)
    assert sample.tolist() == list(expected)


@pytest.mark.parametrize("decimals", [1, 8])
@pytest.mark.parametrize("seed", range(5))
def test_extra_trees_are_those_of_scikit_learn(seed, decimals):
    """Its splitter still draws as it did; only the least impurity of a split has changed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 4)).round(decimals).astype(np.float32)
    X[:, 2] = X[0, 2]  # constant from the root on
    targets = rng.uniform(size=100) * 1000  # far from the least impurity
    theirs = ExtraTreeRegressor(max_features=1, max_depth=7, random_state=seed).fit(X, targets)
    state = np.random.RandomState(seed).randint(SEED_BOUND)
    ours = grow(X, targets, 7, int(state))
    tree = theirs.tree_
    inner = ours.feature != LEAF
    np.testing.assert_array_equal(inner, tree.children_left != -1)
    np.testing.assert_array_equal(ours.feature[inner], tree.feature[inner])
    np.testing.assert_allclose(ours.threshold[inner], tree.threshold[inner], rtol=1e-15)
    np.testing.assert_array_equal(ours.n_samples, tree.n_node_samples)
    np.testing.assert_array_equal(
        path_lengths(ours, X, np.zeros(101)),
        np.asarray(theirs.decision_path(X).sum(axis=1)).ravel() - 1,
    )


def best_by_trying(X, lower, upper):
    """The smallest proxy over all features and midpoints, in double precision."""
    n, best = len(X), (np.inf, None, None)
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for low, high in itertools.pairwise(values):
            cut = (low + high) / 2
            share = (cut - lower[j]) / (upper[j] - lower[j])
            left = np.count_nonzero(X[:, j] <= cut)
            proxy = 0.0
            for inliers, volume in ((left, share), (n - left, 1 - share)):
                proxy += inliers * n * volume / (inliers + n * volume)
            best = min(best, (proxy, j, cut), key=lambda found: found[0])
    return best


def best_in_mixed_precision(values, lower, upper, volume):
    """The threshold by the types and the order of operations of the published program.

    NumPy's scalars keep their precision: float32 with float32 is float32, with float64 float64.
    """
    one, n, best, chosen = np.float64(1), len(values), -np.inf, None
    for k in range(1, n):
        if values[k] <= values[k - 1] + np.float32(1e-7):
            continue
        middle = np.float64(values[k - 1] + values[k]) / 2
        right = volume * (np.float64(upper) - middle) / np.float64(upper - lower)
        left = volume * (middle - np.float64(lower)) / np.float64(upper - lower)
        impurities, totals = [], []
        for count, share in ((k, left), (n - k, right)):
            outliers = np.float32(np.float64(n) * share / (right + left))
            total = np.float64(count) + np.float64(outliers)
            squares = np.float64(count * count) + np.float64(outliers * outliers)
            impurities.append(one - squares / (total * total))
            totals.append(total)
        improvement = -totals[1] * impurities[1] - totals[0] * impurities[0]
        if improvement > best:
            best = improvement
            chosen = middle if middle != values[k] else np.float64(values[k - 1])
    return -best, chosen


@given(seed=st.integers(0, 2**31 - 1), n=st.integers(2, 60), decimals=st.integers(0, 6))
@settings(deadline=None)
def test_thresholds_are_exact_to_the_last_bit(seed, n, decimals):
    """Few decimals make ties between thresholds, which rounding alone decides."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=n).round(decimals).astype(np.float32))
    lower, upper = values[0] - np.float32(rng.uniform()), values[-1] + np.float32(rng.uniform())
    if lower == upper or values[-1] <= values[0] + np.float32(1e-7):
        return
    volume = rng.uniform(1e-12, 1e12)
    found = _best_threshold(values, lower, upper, volume)
    assert found == best_in_mixed_precision(values, lower, upper, volume)


@pytest.mark.parametrize("seed", range(5))
def test_one_class_trees_take_the_best_split_of_the_inherited_cell(seed):
    X = np.random.default_rng(seed).normal(size=(60, 3)).astype(np.float32)
    tree = grow(X, NO_TARGETS, 6, seed + 1)
    nodes = [(0, np.arange(60), X.min(axis=0), X.max(axis=0))]
    while nodes:
        node, rows, lower, upper = nodes.pop()
        assert tree.n_samples[node] == len(rows)
        if tree.feature[node] == LEAF:
            assert len(rows) < 2 or tree.depth[node] == 6
            continue
        _, feature, cut = best_by_trying(X[rows].astype(float), lower, upper)
        assert tree.feature[node] == feature
        assert tree.threshold[node] == pytest.approx(cut, rel=1e-6)
        left = X[rows, feature] <= tree.threshold[node]
        middle_upper, middle_lower = upper.copy(), lower.copy()
        middle_upper[feature] = middle_lower[feature] = tree.threshold[node]
        nodes.append((tree.children[node, 0], rows[left], lower, middle_upper))
        nodes.append((tree.children[node, 1], rows[~left], middle_lower, upper))


def test_one_class_trees_with_a_constant_column_are_leaves():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    X[:, 1] = 2.0
    assert grow(X, NO_TARGETS, 6, 1).feature.tolist() == [LEAF]


def test_nodes_of_hardly_any_impurity_are_leaves():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    close = np.linspace(0.0, 5e-4, 60)  # a variance of 2e-8
    assert grow(X, close, 6, 1).feature.tolist().count(LEAF) == 2  # the root is split all the same


@pytest.mark.parametrize("forest", [IsolationForest2016, OneClassRF2016])
def test_forests_go_on_with_the_stream_they_are_given(forest):
    X = np.random.default_rng(0).normal(size=(300, 4))
    stream = np.random.RandomState(5)
    first = forest(n_estimators=3, random_state=stream).fit(X).score_samples(X)
    n_uniforms = 300 if forest is IsolationForest2016 else 0
    expected = np.random.RandomState(5)
    expected.uniform(size=n_uniforms)
    expected.randint(SEED_BOUND, size=3)
    assert stream.randint(2**31) == expected.randint(2**31)
    assert not np.array_equal(
        first, forest(n_estimators=3, random_state=stream).fit(X).score_samples(X)
    )


def test_points_outside_the_box_get_the_highest_score_of_their_batch():
    X = np.random.default_rng(0).normal(size=(300, 4))
    forest = OneClassRF2016(n_estimators=5, random_state=0).fit(X)
    outside = X[:5].copy()
    outside[:, 2] = X[:, 2].max() + 1e-6
    scores = forest.score_samples(np.concatenate([X, outside]))
    assert (scores[300:] == scores.min()).all()


def rescaled_in_one_pass(X):
    """A column's range as a plain loop finds it, in NumPy's single precision."""
    X = X.astype(np.float32)
    scaled = np.zeros(X.shape)
    for j, column in enumerate(X.T):
        lower, upper = np.finfo(np.float32).max, np.finfo(np.float32).min
        for value in column:
            if value < lower:
                lower = value
            elif value > upper:
                upper = value
        if upper != lower:
            scaled[:, j] = [
                np.float32((float(v) - float(lower)) / float(upper - lower)) for v in column
            ]
    return scaled


@pytest.mark.parametrize("seed", range(5))
def test_orca_is_the_one_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    X, test = rng.integers(0, 4, size=(40, 3)) + 0.1, rng.normal(size=(50, 3))
    test[0, 0] = 9.0  # the first row sets a minimum, so that its value is not a maximum
    train_points, test_points = rescaled_in_one_pass(X), rescaled_in_one_pass(test)
    scores = np.zeros(50)
    for i, point in enumerate(test_points):
        squared = sorted(
            sum((a - b) ** 2 for a, b in zip(point, x, strict=True)) for x in train_points
        )
        scores[i] = sum(squared[:5])
    reported = np.argsort(-scores)[:5]  # int(50 / 8) - 1
    expected = np.zeros(50)
    expected[reported] = [float(f"{scores[i]:.6g}") for i in reported]
    expected[0] = 0.0
    np.testing.assert_array_equal(-Orca2016().fit(X).score_samples(test), expected)


def test_orca_leaves_a_maximum_out_that_was_a_minimum_on_its_turn():
    X = np.array([[5.0, 1.0], [4.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
    expected = [[3.0, 0.0], [2.0, 0.0], [0.0, 0.0], [1.0, 0.0]]  # the range ends at 3
    np.testing.assert_array_equal(_rescale(X), expected)


def test_orca_reports_one_point_fewer_and_never_the_first():
    rng = np.random.default_rng(0)
    X, test = rng.normal(size=(200, 3)), rng.normal(size=(80, 3))
    test[7] = -9.0  # the farthest of all
    then = -Orca2016().fit(X).score_samples(test)
    assert np.count_nonzero(then) == 9
    assert then.argmax() == 7
    first = np.concatenate([test[7:8], test[:7], test[8:]])
    then = -Orca2016().fit(X).score_samples(first)
    assert np.count_nonzero(then) == 8
    assert then[0] == 0.0


def test_legacy_code_stays_small_and_outside_of_the_estimator():
    root = Path(__file__).parents[2]
    lines = sum(len(p.read_text().splitlines()) for p in (root / "baselines/legacy").glob("*.py"))
    assert lines < 700
    for path in (root / "ocrf").glob("*.py"):
        assert "legacy" not in path.read_text()
