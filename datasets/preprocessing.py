"""From a published table to features and labels: the rules of a data set's YAML, in order."""

from __future__ import annotations

import logging

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets.dataset import Dataset
from datasets.definition import Definition
from datasets.errors import DataError, listed
from datasets.features import missing, notes_on, numeric_matrix, select_features
from datasets.labels import Labels

logger = logging.getLogger("datasets")


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
        Naming the columns and the values, when the table does not fit the rules or is not numeric.
    """
    where = f"data set {definition.name!r}"
    target = _target(table, definition, where)
    labels = Labels(table[target], target, definition, where)
    mask = labels.rows(definition)
    features = select_features(table.drop_columns([target]), definition, where)
    rows = np.arange(len(labels.codes))
    if mask is not None:
        features, rows = features.filter(pa.array(mask)), rows[mask]
    if len(rows) < 2:
        raise DataError(f"{where}: {len(rows)} rows are left, and at least 2 are needed")
    if definition.drop_missing_columns:
        whole = [n for n in features.column_names if not pc.any(missing(features[n])).as_py()]
        features = features.select(whole)
    X = numeric_matrix(features, rows, definition, where)
    names = np.array(features.column_names, dtype=object)
    if definition.min_distinct:
        enough = np.array([len(np.unique(column)) >= definition.min_distinct for column in X.T])
        X, names = np.ascontiguousarray(X[:, enough]), names[enough]
    if X.shape[1] == 0:
        raise DataError(f"{where}: no feature is left")
    y = labels.anomalies(labels.codes[rows], definition)
    if not definition.pinned:
        for note in notes_on(X, y, names.tolist(), rows):
            logger.warning("%s: %s", where, note)
    if definition.repeats:
        # `repeat_first` counts rows as published.
        repeated = int(np.searchsorted(rows, definition.repeat_first))
        X, y = np.concatenate([X, X[:repeated]]), np.concatenate([y, y[:repeated]])
    for array in (X, y):
        array.flags.writeable = False
    expected = definition.expectation
    order = expected.ordered_digest if expected is not None else None
    return Dataset(definition.name, X, y, tuple(names.tolist()), origin, order)


def _target(table: pa.Table, definition: Definition, where: str) -> str:
    if definition.target is None:
        return table.column_names[-1]
    if definition.target not in table.column_names:
        raise DataError(
            f"{where}: there is no label column {definition.target!r}; "
            f"the columns are {listed(table.column_names)}"
        )
    return definition.target
