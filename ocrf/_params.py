"""What each parameter may be, and what it means for data of a given size."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

# Private, but what scikit-learn's own estimators and those of its ecosystem validate with.
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_sample_weight

from ._criterion import ADVERSARIES, CRITERIA
from ._workspace import read_only

SCORINGS = ("depth", "published_depth", "density", "typical_cell")

# Squares of numbers of outliers neither over- nor underflow.
_GAMMAS = (1e-100, 1e100)

_COUNT_OR_SHARE = [
    Interval(Integral, 1, None, closed="left"),
    Interval(RealNotInt, 0, 1, closed="right"),
]

PARAMETER_CONSTRAINTS: dict = {
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "max_samples": [
        StrOptions({"auto"}),
        # A tree of one point has no path whose length could be compared.
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
    ],
    "max_features_tree": [StrOptions({"auto"}), *_COUNT_OR_SHARE],
    "max_features_node": [None, *_COUNT_OR_SHARE],
    # Its range is checked by `resolve_gamma`: a float32 cannot be compared with 1e100.
    "gamma": [Real, tuple, list],
    "max_depth": [StrOptions({"auto"}), None, Interval(Integral, 1, None, closed="left")],
    "criterion": [StrOptions(set(CRITERIA))],
    "adversary": [StrOptions(set(ADVERSARIES))],
    "scoring": [StrOptions(set(SCORINGS))],
    "min_samples_split": [Interval(Integral, 2, None, closed="left")],
    "min_log_density": [None, Interval(Real, None, None, closed="both")],
    "max_log_density": [None, Interval(Real, None, None, closed="both")],
    "out_of_bounds": [None, StrOptions({"maximal"})],
    "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
    "n_jobs": [None, Integral],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
}


# The kernels count rows in 32 bits without a sign, and a tree's nodes, of which there are up to
# twice as many as points in its sub-sample, in 32 bits with one.
_MOST_SAMPLES, _MOST_SUBSAMPLED = 2**32 - 1, 2**30


def resolve_max_samples(max_samples: str | float, n_samples: int) -> int:
    """Return the sub-sample's size, from 2 to ``n_samples``.

    Raises
    ------
    ValueError
        If there are more rows than the kernels can count.
    """
    n_subsample = _n_subsample(max_samples, n_samples)
    if n_samples > _MOST_SAMPLES or n_subsample > _MOST_SUBSAMPLED:
        raise ValueError(
            f"OneClassRF takes up to {_MOST_SAMPLES} samples and sub-samples of up to "
            f"{_MOST_SUBSAMPLED}; got {n_samples} samples and sub-samples of {n_subsample}: lower "
            "max_samples, or fit on fewer rows."
        )
    return n_subsample


def _n_subsample(max_samples: str | float, n_samples: int) -> int:
    if max_samples == "auto":
        return min(max(int(0.2 * n_samples), 100), n_samples)
    if isinstance(max_samples, Integral):
        if max_samples > n_samples:
            warnings.warn(
                f"max_samples={max_samples} is greater than the number of samples, {n_samples}; "
                f"every tree takes all {n_samples} of them.",
                UserWarning,
                stacklevel=4,
            )
        return min(int(max_samples), n_samples)
    return max(int(max_samples * n_samples), 2)


def resolve_max_features(max_features: str | float | None, n_features: int) -> int:
    """Return a number of features, from 1 to ``n_features``, out of a count, share, or None."""
    if max_features is None:
        return n_features
    if max_features == "auto":
        return min(max(int(0.5 * n_features), 5), n_features)
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(int(max_features * n_features), 1)


def resolve_weights(
    sample_weight: Any, X: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Return the rows whose weights are positive, with their weights and their numbers.

    Returns
    -------
    X : float64 array of shape (n_positive, n_features)
    weights : float64 array of shape (n_positive,), read-only, or None
        None where all weights are 1.
    rows : int64 array of shape (n_positive,) or None
        None where all weights are positive.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, or they are not as many as the rows.
    """
    if sample_weight is None:
        return X, None, None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0.0).any():
        row = int(np.argmax(weights < 0.0))
        raise ValueError(
            f"OneClassRF: sample_weight must not be negative; row {row} has {weights[row]:g}."
        )
    if not weights.any():
        raise ValueError("OneClassRF: every sample_weight is 0.")
    rows = None
    if not weights.all():
        rows = np.flatnonzero(weights)
        X, weights = X[rows], weights[rows]
    return X, None if (weights == 1.0).all() and len(weights) > 1 else read_only(weights), rows


def expected_size(n_subsample: int, n_samples: int, weights: np.ndarray | None) -> float:
    """Return the expected sum of the weights of a sub-sample.

    Raises
    ------
    ValueError
        If it is below 2.
    """
    if weights is None:
        return n_subsample
    total = float(weights.sum())
    size = total if n_subsample == n_samples else n_subsample * total / n_samples
    if size < 2.0:
        raise ValueError(
            f"OneClassRF: sample_weight says how many times each row counts, and a sub-sample of "
            f"{n_subsample} rows counts {size:g} times; scale the weights, to a mean of 1 for "
            "instance."
        )
    return size


def quantile(scores: np.ndarray, share: float, weights: np.ndarray | None) -> float:
    """Return a quantile, where each score counts as many times as its weight says.

    As numpy's, by linear interpolation: integer weights are the same as repeated scores.
    """
    if weights is None:
        return float(np.percentile(scores, 100.0 * share))
    order = np.argsort(scores, kind="stable")
    ends = np.cumsum(weights[order])
    place = share * (ends[-1] - 1.0)
    at = np.searchsorted(ends, [math.floor(place), math.floor(place) + 1.0], side="right")
    low, high = scores[order[np.minimum(at, len(order) - 1)]]
    part = place - math.floor(place)
    # From the nearer of the two, as numpy does.
    return float(low + (high - low) * part if part < 0.5 else high - (high - low) * (1.0 - part))


def resolve_max_depth(max_depth: str | int | None, n_subsample: int, size: float) -> int:
    """Return the depth at which nodes become leaves.

    Parameters
    ----------
    max_depth : "auto", int or None
    n_subsample : int
    size : float
        `expected_size`.
    """
    if max_depth == "auto":
        return math.ceil(math.log2(size))
    # Each level takes a point at least from the level above: no tree is as deep as its sub-sample.
    return n_subsample if max_depth is None else min(int(max_depth), n_subsample)


def resolve_gamma(gamma: Any) -> tuple[float, float]:
    """Return the bounds of the range that each tree's gamma is drawn from.

    Raises
    ------
    ValueError
        If a range is not two numbers, low <= high, from 1e-100 to 1e100.
    """
    given = [gamma, gamma] if isinstance(gamma, Real) else list(gamma)
    try:
        bounds = [float(bound) for bound in given if isinstance(bound, Real)]
    except OverflowError:  # an integer beyond all floats
        bounds = []
    low, high = _GAMMAS
    if len(given) != 2 or len(bounds) != 2 or not low <= bounds[0] <= bounds[1] <= high:
        raise ValueError(
            "The 'gamma' parameter of OneClassRF must be a number from 1e-100 to 1e100, or a range "
            f"(low, high) of them with low <= high. Got {gamma!r} instead."
        )
    return bounds[0], bounds[1]


def resolve_log_densities(
    min_log_density: float | None, max_log_density: float | None
) -> tuple[float, float]:
    """Return the bounds at or beyond which a node is a leaf; infinite for no bound."""
    low = -math.inf if min_log_density is None else float(min_log_density)
    high = math.inf if max_log_density is None else float(max_log_density)
    return low, high


def refuse_overflowing_ranges(
    lower: np.ndarray, upper: np.ndarray, names: np.ndarray | None
) -> None:
    """Raise ValueError for a column whose range is no number, naming it where names are known."""
    with np.errstate(over="ignore"):
        overflowing = np.flatnonzero(np.isinf(upper - lower))
    if overflowing.size:
        column = overflowing[0]
        name = column if names is None else repr(names[column])
        raise ValueError(
            f"OneClassRF: column {name} of X spans more than a float64 can hold; rescale it."
        )
