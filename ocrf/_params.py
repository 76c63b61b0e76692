"""What each parameter may be, and what it means for data of a given size."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any

# Private, but what scikit-learn's own estimators and those of its ecosystem validate with.
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from ._growing.criterion import ADVERSARIES, CRITERIA

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
    """Return the sub-sample's size, from 2 (1 if there is one row) to ``n_samples``.

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
                stacklevel=5,
            )
        return min(int(max_samples), n_samples)
    return min(max(int(max_samples * n_samples), 2), n_samples)


def resolve_max_features_tree(max_features_tree: str | float, n_features: int) -> int:
    """Return the number of a tree's features.

    Raises
    ------
    ValueError
        If it is larger than that of the data, as scikit-learn's bagging forests do.
    """
    if isinstance(max_features_tree, Integral) and max_features_tree > n_features:
        raise ValueError(
            f"OneClassRF: max_features_tree={max_features_tree} is greater than the number of "
            f"features, {n_features}; it may be a number up to that, a share (0, 1], or 'auto'."
        )
    return resolve_max_features(max_features_tree, n_features)


def resolve_max_features(max_features: str | float | None, n_features: int) -> int:
    """Return a number of features, from 1 to ``n_features``, out of a count, share, or None."""
    if max_features is None:
        return n_features
    if max_features == "auto":
        return min(max(int(0.5 * n_features), 5), n_features)
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(int(max_features * n_features), 1)


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
    """Return the bounds at or beyond which a node is a leaf; infinite for no bound.

    Raises
    ------
    ValueError
        If no density lies between them: every tree would be a single leaf.
    """
    low = -math.inf if min_log_density is None else float(min_log_density)
    high = math.inf if max_log_density is None else float(max_log_density)
    if low >= high:
        raise ValueError(
            f"OneClassRF: min_log_density={min_log_density} must be below "
            f"max_log_density={max_log_density}; no node would be split."
        )
    return low, high
