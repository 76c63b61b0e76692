"""Splits that come from elsewhere: a file of row numbers, or a splitter of one's own."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import itertools
import logging
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from datasets.dataset import Dataset
from datasets.errors import DataError
from datasets.protocols.schema import Splitter
from datasets.strict import suggestion

logger = logging.getLogger("datasets")

Rows = NDArray[np.intp]
_PARTS = ("train", "test")


def indices_path(pattern: str, dataset: str) -> Path:
    """Return the file of row numbers for a data set."""
    return Path(pattern.replace("{dataset}", dataset)).expanduser()


def indices_key(pattern: str | None, dataset: str) -> str | None:
    """Digest the file of row numbers for a data set: another file makes other splits.

    Returns
    -------
    str or None
        The sha256 of the file; None without one.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    if pattern is None:
        return None
    path = indices_path(pattern, dataset)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"protocol.indices: {path}: {error.strerror}") from error


def splits_in_file(pattern: str, dataset: str) -> int:
    """Return how many splits of a data set the file of `Protocol.indices` has.

    It is said if a row trains and is tested, or counts twice, which may be on purpose.

    Raises
    ------
    DataError
        If the file cannot be read or has other columns, if its splits are not numbered from 0, or
        if a split lacks one of its parts.
    """
    path = indices_path(pattern, dataset)
    table = _read(path, dataset)
    pairs = table.group_by(["split", "part"]).aggregate([]).to_pylist()
    parts = {(pair["split"], pair["part"]) for pair in pairs}
    numbers = {split for split, _ in parts}
    if not numbers:
        raise DataError(f"protocol.indices: {path} has no row of {dataset!r}")
    if odd := sorted(numbers - set(range(len(numbers))), key=str):
        raise DataError(
            f"protocol.indices: {path}: the splits of {dataset!r} are numbered 0, 1, 2, ...; "
            f"there is a split {odd[0]}, and {len(numbers)} in all"
        )
    for split, part in product(sorted(numbers), _PARTS):
        if (split, part) not in parts:
            raise _without(path, dataset, split, part)
    rows = table.select(["split", "row"]).to_pandas()
    if repeated := int(rows.duplicated().sum()):
        text = f"protocol.indices: {path}: of {dataset!r}, {repeated} rows are in a split twice"
        logger.warning(f"{text}, in one part or in both", extra={"note": True})
    return len(numbers)


def from_file(pattern: str, dataset: Dataset, split: int) -> tuple[Rows, Rows]:
    """Return the parts of a split as the file of `Protocol.indices` has them.

    Raises
    ------
    DataError
        If the file cannot be read, has other columns, or has no such split, or if a number, in
        whichever split, is not one of a row.
    """
    path = indices_path(pattern, dataset.name)
    table = _read(path, dataset.name)
    # Those of all splits, lest a mistake in a later one is found when the others have run.
    positions = _positions(table["row"].to_numpy(), dataset, f"protocol.indices: {path}")
    table = table.set_column(2, "row", pa.array(positions))
    table = table.filter(pc.equal(table["split"], split))
    parts = []
    for part in _PARTS:
        rows = table["row"].filter(pc.equal(table["part"], part)).to_numpy()
        if not len(rows):
            raise _without(path, dataset.name, split, part)
        parts.append(rows)
    return parts[0], parts[1]


def _positions(rows: NDArray[Any], dataset: Dataset, where: str) -> Rows:
    """Return where the rows of these numbers in the source stand in the data set."""
    if dataset.rows is None:
        return _checked(rows, len(dataset.y), where)
    rows = _checked(rows, np.iinfo(np.intp).max, where)
    order = np.argsort(dataset.rows)
    places = np.searchsorted(dataset.rows, rows, sorter=order)
    found = order[np.minimum(places, len(order) - 1)]
    if (absent := dataset.rows[found] != rows).any():
        raise DataError(
            f"{where}: row {rows[absent][0]} of the source is none of {dataset.name!r}: its class "
            "is dropped, or there is no such row"
        )
    return found


def _read(path: Path, dataset: str) -> pa.Table:
    """Return the columns ``split``, ``part`` and ``row`` of a data set's rows."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"protocol.indices: {path}: {error}") from error
    if missing := {"split", "part", "row"} - set(table.column_names):
        raise DataError(
            f"protocol.indices: {path} has no column {', '.join(sorted(missing))}; "
            f"its columns are {', '.join(table.column_names)}"
        )
    known = ("split", "part", "row", "dataset")
    # The index that pandas saves beside the columns says nothing.
    named = [name for name in table.column_names if not name.startswith("__index_level_")]
    if unknown := [name for name in named if name not in known]:
        raise DataError(
            f"protocol.indices: {path}: unknown column {unknown[0]}"
            f"{suggestion(unknown[0], known)}; the columns are {', '.join(known)}"
        )
    if empty := [name for name in named if table[name].null_count]:
        raise DataError(f"protocol.indices: {path}: column {empty[0]} has rows without a value")
    if "dataset" in table.column_names:
        table = table.filter(pc.equal(table["dataset"].cast(pa.string()), dataset))
    table = table.select(["split", "part", "row"])
    if not pa.types.is_integer(table["split"].type):
        raise DataError(
            f"protocol.indices: {path}: split is a whole number; got {table['split'].type}"
        )
    table = table.set_column(1, "part", table["part"].cast(pa.string()))
    if unknown := sorted(set(table["part"].unique().to_pylist()) - set(_PARTS), key=str):
        raise DataError(f"protocol.indices: {path}: part is train or test; got {unknown[0]!r}")
    return table


def _without(path: Path, dataset: str, split: int, part: str) -> DataError:
    return DataError(
        f"protocol.indices: {path} has no row of split {split} of {dataset!r} for part {part}"
    )


def check_splitter(splitter: Splitter, n_splits: int, seeds: Sequence[int] | None = None) -> None:
    """Build a splitter, to find out what is wrong with it.

    Parameters
    ----------
    splitter, seeds
        As for `from_splitter`.
    n_splits : int
        How many splits are asked for.

    Raises
    ------
    DataError
        If its class does not exist, refuses its parameters, or does not split, or if it says, as
        scikit-learn's do, that it has fewer pairs.
    """
    built, takes_seed = _build(splitter, 0)
    if takes_seed and seeds is not None:
        return
    try:
        held = int(built.get_n_splits())
    except (AttributeError, TypeError, ValueError):
        return  # a class that does not know, or depends on the data
    if held < n_splits:
        raise DataError(
            f"protocol.cut: {splitter.target} makes {held} splits, and {n_splits} are asked for: "
            f"n_splits={held}"
        )


def from_splitter(
    splitter: Splitter,
    X: NDArray[np.float64],
    y: NDArray[np.int8],
    seed: int,
    split: int,
    seeds: Sequence[int] | None = None,
) -> tuple[Rows, Rows]:
    """Return the parts of a split that a splitter yields.

    Parameters
    ----------
    splitter : Splitter
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    seed, split : int
        The `random_state` of a splitter that takes one and is given none is the root seed, and
        split i its i-th pair.
    seeds : sequence of int, optional
        `Protocol.seeds`: such a splitter is built anew for each, with the seed itself as its
        `random_state`, and its first pair is the split.

    Returns
    -------
    train, test : ndarray
        Positions in `X`.

    Raises
    ------
    DataError
        If the splitter cannot be built or yields no such pair, or a number is not one of a row.
    """
    built, takes_seed = _build(splitter, seed if seeds is None else seeds[split])
    position = 0 if takes_seed and seeds is not None else split
    found = next(itertools.islice(built.split(X, y), position, None), None)
    if found is None:
        raise DataError(f"protocol.cut: {splitter.target} yields no split {split}")
    train, test = (
        _checked(np.asarray(rows), len(y), f"protocol.cut: {splitter.target}") for rows in found
    )
    return train, test


def _build(splitter: Splitter, seed: int) -> tuple[Any, bool]:
    """Return the splitter, and whether the seed is its `random_state`."""
    module, _, name = splitter.target.rpartition(".")
    try:
        constructor = getattr(importlib.import_module(module), name)
        parameters = inspect.signature(constructor).parameters
        given = dict(splitter.model_extra or {})
        # Cross-validators that do not shuffle refuse a random_state.
        shuffles = given.get("shuffle", getattr(parameters.get("shuffle"), "default", True))
        takes_seed = (
            "random_state" in parameters and given.get("random_state") is None and bool(shuffles)
        )
        if takes_seed:
            given["random_state"] = seed
        built = constructor(**given)
    except ModuleNotFoundError as error:
        from datasets.mistakes import not_imported  # with Hydra, which nothing else needs

        raise DataError(f"protocol.cut: {not_imported(splitter.target, error)}") from error
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise DataError(f"protocol.cut: _target_ {splitter.target!r}: {error}") from error
    if not callable(getattr(built, "split", None)):
        raise DataError(f"protocol.cut: {splitter.target} has no method split(X, y)")
    return built, takes_seed


def _checked(rows: NDArray[Any], n: int, where: str) -> Rows:
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise DataError(f"{where}: rows are numbered by whole numbers; got {rows.dtype}")
    outside = (rows < 0) | (rows >= n)
    if outside.any():
        raise DataError(f"{where}: there is no row {rows[outside][0]}; rows go from 0 to {n - 1}")
    return rows.astype(np.intp)
