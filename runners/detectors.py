"""Build a detector from its YAML, and see that its scores are scores."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from hydra.utils import get_object, instantiate
from numpy.typing import NDArray
from omegaconf import OmegaConf

from datasets.mistakes import not_imported
from runners.own_code import own_code

# What `get_object` logs stands in the exception as well, and is said there.
logging.getLogger("hydra.utils").addHandler(logging.NullHandler())
logging.getLogger("hydra.utils").propagate = False


class DetectorError(ValueError):
    """A detector, or its YAML, does not do what a detector must; the message says what."""


def build(algorithm: Mapping[str, Any], random_state: int, n_jobs: int = 1) -> Any:
    """Instantiate `_target_` with its parameters.

    `random_state` is added if the constructor takes it and the YAML does not fix it; so is
    `n_jobs` if more than one thread is allowed. Parameters `random_state` of nested objects that
    are None get seeds of their own, which follow from `random_state`.

    Raises
    ------
    DetectorError
        If `_target_` is missing or does not exist, or a parameter is not the constructor's.
    """
    constructor = constructor_of(algorithm)
    target = algorithm["_target_"]
    parameters = inspect.signature(constructor).parameters
    known = [
        n for n, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    ]
    given = {name: value for name, value in algorithm.items() if name != "_target_"}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        for name in given:
            if name not in known and not name.startswith("_"):
                raise DetectorError(
                    f"{target} has no parameter {name!r}; it has {', '.join(known)}"
                )
    extra: dict[str, Any] = {}
    if "random_state" in known and given.get("random_state") is None:
        extra["random_state"] = random_state
    if n_jobs > 1 and "n_jobs" in known and given.get("n_jobs") is None:
        extra["n_jobs"] = n_jobs
    if not _nested(given):
        return _seeded(constructor(**(given | extra)), random_state)
    for nested in _targets(given):
        constructor_of({"_target_": nested})
    seeded = _with_seeds(given, "", random_state)
    detector = instantiate(
        OmegaConf.create({"_target_": target, **seeded}), **extra, _convert_="all"
    )
    return _seeded(detector, random_state)


#: The project's packages with kernels; importing one imports scikit-learn.
WITH_KERNELS = frozenset({"ocrf", "baselines"})
# Libraries that cannot call them, those among these that do not import scikit-learn, and our
# adapter of one of them.
_WITHOUT_KERNELS = frozenset(
    {"joblib", "numba", "numpy", "pandas", "pyod", "scipy", "sklearn", "torch"}
)
_WITHOUT_SKLEARN = _WITHOUT_KERNELS - {"pyod", "sklearn"}
ADAPTER = "baselines.PyODDetector"


def preloaded_packages(algorithm: Mapping[str, Any]) -> frozenset[str]:
    """Return what is imported for a detector before its fits are forked.

    The project's packages whose kernels it may call, and scikit-learn: those that it lies in or,
    as a user's own code, imports. A class of another installed package may call any of them.
    """
    return _preloaded_packages(tuple(_targets(algorithm)))


@functools.cache  # asked for every experiment
def _preloaded_packages(named: tuple[str, ...]) -> frozenset[str]:
    code = own_code([target for target in named if target != ADAPTER])
    if not _WITHOUT_KERNELS.issuperset(code.packages):
        return WITH_KERNELS | {"sklearn"}
    needed = WITH_KERNELS.intersection(code.project)
    if needed or ADAPTER in named or not _WITHOUT_SKLEARN.issuperset(code.packages):
        needed |= {"sklearn"}
    return needed


def _targets(value: Any) -> Iterator[str]:
    """Yield every class that a part of a configuration names."""
    if isinstance(value, Mapping):
        if isinstance(target := value.get("_target_"), str):
            yield target
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _targets(item)


def warm_up(algorithm: Mapping[str, Any]) -> None:
    """Call the detector's class method `warm_up` with its parameters, if it has one.

    It imports and compiles what every fit needs, in a process that forks the fits. What goes wrong
    is left to the fits, which report it.
    """
    with contextlib.suppress(Exception):
        prepare = getattr(constructor_of(algorithm), "warm_up", None)
        if callable(prepare):
            prepare({name: value for name, value in algorithm.items() if name != "_target_"})


def hand_over(stream: np.random.RandomState, detector: Any) -> None:
    """Let a detector that draws go on with the stream that its split was drawn from."""
    if "random_state" in detector.get_params(deep=False):
        detector.set_params(random_state=stream)


def _seed_of(random_state: int, name: str) -> int:
    """Return the seed of a nested parameter: the same whatever other parameters there are."""
    digest = hashlib.sha256(f"{random_state} {name}".encode()).digest()
    return int.from_bytes(digest[:4], "little") >> 1


def _with_seeds(value: Any, name: str, random_state: int) -> Any:
    """Add a `random_state` to every nested object whose constructor takes one and is given none."""
    if isinstance(value, list | tuple):
        return [_with_seeds(v, f"{name}.{i}", random_state) for i, v in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    seeded = {k: _with_seeds(v, f"{name}.{k}", random_state) for k, v in value.items()}
    if isinstance(target := value.get("_target_"), str) and value.get("random_state") is None:
        try:
            parameters = inspect.signature(get_object(target)).parameters
        except (ImportError, AttributeError, ValueError, TypeError):
            return seeded  # building it says what is wrong
        if "random_state" in parameters:
            seeded["random_state"] = _seed_of(random_state, name)
    return seeded


def _seeded(detector: Any, random_state: int) -> Any:
    """Set what is left of nested parameters `random_state`, those of default objects for example.

    As scikit-learn's ensembles do for their estimators.
    """
    if not hasattr(detector, "get_params") or not hasattr(detector, "set_params"):
        return detector
    unset = {
        name: _seed_of(random_state, name)
        for name, value in detector.get_params(deep=True).items()
        if name.endswith("__random_state") and value is None
    }
    return detector.set_params(**unset) if unset else detector


def constructor_of(algorithm: Mapping[str, Any]) -> Any:
    """Return the class that `_target_` names.

    Raises
    ------
    DetectorError
        If `_target_` is missing or cannot be imported.
    """
    target = algorithm.get("_target_")
    if not isinstance(target, str):
        raise DetectorError("the algorithm's YAML names no class: _target_ is missing")
    try:
        constructor = get_object(target)
    except Exception as error:  # whatever importing a user's module raises, with its own words
        raise DetectorError(not_imported(target, error)) from error
    if not callable(constructor):
        raise DetectorError(f"_target_ {target!r} is not a class")
    return constructor


def _nested(value: Any) -> bool:
    """Whether a parameter is itself to be built, or an instruction to Hydra."""
    if isinstance(value, Mapping):
        return any(str(name).startswith("_") or _nested(item) for name, item in value.items())
    return isinstance(value, list | tuple) and any(map(_nested, value))


def check_methods(detector: Any) -> None:
    """Refuse what is not a detector.

    Raises
    ------
    DetectorError
        If it does not fit or does not score.
    """
    for name in ("fit", "score_samples"):
        if not callable(getattr(detector, name, None)):
            raise DetectorError(f"{type(detector).__name__} has no method {name}")


def check_parameters(detector: Any) -> None:
    """Validate the parameters of scikit-learn's kind of estimators, nested ones too, before a fit.

    Raises
    ------
    ValueError
        As `fit` would raise it.
    """
    parts = [detector]
    if hasattr(detector, "get_params"):
        parts += detector.get_params(deep=True).values()
    for part in parts:
        if hasattr(part, "_parameter_constraints") and not isinstance(part, type):
            part._validate_params()


def check_width(detector: Any, where: str, n_features: int) -> None:
    """Refuse parameters that ask for more features than there are, as `fit` would.

    Parameters
    ----------
    detector : object
    where : str
        What the message begins with.
    n_features : int

    Raises
    ------
    DetectorError
        If the detector's method `_refuse_width`, where it has one, raises a ValueError.
    """
    if callable(refuse := getattr(detector, "_refuse_width", None)):
        try:
            refuse(n_features)
        except ValueError as error:
            raise DetectorError(f"{where}: {error}") from error


def asks_for_labels(detector: Any) -> bool:
    """Whether the detector's scikit-learn tag `target_tags.required` is set."""
    if not hasattr(detector, "__sklearn_tags__"):
        return False
    return bool(detector.__sklearn_tags__().target_tags.required)


def check_scores(scores: Any, n_test: int, detector: Any = None) -> NDArray[np.float64]:
    """Return scores as float64 of shape (n_test,); `detector` helps to explain equal ones.

    Raises
    ------
    DetectorError
        If there are too few or too many, one is not a finite number, or all are equal: such
        scores rank nothing, and every metric of them would be an artefact. So would be one of
        scores in another order than the points, or of numbers that are not what they show.
    """
    try:
        given = np.asarray(scores)
        if given.dtype.kind not in "biufO":
            raise TypeError(str(given.dtype))
        values = given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise DetectorError(f"scores are not numbers: {error}") from error
    if np.ma.is_masked(scores):
        raise DetectorError("scores are masked, and numbers below a mask are no scores")
    index = getattr(scores, "index", None)
    if isinstance(index, Iterable) and list(index) != list(range(n_test)):
        raise DetectorError(
            "scores are a Series whose index is not 0, 1, 2, ...: they may stand in another order "
            "than the points"
        )
    if values.shape != (n_test,):
        raise DetectorError(
            f"wrong number of scores: score_samples returned shape {values.shape}, "
            f"expected ({n_test},)"
        )
    if not np.isfinite(values).all():
        n_nan, n_infinite = int(np.isnan(values).sum()), int(np.isinf(values).sum())
        raise DetectorError(f"scores not finite: {n_nan} NaN, {n_infinite} infinite of {n_test}")
    if n_test > 1 and (values == values[0]).all():
        reason = ""
        if getattr(detector, "out_of_bounds", None) is not None:
            reason = (
                f"; out_of_bounds={detector.out_of_bounds} gives every point outside the training "
                "data's bounding box the same score, and with many features all points may lie "
                "outside: out_of_bounds=null scores them by their leaves"
            )
        raise DetectorError(f"all {n_test} scores are equal ({values[0]:g}){reason}")
    return values
