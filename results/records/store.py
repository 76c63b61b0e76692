"""Records below one folder, one small file each.

A record is written to a temporary name, flushed to the disk and renamed, so that a reader never
meets half a record and a run that is killed loses at most what was in flight.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from results.records.files import safe_name, write_atomically
from results.records.record import Record, RecordError, read_record

_SUFFIX: Final = ".json"
_KEY_CHARS: Final = 16  # of the digest, in file names
# Directory time stamps have the kernel's tick (some ms): a listing younger than this may have
# missed a file of the same tick, and is read again the next time.
_CERTAIN_SECONDS: Final = 1.0
_ABANDONED_SECONDS: Final = 3600.0


class CellName(NamedTuple):
    """The names of a cell as they stand in the paths of its records."""

    dataset: str
    label: str
    setting: str

    @classmethod
    def of(cls, dataset: str, label: str, setting: str) -> CellName:
        """Return the names of a cell in the form that paths have."""
        return cls(safe_name(dataset), safe_name(label), safe_name(setting))


class RecordStore:
    """The records below one folder.

    Parameters
    ----------
    path : path-like
        The folder, usually ``output/records``. It need not exist to be read.

    Attributes
    ----------
    unreadable : list of (Path, str)
        Files that the last scan, or a ``get`` since, could not read, and why. They count as
        missing, so the experiment runs again and replaces the file.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.unreadable: list[tuple[Path, str]] = []
        self._listed: dict[str, tuple[int, float]] = {}
        self._names: dict[str, list[str]] = {}  # of all files, by folder
        # Texts, of which thousands are compared each time that a folder has changed.
        self._files: dict[str, dict[str, str]] = {}  # by folder, by key
        self._paths: dict[str, str] = {}  # of all folders

    def path_of(self, record: Record) -> Path:
        """Return where a record is kept."""
        name = (
            f"{safe_name(record.setting)}-{safe_name(record.protocol)}-s{record.seed}"
            f"-{record.split}-{record.key[:_KEY_CHARS]}{_SUFFIX}"
        )
        return self.path / safe_name(record.dataset) / safe_name(record.label) / name

    def examples(self) -> dict[CellName, Path]:
        """Return one record file of each cell."""
        return {
            CellName(path.parent.parent.name, path.parent.name, path.name.partition("-")[0]): path
            for path in self.paths()
        }

    def get(self, key: str) -> Record | None:
        """Return the record with this key, None if there is none or its file is unreadable."""
        path = self.locate([key]).get(key)
        if path is None:
            return None
        try:
            record = read_record(path)
        except FileNotFoundError:
            return None
        except (RecordError, OSError) as error:
            self._note_unreadable(path, str(error))
            return None
        if record.key != key:
            self._note_unreadable(path, f"it is named for {key}, and holds {record.key}")
            return None
        return record

    def locate(self, keys: Iterable[str]) -> dict[str, Path]:
        """Return the files of those of some keys that have one; looks at the folders once."""
        self._refresh()
        known = self._paths
        return {key: Path(known[key[:_KEY_CHARS]]) for key in keys if key[:_KEY_CHARS] in known}

    def put(self, record: Record) -> Path:
        """Write a record durably, replacing one with the same key. Return its path."""
        self._refresh()
        path = self.path_of(record)
        old = self._paths.get(record.key[:_KEY_CHARS])
        data = json.dumps(record.to_dict(), ensure_ascii=False, separators=(",", ":"))
        write_atomically(path, data.encode("utf-8", "backslashreplace"))
        if old is not None and Path(old) != path:
            # The same experiment under another label (the YAML's own value changed since).
            Path(old).unlink(missing_ok=True)
        self._paths[record.key[:_KEY_CHARS]] = str(path)
        return path

    def remove(self, key: str) -> None:
        """Remove the record with this key, if there is one, and folders left empty."""
        path = self.locate([key]).get(key)
        if path is None:
            return
        path.unlink(missing_ok=True)
        del self._paths[key[:_KEY_CHARS]]
        self._names.clear()  # another run may write a file of this name before the next look
        for folder in (path.parent, path.parent.parent):
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()

    def __iter__(self) -> Iterator[Record]:
        """Read every record, in the order of the paths."""
        self.unreadable = []
        for path in self.paths():
            try:
                yield read_record(path)
            except FileNotFoundError:
                continue  # replaced or removed by another run since it was listed
            except (RecordError, OSError) as error:
                self._note_unreadable(path, str(error))

    def paths(self) -> list[Path]:
        """Return the record files, sorted."""
        self._refresh()
        return sorted(map(Path, self._paths.values()))

    def __len__(self) -> int:
        self._refresh()
        return len(self._paths)

    def tidy(self) -> int:
        """Remove what writers that were killed left behind; return how many files that were.

        A temporary file younger than an hour may be another run's that is being written.
        """
        removed = 0
        for dataset in _folders(self.path):
            for folder in _folders(dataset):
                for entry in os.scandir(folder):
                    old = entry.name.startswith(".") and entry.name.endswith(".tmp")
                    if old and time.time() - entry.stat().st_mtime > _ABANDONED_SECONDS:
                        with contextlib.suppress(FileNotFoundError):
                            os.unlink(entry.path)
                            removed += 1
        return removed

    def _note_unreadable(self, path: Path, reason: str) -> None:
        if all(path != known for known, _ in self.unreadable):
            self.unreadable.append((path, reason))

    def _refresh(self) -> None:
        """List the folders that changed since they were listed last.

        Another run may be writing to the same store, so no listing may be trusted for long; a
        time stamp per folder makes looking again cheap.
        """
        folders = [f for dataset in _folders(self.path) for f in _folders(dataset)]
        for folder in self._listed.keys() - set(folders):
            self._replace(folder, {})
            del self._listed[folder], self._files[folder]
            self._names.pop(folder, None)
        for folder in folders:
            stamp = os.stat(folder).st_mtime_ns
            known = self._listed.get(folder)
            if known and known[0] == stamp and known[1] - stamp / 1e9 > _CERTAIN_SECONDS:
                continue
            self._listed[folder] = (stamp, time.time())
            names = sorted(os.listdir(folder))
            if names != self._names.get(folder):
                self._names[folder] = names
                self._replace(folder, _record_files(folder, names))

    def _replace(self, folder: str, files: dict[str, str]) -> None:
        """Take note of what a folder holds now."""
        old = self._files.get(folder, {})
        self._files[folder] = files
        for key, path in files.items():
            known = self._paths.get(key)
            # Two files of one key: a writer was killed before it removed the old one.
            elsewhere = known is not None and os.path.dirname(known) != folder
            self._paths[key] = _newest([known, path]) if known and elsewhere else path
        for key in old.keys() - files.keys():
            if self._paths.get(key) == old[key]:
                twins = [other[key] for other in self._files.values() if key in other]
                if twins:
                    self._paths[key] = _newest(twins)
                else:
                    del self._paths[key]


def _folders(path: str | Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [e.path for e in entries if e.is_dir() and not e.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _record_files(folder: str, names: Iterable[str]) -> dict[str, str]:
    """Return the record files of a folder by the start of their keys."""
    found: dict[str, str] = {}
    for name in names:
        if name.endswith(_SUFFIX) and not name.startswith("."):
            key = name[: -len(_SUFFIX)].rpartition("-")[2]
            path = f"{folder}/{name}"
            found[key] = _newest([found[key], path]) if key in found else path
    return found


def _newest(paths: Iterable[str]) -> str:
    def written(path: str) -> int:
        try:
            return os.stat(path).st_mtime_ns
        except FileNotFoundError:
            return 0  # removed since it was listed

    return max(paths, key=written)
