"""From a published table to features and labels: the rules of a data set's YAML, in order."""

from __future__ import annotations

import logging

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasets.dataset import Dataset
from datasets.definition import Definition
from datasets.errors import DataError, listed
from datasets.features import missing, notes_on, numeric_matrix, select_features, used_columns
from datasets.labels import Labels
from datasets.tables import left_out_index

logger = logging.getLogger("datasets")


def preprocess(
    table: pa.Table, definition: Definition, origin: str, *, notes: bool | None = None
) -> Dataset:
    """Apply a data set's rules to the table that a source served.

    Parameters
    ----------
    table : pyarrow.Table
        The table as published, labels included.
    definition : Definition
        The rules: classes that go, columns that stay, which labels are anomalies.
    origin : str
        The source that served the table.
    notes : bool, optional
        Whether to say which columns became features, which labels are anomalies, and what is
        suspicious. Default: of data whose
        content is not known in advance.

    Raises
    ------
    DataError
        Naming the columns and the values, when the table does not fit the rules or is not numeric.
    """
    where = f"data set {definition.name!r}"
    target = _target(table, definition, where)
    labels = Labels(table[target], target, definition, where)
    mask = labels.rows(definition)
    rows = np.arange(len(labels.codes)) if mask is None else np.flatnonzero(mask)
    if len(rows) < 2:
        raise DataError(f"{where}: {len(rows)} rows are left, and at least 2 are needed")
    wrong_labels = None
    try:
        y = labels.anomalies(labels.codes[rows], definition)
    except DataError as error:
        wrong_labels = error  # said together with what is wrong with the columns
    try:
        X, names, left_out = _features(table.drop_columns([target]), mask, rows, definition, where)
    except DataError as error:
        if wrong_labels is None:
            raise
        also = str(wrong_labels).removeprefix(f"{where}: ")
        raise DataError(f"{str(error).rstrip('.')}. Besides, {also}") from error
    if wrong_labels is not None:
        raise wrong_labels
    if not definition.pinned if notes is None else notes:
        used = f"{used_columns(names, left_out)}; {labels.used(target, labels.codes[rows], y)}"
        for note in (used, *notes_on(X, y, names, rows)):
            # Of the level of warnings, so that it is said where nobody set up logging.
            logger.warning("%s: %s", where, note, extra={"note": True, "plain": note is used})
    if definition.repeats:
        # `repeat_first` counts rows as published.
        repeated = int(np.searchsorted(rows, definition.repeat_first))
        X, y, rows = (np.concatenate([part, part[:repeated]]) for part in (X, y, rows))
    for array in (X, y):
        array.flags.writeable = False
    expected = definition.expectation
    order = expected.ordered_digest if expected is not None else None
    served = None if mask is None and len(rows) == len(table) else rows
    return Dataset(definition.name, X, y, tuple(names), origin, order, served)


def _features(
    table: pa.Table,
    mask: NDArray[np.bool_] | None,
    rows: NDArray[np.intp],
    definition: Definition,
    where: str,
) -> tuple[NDArray[np.float64], list[str], dict[str, str]]:
    """Return the matrix, the names of its columns, and why each other column was left out."""
    left_out = dict.fromkeys(left_out_index(table), "index saved with the data")
    features = select_features(table, definition, where)
    key = "drop_columns" if definition.keep_columns is None else "not in keep_columns"
    kept = set(features.column_names)
    left_out |= {name: key for name in table.column_names if name not in kept}
    if mask is not None:
        features = features.filter(pa.array(mask))
    if definition.drop_missing_columns:
        gaps = [n for n in features.column_names if pc.any(missing(features[n])).as_py()]
        features = features.drop_columns(gaps)
        left_out |= dict.fromkeys(gaps, "values missing")
    X = numeric_matrix(features, rows, definition, where)
    names = features.column_names
    if definition.min_distinct:
        enough = [len(np.unique(column)) >= definition.min_distinct for column in X.T]
        X = np.ascontiguousarray(X[:, enough])
        few = f"fewer than {definition.min_distinct} distinct values"
        left_out |= {name: few for name, kept in zip(names, enough, strict=True) if not kept}
        names = [name for name, kept in zip(names, enough, strict=True) if kept]
    if not names:
        raise DataError(f"{where}: no feature is left")
    return X, names, left_out


def _target(table: pa.Table, definition: Definition, where: str) -> str:
    if definition.target is None:
        return table.column_names[-1]
    if definition.target not in table.column_names:
        raise DataError(
            f"{where}: there is no label column {definition.target!r}; "
            f"the columns are {listed(table.column_names)}"
        )
    return definition.target
