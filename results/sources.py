"""Where records are read from: a store, a packed file, or a folder of packed files."""

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


class PackedRecords:
    """The records of packed files; of two with one key, :func:`results.pack.better`.

    Parameters
    ----------
    files : list of Path
    """

    def __init__(self, files: list[Path]):
        self.files = files
        self.unreadable: list[tuple[Path, str]] = []

    def __iter__(self) -> Iterator[Record]:
        if len(self.files) == 1:
            yield from read_packed(self.files[0])
            return
        best: dict[str, Record] = {}
        for file in self.files:
            for record in read_packed(file):
                known = best.get(record.key)
                best[record.key] = record if known is None else better(known, record)
        yield from best.values()


def open_records(path: Path) -> Records:
    """Return the records at `path`.

    Parameters
    ----------
    path : Path
        A ``.parquet`` file, a folder that holds such files, or the folder of a record store.

    Raises
    ------
    FileNotFoundError
        If a packed file is named that is not there.
    """
    if path.suffix == ".parquet":
        if not path.is_file():
            raise FileNotFoundError(f"there is no packed file {path}")
        return PackedRecords([path])
    packed = sorted(path.glob("*.parquet")) if path.is_dir() else []
    return PackedRecords(packed) if packed else RecordStore(path)
