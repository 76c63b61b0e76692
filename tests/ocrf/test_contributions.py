"""What features contribute to scores: sums, single paths, planted anomalies, Shapley values."""

import math
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ocrf import OneClassRF, plot_contributions
from ocrf._scoring.predictor import average_path_length
from tests.ocrf.samples import KINDS, sample

mpl.use("Agg")


def total(forest, X):
    """Return log2 s of each row, as the contributions say."""
    return forest.feature_contributions(X).sum(axis=1) + forest.mean_log2_score_


@settings(deadline=None, max_examples=40)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 60),
    d=st.integers(1, 7),
    scoring=st.sampled_from(["depth", "published_depth"]),
    max_depth=st.sampled_from(["auto", None, 1, 3]),
    features=st.sampled_from([1, 5, None]),
    seed=st.integers(0, 10_000),
)
def test_contributions_and_the_mean_sum_to_the_score(
    kind, n, d, scoring, max_depth, features, seed
):
    X = sample(kind, n, d, seed)
    forest = OneClassRF(
        n_estimators=7,
        scoring=scoring,
        max_depth=max_depth,
        max_features_node=features,
        random_state=seed,
    ).fit(X)
    rows = np.concatenate([X, 3 * X + 1])
    np.testing.assert_allclose(
        total(forest, rows), np.log2(-forest.score_samples(rows)), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("scoring", ["depth", "published_depth"])
def test_the_mean_is_that_of_the_training_data(X, scoring):
    """Each tree's over its sub-sample; with all rows in every tree, over all rows."""
    forest = OneClassRF(n_estimators=10, scoring=scoring, max_samples=1.0, random_state=0).fit(X)
    assert forest.mean_log2_score_ == pytest.approx(np.log2(-forest.score_samples(X)).mean())
    assert forest.feature_contributions(X).sum() == pytest.approx(0.0, abs=1e-9)


def node_values(tree):
    """Return the mean of depth plus c(n) over the points in each node, from the bottom up."""
    n = tree.n_node_samples
    value = tree.depth + average_path_length(n)
    for node in reversed(range(tree.node_count)):
        if not tree.is_leaf[node]:
            children = [tree.children_left[node], tree.children_right[node]]
            value[node] = np.average(value[children], weights=n[children])
    return value


@pytest.mark.parametrize("max_depth", [None, "auto"])
def test_changes_along_a_path_belong_to_the_features_of_its_splits(X, max_depth):
    forest = OneClassRF(n_estimators=5, max_depth=max_depth, random_state=0).fit(X)
    rows = X[::40]
    expected = np.zeros(rows.shape)
    for tree in forest.estimators_:
        value = node_values(tree)
        for i, row in enumerate(rows):
            node = 0
            while not tree.is_leaf[node]:
                feature = tree.feature[node]
                goes_left = row[feature] < tree.threshold[node]
                child = (tree.children_left if goes_left else tree.children_right)[node]
                expected[i, feature] -= value[child] - value[node]
                node = child
    expected /= 5 * average_path_length(forest.max_samples_)
    np.testing.assert_allclose(forest.feature_contributions(rows), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("max_features_node", [5, None])
def test_an_anomaly_in_one_coordinate_is_named(seed, max_features_node):
    """One coordinate of rows that are ordinary otherwise lies 6 standard deviations out.

    Ordinary is the half of fresh rows that the forest finds most normal: a row of ten coordinates
    often has another one in the tails of the data, which is named with good reason.
    """
    rng = np.random.default_rng(seed)
    d, n = 10, 400
    mixing = np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d)
    X = rng.normal(size=(2000, d)) @ mixing
    forest = OneClassRF(max_features_node=max_features_node, random_state=seed).fit(X)
    rows = rng.normal(size=(2 * n, d)) @ mixing
    rows = rows[np.argsort(-forest.score_samples(rows))[:n]]
    planted = rng.integers(0, d, size=n)
    rows[np.arange(n), planted] = rng.choice([-6, 6], size=n) * X.std(axis=0)[planted]
    named = forest.feature_contributions(rows).argmax(axis=1)
    assert (named == planted).mean() >= 0.95


def expected_score(tree, value, row, known, node=0):
    """Return the expected value of depth plus c(n) for a row of which some features are known."""
    if tree.is_leaf[node]:
        return value[node]
    children = [tree.children_left[node], tree.children_right[node]]
    if tree.feature[node] in known:
        goes_right = int(row[tree.feature[node]] >= tree.threshold[node])
        return expected_score(tree, value, row, known, children[goes_right])
    left, right = (expected_score(tree, value, row, known, child) for child in children)
    n_left, n_right = tree.n_node_samples[children]
    return (n_left * left + n_right * right) / (n_left + n_right)


@pytest.mark.parametrize("seed", [0])
def test_features_rank_as_by_shapley_values(seed):
    """Shapley values over all subsets of 6 features, of the trees' expected values."""
    rng = np.random.default_rng(seed)
    d = 6
    X = rng.normal(size=(300, d))
    rows = rng.normal(size=(6, d))
    # Some coordinates are out of the ordinary, by various amounts.
    rows += rng.choice([0.0, 0.0, 3.0, -4.0], size=rows.shape)
    forest = OneClassRF(
        n_estimators=10, max_samples=64, max_features_tree=1.0, max_depth=4, random_state=seed
    ).fit(X)
    trees = [(tree, node_values(tree)) for tree in forest.estimators_]
    subsets = [set(s) for size in range(d + 1) for s in combinations(range(d), size)]
    contributions = forest.feature_contributions(rows)
    correlations = []
    for row, ours in zip(rows, contributions, strict=True):
        value = {
            frozenset(known): -sum(expected_score(t, v, row, known) for t, v in trees)
            for known in subsets
        }
        shapley = np.zeros(d)
        for known in subsets:
            for j in set(range(d)) - known:
                weight = 1 / (d * math.comb(d - 1, len(known)))
                shapley[j] += weight * (value[frozenset(known | {j})] - value[frozenset(known)])
        shapley /= len(trees) * average_path_length(forest.max_samples_)
        assert ours.sum() == pytest.approx(shapley.sum(), abs=1e-12)
        correlations.append(spearmanr(ours, shapley).statistic)
    assert np.mean(correlations) > 0.9


def test_contributions_depend_neither_on_blocks_nor_on_threads(X, monkeypatch):
    forest = OneClassRF(n_estimators=5, random_state=0).fit(X)
    expected = forest.feature_contributions(X)
    assert expected.dtype == np.float64
    for bytes_of_rows in (24 * 7, 24 * 100):
        monkeypatch.setattr("ocrf._scoring.predictor._CHUNK_BYTES", bytes_of_rows)
        np.testing.assert_array_equal(forest.feature_contributions(X), expected)
    monkeypatch.setattr("ocrf._scoring.predictor._FEWEST_ROWS", 1)
    forest.set_params(n_jobs=3)
    np.testing.assert_array_equal(forest.feature_contributions(X), expected)
    np.testing.assert_array_equal(forest.feature_contributions(X[7:8]), expected[7:8])


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"scoring": "density"}, "density is not a sum over trees"),
        ({"scoring": "typical_cell"}, "typical_cell is not a sum over trees"),
        ({"out_of_bounds": "maximal"}, "need out_of_bounds=None"),
    ],
)
def test_scores_that_are_no_sums_have_no_contributions(X, parameters, reason):
    for forest in (OneClassRF(**parameters), OneClassRF(n_estimators=2, **parameters).fit(X)):
        assert not hasattr(forest, "feature_contributions")
        assert not hasattr(forest, "mean_log2_score_")
        for explain in (
            lambda forest=forest: forest.feature_contributions(X),
            lambda forest=forest: OneClassRF.feature_contributions(forest, X),
            lambda forest=forest: plot_contributions(forest, X[0]),
        ):
            with pytest.raises(AttributeError, match=reason):
                explain()
    # What was set after the fit waits for the next one.
    forest.set_params(**OneClassRF().get_params())
    assert not hasattr(forest, "feature_contributions")
    forest = OneClassRF(n_estimators=2).fit(X).set_params(**parameters)
    assert forest.feature_contributions(X).shape == X.shape


@pytest.fixture(name="axes")
def make_axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


def test_a_plot_shows_the_contributions_of_a_row(X, axes):
    forest = OneClassRF(n_estimators=10, random_state=0).fit(pd.DataFrame(X, columns=list("abc")))
    row = pd.DataFrame([[0.0, 12.0, 0.5]], columns=list("abc"))
    (expected,) = forest.feature_contributions(row)
    bars = plot_contributions(forest, row, ax=axes)
    order = np.argsort(-np.abs(expected))
    np.testing.assert_allclose([bar.get_width() for bar in bars], expected[order])
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [f"{'abc'[j]} = {row.iloc[0, j]:.4g}" for j in order]
    assert axes.yaxis_inverted()


def test_a_row_of_a_frame_is_held_to_the_names_of_the_features(X, axes):
    frame = pd.DataFrame(X, columns=list("abc"))
    forest = OneClassRF(n_estimators=10, random_state=0).fit(frame)
    (expected,) = forest.feature_contributions(frame.iloc[[7]])
    bars = plot_contributions(forest, frame.iloc[7], ax=axes)
    assert {bar.get_width() for bar in bars} == set(expected)
    with pytest.raises(ValueError, match="same order as they were in fit"):
        plot_contributions(forest, frame.iloc[7][["b", "a", "c"]], ax=axes)
    unnamed = OneClassRF(n_estimators=10, random_state=0).fit(X)
    assert len(plot_contributions(unnamed, frame.iloc[7], ax=axes)) == 3


def test_a_bar_names_the_value_as_far_as_it_differs(axes):
    """Time stamps of different days differ; a missing value of a series is one."""
    frame = pd.DataFrame(
        {
            "when": 1.7e9 + 86400.0 * np.arange(300),
            "n": pd.array([None, 3] * 150, dtype="Int64"),
            "x": np.random.default_rng(0).normal(size=300),
        }
    )
    forest = OneClassRF(n_estimators=5, random_state=0).fit(frame)
    (row,) = forest.feature_contributions(frame.iloc[[2]])
    bars = plot_contributions(forest, frame.iloc[2], ax=axes)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    expected = ["when = 1700172800", "n = nan", f"x = {frame['x'][2]:.6g}"]
    assert sorted(labels) == sorted(expected)
    np.testing.assert_allclose(sorted(bar.get_width() for bar in bars), sorted(row))


def test_a_plot_sums_the_smaller_contributions(axes):
    X = np.random.default_rng(0).normal(size=(200, 6))
    forest = OneClassRF(n_estimators=10, random_state=0).fit(X)
    (expected,) = forest.feature_contributions(X[:1])
    bars = plot_contributions(forest, X[0], ax=axes, max_display=3, names=list("uvwxyz"))
    widths = np.array([bar.get_width() for bar in bars])
    assert len(widths) == 3
    assert widths.sum() == pytest.approx(expected.sum())
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[2] == "4 other features"
    assert labels[0].startswith("uvwxyz"[np.abs(expected).argmax()])


def test_a_plot_takes_a_figure_of_its_own_and_names_as_they_are(X):
    import matplotlib.pyplot as plt

    forest = OneClassRF(n_estimators=10, random_state=0).fit(X)
    first, second = (
        plot_contributions(forest, row, names=["$a_1$", "$a_1$", r"$\frac$"]) for row in X[[0, 0]]
    )
    try:
        assert first[0].axes is not second[0].axes
        assert [bar.get_width() for bar in first] == [bar.get_width() for bar in second]
        labels = second[0].axes.get_yticklabels()
        assert sorted(label.get_text()[:4] for label in labels) == ["$\\fr", "$a_1", "$a_1"]
        # What would be invalid as a formula is drawn; equal names keep bars of their own.
        second[0].figure.canvas.draw()
        assert not any(label.get_parse_math() for label in labels)
        assert len({bar.get_y() for bar in second}) == 3
    finally:
        plt.close(first[0].figure)
        plt.close(second[0].figure)


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        (np.zeros((2, 3)), {}, "one row"),
        (np.zeros(4), {}, "X has 4 features"),
        (np.zeros(3), {"max_display": 0}, "max_display must be a whole number from 1 on, got 0"),
        (
            np.zeros(3),
            {"max_display": None},
            "max_display must be a whole number from 1 on, got None",
        ),
        (np.zeros(3), {"names": ["a"]}, "names has 1 of the 3 features"),
    ],
)
def test_a_plot_refuses_what_it_cannot_show(X, axes, row, options, message):
    forest = OneClassRF(n_estimators=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=message):
        plot_contributions(forest, row, ax=axes, **options)


def test_a_plot_of_a_pipeline_says_what_to_pass(X):
    pipe = make_pipeline(StandardScaler(), OneClassRF(n_estimators=2)).fit(X)
    with pytest.raises(AttributeError, match=r"pass the forest, pipe\[-1\]"):
        plot_contributions(pipe, X[0])
