"""Records: what one experiment left behind, one small file each.

A record is written to a temporary name, flushed to the disk and renamed, so that a reader never
meets half a record and a run that is killed loses at most what was in flight.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from results.encoding import Curves

Status = Literal["ok", "timeout", "memory", "crashed", "error", "no_data", "skipped"]

STATUSES: Final[tuple[str, ...]] = get_args(Status)
"""The closed vocabulary of outcomes. ``timeout`` and ``skipped`` are the paper's NA."""

NA_STATUSES: Final = frozenset({"timeout", "skipped"})
"""What tables print as NA: a deadline that passed, and the splits not tried because of it."""

FAILED_STATUSES: Final = frozenset({"memory", "crashed", "error", "no_data"})
"""Failures in the strict sense: retried on demand only, and reflected in the exit status."""

FORMAT: Final = 1
_SUFFIX: Final = ".json"
_KEY_CHARS: Final = 16  # of the digest, in file names
# Directory time stamps have the kernel's tick (some ms): a listing younger than this may have
# missed a file of the same tick, and is read again the next time.
_SETTLED_SECONDS: Final = 1.0
_ABANDONED_SECONDS: Final = 3600.0


class RecordError(ValueError):
    """A record file cannot be read; the message says why."""


@dataclass(frozen=True)
class Record:
    """The outcome of one experiment: one fit and one scoring on one split.

    Attributes
    ----------
    key : str
        Hexadecimal digest of what determines the outcome: resolved data set, algorithm, setting,
        protocol, seed and split.
    dataset, algorithm, setting, protocol : str
        Names in the configuration.
    variant : str
        Parameters of the algorithm that differ from its YAML file, ``"a=1,b=2"``, sorted; empty if
        none does.
    seed, split : int
    status : str
        One of :data:`STATUSES`.
    metrics : dict of str to float
        ``roc_auc``, ``average_precision``, ``roc_auc_curve``, ``pr_auc_curve``; empty unless ok.
    curves : mapping of str to ndarray of shape (1000,)
        ``roc`` (true positive rate) and ``pr`` (precision) on an even grid of [0, 1]; empty
        unless ok.
    fit_seconds, fit_cpu_seconds, score_seconds, score_cpu_seconds : float or None
        Wall clock and processor time (user and system, all threads).
    peak_memory_mb : float or None
        Largest resident memory (MiB) of the experiment's process group, less what it held when
        fit began (interpreter, libraries, data): what the algorithm itself needed.
    counts : dict of str to int
        ``n_train``, ``n_test``, ``n_features``, ``n_anomalies_train``, ``n_anomalies_test``.
    uses_labels : bool
        Whether the detector was given the labels of the training points.
    reason, traceback : str or None
        Why the status is not ok.
    limits : dict
        ``timeout`` (seconds, for fit and for scoring each) and ``memory_limit_gb``.
    config : dict
        The whole resolved configuration.
    provenance : dict
        Commit, versions, hardware, thread settings.
    """

    key: str
    dataset: str
    algorithm: str
    variant: str
    setting: str
    protocol: str
    seed: int
    split: int
    status: Status
    metrics: dict[str, float] = field(default_factory=dict)
    curves: Mapping[str, NDArray[np.float64]] = field(default_factory=Curves)
    fit_seconds: float | None = None
    fit_cpu_seconds: float | None = None
    score_seconds: float | None = None
    score_cpu_seconds: float | None = None
    peak_memory_mb: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    uses_labels: bool = False
    reason: str | None = None
    traceback: str | None = None
    limits: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise RecordError(f"status {self.status!r} is none of {', '.join(STATUSES)}")
        if not re.fullmatch(r"[0-9a-f]{16,}", self.key):
            raise RecordError(f"key {self.key!r} is no hexadecimal digest")

    @property
    def label(self) -> str:
        """``"algorithm"``, or ``"algorithm(variant)"`` where parameters were overridden."""
        return f"{self.algorithm}({self.variant})" if self.variant else self.algorithm

    def to_dict(self) -> dict[str, Any]:
        """Return what the file holds: plain JSON types, curves encoded."""
        plain: dict[str, Any] = {"format": FORMAT}
        for item in fields(self):
            plain[item.name] = getattr(self, item.name)
        curves = self.curves if isinstance(self.curves, Curves) else Curves.from_arrays(self.curves)
        plain["curves"] = curves.encoded
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Record:
        """Build a record from :meth:`to_dict`'s result.

        Raises
        ------
        RecordError
            If the format is not this version's, or a field is missing, unknown or invalid.
        """
        if plain.get("format") != FORMAT:
            raise RecordError(f"format {plain.get('format')!r}, this version reads {FORMAT}")
        values = {name: value for name, value in plain.items() if name != "format"}
        names = {item.name for item in fields(cls)}
        if missing := sorted(names - set(values)):
            raise RecordError(f"fields missing: {', '.join(missing)}")
        if unknown := sorted(set(values) - names):
            raise RecordError(f"unknown fields: {', '.join(unknown)}")
        if not isinstance(values["curves"], Mapping):
            raise RecordError("curves is no mapping")
        values["curves"] = Curves(values["curves"])
        return cls(**values)


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read one record file.

    Raises
    ------
    RecordError
        If the file does not hold a record: cut short, not JSON, another format.
    """
    try:
        plain = json.loads(Path(path).read_bytes())
        if not isinstance(plain, dict):
            raise RecordError("no JSON object")
        record = Record.from_dict(plain)
        for name in record.curves if record.status == "ok" else ():
            # Cheap check that the text is what zlib wrote; its checksum is verified on decoding.
            base64.b64decode(record.curves.encoded[name][:8], validate=True)  # type: ignore[attr-defined]
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"not JSON: {error}") from error
    except (TypeError, binascii.Error) as error:
        raise RecordError(f"invalid field: {error}") from error
    return record


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` so that `path` holds either what it held before or all of it.

    Raises
    ------
    OSError
        As the operating system says (no space, read-only, no permission); the temporary file is
        removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name[:100]}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(temporary, "xb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    # The new name itself must survive a power cut too.
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def safe_name(text: str) -> str:
    """Return `text` as a file name: other characters than word characters, ``=,.+-`` become ``_``.

    Names longer than 120 characters are cut; files stay apart by their key.
    """
    return re.sub(r"[^\w=,.+-]", "_", text)[:120].lstrip(".") or "_"


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
        self._paths: dict[str, Path] = {}

    def path_of(self, record: Record) -> Path:
        """Return where a record is kept."""
        name = (
            f"{safe_name(record.setting)}-{safe_name(record.protocol)}-s{record.seed}"
            f"-{record.split}-{record.key[:_KEY_CHARS]}{_SUFFIX}"
        )
        return self.path / safe_name(record.dataset) / safe_name(record.label) / name

    def get(self, key: str) -> Record | None:
        """Return the record with this key, None if there is none or its file is unreadable."""
        path = self.locate([key]).get(key)
        if path is None:
            return None
        try:
            return read_record(path)
        except FileNotFoundError:
            return None
        except RecordError as error:
            self._note_unreadable(path, str(error))
            return None

    def locate(self, keys: Iterable[str]) -> dict[str, Path]:
        """Return the files of those of some keys that have one; looks at the folders once."""
        self._refresh()
        known = self._paths
        return {key: known[key[:_KEY_CHARS]] for key in keys if key[:_KEY_CHARS] in known}

    def put(self, record: Record) -> Path:
        """Write a record durably, replacing one with the same key. Return its path."""
        self._refresh()
        path = self.path_of(record)
        old = self._paths.get(record.key[:_KEY_CHARS])
        data = json.dumps(record.to_dict(), ensure_ascii=False, separators=(",", ":"))
        write_atomically(path, data.encode("utf-8", "backslashreplace"))
        if old is not None and old != path:
            # The same experiment under another label (the YAML's own value changed since).
            old.unlink(missing_ok=True)
        self._paths[record.key[:_KEY_CHARS]] = path
        return path

    def __iter__(self) -> Iterator[Record]:
        """Read every record, in the order of the paths."""
        self.unreadable = []
        for path in self.paths():
            try:
                yield read_record(path)
            except FileNotFoundError:
                continue  # replaced or removed by another run since it was listed
            except RecordError as error:
                self._note_unreadable(path, str(error))

    def paths(self) -> list[Path]:
        """Return the record files, sorted."""
        self._refresh()
        return sorted(self._paths.values())

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
        for dataset in _folders(self.path):
            for folder in _folders(dataset):
                stamp = os.stat(folder).st_mtime_ns
                known = self._listed.get(folder)
                if known and known[0] == stamp and known[1] - stamp / 1e9 > _SETTLED_SECONDS:
                    continue
                self._list(folder, stamp)

    def _list(self, folder: str, stamp: int) -> None:
        now = time.time()
        base = Path(folder)
        found = {
            name[: -len(_SUFFIX)].rpartition("-")[2]: base / name
            for name in os.listdir(folder)
            if name.endswith(_SUFFIX) and not name.startswith(".")
        }
        if folder in self._listed:
            gone = [k for k, path in self._paths.items() if path.parent == base and k not in found]
            for key in gone:
                del self._paths[key]
        self._paths.update(found)
        self._listed[folder] = (stamp, now)


def _folders(path: str | Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [e.path for e in entries if e.is_dir() and not e.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
