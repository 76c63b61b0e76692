"""Orca against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines import Orca
from baselines.orca.boxes import group_in_boxes, search_boxes
from baselines.orca.scan import scan


def brute_force(train: np.ndarray, test: np.ndarray, k: int) -> np.ndarray:
    squared = ((test[:, np.newaxis, :] - train[np.newaxis]) ** 2).sum(axis=2)
    return np.sort(squared, axis=1)[:, :k].sum(axis=1)


def only_largest(scores: np.ndarray, n: int) -> np.ndarray:
    kept = np.zeros_like(scores)
    largest = np.argsort(-scores, kind="stable")[:n]
    kept[largest] = scores[largest]
    return kept


@pytest.mark.parametrize("block_size", [1, 7, 1000])
@pytest.mark.parametrize("n_report", [0, 1, 12, 100])
@pytest.mark.parametrize("seed", range(3))
def test_scan_reports_exact_scores(seed: int, n_report: int, block_size: int) -> None:
    rng = np.random.default_rng(seed)
    train, test = rng.standard_normal((300, 3)), rng.standard_normal((100, 3)) * 2
    scores = scan(np.ascontiguousarray(train.T), test, 5, n_report, block_size)
    np.testing.assert_allclose(
        scores, only_largest(brute_force(train, test, 5), n_report), rtol=1e-12
    )


@given(
    seed=st.integers(0, 10_000),
    n_train=st.integers(1, 300),
    n_features=st.integers(1, 6),
    k=st.integers(1, 7),
    n_report=st.integers(0, 40),
    box_size=st.integers(1, 40),
    decimals=st.sampled_from([0, 1, 8]),
)
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_boxes_find_the_scores_of_the_scan(
    seed: int, n_train: int, n_features: int, k: int, n_report: int, box_size: int, decimals: int
) -> None:
    rng = np.random.default_rng(seed)
    # Few decimals make duplicates, and scores of exactly 0.
    train = rng.standard_normal((n_train, n_features)).round(decimals)
    test = rng.standard_normal((40, n_features)).round(decimals)
    k = min(k, n_train)
    from_scan = scan(np.ascontiguousarray(train.T), test, k, n_report, 10)
    from_boxes = search_boxes(group_in_boxes(train, box_size), test, k, n_report)
    # To the last bit; of points with equal scores either may be the last one reported.
    np.testing.assert_array_equal(np.sort(from_scan), np.sort(from_boxes))
    every = brute_force(train, test, k)
    reported = from_boxes > 0
    np.testing.assert_allclose(from_boxes[reported], every[reported], rtol=1e-12)


def test_boxes_hold_every_point_once() -> None:
    points = np.random.default_rng(0).integers(0, 3, size=(1000, 2)).astype(float)
    boxes = group_in_boxes(points, 16)
    assert np.diff(boxes.start).max() <= 16
    assert boxes.start[-1] == 1000
    ours = boxes.points.T[np.lexsort(boxes.points)]
    np.testing.assert_array_equal(ours, points[np.lexsort(points.T)])
    for box, (start, stop) in enumerate(zip(boxes.start[:-1], boxes.start[1:], strict=True)):
        inside = boxes.points[:, start:stop]
        np.testing.assert_array_equal(inside.min(axis=1), boxes.lower[:, box])
        np.testing.assert_array_equal(inside.max(axis=1), boxes.upper[:, box])


@pytest.mark.parametrize("search", ["boxes", "scan"])
def test_scaling_by_hand(search: str) -> None:
    train = np.array([[0.0, 0.0], [10.0, 1.0], [5.0, 0.5]])
    test = np.array([[0.0, 1.0], [100.0, 3.0], [50.0, 2.0]])
    clean = Orca(2, report=None, scaling="train", search=search).fit(train)
    by_training_range = brute_force(train / [10, 1], test / [10, 1], 2)
    np.testing.assert_allclose(clean.score_samples(test), -by_training_range)
    as_run = Orca(2, report=None, scaling="separate", search=search).fit(train)
    by_own_range = brute_force(train / [10, 1], (test - [0, 1]) / [100, 2], 2)
    np.testing.assert_allclose(as_run.score_samples(test), -by_own_range)


def test_an_eighth_is_reported() -> None:
    rng = np.random.default_rng(0)
    scores = Orca().fit(rng.random((50, 2))).score_samples(rng.random((31, 2)))
    assert np.count_nonzero(scores) == 3


@pytest.mark.parametrize("search", ["boxes", "scan"])
def test_overflowing_distances_are_the_largest_score(search: str) -> None:
    train = np.array([[0.0], [1.0]])
    detector = Orca(report=None, scaling="train", search=search).fit(train)
    scores = detector.score_samples([[0.5], [1e200], [-1.7e308]])
    assert scores[0] > -1.0
    np.testing.assert_array_equal(scores[1:], [-np.finfo(float).max] * 2)
