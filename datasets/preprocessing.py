"""From a published table to features and labels: the rules of a data set's YAML, in order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasets.dataset import Dataset
from datasets.definition import Definition, label_key
from datasets.errors import DataError

# How many names or labels an error message lists before it stops.
_LISTED = 12


def preprocess(table: pa.Table, definition: Definition, origin: str) -> Dataset:
    """Apply a data set's rules to the table that a source served.

    Parameters
    ----------
    table : pyarrow.Table
        The table as published, labels included.
    definition : Definition
        The rules: classes that go, columns that stay, which labels are anomalies.
    origin : str
        The source that served the table.

    Raises
    ------
    DataError
        Naming the column and the value, when the table does not fit the rules or is not numeric.
    """
    where = f"data set {definition.name!r}"
    target = _target(table, definition, where)
    labels, codes = _labels(table, target, where)
    rows = _rows(labels, codes, definition, where)
    features = table.drop_columns([target])
    features = _select(features, definition, where)
    if rows is not None:
        features, codes = features.filter(pa.array(rows)), codes[rows]
    if len(codes) < 2:
        raise DataError(f"{where}: {len(codes)} rows are left, and at least 2 are needed")
    if definition.drop_missing_columns:
        features = features.select(
            [n for n in features.column_names if not _n_missing(features[n])]
        )
    X = np.empty((features.num_rows, features.num_columns))
    for j, name in enumerate(features.column_names):
        X[:, j] = _numbers(features[name], name, where)
    names = np.array(features.column_names, dtype=object)
    if definition.min_distinct:
        enough = np.array([len(np.unique(column)) >= definition.min_distinct for column in X.T])
        X, names = np.ascontiguousarray(X[:, enough]), names[enough]
    if X.shape[1] == 0:
        raise DataError(f"{where}: no feature is left")
    y = _anomalies(labels, codes, definition, where)
    if definition.repeats:
        X = np.concatenate([X, X[: _repeated(definition, rows)]])
        y = np.concatenate([y, y[: _repeated(definition, rows)]])
    for array in (X, y):
        array.flags.writeable = False
    expected = definition.expectation
    order = expected.ordered_digest if expected is not None else None
    return Dataset(definition.name, X, y, tuple(names.tolist()), origin, order)


def _repeated(definition: Definition, rows: NDArray[np.bool_] | None) -> int:
    """Count the rows that are repeated and left: `repeat_first` counts rows as published."""
    if rows is None:
        return definition.repeat_first
    return int(np.count_nonzero(rows[: definition.repeat_first]))


def _target(table: pa.Table, definition: Definition, where: str) -> str:
    if definition.target is None:
        return table.column_names[-1]
    if definition.target not in table.column_names:
        raise DataError(
            f"{where}: there is no label column {definition.target!r}; "
            f"the columns are {_listed(table.column_names)}"
        )
    return definition.target


def _labels(table: pa.Table, target: str, where: str) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct labels, spelled uniformly, and every row's position among them."""
    column = table[target]
    if not len(column):
        raise DataError(f"{where}: 0 rows are left, and at least 2 are needed")
    if missing := _n_missing(column):
        raise DataError(
            f"{where}: {missing} of {len(column)} labels are missing in column {target!r}"
        )
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    encoded = column.unify_dictionaries().combine_chunks()
    spelled = [label_key(value) for value in encoded.dictionary.to_pylist()]
    labels = sorted(set(spelled))
    position = np.array([labels.index(label) for label in spelled], dtype=np.intp)
    return labels, position[encoded.indices.to_numpy(zero_copy_only=False)]


def _rows(
    labels: list[str], codes: NDArray[np.intp], definition: Definition, where: str
) -> NDArray[np.bool_] | None:
    """Return the mask of the rows to keep, or None to keep all."""
    classes = definition.keep_classes or definition.drop_classes
    if classes is None:
        return None
    key = "keep_classes" if definition.keep_classes else "drop_classes"
    _require_labels(classes, labels, key, where)
    mask = np.isin(codes, [labels.index(label) for label in classes])
    return mask if definition.keep_classes else ~mask


def _require_labels(wanted: Sequence[str], labels: list[str], key: str, where: str) -> None:
    for label in wanted:
        if label not in labels:
            raise DataError(
                f"{where}: the label {label!r} of {key} does not occur; "
                f"the labels are {_listed(labels)}"
            )


def _anomalies(
    labels: list[str], codes: NDArray[np.intp], definition: Definition, where: str
) -> NDArray[np.int8]:
    listed = definition.anomalies if definition.anomalies is not None else definition.normal
    assert listed is not None  # Definition holds exactly one of the two
    key = "anomalies" if definition.anomalies is not None else "normal"
    left = [labels[code] for code in np.unique(codes)]
    _require_labels(listed, left, key, where)
    inside = np.isin(codes, [labels.index(label) for label in listed])
    y = (inside if key == "anomalies" else ~inside).astype(np.int8)
    if y.all() or not y.any():
        raise DataError(
            f"{where}: with {key} {list(listed)} all {len(y)} rows are "
            f"{'anomalies' if y.all() else 'normal'}; the labels are {_listed(left)}"
        )
    return y


def _select(features: pa.Table, definition: Definition, where: str) -> pa.Table:
    """Keep or drop the columns that the definition lists, by name or by position."""
    if definition.keep_columns is not None:
        return features.select(_resolve(definition.keep_columns, features, "keep_columns", where))
    if definition.drop_columns is not None:
        return features.drop_columns(
            _resolve(definition.drop_columns, features, "drop_columns", where)
        )
    return features


def _resolve(columns: Sequence[str | int], features: pa.Table, key: str, where: str) -> list[str]:
    names = features.column_names
    for column in columns:
        if isinstance(column, int) and not 0 <= column < len(names):
            raise DataError(
                f"{where}: {key} has the position {column}, but features are counted "
                f"from 0 to {len(names) - 1}"
            )
        if isinstance(column, str) and column not in names:
            raise DataError(
                f"{where}: {key} names {column!r}, which is no feature; "
                f"the features are {_listed(names)}"
            )
    resolved = [names[column] if isinstance(column, int) else column for column in columns]
    for name in resolved:
        if resolved.count(name) > 1:
            raise DataError(
                f"{where}: {key} lists the column {name!r} {resolved.count(name)} times, by name "
                "or by position; list it once"
            )
    return resolved


def _n_missing(column: pa.ChunkedArray) -> int:
    """Count missing values: nulls, NaN and empty texts."""
    missing = column.null_count
    if pa.types.is_floating(column.type):
        missing += pc.sum(pc.is_nan(column)).as_py() or 0
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        missing += pc.sum(pc.equal(pc.utf8_trim_whitespace(column), "")).as_py() or 0
    return missing


def _numbers(column: pa.ChunkedArray, name: str, where: str) -> NDArray[np.float64]:
    """Return a column's numbers, or say which value is none."""
    numeric = (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_decimal(column.type)
        or pa.types.is_boolean(column.type)
    )
    if not numeric and len(column) > column.null_count:
        value = str(column.drop_null()[0].as_py())
        kind = "dates or times" if _is_date(value) else "text"
        raise DataError(
            f"{where}: column {name!r} holds {kind} ({value!r}), and features must be numbers; "
            "leave it out with drop_columns, or turn it into numbers first"
        )
    if missing := _n_missing(column):
        raise DataError(
            f"{where}: {missing} of {len(column)} values are missing in column {name!r}; "
            "leave it out with drop_columns or drop_missing_columns, or fill them in first"
        )
    # Integers beyond 2**53 become the nearest float; Arrow calls that unsafe, and would refuse.
    values = column.cast(pa.float64(), safe=False).to_numpy()
    if not np.isfinite(values).all():
        raise DataError(
            f"{where}: column {name!r} holds an infinite value in row "
            f"{int(np.argmin(np.isfinite(values)))} (counted from 0)"
        )
    return values


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_LISTED])
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown
