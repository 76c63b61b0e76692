"""Name every column that holds something else than finite numbers, all at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np

# The others are counted.
_MOST_NAMES = 20

_DATES = "dates or durations"
_LARGEST = 2**53
_LARGE = "integers beyond 2**53, which floats do not tell apart"


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Let scikit-learn validate X, and name the columns that its errors are about.

    Raises
    ------
    ValueError
        For dates, durations and masked arrays as well: the mask, and what marks a missing date,
        would be lost. For integers beyond 2**53, of which different ones would become equal.
    """
    rows = X if isinstance(X, (list, tuple)) else [X]
    if any(np.ma.is_masked(row) for row in rows):
        raise ValueError(
            "X is a masked array with masked values, which would count as values. A missing value "
            "is NaN: pass X.astype(float).filled(np.nan)."
        )
    if _has_lossy_column(X):
        raise ValueError(_refusal(X))
    try:
        # The check for infinity sums the values: large ones of both signs overflow to a NaN.
        with np.errstate(invalid="ignore"):
            yield
    except (TypeError, ValueError, OverflowError) as error:
        refusal = _refusal(X)
        if not refusal:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{refusal} {error}") from error


def _refusal(X: Any) -> str:
    """Say which columns hold something else than finite numbers; empty if none does."""
    found: dict[str, list[str]] = {}
    for name, values in _columns(X):
        fault = _fault(values)
        if fault:
            found.setdefault(fault, []).append(name)
    if not found:
        return ""
    parts = [_sentence(names, fault) for fault, names in found.items()]
    advice = "Pass finite numbers (days since a date, codes of categories), with NaN where one is"
    return f"{' '.join(parts)} {advice} missing."


def _sentence(names: list[str], fault: str) -> str:
    listed = ", ".join(names[:_MOST_NAMES])
    if len(names) == 1:
        return f"Column {listed} of X holds {fault}."
    more = len(names) - _MOST_NAMES
    return f"Columns {listed}{f' and {more} more' if more > 0 else ''} of X hold {fault}."


def _fault(values: Any) -> str | None:
    """Return what a column holds instead of finite numbers, or None."""
    if are_dates(values):
        return _DATES
    if _kind(values) == "c":
        return "complex numbers"
    if _are_large_integers(values):
        return _LARGE
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return "texts or objects that are not numbers"
    return "infinite values" if np.isinf(numbers).any() else None


def _columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name or the number of each column, and its values."""
    if _is_frame(X):
        for j, name in enumerate(X.columns):
            # Names may occur twice.
            yield repr(name), X.iloc[:, j] if hasattr(X, "iloc") else X[name]
        return
    if _is_arrow(X):
        for name, column in zip(X.schema.names, X.columns, strict=True):
            yield repr(name), np.asarray(column)
        return
    array = np.asarray(_array(X))
    if array.ndim == 2:
        for j in range(array.shape[1]):
            yield str(j), array[:, j]


def _has_lossy_column(X: Any) -> bool:
    """Tell whether a column holds what scikit-learn would make other numbers of."""
    if _is_frame(X):
        found = [getattr(dtype, "kind", None) for dtype in X.dtypes]
        suspect = [j for j, kind in enumerate(found) if kind and kind in "mMOiu"]
        return any(_is_lossy(X.iloc[:, j]) for j in suspect)
    if _is_arrow(X):
        return any(_is_lossy(values) for _, values in _columns(X))
    array = _array(X)
    return array.ndim == 2 and _is_lossy(array)


def _array(X: Any) -> Any:
    """Return X as an array; one of objects where integers of a list were too large for floats."""
    if hasattr(X, "dtype"):
        return X
    array = np.asarray(X)
    large = array.ndim == 2 and array.dtype.kind == "f" and (np.abs(array) >= _LARGEST).any()
    return np.asarray(X, dtype=object) if large else array


def _is_lossy(values: Any) -> bool:
    return are_dates(values) or _are_large_integers(values)


def _are_large_integers(values: Any) -> bool:
    if _kind(values) == "O":
        found = np.asarray(values).flat
        return any(isinstance(value, Integral) and abs(int(value)) > _LARGEST for value in found)
    if _kind(values) not in ("i", "u"):
        return False
    present = values.dropna() if hasattr(values, "dropna") else values
    return present.size > 0 and bool(present.max() > _LARGEST or present.min() < -_LARGEST)


def are_dates(values: Any) -> bool:
    """Tell whether values are dates or durations."""
    kind = _kind(values)
    if kind == "O":
        dates = (np.datetime64, np.timedelta64)
        return any(isinstance(value, dates) for value in np.asarray(values).flat)
    return kind in ("m", "M")


def _kind(values: Any) -> str | None:
    return getattr(getattr(values, "dtype", None), "kind", None)


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "schema") and hasattr(X, "columns")


def _is_frame(X: Any) -> bool:
    return hasattr(X, "dtypes") and hasattr(X, "columns")
