"""From the frames that clients and parsers return to Arrow tables."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa


def from_frame(frame: pd.DataFrame) -> pa.Table:
    """Turn a frame into a table of plain columns, without its index.

    Columns of mixed Python objects become text. Categories become their values: numbers where all
    of them are numbers.
    """
    columns = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = _plain(column)
        if column.dtype == object:
            column = column.map(_text, na_action="ignore")
        columns[str(name)] = pa.array(column, from_pandas=True)
    return pa.table(columns)


def _plain(column: pd.Series) -> pd.Series:
    categories = column.cat.categories
    numbers = pd.to_numeric(pd.Series(categories), errors="coerce")
    if numbers.notna().all():
        return column.cat.rename_categories(numbers.to_list()).astype(float)
    return column.astype(str).where(column.notna(), None)


def _text(value: object) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
