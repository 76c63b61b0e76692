"""From the columns of a table to a matrix of numbers; whatever is not a number is named at once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasets.definition import Definition
from datasets.errors import DataError, listed
from datasets.format import reads
from datasets.row_numbers import is_saved_index
from datasets.tables import is_number, read_as_boolean

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_THOUSANDS = re.compile(
    r"[+-]?[1-9]\d{0,2}"
    r"((,\d{3})+(\.\d*)?|(\.\d{3})+,\d*|(\.\d{3}){2,}|([ '\u2019\u00a0\u202f]\d{3})+)"
)
# The names of the files that the key `decimal` is for.
_CSV = re.compile(r"\.(csv|tsv|txt|dat)(\.gz)?$", re.IGNORECASE)
# A name that Hydra's grammar reads as this text, unquoted.
_BARE = re.compile(r"(?!(?:null|true|false|nan|inf)$)[a-z_]\w*", re.IGNORECASE | re.ASCII)


def select_features(features: pa.Table, definition: Definition, where: str) -> pa.Table:
    """Keep or drop the columns that the definition lists, by name or by position."""
    if definition.keep_columns is not None:
        return features.select(
            _resolve(definition.keep_columns, features, definition, "keep_columns", where)
        )
    if definition.drop_columns is not None:
        features = features.drop_columns(
            _resolve(definition.drop_columns, features, definition, "drop_columns", where)
        )
    if definition.own:
        _refuse_index(features, definition, where)
    return features


def numeric_matrix(
    features: pa.Table, rows: NDArray[np.intp], definition: Definition, where: str
) -> NDArray[np.float64]:
    """Return the columns as a matrix.

    Parameters
    ----------
    features : pyarrow.Table
        The rows and columns that are used.
    rows : ndarray of shape (n_samples,)
        Their numbers in the table as it was read, for messages.
    definition : Definition
        Its keys are part of the advice.
    where : str
        Names the data set in messages.

    Raises
    ------
    DataError
        Naming every column that cannot be a feature, with the first value that stands in the way
        and its row.
    """
    files = [str(source.get("path") or source.get("file")) for source in definition.sources]
    comma = f"; {reads('decimal', ',')} reads it" if any(map(_CSV.search, files)) else ""
    X = np.empty((features.num_rows, features.num_columns))
    wrong: dict[str, str] = {}
    curable = []
    for j, name in enumerate(features.column_names):
        reason = _fill(X[:, j], features[name], rows, comma)
        if reason:
            wrong[name] = f"column {name!r} {reason}"
            if comma and _has_decimal_commas(features[name]):
                curable.append(name)
    if wrong:
        has_gaps = any(pc.any(missing(features[name])).as_py() for name in wrong)
        raise DataError(
            f"{where}: {len(wrong)} of {features.num_columns} columns cannot be features: "
            f"{'; '.join(list(wrong.values())[:12])}{' ...' if len(wrong) > 12 else ''} "
            f"(rows are counted from 0). {_advice(list(wrong), curable, has_gaps, definition)}"
        )
    return X


def missing(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return where values are missing: nulls, NaN and empty texts."""
    found = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        empty = pc.equal(pc.utf8_trim_whitespace(column), "")
        found = pc.or_(found, pc.fill_null(empty, False))
    return found


def _fill(
    out: NDArray[np.float64], column: pa.ChunkedArray, rows: NDArray[np.intp], comma: str
) -> str:
    """Write a column's numbers to `out`, or return why it has none; `comma`: how to read commas."""
    numeric = (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_decimal(column.type)
        or pa.types.is_boolean(column.type)
    )
    gone = missing(column).to_numpy()
    if not numeric and not gone.all():
        return _reason_of_text(column, gone, rows, comma)
    if n := int(gone.sum()):
        return f"has {n} of {len(column)} values missing (the first in row {rows[gone][0]})"
    # Integers beyond 2**53 become the nearest float; Arrow calls that unsafe, and would refuse.
    out[:] = column.cast(pa.float64(), safe=False).to_numpy()
    if pa.types.is_integer(column.type) and np.abs(out).max(initial=0.0) > 2**53:
        kept, distinct = len(np.unique(out)), pc.count_distinct(column).as_py()
        if kept < distinct:
            return f"has {distinct} distinct whole numbers, {kept} as floats (above 2**53)"
    infinite = ~np.isfinite(out)
    if infinite.any():
        return f"holds an infinite value in row {rows[infinite][0]}"
    return ""


def _reason_of_text(
    column: pa.ChunkedArray, gone: NDArray[np.bool_], rows: NDArray[np.intp], comma: str
) -> str:
    values = column.to_pylist()
    present = [(row, str(v)) for row, v, no in zip(rows, values, gone, strict=True) if not no]
    row, value = next(
        ((r, v) for r, v in present if not is_number(v.strip())), (present[0][0], None)
    )
    if value is None:
        return f"holds its numbers as text ({present[0][1]!r} in row {row})"
    kind = "dates or times" if _is_date(value) else "text"
    hint = ""
    texts = [text for _, v in present if not is_number(text := v.strip())]
    if all(map(_THOUSANDS.fullmatch, texts)):
        hint = "; remove the separators of thousands"
    elif _DECIMAL_COMMA.fullmatch(value.strip()):
        hint = comma
    return f"holds {kind} ({value!r} in row {row}{hint})"


def _has_decimal_commas(column: pa.ChunkedArray) -> bool:
    """Tell whether all values of a column are numbers if a comma is the decimal mark."""
    texts = [str(value).strip() for value in column.to_pylist()]
    return (
        any(map(_DECIMAL_COMMA.fullmatch, texts))
        and all(_DECIMAL_COMMA.fullmatch(text) or _WHOLE.fullmatch(text) for text in texts)
        and not all(_THOUSANDS.fullmatch(text) for text in texts if not is_number(text))
    )


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _advice(wrong: list[str], curable: list[str], has_gaps: bool, definition: Definition) -> str:
    """Return what to do about columns that cannot be features, or can with a decimal comma."""
    rest = [name for name in wrong if name not in curable]
    steps = []
    if curable:
        steps.append(f"read {listed(curable)} with {reads('decimal', ',')}")
    if rest and definition.keep_columns is not None:
        steps.append(f"take {listed(rest) if curable else 'these'} out of keep_columns")
    elif rest:
        which = listed(rest) if curable else "these"
        steps.append(
            f"leave {which} out with {_dropping(rest, definition)}, or turn them into numbers first"
        )
        if has_gaps:
            steps.append(
                f"{reads('drop_missing_columns', 'true')} leaves out those with missing values"
            )
    return f"Features must be numbers; {'; '.join(steps)}"


def _dropping(names: Sequence[str], definition: Definition) -> str:
    """Return the override that drops columns, beside those that are dropped already."""
    dropped = [*(definition.drop_columns or ()), *names]
    return f"{listing('drop_columns', dropped)} (drop_columns in the YAML)"


def listing(key: str, items: Sequence[str | int]) -> str:
    """Return the override that gives a key of the data set a list, as a shell takes it.

    >>> print(listing("drop_columns", [0, "lot", "my lot", "5", "null"]))
    '++dataset.drop_columns=[0,lot,"my lot","5","null"]'
    """
    texts = ",".join(str(i).lower() if isinstance(i, int) else _in_hydra(i) for i in items)
    return shlex.quote(f"++dataset.{key}=[{texts}]")


def _in_hydra(name: str) -> str:
    """Spell a text in the grammar of Hydra's overrides."""
    if _BARE.fullmatch(name):
        return name
    return '"{}"'.format(name.replace("\\", "\\\\").replace('"', '\\"'))


def _refuse_index(features: pa.Table, definition: Definition, where: str) -> None:
    """Refuse columns without a name that number the rows: an index that was saved as data."""
    found = [name for name in features.column_names if is_saved_index(name, features[name])]
    if found:
        columns = f"columns {listed(found)} number"
        if len(found) == 1:
            columns = f"column {found[0]!r} numbers"
        raise DataError(
            f"{where}: the {columns} the rows, as an index does that was saved with the data; "
            f"leave out with {_dropping(found, definition)}"
            ", or list the features, with the index, in keep_columns"
        )


def used_columns(names: Sequence[str], left_out: Mapping[str, str]) -> str:
    """Say which columns are features, and which are not and why.

    >>> print(used_columns(["a", "b"], {"lot": "drop_columns", "gap": "values missing"}))
    2 features: 'a', 'b'; left out: 'lot' (drop_columns), 'gap' (values missing)
    """
    reasons: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        reasons.setdefault(reason, []).append(name)
    parts = ", ".join(f"{listed(columns)} ({reason})" for reason, columns in reasons.items())
    plural = "" if len(names) == 1 else "s"
    return f"{len(names)} feature{plural}: {listed(names)}; left out: {parts or 'nothing'}"


def notes_on(
    X: NDArray[np.float64], y: NDArray[np.int8], names: Sequence[str], rows: NDArray[np.intp]
) -> list[str]:
    """Return what is suspicious: columns that give the labels away, or most rows anomalies.

    Parameters
    ----------
    X, y : ndarray
        The data set.
    names : sequence of str
        Its features.
    rows : ndarray of shape (n_samples,)
        The numbers of the rows in the table as it was read.
    """
    normal, anomalous = X[y == 0], X[y == 1]
    above = anomalous.min(axis=0) > normal.max(axis=0)
    below = anomalous.max(axis=0) < normal.min(axis=0)
    perfect = [names[j] for j in np.flatnonzero(above | below).tolist()]
    counting = np.ptp(X - rows[:, np.newaxis], axis=0) == 0.0
    numbered = [names[j] for j in np.flatnonzero(counting).tolist()]
    in_any_order = [j for j in np.flatnonzero(~counting).tolist() if _numbers_rows(X[:, j])]
    notes = []
    if 2 * len(anomalous) > len(y):
        notes.append(
            f"more anomalies ({len(anomalous)}) than normal points ({len(normal)}): are the labels "
            "the other way round?"
        )
    if perfect:
        notes.append(
            f"each of the columns {listed(perfect)} alone tells all anomalies from all normal rows"
            if len(perfect) > 1
            else f"the column {perfect[0]!r} alone tells all anomalies from all normal rows"
        )
    notes += [f"the column {name!r} is the number of the row" for name in numbered]
    notes += [f"the column {names[j]!r} numbers the rows, in another order" for j in in_any_order]
    return notes


def _numbers_rows(values: NDArray[np.float64]) -> bool:
    """Tell whether a column holds consecutive whole numbers, each once."""
    if len(values) < 3 or np.ptp(values) != len(values) - 1:
        return False
    return bool((np.diff(np.sort(values)) == 1.0).all())


def _resolve(
    columns: Sequence[str | int], features: pa.Table, definition: Definition, key: str, where: str
) -> list[str]:
    names = features.column_names
    resolved = []
    for column in columns:
        if isinstance(column, bool):
            resolved.append(_named_like(column, names, key, where))
        elif isinstance(column, int):
            resolved.append(_at(column, names, definition, key, where))
        elif column in names:
            resolved.append(column)
        else:
            raise DataError(
                f"{where}: {key} names {column!r}, which is not a feature; "
                f"the features are {listed(names)}"
            )
    for name in resolved:
        if resolved.count(name) > 1:
            raise DataError(
                f"{where}: {key} lists the column {name!r} {resolved.count(name)} times, by name "
                "or by position; list it once"
            )
    return resolved


def _named_like(value: bool, names: Sequence[str], key: str, where: str) -> str:
    """Return the one column whose name YAML reads as a boolean."""
    boolean = str(value).lower()
    found = [name for name in names if name.lower() == boolean] + read_as_boolean(boolean, names)
    if len(found) != 1:
        raise DataError(
            f"{where}: {key} lists {boolean}, as YAML reads names like "
            f"{'yes' if value else 'no'}; quote the name; the features are {listed(names)}"
        )
    return found[0]


def _at(position: int, names: Sequence[str], definition: Definition, key: str, where: str) -> str:
    """Return the column at a position that cannot be taken for a name."""
    named = str(position) in names
    if not 0 <= position < len(names):
        hint = f"; quote it, '\"{position}\"', to name the column" if named else ""
        raise DataError(
            f"{where}: {key} has the position {position}, but features are counted "
            f"from 0 to {len(names) - 1}{hint}"
        )
    if definition.own and named and names[position] != str(position):
        raise DataError(
            f"{where}: {key} lists {position}, which is the name of a column and the position of "
            f"another, {names[position]!r}; quote a name: '\"{position}\"' or "
            f"'\"{names[position]}\"'"
        )
    return names[position]
