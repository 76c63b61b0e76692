"""What is wrong with an algorithm, as far as its class tells without a fit."""

from __future__ import annotations

import functools
import inspect
import pickle
from collections.abc import Mapping
from typing import Any

from datasets.protocols import Protocol
from datasets.strict import suggestion
from results.records.record import targets
from runners.detectors import ADAPTER, DetectorError, constructor_of
from runners.own_code import own_code


@functools.lru_cache(maxsize=1024)
def in_algorithm(frozen: bytes) -> tuple[str, ...]:
    """Return what is wrong with the parameters of an algorithm, as far as its class tells.

    A class of the user's own is not asked: its module may do anything when it is imported, and is
    imported only in the processes of the experiments.
    """
    algorithm = pickle.loads(frozen)
    if own_code(tuple(targets(algorithm))).modules:
        return ()
    try:
        constructor = constructor_of(algorithm)
    except DetectorError as error:
        return (f"algorithm: {error}",)
    given = {name: value for name, value in algorithm.items() if not name.startswith("_")}
    parameters = inspect.signature(constructor).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return ()
    unknown = [name for name in given if name not in parameters]
    mistakes = [
        f"algorithm.{name}: unknown key{suggestion(name, parameters) or '.'} "
        f"Valid names in algorithm: {', '.join(sorted(parameters))}"
        for name in unknown
    ]
    return tuple(mistakes or _by_constraints(constructor, given) or _by_itself(constructor, given))


def in_pairing(
    algorithm: Mapping[str, Any], protocol: Protocol, setting: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return why a protocol tests rows that the detector has no scores for."""
    kept = algorithm.get("training_scores") is True and algorithm.get("_target_") == ADAPTER
    if not kept or protocol.may_test_what_trains(setting["anomalies_in_train"]):
        return ()
    return (
        "algorithm.training_scores: true keeps the scores of the rows that train, and protocol "
        f"{protocol.name!r} tests others. Leave it out, or take a protocol with "
        "cut: {kind: none}, test_rows: all and train_anomalies: kept",
    )


def _by_constraints(constructor: Any, given: Mapping[str, Any]) -> list[str]:
    """Return what an estimator's table of constraints, scikit-learn's or ours, says of values."""
    constraints = getattr(constructor, "_parameter_constraints", None)
    if not isinstance(constraints, dict):
        return []
    from sklearn.utils._param_validation import (
        InvalidParameterError,
        validate_parameter_constraints,
    )

    mistakes = []
    for name, value in given.items():
        try:
            validate_parameter_constraints(constraints, {name: value}, constructor.__name__)
        except InvalidParameterError as error:
            mistakes.append(f"algorithm.{name}: {error}")
    return mistakes


def _by_itself(constructor: Any, given: Mapping[str, Any]) -> list[str]:
    """Return what a class says of its own parameters, where it has more to say than a table."""
    own_check = getattr(constructor, "check_parameters", None)
    if own_check is None:
        return []
    try:
        own_check(given)
    except (TypeError, ValueError, ImportError) as error:
        return [f"algorithm: {error}"]
    return []
