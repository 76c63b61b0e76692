"""Where records are read from: stores, packed files, and folders of packed files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from results.pack import better, read_packed
from results.records import Record, RecordStore


class Records(Protocol):
    """Records to iterate over, and what could not be read in the last pass."""

    unreadable: list[tuple[Path, str]]

    def __iter__(self) -> Iterator[Record]: ...


class PackedFile:
    """The records of a packed file.

    Parameters
    ----------
    file : Path
    """

    def __init__(self, file: Path):
        self.file = file
        self.unreadable: list[tuple[Path, str]] = []

    def __iter__(self) -> Iterator[Record]:
        return read_packed(self.file)


class MergedRecords:
    """Records of several places; of two with one key, :func:`results.pack.better`.

    Parameters
    ----------
    parts : list of Records
    """

    def __init__(self, parts: list[Records]):
        self.parts = parts
        self.unreadable: list[tuple[Path, str]] = []

    def __iter__(self) -> Iterator[Record]:
        best: dict[str, Record] = {}
        for part in self.parts:
            for record in part:
                known = best.get(record.key)
                best[record.key] = record if known is None else better(known, record)
        self.unreadable = [entry for part in self.parts for entry in part.unreadable]
        yield from best.values()


def open_records(*paths: Path) -> Records:
    """Return the records of one or more places.

    Parameters
    ----------
    *paths : Path
        Each a ``.parquet`` file, a folder that holds such files, or the folder of a record store.

    Raises
    ------
    FileNotFoundError
        If a packed file is named that is not there.
    """
    parts = [part for path in paths for part in _parts(path)]
    return parts[0] if len(parts) == 1 else MergedRecords(parts)


def _parts(path: Path) -> list[Records]:
    if path.suffix == ".parquet":
        if not path.is_file():
            raise FileNotFoundError(f"there is no packed file {path}")
        return [PackedFile(path)]
    packed = sorted(path.glob("*.parquet")) if path.is_dir() else []
    return [PackedFile(file) for file in packed] if packed else [RecordStore(path)]
