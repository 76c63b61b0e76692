"""``grid.json``: which experiments were asked for, beside the records of those that were run."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from results.records.files import LOCKS, write_atomically
from results.records.opening import Selection, matches, names_of_algorithm
from results.records.store import RecordStore
from results.records.validation import Count, Name, Text


class GridError(ValueError):
    """A file ``grid.json`` does not hold a grid; the message says why."""


class AskedCell(BaseModel):
    """A cell as the file has it, with a key per split."""

    dataset: Name
    algorithm: Name
    variant: Text
    setting: Name
    protocol: Name
    seed: Count
    keys: list[Annotated[str, Field(pattern=r"^[0-9a-f]{16,128}$")]] = Field(min_length=1)


class _Grid(BaseModel):
    cells: list[AskedCell]


@dataclass(frozen=True)
class Asked:
    """A cell of which experiments were asked for.

    Attributes
    ----------
    protocol, setting, dataset, label : str
    seed : int
    keys : tuple of str
        Those of the experiments that were asked for.
    missing : int
        How many of them have no record.
    """

    protocol: str
    setting: str
    dataset: str
    label: str
    seed: int
    keys: tuple[str, ...]
    missing: int

    @property
    def planned(self) -> int:
        """How many experiments were asked for."""
        return len(self.keys)


def grid_file(records: Path) -> Path:
    """Return where the grid of a folder of records is kept."""
    return records.parent / "grid.json"


def asked_for(paths: Iterable[Path], selection: Selection) -> list[Asked]:
    """Return the selected cells of which experiments were asked for.

    Parameters
    ----------
    paths : iterable of Path
        Folders of records; other places have no grid beside them.
    selection : Selection

    Raises
    ------
    GridError
        If there is such a file that does not hold a grid.
    """
    found = []
    for path in paths:
        if path.suffix == ".parquet" or not grid_file(path).is_file():
            continue
        store = RecordStore(path)
        for cell in read_grid(grid_file(path)):
            label = f"{cell.algorithm}({cell.variant})" if cell.variant else cell.algorithm
            names = {
                "protocol": (cell.protocol,),
                "setting": (cell.setting,),
                "dataset": (cell.dataset,),
                "algorithm": names_of_algorithm(cell.algorithm, cell.variant),
                "seed": (str(cell.seed),),
            }
            missing = len(cell.keys) - len(store.locate(cell.keys))
            chosen = all(
                any(matches(name, pattern) for name in names[what] for pattern in patterns)
                for what, patterns in selection.asked().items()
                if patterns
            )
            if chosen:
                found.append(
                    Asked(
                        cell.protocol,
                        cell.setting,
                        cell.dataset,
                        label,
                        cell.seed,
                        tuple(cell.keys),
                        missing,
                    )
                )
    return found


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
