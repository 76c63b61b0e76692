"""Metrics against closed forms, plain-Python twins and what is known of tied scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyod.utils.utility import precision_n_scores
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from results.metrics import GRID_POINTS, METRICS, USUAL_METRICS, curve_area, evaluate, grid

HALF_STEP = 0.5 / (GRID_POINTS - 1)


def auc_by_pairs(y, scores):
    """Share of (anomaly, normal) pairs ranked right; a tie counts one half."""
    abnormal = [s for s, label in zip(scores, y, strict=True) if label == 1]
    normal = [s for s, label in zip(scores, y, strict=True) if label == 0]
    won = sum((a > b) + 0.5 * (a == b) for a in abnormal for b in normal)
    return won / (len(abnormal) * len(normal))


def average_precision_by_steps(y, scores):
    """Sum over distinct thresholds of (recall gained) x (precision there)."""
    total, recall = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        flagged = [label for s, label in zip(scores, y, strict=True) if s >= threshold]
        new_recall = sum(flagged) / sum(y)
        total += (new_recall - recall) * sum(flagged) / len(flagged)
        recall = new_recall
    return total


@st.composite
def scored_labels(draw):
    n = draw(st.integers(2, 30))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda v: 0 < sum(v) < n))
    return y, draw(st.lists(st.integers(-3, 3).map(float), min_size=n, max_size=n))


@given(scored_labels())
def test_exact_metrics_equal_plain_python_twins_with_ties(case):
    y, scores = case
    metrics = evaluate(y, scores).metrics
    assert metrics["roc_auc"] == pytest.approx(auc_by_pairs(y, scores), abs=1e-12)
    assert metrics["average_precision"] == pytest.approx(
        average_precision_by_steps(y, scores), abs=1e-12
    )


@settings(max_examples=60)
@given(scored_labels())
def test_curves_are_bounded_start_where_the_paper_starts_them_and_areas_are_theirs(case):
    evaluation = evaluate(*case)
    assert set(evaluation.metrics) == set(USUAL_METRICS)
    for name, start in (("roc", 0.0), ("pr", 1.0)):
        curve = evaluation.curves[name]
        assert curve.shape == (GRID_POINTS,)
        assert curve.dtype == np.float64
        assert curve[0] == start
        assert curve.min() >= 0.0
        assert curve.max() <= 1.0
        assert evaluation.metrics[f"{name}_auc_curve"] == curve_area(curve)
    assert np.all(np.diff(evaluation.curves["roc"]) >= 0)


@settings(max_examples=40)
@given(scored_labels(), st.floats(0.1, 10), st.floats(-5, 5))
def test_only_the_order_of_the_scores_matters(case, scale, shift):
    y, scores = case
    moved = [np.arctan(s) * scale + shift for s in scores]
    assert evaluate(y, moved).metrics == evaluate(y, scores).metrics


def test_perfect_ranking_loses_half_a_grid_step_of_roc_and_at_most_that_of_pr():
    y = [0] * 90 + [1] * 10
    metrics = evaluate(y, np.arange(100)).metrics
    assert metrics["roc_auc"] == pytest.approx(1, abs=1e-12)
    assert metrics["average_precision"] == pytest.approx(1, abs=1e-12)
    assert metrics["roc_auc_curve"] == pytest.approx(1 - HALF_STEP, abs=1e-12)
    # The last point of scikit-learn's curve flags everything: precision 0.1 at recall 1.
    assert metrics["pr_auc_curve"] == pytest.approx(1 - 0.9 * HALF_STEP, abs=1e-12)


def test_constant_scores_have_a_diagonal_roc_curve_and_an_overrated_pr_curve():
    """One tie group: precision is the anomaly rate r, yet interpolation starts at 1: (1 + r) / 2."""
    y = [0] * 75 + [1] * 25
    evaluation = evaluate(y, np.zeros(100))
    np.testing.assert_allclose(evaluation.curves["roc"], grid(), atol=1e-12)
    np.testing.assert_allclose(evaluation.curves["pr"], 1 - 0.75 * grid(), atol=1e-12)
    assert evaluation.metrics["average_precision"] == 0.25
    assert evaluation.metrics["pr_auc_curve"] == pytest.approx(0.625, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_large_tie_group_inflates_the_pr_curve_but_not_average_precision(seed):
    """The paper's arrhythmia case: 53 % of normal and 87 % of abnormal points tied at the top."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [122, 13])
    outside = np.concatenate([rng.random(122) < 0.53, rng.random(13) < 0.87])
    metrics = evaluate(y, np.where(outside, 1.0, 0.5 * rng.random(135))).metrics
    assert metrics["average_precision"] < 0.25
    assert metrics["pr_auc_curve"] > metrics["average_precision"] + 0.2
    assert metrics["roc_auc_curve"] == pytest.approx(metrics["roc_auc"], abs=0.002)


def test_interpolation_goes_on_from_the_least_precise_point_of_one_recall():
    """Ranking 1 0 0 0 1: recall .5 is held with precision 1, 1/2, 1/3, 1/4; recall 1 with 2/5.

    In reversed order the segment to recall 1 starts from 1/4, the stable sort's from 1.
    """
    pr = evaluate([1, 0, 0, 0, 1], [5, 4, 3, 2, 1]).curves["pr"]
    x = grid()
    np.testing.assert_allclose(pr[x < 0.5], 1.0)
    upper = x > 0.5
    np.testing.assert_allclose(pr[upper], 0.25 + (0.4 - 0.25) * (x[upper] - 0.5) / 0.5)


@pytest.mark.parametrize("seed", range(3))
def test_mean_of_areas_is_the_area_of_the_mean_curve(seed):
    rng = np.random.default_rng(seed)
    evaluations = []
    for _ in range(10):
        y = rng.random(200) < 0.1
        y[:2] = 0, 1
        evaluations.append(evaluate(y, rng.normal(size=200) + y))
    for name in ("roc", "pr"):
        mean_curve = np.mean([e.curves[name] for e in evaluations], axis=0)
        areas = [e.metrics[f"{name}_auc_curve"] for e in evaluations]
        assert np.mean(areas) == pytest.approx(curve_area(mean_curve), abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_without_ties_the_roc_area_is_within_the_grid_of_the_exact_one(seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(5000) < 0.1).astype(int)
    metrics = evaluate(y, rng.normal(size=5000) + y).metrics
    assert metrics["roc_auc_curve"] == pytest.approx(metrics["roc_auc"], abs=1e-3)


@pytest.mark.parametrize(
    ("y", "scores", "message"),
    [
        ([0, 1], [0.1], "equally long"),
        ([[0, 1]], [[0.1, 0.2]], "one-dimensional"),
        ([0, 1, 1], [0.1, np.nan, np.inf], "2 of 3 are not"),
        ([-1, 1], [0.1, 0.2], "0 \\(normal\\) and 1 \\(anomaly\\)"),
        ([0, 0], [0.1, 0.2], "both normal points"),
        ([1, 1], [0.1, 0.2], "both normal points"),
        ([], [], "both normal points"),
    ],
)
def test_bad_input_is_named(y, scores, message):
    with pytest.raises(ValueError, match=message):
        evaluate(y, scores)


@given(scored_labels())
def test_precision_at_n_is_pyods(case):
    y, scores = case
    threshold = np.percentile(scores, 100 * (1 - sum(y) / len(y)))
    found = [label for label, score in zip(y, scores, strict=True) if score > threshold]
    value = evaluate(y, scores, ["precision_at_n"]).metrics["precision_at_n"]
    assert value == (sum(found) / len(found) if found else 0.0)
    if found:  # PyOD warns where nothing is found, and returns 0 too
        assert value == pytest.approx(precision_n_scores(np.array(y), np.array(scores)))


@given(scored_labels())
def test_best_f1_is_the_largest_over_all_thresholds(case):
    y, scores = case
    best = 0.0
    for threshold in scores:
        flagged = [score >= threshold for score in scores]
        hits = sum(label for label, flag in zip(y, flagged, strict=True) if flag)
        best = max(best, 2 * hits / (sum(flagged) + sum(y)))
    value = evaluate(y, scores, ["best_f1"]).metrics["best_f1"]
    assert value == pytest.approx(best, abs=1e-12)


@given(scored_labels())
def test_every_metric_lies_within_its_limits(case):
    for name, value in evaluate(*case, METRICS).metrics.items():
        low, high = METRICS[name].limits
        assert low - 1e-12 <= value <= high + 1e-12


@given(st.integers(2, 400), st.integers(1, 50), st.integers(0, 3), st.integers(0, 10_000))
def test_metrics_and_curves_equal_scikit_learns_to_the_last_digit(n, n_values, digits, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) < rng.integers(1, n)).astype(int)
    scores = rng.normal(size=n_values)[rng.integers(n_values, size=n)].round(digits)
    scores[rng.random(n) < 0.1] *= -0.0
    evaluation = evaluate(y, scores)
    assert evaluation.metrics["roc_auc"] == roc_auc_score(y, scores)
    assert evaluation.metrics["average_precision"] == average_precision_score(y, scores)
    false, true, _ = roc_curve(y, scores)
    roc = np.interp(grid(), false, true)
    assert evaluation.curves["roc"][1:].tolist() == roc[1:].tolist()
    precision, recall, _ = precision_recall_curve(y, scores)
    pr = np.interp(grid(), recall[::-1], precision[::-1])
    assert evaluation.curves["pr"][1:].tolist() == pr[1:].tolist()


def test_an_unknown_metric_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"unknown metric 'f2'; there are: roc_auc, .*best_f1"):
        evaluate([0, 1], [0.0, 1.0], ["f2"])
