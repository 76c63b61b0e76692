"""Where records are read from, and which of them are selected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

from results.records.grid_file import last_asked
from results.records.pack import better, count_packed, read_packed
from results.records.record import Record
from results.records.store import RecordStore


class Records(Protocol):
    """Records to iterate over, and what could not be read in the last pass."""

    @property
    def unreadable(self) -> list[tuple[Path, str]]:
        """What the last pass could not read, and why."""

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
        self.unreadable = []
        yield from read_packed(self.file, self.unreadable)

    def __len__(self) -> int:
        return count_packed(self.file)


class StoredRecords:
    """The records of a folder's store; each says in its provenance when it was last asked for.

    A run does not compute again what is recorded, so that this may be long after it was computed.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path):
        self.store = RecordStore(folder)

    @property
    def unreadable(self) -> list[tuple[Path, str]]:
        """What the last pass could not read."""
        return self.store.unreadable

    def __iter__(self) -> Iterator[Record]:
        asked = last_asked(self.store.path)
        for record in self.store:
            if record.key in asked:
                record.provenance["asked"] = asked[record.key]
            yield record

    def __len__(self) -> int:
        return len(self.store)


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
        stored = StoredRecords(path)
        if len(stored):
            parts.append(stored)
    if not any(len(part) for part in parts):
        below = path / "records"
        did_you_mean = len(RecordStore(below)) or packed_files(below)
        raise no_records(str(path), f"did you mean {below}?" if did_you_mean else "")
    return parts


def packed_files(folder: Path) -> list[Path]:
    """Return the packed files in a folder, sorted; none if it is not a folder."""
    return sorted(folder.glob("*.parquet")) if folder.is_dir() else []


def left_out(unreadable: Iterable[tuple[Path, str]]) -> list[str]:
    """Return a remark for each record that could not be read."""
    return [f"left out, unreadable: {file} ({reason})" for file, reason in unreadable]


class SelectionError(ValueError):
    """A selection that fits no record; the message lists what there is."""


@dataclass(frozen=True)
class Selection:
    """Which experiments to use; an empty tuple means all.

    Attributes
    ----------
    protocols, settings, datasets, algorithms, seeds : tuple of str
        Names or shell patterns; names told apart are written as printed
        (``"paper(cap.drawn=once)"``). An algorithm is named by its YAML file, which takes in
        its variants, by the label that tables print (``"iforest(max_samples=64)"``), or with empty
        brackets (``"iforest()"``) by its plain one; columns come in the order given.
    """

    protocols: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()

    def asked(self) -> dict[str, tuple[str, ...]]:
        """Return the patterns by what they select."""
        return {
            "protocol": self.protocols,
            "setting": self.settings,
            "dataset": self.datasets,
            "algorithm": self.algorithms,
            "seed": self.seeds,
        }

    def takes(self, record: Record) -> bool:
        """Whether the record may be selected: names may be told apart yet."""
        names = names_of(record)
        return all(
            any(matches(value, _base(what, p)) for p in patterns for value in names[what])
            or (what == "algorithm" and any(p.startswith(f"{record.label}(") for p in patterns))
            for what, patterns in self.asked().items()
            if patterns
        )

    def shows(self, shown: Mapping[str, tuple[str, ...]]) -> bool:
        """Whether names that tables print are selected; see `shown_names`."""
        asked = self.asked()
        return all(
            any(matches(value, p) for p in patterns for value in shown[what])
            for what in TOLD_APART
            if (patterns := asked[what])
        )


def names_of(record: Record) -> dict[str, tuple[str, ...]]:
    """Return what a record may be selected by."""
    return {
        "protocol": (record.protocol,),
        "setting": (record.setting,),
        "dataset": (record.dataset,),
        "algorithm": names_of_algorithm(record.algorithm, record.variant),
        "seed": (str(record.seed),),
    }


#: Of what tables may print other names than records bear.
TOLD_APART = ("protocol", "dataset", "algorithm")


def shown_names(row: Mapping[Any, Any]) -> dict[str, tuple[str, ...]]:
    """Return what a row of `results.records.frame.Experiments.frame` may be selected by.

    Examples
    --------
    >>> row = {"protocol": "paper", "dataset": "wilt", "algorithm": "lof", "label": "lof"}
    >>> shown_names(row)["algorithm"]
    ('lof', 'lof()')
    """
    algorithm, label = row["algorithm"], row["label"]
    return {
        "protocol": (row["protocol"],),
        "dataset": (row["dataset"],),
        "algorithm": (algorithm, label if "(" in label else f"{label}()"),
    }


def names_of_algorithm(algorithm: str, variant: str) -> tuple[str, str]:
    """Return the name that an algorithm shares with its variants, and the one of its own.

    Examples
    --------
    >>> names_of_algorithm("iforest", ""), names_of_algorithm("iforest", "max_samples=64")
    (('iforest', 'iforest()'), ('iforest', 'iforest(max_samples=64)'))
    """
    return algorithm, f"{algorithm}({variant})"


def matches(value: str, pattern: str) -> bool:
    """Whether a name is the one asked for, or fits the pattern."""
    return value == pattern or fnmatchcase(value, pattern)


def _base(what: str, pattern: str) -> str:
    """Drop what is in brackets where records bear the plain name, whatever was overridden."""
    return pattern.partition("(")[0] if what in ("protocol", "dataset") else pattern


class Search:
    """One pass over records in search of the selected ones.

    Parameters
    ----------
    selection : Selection
    """

    def __init__(self, selection: Selection):
        self.selection = selection
        self._seen: dict[str, set[str]] = {what: set() for what in selection.asked()}
        self._found: dict[str, set[str]] = {what: set() for what in selection.asked()}

    def select(self, records: Iterable[Record], origin: str) -> Iterator[Record]:
        """Yield the selected records.

        Raises
        ------
        FileNotFoundError
            At the end, if there was no record at all.
        SelectionError
            At the end, if none was selected.
        """
        return (record for record, is_selected in self.judge(records, origin) if is_selected)

    def judge(self, records: Iterable[Record], origin: str) -> Iterator[tuple[Record, bool]]:
        """Yield each record, and whether it is selected; raise what `select` raises."""
        for record in records:
            names = names_of(record)
            for what, values in names.items():
                self._seen[what].add(values[0])
            is_selected = self.selection.takes(record)
            if is_selected:
                for what, values in names.items():
                    self._found[what].update(values)
            yield record, is_selected
        if not any(self._seen.values()):
            raise no_records(origin)
        if not any(self._found.values()):
            raise self.nothing()

    def nothing(self) -> SelectionError:
        """Return the error that nothing is selected, naming what is nowhere if that is why."""
        asked = self.selection.asked()
        for what, patterns in asked.items():
            for pattern in patterns:
                if self._is_nowhere(what, pattern):
                    return SelectionError(self._nowhere(what, pattern))
        wanted = "; ".join(f"{what} {', '.join(p)}" for what, p in asked.items() if p)
        return SelectionError(f"no record fits all of the selection at once ({wanted})")

    def unmatched(self, found: Mapping[str, Iterable[str]] | None = None) -> list[str]:
        """Say which of the names and patterns asked for have no part in what was selected.

        Parameters
        ----------
        found : mapping of str to iterable of str, optional
            The names of what was selected in the end, where names were told apart since.
        """
        remarks = []
        for what, patterns in self.selection.asked().items():
            names = set(self._found[what] if found is None else found[what])
            for pattern in patterns:
                own = _base(what, pattern) if found is None else pattern
                if any(matches(name, own) for name in names):
                    continue
                remarks.append(
                    self._nowhere(what, pattern)
                    if self._is_nowhere(what, pattern)
                    else f"no record has {what} {pattern!r} and fits the rest of the selection"
                )
        return remarks

    def _is_nowhere(self, what: str, pattern: str) -> bool:
        base = pattern.partition("(")[0]
        return not any(matches(value, base) for value in self._seen[what])

    def _nowhere(self, what: str, pattern: str) -> str:
        known = ", ".join(sorted(self._seen[what]))
        return f"no record has {what} {pattern!r}; there are: {known}"


class NoRecordsError(FileNotFoundError):
    """There is no record in a place."""


def no_records(origin: str, hint: str = "") -> NoRecordsError:
    """Return the error that there is no record in a place."""
    hint = hint or (
        "run some: python -m runners (or look at those of the project: --records results/runs)"
    )
    return NoRecordsError(f"no records in {origin}; {hint}")
