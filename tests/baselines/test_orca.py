"""Orca against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines import Orca
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
    n_train=st.integers(2, 300),
    n_features=st.integers(1, 6),
    k=st.integers(1, 12),
    report=st.sampled_from([0.01, 0.125, 0.5, None]),
    decimals=st.sampled_from([0, 1, 8]),
)
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_the_tree_finds_the_scores_of_the_scan(
    seed: int, n_train: int, n_features: int, k: int, report: float | None, decimals: int
) -> None:
    rng = np.random.default_rng(seed)
    # Few decimals make duplicates, and scores of exactly 0.
    train = rng.standard_normal((n_train, n_features)).round(decimals)
    test = rng.standard_normal((40, n_features)).round(decimals)
    test[rng.integers(40)] *= rng.choice([1.0, 1e160, 1e300])
    found = [
        -Orca(k, report=report, scaling="train", search=search, random_state=0)
        .fit(train)
        .score_samples(test)
        for search in ("scan", "tree")
    ]
    # To the last bit; of points with equal scores either may be the last one reported.
    np.testing.assert_array_equal(np.sort(found[0]), np.sort(found[1]))
    if report is None:
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("search", ["scan", "tree"])
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


@pytest.mark.parametrize("search", ["scan", "tree"])
def test_overflowing_distances_are_the_largest_score(search: str) -> None:
    train = np.array([[0.0], [1.0]])
    detector = Orca(report=None, scaling="train", search=search).fit(train)
    scores = detector.score_samples([[0.5], [1e200], [-1.7e308]])
    assert scores[0] > -1.0
    np.testing.assert_array_equal(scores[1:], [-np.finfo(float).max] * 2)
