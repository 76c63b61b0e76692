"""Sorting, random streams and trees against plain twins."""

from __future__ import annotations

import numpy as np
import pytest

from baselines.forests.grouping import SPAN_PER_POINT, group_by_rank, make_workspace
from baselines.forests.growing import grow_tree
from baselines.forests.random_stream import bootstrap_counts, uniform_integer
from baselines.forests.ranking import ONES, ZEROS_MASK, rank_points, weigh
from baselines.forests.sorting import sort_keys
from baselines.forests.splitting import entropy_table
from baselines.forests.splitting import midpoint as tree_midpoint
from baselines.forests.tree import Tree, add_votes, find_leaf


def stream(seed: int) -> np.ndarray:
    return np.array([seed], dtype=np.uint64)


@pytest.mark.parametrize("size", [1, 2, 48, 49, 300, 3000])
@pytest.mark.parametrize("span", [0, 1, 255, 256, 70_000, 2**24 + 5])
def test_sort_keys_sorts(size: int, span: int) -> None:
    rng = np.random.default_rng(size + span)
    low = 7
    ranks = rng.integers(low, low + span, size=size, endpoint=True).astype(np.uint64)
    keys = (ranks << np.uint64(32)) | np.arange(size, dtype=np.uint64)
    expected = np.sort(keys)
    padded = np.concatenate([keys, [np.uint64(3)]])
    counts = np.empty(256, dtype=np.int64)
    sort_keys(padded, np.empty_like(padded), counts, size, int(ranks.min()), int(ranks.max()))
    np.testing.assert_array_equal(padded[:size], expected)
    assert padded[size] == 3


def test_points_are_ranked_among_the_distinct_values() -> None:
    values = np.array([[2.0, -0.0, 2.0, 0.0, 7.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    points = rank_points(values)
    np.testing.assert_array_equal(points.ranks, [[0, 1, 2], [0, 0, 0]])
    np.testing.assert_array_equal(points.point_of, [1, 0, 1, 0, 2])
    found = np.take_along_axis(points.levels, points.ranks, 1)[:, points.point_of]
    np.testing.assert_array_equal(found, values)
    selected = points.select(np.array([1]))
    np.testing.assert_array_equal(selected.ranks, [[0, 0, 0]])
    assert selected.levels[0, 0] == 1.0


@pytest.mark.parametrize("n_levels", [1, 2, 5, 1000])
@pytest.mark.parametrize("n_features", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_points_are_the_distinct_samples(n_levels: int, n_features: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, n_levels, size=(n_features, 80)).astype(float)
    points = rank_points(values)
    n_points = len(np.unique(values, axis=1).T)
    assert points.ranks.shape == (n_features, n_points)
    assert np.unique(points.point_of).tolist() == list(range(n_points))
    found = np.take_along_axis(points.levels, points.ranks, 1)[:, points.point_of]
    np.testing.assert_array_equal(found, values)


def test_weights_count_both_classes_of_equal_samples() -> None:
    point_of = np.array([1, 0, 1, 1, 2], dtype=np.int32)
    counts = np.array([3, 1, 2, 2**31 - 1, 0], dtype=np.int32)
    weights = weigh(point_of, 3, counts, np.array([0, 1, 0, 1, 1], dtype=np.uint8))
    np.testing.assert_array_equal(weights & ZEROS_MASK, [0, 5, 0])
    np.testing.assert_array_equal(weights >> ONES, [1, 2**31 - 1, 0])


@pytest.mark.parametrize("size", [2, 48, 49, 700])
@pytest.mark.parametrize("spread", [1, SPAN_PER_POINT, 40 * SPAN_PER_POINT])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_the_distinct_ranks_with_their_counts(size: int, spread: int, seed: int) -> None:
    """Both where ranks are counted and where, far apart, they are sorted."""
    rng = np.random.default_rng(seed)
    n_samples = size * spread + 10
    rank = rng.integers(5, n_samples, size=n_samples).astype(np.int32)
    points = rng.choice(n_samples, size, replace=False).astype(np.int32)
    rank[points[:2]] = [5, n_samples - 1]  # never constant
    counts = rng.integers(1, 4, size=size).astype(np.uint64)
    labels = rng.integers(0, 2, size=size)
    weights = np.where(labels == 0, counts, counts << ONES)
    space = make_workspace(size, n_samples)
    for _ in range(2):  # the second time on what the first one left
        n_groups = group_by_rank(rank, points, weights, space)
        distinct, group = np.unique(rank[points], return_inverse=True)
        np.testing.assert_array_equal(space.rank[:n_groups], distinct)
        for label, found in enumerate([space.zeros, space.ones]):
            expected = np.bincount(group, weights=counts * (labels == label))
            np.testing.assert_array_equal(found[:n_groups], expected)
    assert not space.tally.any()


def test_a_constant_feature_is_one_group() -> None:
    rank = np.full(6, 4, dtype=np.int32)
    space = make_workspace(3, 6)
    points = np.arange(3, dtype=np.int32)
    assert group_by_rank(rank, points, np.ones(3, dtype=np.uint64), space) == 1
    assert not space.tally.any()


@pytest.mark.parametrize("seed", range(3))
def test_uniform_integers_are_uniform(seed: int) -> None:
    state = stream(seed)
    draws = np.array([uniform_integer(state, 7) for _ in range(21_000)])
    counts = np.bincount(draws, minlength=7)
    assert counts.size == 7
    # Chi-squared with 6 degrees of freedom: 27.9 is exceeded once in 10 000 times.
    assert ((counts - 3000.0) ** 2 / 3000.0).sum() < 27.9


@pytest.mark.parametrize("seed", range(3))
def test_bootstrap_leaves_a_share_of_1_over_e_out(seed: int) -> None:
    counts = bootstrap_counts(stream(seed), 20_000)
    assert counts.sum() == 20_000
    assert (counts == 0).mean() == pytest.approx(np.exp(-1), abs=0.01)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (1.0, np.nextafter(1.0, 2.0)), (-1.7e308, 1.7e308), (0.0, 5e-324)],
)
def test_midpoint_separates(low: float, high: float) -> None:
    assert low <= tree_midpoint(low, high) < high


def test_entropy_table() -> None:
    table = entropy_table(8)
    np.testing.assert_allclose(table[[0, 1, 2, 8]], [0.0, 0.0, 2.0, 24.0])


def random_sample(seed: int, n: int = 60, d: int = 4) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 9, size=(d, n)).astype(float)
    values[0] = 5.0  # a constant feature
    labels = rng.integers(0, 2, size=n).astype(np.uint8)
    counts = rng.integers(0, 3, size=n).astype(np.int32)
    return values, labels, counts


def grow(
    values: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    max_features: int,
    first_gain: bool,
    seed: int = 0,
) -> Tree:
    return grow_and_follow(values, labels, counts, max_features, first_gain, seed)[0]


def grow_and_follow(
    values: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    max_features: int,
    first_gain: bool,
    seed: int = 0,
    followed: np.ndarray | bool = False,
) -> tuple[Tree, np.ndarray]:
    """Return a tree and, where it is known, the leaf of every sample."""
    points = rank_points(values)
    n_points = points.ranks.shape[1]
    is_followed = np.zeros(n_points, dtype=np.bool_)
    is_followed[points.point_of] = followed
    tree, leaf_of = grow_tree(
        points,
        weigh(points.point_of, n_points, counts, labels),
        is_followed,
        max_features,
        first_gain,
        entropy_table(int(counts.sum())),
        stream(seed),
    )
    return tree, leaf_of[points.point_of]


def split_scores(
    column: np.ndarray, labels: np.ndarray, counts: np.ndarray, entropy: bool
) -> dict[float, float]:
    """Return the impurity decrease of every threshold on a column, computed the slow way."""

    def impurity(inside: np.ndarray) -> float:
        weights = np.array([counts[inside & (labels == c)].sum() for c in (0, 1)], dtype=float)
        total = weights.sum()
        shares = weights[weights > 0] / total
        return total * (-(shares * np.log2(shares)).sum() if entropy else 1 - (shares**2).sum())

    in_bag = counts > 0
    distinct = np.unique(column[in_bag])
    return {
        middle: impurity(in_bag)
        - impurity(in_bag & (column <= middle))
        - impurity(in_bag & (column > middle))
        for middle in (distinct[1:] + distinct[:-1]) / 2
    }


@pytest.mark.parametrize("seed", range(20))
def test_gini_root_split_is_the_best_of_all(seed: int) -> None:
    values, labels, counts = random_sample(seed)
    tree = grow(values, labels, counts, len(values), False, seed)
    scores = {
        (feature, threshold): score
        for feature, column in enumerate(values)
        for threshold, score in split_scores(column, labels, counts, entropy=False).items()
    }
    best = max(scores.values())
    assert scores[tree.feature[0], tree.threshold[0]] == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_first_gain_root_split_is_the_best_of_its_feature(seed: int) -> None:
    values, labels, counts = random_sample(seed)
    tree = grow(values, labels, counts, len(values), True, seed)
    scores = split_scores(values[tree.feature[0]], labels, counts, entropy=True)
    assert scores[tree.threshold[0]] == pytest.approx(max(scores.values()), rel=1e-9)


def test_first_gain_takes_any_feature_with_a_gain() -> None:
    values, labels, counts = random_sample(0)
    chosen = {grow(values, labels, counts, 4, True, seed).feature[0] for seed in range(60)}
    assert chosen == {1, 2, 3}


def test_gini_ties_are_broken_at_random() -> None:
    values = np.tile(np.arange(4.0), (2, 1))
    labels = np.array([0, 1, 0, 1], dtype=np.uint8)
    counts = np.ones(4, dtype=np.int32)
    roots = [grow(values, labels, counts, 2, False, seed) for seed in range(60)]
    splits = {(tree.feature[0], tree.threshold[0]) for tree in roots}
    assert splits == {(0, 0.5), (1, 0.5), (0, 2.5), (1, 2.5)}


@pytest.mark.parametrize("first_gain", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_leaves_are_pure_where_points_differ(first_gain: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((3, 200))
    labels = rng.integers(0, 2, size=200).astype(np.uint8)
    counts = bootstrap_counts(stream(seed), 200)
    # With all features allowed, only a split without gain can stop the entropy rule short.
    tree = grow(values, labels, counts, 3, first_gain, seed)
    X = np.ascontiguousarray(values.T)
    votes = np.zeros(200, dtype=np.int32)
    add_votes(tree, X, votes)
    np.testing.assert_array_equal(votes[counts > 0], labels[counts > 0])


@pytest.mark.parametrize("first_gain", [False, True])
def test_majority_votes_and_ties_go_to_class_1(first_gain: bool) -> None:
    values = np.zeros((1, 4))
    counts = np.ones(4, dtype=np.int32)
    for labels, vote in (([0, 0, 0, 1], 0), ([0, 0, 1, 1], 1), ([0, 1, 1, 1], 1)):
        tree = grow(values, np.array(labels, dtype=np.uint8), counts, 1, first_gain)
        assert tree.feature.tolist() == [-1]
        assert tree.vote.tolist() == [vote]


def test_node_with_constant_drawn_features_is_a_leaf() -> None:
    values = np.vstack([np.zeros((9, 40)), np.arange(40.0)[np.newaxis]])
    labels = (np.arange(40) % 2).astype(np.uint8)
    counts = np.ones(40, dtype=np.int32)
    sizes = [grow(values, labels, counts, 1, False, seed).feature.size for seed in range(300)]
    # One draw of ten features: a root is split one time in ten.
    assert np.mean(np.array(sizes) > 1) == pytest.approx(0.1, abs=0.06)


@pytest.mark.parametrize("first_gain", [False, True])
def test_leaves_hold_their_points(first_gain: bool) -> None:
    values, labels, counts = random_sample(3, n=200)
    tree = grow(values, labels, counts, 2, first_gain)
    X = np.ascontiguousarray(values.T)
    leaves = np.array([find_leaf(tree, x) for x in X])
    assert (tree.feature[leaves] == -1).all()
    for leaf in np.unique(leaves[counts > 0]):
        inside = (leaves == leaf) & (counts > 0)
        ones = counts[inside & (labels == 1)].sum()
        zeros = counts[inside & (labels == 0)].sum()
        assert tree.vote[leaf] == (ones >= zeros)
    inner = np.flatnonzero(tree.feature >= 0)
    children = np.concatenate([tree.left[inner], tree.left[inner] + 1])
    np.testing.assert_array_equal(np.sort(children), np.arange(1, tree.feature.size))


@pytest.mark.parametrize("first_gain", [False, True])
@pytest.mark.parametrize("n_levels", [3, 40, 100_000])
@pytest.mark.parametrize("seed", range(3))
def test_followed_points_fall_into_the_leaf_that_they_would_find(
    first_gain: bool, n_levels: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, n_levels, size=(3, 200)).astype(float)
    labels = rng.integers(0, 2, size=200).astype(np.uint8)
    counts = bootstrap_counts(stream(seed), 200)
    sample = (values, labels, counts, 2, first_gain, seed)
    tree, leaves = grow_and_follow(*sample, followed=True)
    assert leaves.tolist() == [find_leaf(tree, x) for x in np.ascontiguousarray(values.T)]
    alone, known = grow_and_follow(*sample)
    np.testing.assert_array_equal(known[counts > 0], leaves[counts > 0])
    for found, expected in zip(alone, tree, strict=True):
        np.testing.assert_array_equal(found, expected)
