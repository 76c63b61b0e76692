"""Experiments as a table: one row per record, and the selection of some of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from results.ambiguity import tell_apart
from results.metrics import METRICS
from results.records import Record
from results.sources import open_records

#: What names an experiment to a reader; two records must not share all of it.
COORDINATES = ["dataset", "label", "setting", "protocol", "seed", "split"]
#: Parts of a configuration, in the order in which differences are looked for: what a protocol says
#: shows in the data set as well, and is then named once.
SECTIONS = ("algorithm", "protocol", "setting", "dataset")


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

    def takes(self, record: Record) -> bool:
        """Whether the record is selected."""
        return all(
            not patterns
            or any(_matches(value, pattern) for pattern in patterns for value in values)
            for patterns, values in (
                (_bases(self.protocols), (record.protocol,)),
                (self.settings, (record.setting,)),
                (_bases(self.datasets), (record.dataset,)),
                (self.algorithms, (record.algorithm, record.label)),
                (self.seeds, (str(record.seed),)),
            )
        )


def _bases(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Drop what is in brackets: records bear the plain name, whatever was overridden."""
    return tuple(pattern.partition("(")[0] for pattern in patterns)


def _matches(value: str, pattern: str) -> bool:
    return value == pattern or fnmatchcase(value, pattern)


@dataclass
class Experiments:
    """Selected experiments.

    Attributes
    ----------
    frame : DataFrame
        One row per experiment: key, the names, status, metrics, times, counts, and the parts of the
        configuration that the tables need.
    selection : Selection
    remarks : list of str
        What a reader must know: files that could not be read, names that had to be told apart.
    records : iterable of Record or None
        All records, to be read again for their curves; None if that is impossible.
    """

    frame: pd.DataFrame
    selection: Selection = field(default_factory=Selection)
    remarks: list[str] = field(default_factory=list)
    records: Iterable[Record] | None = None


def load_experiments(*paths: Path, selection: Selection | None = None) -> Experiments:
    """Read the selected records of stores and packed files.

    Raises
    ------
    FileNotFoundError
        If there is no record at all.
    SelectionError
        If the selection fits none.
    """
    store = open_records(*paths)
    experiments = from_records(store, selection, origin=", ".join(map(str, paths)))
    for file, reason in store.unreadable:
        experiments.remarks.append(f"left out, unreadable: {file} ({reason})")
    return experiments


def from_records(
    records: Iterable[Record], selection: Selection | None = None, origin: str = "the records"
) -> Experiments:
    """Tabulate the selected records; see :func:`load_experiments`."""
    selection = selection or Selection()
    rows: list[dict[str, Any]] = []
    seen: dict[str, set[str]] = {name: set() for name in (*SECTIONS, "seed")}
    for record in records:
        for name, values in seen.items():
            values.add(str(getattr(record, name)))
        if selection.takes(record):
            rows.append(_row(record))
    if not any(seen.values()):
        raise FileNotFoundError(
            f"no records in {origin}; run some: python -m runners (or look at the published ones: "
            "--records results/published)"
        )
    if not rows:
        raise SelectionError(_no_match(selection, seen))
    # One order whatever the store's: sums of floats, and so the last digits, depend on it.
    frame = pd.DataFrame(rows).sort_values([*COORDINATES, "key"], ignore_index=True)
    frame, remarks = tell_apart(frame, COORDINATES, SECTIONS)
    # A plain name then means the plain one: `paper` leaves out `paper(anomaly_subset=fixed)`.
    for column, patterns in (("protocol", selection.protocols), ("dataset", selection.datasets)):
        if patterns:
            chosen = [any(_matches(value, p) for p in patterns) for value in frame[column]]
            frame = frame[chosen]
    if frame.empty:
        raise SelectionError(_no_match(selection, seen))
    frame = frame.reset_index(drop=True)
    again = None if isinstance(records, Iterator) else records
    return Experiments(frame, selection, remarks, again)


def selected_records(records: Iterable[Record], selection: Selection) -> Iterator[Record]:
    """Yield the selected records themselves, one by one (for their curves)."""
    return (record for record in records if selection.takes(record))


def _row(record: Record) -> dict[str, Any]:
    config = record.config
    protocol = config.get("protocol")
    row: dict[str, Any] = {
        "key": record.key,
        "dataset": record.dataset,
        "algorithm": record.algorithm,
        "variant": record.variant,
        "label": record.label,
        "setting": record.setting,
        "protocol": record.protocol,
        "seed": record.seed,
        "split": record.split,
        "status": record.status,
        "fit_seconds": record.fit_seconds,
        "score_seconds": record.score_seconds,
        "fit_cpu_seconds": record.fit_cpu_seconds,
        "score_cpu_seconds": record.score_cpu_seconds,
        "peak_memory_mb": record.peak_memory_mb,
        "uses_labels": record.uses_labels,
        "reason": record.reason,
        "n_splits": config.get("n_splits"),
        "timeout": record.limits.get("timeout"),
        "shown_metrics": tuple(protocol.get("metrics", ())) if isinstance(protocol, dict) else (),
        "provenance": json.dumps(record.provenance, sort_keys=True, default=str),
    }
    row |= {metric: record.metrics.get(metric) for metric in METRICS}
    row |= {
        name: record.counts.get(name)
        for name in ("n_train", "n_test", "n_features", "n_anomalies_train", "n_anomalies_test")
    }
    row |= {
        f"config_{name}": json.dumps(config.get(name), sort_keys=True, default=str)
        for name in SECTIONS
    }
    return row


def _no_match(selection: Selection, seen: dict[str, set[str]]) -> str:
    asked = {
        "protocol": selection.protocols,
        "setting": selection.settings,
        "dataset": selection.datasets,
        "algorithm": selection.algorithms,
        "seed": selection.seeds,
    }
    for name, patterns in asked.items():
        for pattern in patterns:
            base = pattern.partition("(")[0]
            if not any(_matches(value, base) for value in seen[name]):
                return (
                    f"no record has {name} {pattern!r}; there are: {', '.join(sorted(seen[name]))}"
                )
    wanted = "; ".join(f"{n} {', '.join(p)}" for n, p in asked.items() if p)
    return f"no record fits all of the selection at once ({wanted})"
