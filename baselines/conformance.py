"""What the harness relies on in a detector, as checks that any detector can be put through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils import get_tags

Check = Callable[[Any], None]


def run_checks(detector: Any) -> Iterator[tuple[str, Exception | None]]:
    """Put a detector through every check.

    Parameters
    ----------
    detector : object
        An unfitted detector; it is cloned and stays unfitted.

    Yields
    ------
    name : str
        What is checked, in words.
    failure : Exception or None
        What went wrong: AssertionError from a check, or whatever the detector raised.
    """
    for name, check in CHECKS.items():
        try:
            check(detector)
        except Exception as failure:  # noqa: BLE001 - the caller reports it, whatever it is
            yield name, failure
        else:
            yield name, None


def check_direction(detector: Any) -> None:
    """Check that points far from the training points, and from each other, score lowest."""
    train, test = _normal_points(200, seed=0), _normal_points(200, seed=1)
    rng = np.random.default_rng(2)
    directions = rng.standard_normal((20, train.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    far = directions * rng.uniform(6.0, 9.0, size=(20, 1))
    scores = _fit_score(detector, train, np.vstack([test, far]))
    is_normal = np.repeat([1, 0], [200, 20])
    auc = roc_auc_score(is_normal, scores)
    # A score that is upside down is near 0. Not every method is good at this: the one that the paper
    # calls RFC looks for dependence between columns and finds none here.
    assert auc > 0.75, (
        "score_samples must be higher for normal points; it puts a normal point above a far one "
        f"with probability {auc:.3f}"
    )


def check_finite(detector: Any) -> None:
    """Check that there is one finite score per point, duplicates and far points included."""
    train = np.repeat(_normal_points(40, seed=0), 3, axis=0)
    test = np.vstack([train[:5], _normal_points(20, seed=1), 1e6 * _normal_points(5, seed=2)])
    _fit_score(detector, train, test)


def check_constant_column(detector: Any) -> None:
    """Check that a column without variation does no harm, nor a departure from it."""
    train, test = _normal_points(100, seed=0), _normal_points(30, seed=1)
    train[:, 1] = test[:, 1] = 3.0
    test[-5:, 1] = 4.0
    _fit_score(detector, train, test)


def check_one_point(detector: Any) -> None:
    """Check that a single point can be scored."""
    _fit_score(detector, _normal_points(100, seed=0), _normal_points(1, seed=1))


def check_determinism(detector: Any) -> None:
    """Check that the same seed gives the same scores, and scoring again the same again."""
    train, test = _normal_points(100, seed=0), _normal_points(30, seed=1)
    first = _fit(detector, train)
    scores = first.score_samples(test)
    np.testing.assert_array_equal(
        scores, first.score_samples(test), err_msg="a second call of score_samples differs"
    )
    np.testing.assert_array_equal(
        scores, _fit_score(detector, train, test), err_msg="a second fit with the same seed differs"
    )


def check_input_unchanged(detector: Any) -> None:
    """Check that neither training nor scored points are written to."""
    train, test = _normal_points(100, seed=0), _normal_points(30, seed=1)
    before = train.copy(), test.copy()
    _fit_score(detector, train, test)
    assert np.array_equal(train, before[0]), "fit modifies the training points"
    assert np.array_equal(test, before[1]), "score_samples modifies the points it scores"
    train.flags.writeable = test.flags.writeable = False
    _fit_score(detector, train, test)


def check_threshold(detector: Any) -> None:
    """Check that predict and decision_function, where there are any, go with the scores."""
    fitted = _fit(detector, _normal_points(100, seed=0))
    test = _normal_points(60, seed=1)
    scores = fitted.score_samples(test)
    if hasattr(fitted, "decision_function"):
        decision = np.asarray(fitted.decision_function(test))
        shift = scores - decision
        assert np.allclose(shift, shift[0]), (
            "decision_function is not score_samples less a constant"
        )
        if hasattr(fitted, "predict"):
            labels = np.asarray(fitted.predict(test))
            assert np.isin(labels, (-1, 1)).all(), "predict returns something else than -1 and 1"
            assert not np.any((labels == -1) & (decision > 0)), "predict contradicts the decision"
            assert not np.any((labels == 1) & (decision < 0)), "predict contradicts the decision"


def check_parameters(detector: Any) -> None:
    """Check that a clone has the same parameters and that fitting leaves them alone."""
    copy = clone(detector)
    before = {name: repr(value) for name, value in copy.get_params().items()}
    original = {name: repr(value) for name, value in detector.get_params().items()}
    assert before == original, "a clone has other parameters"
    _fit_in_place(copy, _normal_points(100, seed=0))
    after = {name: repr(value) for name, value in copy.get_params().items()}
    assert before == after, "fit changes the parameters"


CHECKS: dict[str, Check] = {
    "normal points score higher": check_direction,
    "scores are finite": check_finite,
    "constant columns are accepted": check_constant_column,
    "a single point can be scored": check_one_point,
    "the same seed gives the same scores": check_determinism,
    "input is not modified": check_input_unchanged,
    "predictions go with the scores": check_threshold,
    "parameters survive cloning and fitting": check_parameters,
}


def _normal_points(n: int, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).standard_normal((n, 4))


def _fit(detector: Any, train: NDArray[np.float64]) -> Any:
    """Fit a clone, seeded where it can be."""
    copy = clone(detector)
    if "random_state" in copy.get_params():
        copy.set_params(random_state=0)
    return _fit_in_place(copy, train)


def _fit_in_place(detector: Any, train: NDArray[np.float64]) -> Any:
    """Fit, with labels that call nothing an anomaly where the detector requires labels."""
    if get_tags(detector).target_tags.required:
        return detector.fit(train, np.zeros(len(train), dtype=np.int8))
    return detector.fit(train)


def _fit_score(
    detector: Any, train: NDArray[np.float64], test: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fit, score, and check the shape and finiteness that every check needs."""
    scores = np.asarray(_fit(detector, train).score_samples(test))
    assert scores.shape == (len(test),), (
        f"score_samples returns shape {scores.shape} for {len(test)} points"
    )
    n_bad = np.count_nonzero(~np.isfinite(scores))
    assert n_bad == 0, f"{n_bad} of {len(test)} scores are not finite"
    return scores
