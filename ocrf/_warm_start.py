"""Adding trees to a forest that is fitted already."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ._predictor import GrownForest
from ._tree import Trees, node_sizes


class Earlier(NamedTuple):
    """What an earlier fit has left for a fit that adds trees to it."""

    grown: GrownForest
    seeds: np.ndarray  # uint64, (n_trees,)
    gammas: np.ndarray  # float64, (n_trees,)
    total_importances: np.ndarray  # float64, (n_features,)
    shared: dict[str, Any]  # `shared_by_trees`


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


def shared_by_trees(
    fitted: dict[str, Any], size: float, box: tuple[np.ndarray, np.ndarray]
) -> dict[str, Any]:
    """Return what trees must have in common to make one forest.

    Depths are divided by c(sub-sample size), volumes are shares of the data's bounding box, and
    the rows and columns of each tree follow from its seed.

    Parameters
    ----------
    fitted : dict
        Attributes of an estimator.
    size : float
        Expected size of a sub-sample, weights included.
    box : (lower, upper)
        Of the training data.
    """
    return {
        "the number of features": fitted["n_features_in_"],
        "the number of rows": fitted["_n_samples_fit"],
        "the size of the sub-samples": fitted["max_samples_"],
        "the number of features of a tree": fitted["max_features_tree_"],
        "the sum of the weights": size,
        "the bounding box of the data": np.stack(box),
    }


def refuse_other_data(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise ValueError if the trees of two fits cannot make one forest, and say why."""
    for name, value in before.items():
        if not np.array_equal(value, now[name], equal_nan=True):
            shown = f" from {value} to {now[name]}" if np.ndim(value) == 0 else ""
            raise ValueError(
                f"OneClassRF: with warm_start=True, fit adds trees to those of the fit before, but "
                f"{name} has changed{shown}. Fit on the same data with the same parameters, or set "
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
