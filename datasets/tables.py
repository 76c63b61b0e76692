"""Arrow tables: from the frames of clients and parsers, and without the index of a saved frame."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from datasets.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# What YAML reads as true or false although it is written otherwise.
_YAML_BOOLEANS = {"true": ("yes", "on"), "false": ("no", "off")}


def is_number(text: str) -> bool:
    """Tell whether a text spells a finite decimal number.

    >>> [is_number(text) for text in ("1", "-2.50", "1e5", ".5", "inf", "1_0", "")]
    [True, True, True, True, False, False, False]
    """
    return _NUMBER.fullmatch(text) is not None


def read_as_boolean(boolean: str, written: Iterable[str]) -> list[str]:
    """Return the texts, among some, that YAML reads as a boolean where they are not quoted.

    >>> read_as_boolean("false", ["No", "yes", "none"])
    ['No']
    """
    return [text for text in written if text.lower() in _YAML_BOOLEANS.get(boolean, ())]


def from_frame(frame: pd.DataFrame) -> pa.Table:
    """Turn a frame into a table of plain columns, without its index.

    Columns of mixed Python objects become text. Categories become their values: numbers where all
    of them are numbers.
    """
    import pandas as pd  # not at the top: who reads a definition does not need it

    columns = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = _plain(column)
        if column.dtype == object:
            column = column.map(_text, na_action="ignore")
        columns[str(name)] = pa.array(column, from_pandas=True)
    return pa.table(columns)


def drop_index(table: pa.Table, kept: Collection[str] = ()) -> pa.Table:
    """Drop the columns that hold the index of the frame that was saved, but those in `kept`.

    pandas appends the index of a frame whose rows were moved as a last column. It is not data: as
    a feature it can tell where a row stood in a table that was sorted by label.
    """
    index = _index_of(table)
    return table.drop_columns([n for n in table.column_names if n in index and n not in kept])


def left_out_index(table: pa.Table) -> list[str]:
    """Return the columns that `drop_index` dropped, in the words of the table's own metadata."""
    return [name for name in _index_of(table) if name not in table.column_names]


def _index_of(table: pa.Table) -> list[str]:
    described = (table.schema.metadata or {}).get(b"pandas", b"{}")
    index = json.loads(described).get("index_columns", [])
    # Entries that are not names describe an index that is not stored.
    return [name for name in index if isinstance(name, str)]


def refuse_duplicates(names: Sequence[str], where: str) -> None:
    """Raise DataError if a column name occurs more than once."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(
                f"{where}: the column name {name!r} occurs {list(names).count(name)} times; "
                "column names must differ"
            )
        seen.add(name)


def _plain(column: pd.Series) -> pd.Series:
    import pandas as pd

    categories = column.cat.categories
    numbers = pd.to_numeric(pd.Series(categories), errors="coerce")
    if numbers.notna().all():
        return column.cat.rename_categories(numbers.to_list()).astype(float)
    return column.astype(str).where(column.notna(), None)


def _text(value: object) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
