"""Which of the records to use, and what was asked for that is not among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from results.records.record import Record


class SelectionError(ValueError):
    """A selection that fits no record; the message lists what there is."""


@dataclass(frozen=True)
class Selection:
    """Which experiments to use; an empty tuple means all.

    Attributes
    ----------
    protocols, settings, datasets, algorithms, seeds : tuple of str
        Names or shell patterns; names told apart are written as printed
        (``"paper(anomaly_subset=fixed)"``). An algorithm is named by its YAML file, which takes in
        its variants, or by its label (``"iforest(max_samples=64)"``); columns come in the order
        given.
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
        """Whether the record is selected."""
        names = names_of(record)
        return all(
            any(matches(value, _base(what, p)) for p in patterns for value in names[what])
            for what, patterns in self.asked().items()
            if patterns
        )


def names_of(record: Record) -> dict[str, tuple[str, ...]]:
    """Return what a record may be selected by."""
    return {
        "protocol": (record.protocol,),
        "setting": (record.setting,),
        "dataset": (record.dataset,),
        "algorithm": (record.algorithm, record.label),
        "seed": (str(record.seed),),
    }


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
        for record in records:
            names = names_of(record)
            for what, values in names.items():
                self._seen[what].add(values[0])
            if self.selection.takes(record):
                for what, values in names.items():
                    self._found[what].update(values)
                yield record
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


def no_records(origin: str, hint: str = "") -> FileNotFoundError:
    """Return the error that there is no record in a place."""
    hint = hint or (
        "run some: python -m runners (or look at the published ones: --records results/runs)"
    )
    return FileNotFoundError(f"no records in {origin}; {hint}")
