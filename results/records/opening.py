"""Where records are read from: stores, packed files, and folders of packed files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from results.records.pack import better, count_packed, read_packed
from results.records.record import Record
from results.records.selection import no_records
from results.records.store import RecordStore


class Records(Protocol):
    """Records to iterate over, and what could not be read in the last pass."""

    unreadable: list[tuple[Path, str]]

    def __iter__(self) -> Iterator[Record]: ...

    def __len__(self) -> int: ...


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

    def __len__(self) -> int:
        return count_packed(self.file)


class MergedRecords:
    """Records of several places; of two with one key, :func:`results.records.pack.better`.

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

    def __len__(self) -> int:
        """Return how many records there are to merge, twins included."""
        return sum(len(part) for part in self.parts)


def open_records(*paths: Path) -> Records:
    """Return the records of one or more places.

    Parameters
    ----------
    *paths : Path
        Each a ``.parquet`` file, or a folder: its packed files and the store in it are read as one.

    Raises
    ------
    FileNotFoundError
        If one of the places holds no record, whatever the others hold.
    """
    parts = [part for path in paths for part in _parts(path)]
    return parts[0] if len(parts) == 1 else MergedRecords(parts)


def _parts(path: Path) -> list[Records]:
    if path.suffix == ".parquet" and not path.is_dir():
        parts: list[Records] = [PackedFile(path)]
    else:
        parts = [PackedFile(file) for file in packed_files(path)]
        store = RecordStore(path)
        if len(store):
            parts.append(store)
    if not any(len(part) for part in parts):
        below = path / "records"
        did_you_mean = len(RecordStore(below)) or packed_files(below)
        raise no_records(str(path), f"did you mean {below}?" if did_you_mean else "")
    return parts


def packed_files(folder: Path) -> list[Path]:
    """Return the packed files in a folder, sorted; none if it is no folder."""
    return sorted(folder.glob("*.parquet")) if folder.is_dir() else []
