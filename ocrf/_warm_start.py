"""Adding trees to a forest that is fitted already."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ._params import resolve_gamma
from ._scoring.predictor import GrownForest
from ._trees.tree import Trees, node_sizes
from .kernels.hashing import digest

# Changes of these are named without the values before and after.
_DATA, _NAMES = "the data or their weights", "the names of the features"


class Earlier(NamedTuple):
    """What an earlier fit has left for a fit that adds trees to it."""

    grown: GrownForest
    seeds: np.ndarray  # uint64, (n_trees,)
    gammas: np.ndarray  # float64, (n_trees,)
    total_importances: np.ndarray  # float64, (n_features,)
    grown_with: dict[str, dict[str, Any]]
    names: np.ndarray | None  # of the features, as `feature_names_in_`


def n_more_trees(n_estimators: int, earlier: Earlier | None) -> int:
    """Return how many trees are to be grown.

    Raises
    ------
    ValueError
        If the earlier fit has grown more trees than there shall be.

    Warns
    -----
    UserWarning
        If it has grown as many.
    """
    n_before = 0 if earlier is None else len(earlier.seeds)
    if n_estimators < n_before:
        # As scikit-learn's forests say it.
        raise ValueError(
            f"n_estimators={n_estimators} must be larger or equal to "
            f"len(estimators_)={n_before} when warm_start==True"
        )
    if n_estimators == n_before:
        warnings.warn(
            "Warm-start fitting without increasing n_estimators does not fit new trees.",
            UserWarning,
            stacklevel=4,
        )
    return n_estimators - n_before


def grown_with(
    forest: Any, X: np.ndarray, weights: np.ndarray | None, earlier: Earlier | None
) -> dict[str, dict[str, Any]]:
    """Return what trees must have in common to be those of one fit.

    Parameters
    ----------
    forest : OneClassRF
        Its parameters have been resolved.
    X : float64 array of shape (n_samples, n_features), in C order
    weights : float64 array of shape (n_samples,) or None
    earlier : Earlier or None
        The fit that trees are added to; its names of columns hold for data without any.

    Returns
    -------
    of_data, of_parameters : dicts
        Numbers and texts only, for pickles.
    """
    seed = forest.random_state
    data = {
        "the number of features": X.shape[1],
        "the number of rows": X.shape[0],
        _DATA: digest(X) + ("" if weights is None else digest(weights)),
    }
    if hasattr(forest, "feature_names_in_"):
        data[_NAMES] = tuple(map(str, forest.feature_names_in_))
    elif earlier is not None and _NAMES in earlier.grown_with["data"]:
        data[_NAMES] = earlier.grown_with["data"][_NAMES]
    return {
        "data": data,
        "parameters": {
            "max_samples": forest.max_samples_,
            "max_features_tree": forest.max_features_tree_,
            "max_features_node": forest.max_features_node_,
            "max_depth": forest.max_depth_,
            "gamma": resolve_gamma(forest.gamma),
            "criterion": forest.criterion,
            "adversary": forest.adversary,
            "min_samples_split": int(forest.min_samples_split),
            "min_log_density": forest.min_log_density,
            "max_log_density": forest.max_log_density,
            # A generator draws other trees at each fit, whichever it is.
            "random_state": seed if seed is None or isinstance(seed, Integral) else "RandomState",
        },
    }


def _shown(value: Any) -> str:
    """Return a value as it may have been given: one gamma is kept as a range of no length."""
    if isinstance(value, tuple) and value[0] == value[1]:
        return repr(value[0])
    return repr(value)


def refuse_changes(before: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]]) -> None:
    """Raise ValueError if the trees of two fits cannot be those of one, and say what has changed.

    Parameters may follow from the data: where the data have changed, nothing else is named.
    """
    for kind, values in before.items():
        changed = [name for name, value in values.items() if now[kind][name] != value]
        if kind == "data":
            changed = changed[:1]
        if changed:
            what = ", ".join(
                f"{name} (from {_shown(values[name])} to {_shown(now[kind][name])})"
                if name not in (_DATA, _NAMES)
                else name
                for name in changed
            )
            raise ValueError(
                "OneClassRF: with warm_start=True, fit adds trees to those of the fit before, but "
                f"this has changed: {what}. Fit on the same data with the same parameters, or set "
                "warm_start=False."
            )


def append_trees(earlier: Trees, later: Trees) -> Trees:
    """Return the trees of both fits.

    Where those of one have weights, each point of the other's counts once.
    """
    fields = {
        name: np.concatenate([getattr(earlier, name), getattr(later, name)])
        for name in Trees._fields[1:]
    }
    if earlier.weight.size or later.weight.size:
        parts = [node_sizes(trees).astype(np.float64) for trees in (earlier, later)]
        fields["weight"] = np.concatenate(parts)
    end = earlier.first_node[-1]
    return Trees(np.concatenate([earlier.first_node, end + later.first_node[1:]]), **fields)
