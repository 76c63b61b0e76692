"""What every detector must do, as checks that run on any: ours, a library's, a user's.

A check gets a factory, ``make(random_state) -> detector``, and raises `ConformanceError` with what
is wrong. `python -m runners.check` runs them all on an algorithm's YAML.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_outlier_detector
from sklearn.metrics import roc_auc_score

from runners.detectors import DetectorError, asks_for_labels, check_scores

Make = Callable[[int], Any]
Check = Callable[[Make], None]

_N_TRAIN, _N_NORMAL, _N_ABNORMAL, _D = 200, 80, 20, 4
_LEAST_AUC: Final = 0.75  # on obvious anomalies


class ConformanceError(AssertionError):
    """A detector does not do what a detector must; the message says what."""


@dataclass(frozen=True)
class _Data:
    X_train: NDArray[np.float64]
    y_train: NDArray[np.int8]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int8]


def example(seed: int = 0) -> _Data:
    """Return a standard normal blob with abnormal points far from it, some of them in train."""
    rng = np.random.default_rng(seed)

    def abnormal(n: int) -> NDArray[np.float64]:
        directions = rng.standard_normal((n, _D))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions * rng.uniform(8.0, 12.0, (n, 1))

    train = rng.standard_normal((_N_TRAIN, _D))
    n_abnormal = _N_TRAIN // 20
    train[:n_abnormal] = abnormal(n_abnormal)
    y_train = np.zeros(_N_TRAIN, dtype=np.int8)
    y_train[:n_abnormal] = 1
    test = np.vstack([rng.standard_normal((_N_NORMAL, _D)), abnormal(_N_ABNORMAL)])
    y_test = np.repeat(np.array([0, 1], dtype=np.int8), [_N_NORMAL, _N_ABNORMAL])
    return _Data(train, y_train, test, y_test)


def _fitted(make: Make, data: _Data, random_state: int = 0) -> Any:
    detector = make(random_state)
    if asks_for_labels(detector):
        detector.fit(data.X_train, data.y_train)
    else:
        # Without labels: a detector that wants some has to say so by its tag.
        detector.fit(data.X_train)
    return detector


def _scores(detector: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    try:
        return check_scores(detector.score_samples(X), X.shape[0])
    except DetectorError as error:
        raise ConformanceError(str(error)) from error


def check_direction(make: Make) -> None:
    """Require that higher is more normal: points far away score lower than the bulk."""
    data = example()
    auc = roc_auc_score(data.y_test, -_scores(_fitted(make, data), data.X_test))
    if auc < 1 - _LEAST_AUC:
        raise ConformanceError(
            f"score_samples points the wrong way: abnormal points score higher (ROC AUC {auc:.2f})"
        )
    if auc < _LEAST_AUC:
        raise ConformanceError(f"obvious anomalies are not found: ROC AUC {auc:.2f}")


def check_determinism(make: Make) -> None:
    """Require the same scores, to the last bit, for the same data and random_state."""
    data = example()
    first = _scores(_fitted(make, data, random_state=7), data.X_test)
    detector = _fitted(make, data, random_state=7)
    second = _scores(detector, data.X_test)
    if not np.array_equal(first, second):
        raise ConformanceError(
            "two fits with the same random_state give different scores "
            f"(largest difference {np.abs(first - second).max():.3g})"
        )
    if not np.array_equal(second, _scores(detector, data.X_test)):
        raise ConformanceError("scoring the same points twice gives different scores")


def check_finite_scores(make: Make) -> None:
    """Require one finite score per point, far away and repeated points included."""
    data = example()
    detector = _fitted(make, data)
    far = np.vstack([data.X_test, np.full((1, _D), 1e6), np.full((1, _D), -1e6)])
    _scores(detector, far)
    repeated = replace(
        data,
        X_train=np.repeat(data.X_train[:40], 5, axis=0),
        y_train=np.repeat(data.y_train[:40], 5),
    )
    _scores(_fitted(make, repeated), data.X_test)


def check_one_point(make: Make) -> None:
    """Require a score for a single test point."""
    data = example()
    _scores(_fitted(make, data), data.X_test[:1])


def check_constant_column(make: Make) -> None:
    """Require that a column without information does no harm."""
    data = example()
    train, test = data.X_train.copy(), data.X_test.copy()
    train[:, 1] = test[:, 1] = 3.0
    constant = _Data(train, data.y_train, test, data.y_test)
    auc = roc_auc_score(data.y_test, -_scores(_fitted(make, constant), test))
    if auc < _LEAST_AUC:
        raise ConformanceError(f"with a constant column anomalies are lost: ROC AUC {auc:.2f}")


def check_input_unchanged(make: Make) -> None:
    """Require that neither fit nor score_samples writes to its input."""
    data = example()
    kept = data.X_train.copy(), data.X_test.copy()
    detector = _fitted(make, data)
    if not np.array_equal(kept[0], data.X_train):
        raise ConformanceError("fit changes its input")
    _scores(detector, data.X_test)
    if not np.array_equal(kept[0], data.X_train) or not np.array_equal(kept[1], data.X_test):
        raise ConformanceError("score_samples changes its input")


def check_parameters(make: Make) -> None:
    """Require that the constructor stores its parameters and no more, as scikit-learn does."""
    detector = make(0)
    if not hasattr(detector, "get_params"):
        return
    before = _described(detector)
    if _described(clone(detector)) != before:
        raise ConformanceError("a clone has other parameters")
    _fitted(lambda _: detector, example())
    after = _described(detector)
    if changed := sorted(name for name in before | after if before.get(name) != after.get(name)):
        raise ConformanceError(f"fit changes the constructor's parameters: {', '.join(changed)}")


def _described(detector: Any) -> dict[str, str]:
    """Return the parameters, those of nested estimators included, as texts to be compared.

    Of a nested estimator only its class counts beside its parameters: `Pipeline.fit` fits the
    steps that it was given, and a fitted estimator may print itself otherwise.
    """

    def text(value: Any) -> str:
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(text, value))}]"
        if isinstance(value, Mapping):
            return str({name: text(item) for name, item in value.items()})
        return type(value).__qualname__ if hasattr(value, "get_params") else repr(value)

    return {name: text(value) for name, value in detector.get_params(deep=True).items()}


def check_predictions(make: Make) -> None:
    """Require that an outlier detector predicts -1 and +1, and -1 rather for low scores."""
    data = example()
    detector = _fitted(make, data)
    # The predict of a mixture or a classifier says something else, and no experiment calls it.
    is_another = isinstance(detector, BaseEstimator) and not is_outlier_detector(detector)
    if not hasattr(detector, "predict") or is_another:
        return
    predicted = np.asarray(detector.predict(data.X_test))
    if predicted.shape != (data.X_test.shape[0],) or not np.isin(predicted, (-1, 1)).all():
        raise ConformanceError(f"predict must say -1 or +1 for each point, got {predicted[:5]}")
    scores = _scores(detector, data.X_test)
    low, high = scores[predicted == -1], scores[predicted == 1]
    if low.size and high.size and low.mean() > high.mean():
        raise ConformanceError("predict says -1 where score_samples is high")


CHECKS: Final[Mapping[str, Check]] = {
    "direction": check_direction,
    "determinism": check_determinism,
    "finite scores": check_finite_scores,
    "one point": check_one_point,
    "constant column": check_constant_column,
    "input unchanged": check_input_unchanged,
    "parameters": check_parameters,
    "predictions": check_predictions,
}


def depends_on_other_points(make: Make) -> bool:
    """Tell whether the score of a point follows from the points that are scored with it, too.

    That is allowed, and matters where points come one at a time. Rounding is no such dependence.
    """
    data = example()
    detector = _fitted(make, data)
    alone = _scores(detector, data.X_test[::2])
    return not np.allclose(alone, _scores(detector, data.X_test)[::2], rtol=1e-6)


@dataclass(frozen=True)
class CheckResult:
    """How a check went: `problem` is None if it passed."""

    name: str
    problem: str | None
    traceback: str | None = None


def run_checks(make: Make) -> list[CheckResult]:
    """Run every check and return how each went.

    Parameters
    ----------
    make : callable
        Takes a random_state (int) and returns a new, unfitted detector.
    """
    results = []
    for name, check in CHECKS.items():
        try:
            check(make)
        except ConformanceError as error:
            results.append(CheckResult(name, str(error)))
        except Exception as error:  # noqa: BLE001 (whatever a detector raises is the finding)
            words = f"{type(error).__name__}: {error}"
            results.append(CheckResult(name, words, traceback.format_exc()))
        else:
            results.append(CheckResult(name, None))
    return results
