"""``grid.json``: which experiments were asked for, beside the records of those that were run.

Its format::

    {"cells": [{"dataset": ..., "algorithm": ..., "variant": ..., "setting": ..., "protocol": ...,
                "seed": 0, "asked": TIME, "keys": [KEY, ...]}, ...]}

with one key per split, in their order, and the time of the last run that asked for the cell.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from results.records.files import LOCKS, write_atomically
from results.records.store import RecordStore
from results.records.validation import Count, Name, Text


class GridError(ValueError):
    """A file ``grid.json`` does not hold a grid; the message says why."""


class AskedCell(BaseModel):
    """A cell as the file has it; earlier versions of this project wrote no time."""

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


def no_longer_ask(records: Path, keys: set[str]) -> None:
    """Take the cells out of a grid all of whose records had one of the keys and were removed."""
    file = grid_file(records)
    if not file.is_file():
        return
    with only_writer(records):
        store = RecordStore(records)
        kept: list[dict[str, Any]] = [
            cell.model_dump()
            for cell in read_grid(file)
            if not keys.intersection(cell.keys) or store.locate(cell.keys)
        ]
        write_atomically(file, json.dumps({"cells": kept}, indent=1).encode())


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
