"""Every algorithm of conf/algorithm keeps what the harness relies on, and a little more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags

from runners.conformance import CHECKS


def seeded(detector: Any, random_state: int) -> Any:
    copy = clone(detector)
    if "random_state" in copy.get_params():
        copy.set_params(random_state=random_state)
    return copy


def fitted(detector: Any, X: np.ndarray) -> Any:
    labels = [np.zeros(len(X), dtype=np.int8)] if get_tags(detector).target_tags.required else []
    return seeded(detector, 0).fit(X, *labels)


@pytest.mark.parametrize("name", CHECKS)
def test_detector_conforms(detector: Any, name: str) -> None:
    if name == "constant column" and type(detector).__name__ == "OneClassRF2016":
        pytest.skip("a cell without a volume is not split: trees with a constant column are leaves")
    if name == "finite scores" and getattr(detector, "detector", None) == "ABOD":
        pytest.skip("angles between equal points are not defined: repeated rows are refused")
    CHECKS[name](lambda random_state: seeded(detector, random_state))


@pytest.fixture
def normal_points() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((80, 4))


def test_read_only_input_is_accepted(detector: Any, normal_points: np.ndarray) -> None:
    expected = fitted(detector, normal_points).score_samples(normal_points[:20])
    normal_points.flags.writeable = False
    scores = fitted(detector, normal_points).score_samples(normal_points[:20])
    np.testing.assert_array_equal(scores, expected)


def test_memory_layout_does_not_matter(detector: Any, normal_points: np.ndarray) -> None:
    expected = fitted(detector, normal_points).score_samples(normal_points[:20])
    in_fortran_order = np.asfortranarray(normal_points)
    scores = fitted(detector, in_fortran_order).score_samples(in_fortran_order[:20])
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_predictions_follow_the_decision(detector: Any, normal_points: np.ndarray) -> None:
    model = fitted(detector, normal_points)
    test = normal_points[::2] * np.linspace(0.5, 3.0, 40)[:, np.newaxis]
    decision = model.decision_function(test)
    shift = model.score_samples(test) - decision
    np.testing.assert_allclose(shift, shift[0], rtol=1e-9, atol=1e-12)
    predicted = model.predict(test)
    assert not np.any((predicted == -1) & (decision > 0))
    assert not np.any((predicted == 1) & (decision < 0))
