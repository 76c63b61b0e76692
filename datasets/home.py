"""The data home: a folder of Parquet files, one per data set, that notices damage.

Beside NAME.parquet lies NAME.json with its sha256 and origin, both written under a temporary name
and renamed. A file without such a companion was put there by hand. It is taken as it is: published
data sets are held to their digest in any case.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from datasets.errors import SourceFailed
from datasets.tables import drop_index

logger = logging.getLogger("datasets")


def read_parquet(source: Path | pa.BufferReader, target: str | None) -> pa.Table:
    """Read a table; its label column comes dictionary-encoded, which spares a text per row.

    One thread: the caller may fork afterwards, and Arrow's thread pool does not survive that.
    """
    dictionary = [target] if target is not None else None
    return drop_index(pq.read_table(source, read_dictionary=dictionary, use_threads=False))


@dataclass(frozen=True)
class Stored:
    """A table from the data home.

    Attributes
    ----------
    table : pyarrow.Table
        As its source served it.
    origin : str or None
        The kind of that source; None for a file that was put there by hand.
    """

    table: pa.Table
    origin: str | None


class DataHome:
    """A folder of tables.

    Parameters
    ----------
    folder : Path
        Made when the first table is stored. May be read-only.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Return where a table is."""
        return self.folder / f"{name}.parquet"

    def companion(self, name: str) -> Path:
        """Return where a table's sha256 and origin are."""
        return self.folder / f"{name}.json"

    def read(self, name: str, target: str | None) -> Stored:
        """Return a stored table.

        Raises
        ------
        SourceFailed
            If there is none, or it is not as it was stored.
        """
        path = self.path(name)
        try:
            return self._read(name, target)
        except FileNotFoundError:
            raise SourceFailed(f"no {path.name} in {self.folder}") from None
        except _Damaged:
            # Another process may be between its two renames: look again when it has finished.
            with self._lock():
                try:
                    return self._read(name, target)
                except (_Damaged, FileNotFoundError) as damage:
                    logger.warning("%s is damaged: %s", path, damage)
                    raise SourceFailed(f"{path} is damaged: {damage}") from None
        except OSError as error:
            raise SourceFailed(f"{path} cannot be read: {error}") from error

    def _read(self, name: str, target: str | None) -> Stored:
        # Read once, so that what is checked is what is parsed.
        data = self.path(name).read_bytes()
        origin = None
        with contextlib.suppress(FileNotFoundError):
            companion = _parse_companion(self.companion(name).read_text())
            origin = str(companion["origin"])
            if hashlib.sha256(data).hexdigest() != companion["sha256"]:
                raise _Damaged("its sha256 is not the one noted when it was stored")
        try:
            return Stored(read_parquet(pa.BufferReader(data), target), origin)
        except (pa.ArrowException, OSError) as error:
            reason = " ".join(str(error).split())
            raise _Damaged(f"it is not a Parquet file ({len(data)} bytes): {reason}") from error

    def put_by_hand(self, name: str) -> str | None:
        """Return the sha256 of a table that is here without a note of where it came from."""
        if self.companion(name).exists():
            return None
        try:
            return hashlib.sha256(self.path(name).read_bytes()).hexdigest()
        except OSError:
            return None  # said when the table is read

    def store(self, name: str, table: pa.Table, origin: str, url: str) -> None:
        """Store what a source served.

        Parameters
        ----------
        name : str
            The table's name.
        table : pyarrow.Table
            The table, already checked.
        origin : str
            The source's kind.
        url : str
            What it was asked for, for people.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._lock(), self._temporary(name) as data, self._temporary(name) as note:
                pq.write_table(table, data, compression="zstd")
                _sync(data)
                digest = hashlib.sha256(data.read_bytes()).hexdigest()
                note.write_text(
                    json.dumps({"sha256": digest, "origin": origin, "url": url}, indent=2) + "\n"
                )
                _sync(note)
                self._set_aside(name)
                data.replace(self.path(name))
                note.replace(self.companion(name))
        except OSError as error:
            logger.warning("%s is not kept: %s cannot be written (%s)", name, self.folder, error)

    def file(self, name: str, sha256: str) -> Path | None:
        """Return where a downloaded file is, or None if it is not here as it was published."""
        path = self.folder / name
        if not path.is_file():
            return None
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != sha256:
            logger.warning(
                "%s has the sha256 %s, %s expected: it is not used", path, digest, sha256
            )
            return None
        return path

    def keep(self, name: str, download: Path) -> None:
        """Store a downloaded file, whose sha256 was checked."""
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._temporary(path.name) as copy:
                shutil.copyfile(download, copy)
                _sync(copy)
                copy.replace(path)
        except OSError as error:
            logger.warning("%s is not kept: %s cannot be written (%s)", name, self.folder, error)

    def _set_aside(self, name: str) -> None:
        """Keep a file that somebody put here by hand, and that turned out to be another table."""
        path = self.path(name)
        if path.exists() and not self.companion(name).exists():
            path.replace(path.with_suffix(".parquet.rejected"))

    @contextlib.contextmanager
    def _temporary(self, name: str) -> Iterator[Path]:
        """Yield the path of a new file in this folder, and remove the file if it is still there."""
        handle, path = tempfile.mkstemp(dir=self.folder, prefix=f".{name}-", suffix=".tmp")
        os.close(handle)
        os.chmod(path, 0o644)  # others may share the data home; mkstemp makes it private
        try:
            yield Path(path)
        finally:
            Path(path).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold off other processes, where the folder can be written."""
        try:
            file = (self.folder / ".lock").open("a")
        except OSError:
            yield
            return
        with file:
            with contextlib.suppress(OSError):  # file systems without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def sweep(self) -> None:
        """Remove what killed processes left half-written."""
        if not self.folder.is_dir():
            return
        with self._lock():  # no other process is writing
            for path in self.folder.glob(".*.tmp"):
                logger.warning("%s was left half-written and is removed", path)
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)


class _Damaged(Exception):  # noqa: N818 (the state of a file)
    """A stored table is not as it was stored."""


def _parse_companion(text: str) -> dict[str, Any]:
    try:
        companion = json.loads(text)
        return {"sha256": companion["sha256"], "origin": companion["origin"]}
    except (ValueError, KeyError, TypeError) as error:
        raise _Damaged("the note of its sha256 is unreadable") from error


def _sync(path: Path) -> None:
    """Write a file through to the disk, so that a rename never shows an empty one after a crash."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
