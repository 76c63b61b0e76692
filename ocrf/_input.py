"""Data and weights as they come in: what is refused, and what their counts are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# The weights are private there, but what scikit-learn's own estimators validate with.
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._refusals import are_dates, naming_columns
from .kernels.arrays import read_only

# Sums of weights are counts, which floats hold exactly up to here.
_LARGEST_SUM = 2.0**53


def validated(estimator: Any, X: Any, **options: Any) -> np.ndarray:
    """Return what scikit-learn's `validate_data` does, of data that may lack values.

    Raises
    ------
    ValueError
        As `naming_columns` says.
    """
    with naming_columns(X):
        return validate_data(
            estimator, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", **options
        )


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
        If a weight is masked, a date, a duration, negative or not finite, if they are not as many
        as the rows, or if their sum is beyond the integers that floats hold.
    """
    if sample_weight is None:
        return X, None, None
    if np.ma.is_masked(sample_weight):
        raise ValueError(
            "OneClassRF: sample_weight has masked values, which would count as weights; pass "
            "sample_weight.filled(0.0) to leave their rows out."
        )
    if are_dates(sample_weight):
        raise ValueError("OneClassRF: sample_weight holds dates or durations; pass numbers.")
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0.0).any():
        row = int(np.argmax(weights < 0.0))
        raise ValueError(
            f"OneClassRF: sample_weight must not be negative; row {row} has {weights[row]:g}."
        )
    if not weights.any():
        raise ValueError("OneClassRF: every sample_weight is 0.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if total > _LARGEST_SUM:
        raise ValueError(
            f"OneClassRF: sample_weight sums to {total:g}, and may sum to {_LARGEST_SUM:g} at "
            "most; scale the weights, to a mean of 1 for instance."
        )
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
            f"{n_subsample} rows counts {size:g} times on average, which must be 2 at least; scale "
            "the weights, to a mean of 1 for instance."
        )
    return size


def quantile(scores: np.ndarray, share: float, weights: np.ndarray | None) -> float:
    """Return a quantile, where each score counts as many times as its weight says.

    As numpy's, by linear interpolation: integer weights are the same as repeated scores. Where a
    score counts less than once, the least weight stands for once: the quantile of a few large
    weights is not taken for that of few scores.
    """
    if weights is None:
        return float(np.percentile(scores, 100.0 * share))
    order = np.argsort(scores, kind="stable")
    # Beyond 2^40 such units rounding would tell no two of them apart.
    unit = max(min(1.0, weights[weights > 0.0].min()), math.ldexp(weights.sum(), -40))
    ends = np.cumsum(weights[order] / unit)
    place = share * (ends[-1] - 1.0)
    at = np.searchsorted(ends, [math.floor(place), math.floor(place) + 1.0], side="right")
    low, high = scores[order[np.minimum(at, len(order) - 1)]]
    part = place - math.floor(place)
    # From the nearer of the two, as numpy does.
    return float(low + (high - low) * part if part < 0.5 else high - (high - low) * (1.0 - part))


def refuse_overflowing_ranges(
    lower: np.ndarray, upper: np.ndarray, names: np.ndarray | None
) -> None:
    """Raise ValueError for a column whose range overflows, naming it where names are known."""
    with np.errstate(over="ignore"):
        overflowing = np.flatnonzero(np.isinf(upper - lower))
    if overflowing.size:
        column = overflowing[0]
        name = column if names is None else repr(names[column])
        raise ValueError(
            f"OneClassRF: column {name} of X spans more than a float64 can hold; rescale it."
        )
