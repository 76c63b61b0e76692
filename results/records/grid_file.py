"""``grid.json``: which experiments were asked for, beside the records of those that were run.

Its format::

    {"cells": [{"dataset": ..., "algorithm": ..., "variant": ..., "setting": ..., "protocol": ...,
                "seed": 0, "asked": TIME, "keys": [KEY, ...]}, ...]}

with one key per split, in their order, and the time of the last run that asked for the cell.
`python -m results status` reads it, and so knows cells without a record.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from results.records.files import LOCKS, write_atomically
from results.records.store import RecordStore
from results.records.validation import Count, Name, Text


class GridError(ValueError):
    """A file ``grid.json`` does not hold a grid; the message says why."""


class AskedCell(BaseModel):
    """A cell as the file has it; earlier versions of this project wrote no time."""

    model_config = ConfigDict(from_attributes=True)

    dataset: Name
    algorithm: Name
    variant: Text
    setting: Name
    protocol: Name
    seed: Count
    asked: Text = ""
    keys: list[Annotated[str, Field(pattern=r"^[0-9a-f]{16,128}$")]] = Field(min_length=1)


class _Grid(BaseModel):
    cells: list[AskedCell]


def grid_file(records: Path) -> Path:
    """Return where the grid of a folder of records is kept."""
    return records.parent / "grid.json"


@contextlib.contextmanager
def only_writer(records: Path) -> Iterator[None]:
    """Wait until no other process changes the grid of these records, and keep others waiting."""
    folder = records / LOCKS
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".grid", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ask(store: RecordStore, cells: Iterable[object], *, is_part: bool) -> None:
    """Add the cells of a run to the grid; a file that holds no grid is written anew.

    Parameters
    ----------
    store : RecordStore
    cells : iterable
        Objects with the attributes of `AskedCell`.
    is_part : bool
        Whether others of the same run are added by other processes: then all cells in the file
        stay, and else those of earlier runs that have a record.
    """
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    file = grid_file(store.path)
    with only_writer(store.path):
        merged = {cell.keys[0]: cell for cell in _known(file) if is_part or store.locate(cell.keys)}
        for asked in cells:
            cell = AskedCell.model_validate(asked)
            known = merged[cell.keys[0]].keys if cell.keys[0] in merged else []
            keys = max(known, cell.keys, key=len)
            merged[cell.keys[0]] = cell.model_copy(update={"asked": now, "keys": keys})
        _write(file, merged.values())


def _known(file: Path) -> list[AskedCell]:
    try:
        return read_grid(file) if file.is_file() else []
    except GridError:
        return []


def _write(file: Path, cells: Iterable[AskedCell]) -> None:
    text = json.dumps({"cells": [cell.model_dump() for cell in cells]}, indent=1)
    write_atomically(file, text.encode())


def no_longer_ask(records: Path, keys: set[str]) -> None:
    """Take the cells out of a grid all of whose records had one of the keys and were removed."""
    file = grid_file(records)
    if not file.is_file():
        return
    with only_writer(records):
        store = RecordStore(records)
        kept = [
            cell
            for cell in read_grid(file)
            if not keys.intersection(cell.keys) or store.locate(cell.keys)
        ]
        _write(file, kept)


def read_grid(file: Path) -> list[AskedCell]:
    """Return the cells of a grid.

    Raises
    ------
    GridError
        If the file does not hold a grid.
    """
    try:
        return _Grid.model_validate_json(file.read_bytes()).cells
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise GridError(
            f"{file} does not hold a grid ({where}: {first['msg']}); remove it: the next run "
            "writes it anew"
        ) from error


def last_asked(records: Path) -> dict[str, str]:
    """Return when a run last asked for each key, as far as the grid of these records says."""
    file = grid_file(records)
    cells = read_grid(file) if file.is_file() else []
    return {key: cell.asked for cell in cells for key in cell.keys}
