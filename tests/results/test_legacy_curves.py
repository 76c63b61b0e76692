"""The curves of 2016 against twins written another way, and against today's where they must agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.metrics import curve_area, evaluate
from results.metrics.curves import interpolated_pr_curve, interpolated_roc_curve
from results.metrics.legacy_curves import (
    INSERTION,
    TIED,
    legacy_argsort,
    legacy_pr_curve,
    legacy_roc_curve,
)
from results.metrics.ranking import Ranking


def recursive_sort(values, order):
    """The same quicksort by slices instead of a stack; the shorter part first."""
    if len(order) - 1 <= INSERTION:
        for place in range(1, len(order)):
            hole = place
            while hole > 0 and values[order[hole]] < values[order[hole - 1]]:
                order[hole], order[hole - 1] = order[hole - 1], order[hole]
                hole -= 1
        return order
    middle, last = (len(order) - 1) >> 1, len(order) - 1
    for low, high in ((0, middle), (middle, last), (0, middle)):
        if values[order[high]] < values[order[low]]:
            order[low], order[high] = order[high], order[low]
    pivot = values[order[middle]]
    order[middle], order[last - 1] = order[last - 1], order[middle]
    up, down = 0, last - 1
    while True:
        up = next(k for k in range(up + 1, last + 1) if not values[order[k]] < pivot)
        down = next(k for k in range(down - 1, -1, -1) if not pivot < values[order[k]])
        if up >= down:
            break
        order[up], order[down] = order[down], order[up]
    order[up], order[last - 1] = order[last - 1], order[up]
    left, right = recursive_sort(values, order[:up]), recursive_sort(values, order[up + 1 :])
    return [*left, order[up], *right]


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(0, 12), min_size=1, max_size=200))
def test_sort_is_the_quicksort_of_that_time_ties_included(values):
    values = np.array(values, dtype=float)
    order = legacy_argsort(values)
    assert order.tolist() == recursive_sort(values, list(range(len(values))))
    assert (np.diff(values[order]) >= 0).all()


def test_sort_is_stable_only_in_short_arrays():
    assert legacy_argsort(np.zeros(INSERTION + 1)).tolist() == list(range(INSERTION + 1))
    assert legacy_argsort(np.zeros(INSERTION + 2)).tolist() != list(range(INSERTION + 2))


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 10_000))
def test_roc_without_ties_in_either_coordinate_is_todays(n_normal, n_anomalies, seed):
    # Alternating labels: every step of the curve is one point to the right or one up.
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [n_normal, n_anomalies])).astype(np.int8)
    scores = rng.permutation(len(y)).astype(float)
    # The line may go through another of several points above one another: at most one step differs.
    ranking = Ranking.of(y, scores)
    legacy = legacy_roc_curve(ranking)
    assert legacy[0] == 0.0
    assert curve_area(legacy) == pytest.approx(
        curve_area(interpolated_roc_curve(ranking)), abs=1 / n_normal
    )


def test_curves_with_distinct_abscissae_are_todays():
    # One normal point between each two anomalies: no two points share a recall or a rate.
    y = np.tile([1, 0], 8).astype(np.int8)
    scores = np.repeat(np.arange(8.0), 2)[::-1].copy()  # an anomaly and a normal point are tied
    ranking = Ranking.of(y, scores)
    np.testing.assert_allclose(
        legacy_roc_curve(ranking)[1:], interpolated_roc_curve(ranking)[1:], atol=1e-12
    )
    np.testing.assert_allclose(
        legacy_pr_curve(ranking)[1:], interpolated_pr_curve(ranking)[1:], atol=1e-12
    )


def test_close_scores_are_tied():
    apart, close, tied = (
        legacy_roc_curve(Ranking.of([0, 1, 0, 1], [0.0, 1.0, third, 3.0]))
        for third in (2.0, 1.0 + TIED / 2, 1.0)
    )
    assert curve_area(close) > curve_area(apart)
    np.testing.assert_array_equal(close, tied)


def test_precision_recall_curve_ends_where_full_recall_is_reached():
    # All anomalies first; what follows them does not count.
    ranking = Ranking.of([1, 1, 0, 0, 0], [4, 3, 2, 1, 0])
    assert curve_area(legacy_pr_curve(ranking)) == pytest.approx(1.0)


def test_metrics_are_recorded_where_they_are_named():
    y, scores = [0, 0, 1, 1], [0.1, 0.4, 0.3, 0.9]
    assert "roc_auc_2016" not in evaluate(y, scores).metrics
    metrics = evaluate(y, scores, ["roc_auc_2016", "pr_auc_2016"]).metrics
    assert {"roc_auc_2016", "pr_auc_2016"} < set(metrics)
