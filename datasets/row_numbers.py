"""Tell columns that number the rows, as the index of a saved frame does, from data."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# The names of an index that was saved as a column: none, or what pandas and its readers make up.
_NAME_OF_INDEX = re.compile(r"|Unnamed: \d+([._]\d+)*|__index_level_\d+__|level_\d+")
# Fewer rows than this may have a class each.
_FEW = 3


def is_saved_index(name: str, column: pa.ChunkedArray) -> bool:
    """Tell whether a column without a name numbers the rows.

    Most rows have a number of their own, in any order, since a table may be shuffled or sampled
    before it is saved; or the numbers rise and begin again at 0 or 1, as those of tables do that
    were put one below the other.
    """
    if not _NAME_OF_INDEX.fullmatch(name):
        return False
    values = _whole_numbers(column)
    if values is None or len(values) < 2:
        return False
    return 2 * len(np.unique(values)) > len(values) or _rises_in_runs(values)


def holds_row_numbers(name: str, column: pa.ChunkedArray) -> bool:
    """Tell whether a column numbers the rows, or has another whole number in each of them."""
    if is_saved_index(name, column):
        return True
    values = _whole_numbers(column)
    return values is not None and _FEW < len(values) == len(np.unique(values))


def _rises_in_runs(values: NDArray[np.float64]) -> bool:
    starts = np.append(True, np.diff(values) <= 0)
    # A column of zeros and ones has two rows per run at most.
    return bool(np.isin(values[starts], (0, 1)).all()) and len(values) > 2 * starts.sum()


def _whole_numbers(column: pa.ChunkedArray) -> NDArray[np.float64] | None:
    """Return a column's whole numbers, or None if something else is in it."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        try:
            column = column.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return None
    if column.null_count:
        return None
    values = column.to_numpy().astype(float)
    return values if (values == np.floor(values)).all() else None
