"""Experiments as a table: one row per selected record."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from results.metrics import METRICS, USUAL_METRICS
from results.records.ambiguity import AsFiled, tell_apart
from results.records.mixtures import mixtures, partly_measured
from results.records.opening import (
    TOLD_APART,
    Search,
    Selection,
    SelectionError,
    left_out,
    names_of,
    open_records,
    shown_names,
)
from results.records.record import PARTS_WITH_CODE, Record, targets
from results.records.splits import splits_of
from results.records.versions import drop_superseded

#: What names an experiment to a reader; two records must not share all of it.
COORDINATES = ["dataset", "label", "setting", "protocol", "seed", "split"]
#: Parts of a configuration, in the order in which differences are looked for: what a protocol says
#: shows in the data set as well, and is then named once.
SECTIONS = ("algorithm", "protocol", "setting", "dataset")


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


def load_experiments(
    *paths: Path, selection: Selection | None = None, as_filed: AsFiled | None = None
) -> Experiments:
    """Read the selected records of stores and packed files.

    Of configurations that bear one name, the one that fits `as_filed` keeps it.

    Raises
    ------
    FileNotFoundError
        If there is no record at all.
    SelectionError
        If the selection fits none.
    """
    store = open_records(*paths)
    experiments = from_records(store, selection, ", ".join(map(str, paths)), as_filed)
    experiments.remarks += left_out(store.unreadable)
    return experiments


def from_records(
    records: Iterable[Record],
    selection: Selection | None = None,
    origin: str = "the records",
    as_filed: AsFiled | None = None,
) -> Experiments:
    """Tabulate the selected records; see :func:`load_experiments`."""
    search = Search(selection or Selection())
    rows = [
        _row(record) | {"is_selected": is_selected}
        for record, is_selected in search.judge(records, origin)
    ]
    # One order whatever the store's: sums of floats, and so the last digits, depend on it.
    frame = pd.DataFrame(rows).sort_values([*COORDINATES, "started", "key"], ignore_index=True)
    # Of all records: what supersedes a selected one need not be selected itself.
    frame, remarks = drop_superseded(frame)
    frame = frame[frame.pop("is_selected")].reset_index(drop=True)
    if frame.empty:
        raise SelectionError(f"nothing is left of what was selected; {'; '.join(remarks)}")
    frame, told = tell_apart(frame, COORDINATES, SECTIONS, as_filed)
    remarks += told
    # A plain name then means the plain one: `paper` leaves out `paper(cap.drawn=once)`.
    names = [shown_names(row) for row in frame[_NAMES].to_dict("records")]
    chosen = [search.selection.shows(own) for own in names]
    frame = frame[chosen].reset_index(drop=True)
    if frame.empty:
        raise search.nothing()
    remarks += mixtures(frame)
    remarks += partly_measured(frame, sorted(METRICS.keys() - USUAL_METRICS))
    found = {name: frame[name].astype(str) for name in ("protocol", "setting", "dataset", "seed")}
    own = pd.Series([own["algorithm"][1] for own in itertools.compress(names, chosen)])
    found["algorithm"] = pd.concat([frame["algorithm"], frame["label"], own])
    remarks += search.unmatched(found)
    again = None if isinstance(records, Iterator) else records
    return Experiments(frame, search.selection, remarks, again)


def selected(
    records: Iterable[Record], search: Search, origin: str, as_filed: AsFiled | None = None
) -> Iterator[Record]:
    """Yield the selected records, as they are, by the names that tables show.

    ``paper`` leaves out what is told apart from it, ``paper(cap.drawn=once)``, and the reverse.
    Those on another version of a file or of code, which tables leave out, bear the plain name.

    Parameters
    ----------
    records : iterable of Record
        Can be iterated over several times.
    search : Search
    origin : str
    as_filed : callable, optional
        As tables have it; see :func:`load_experiments`.

    Raises
    ------
    SelectionError
        At the end, if there was none.
    """
    shown: dict[str, dict[str, tuple[str, ...]]] = {}
    if any(search.selection.asked()[name] for name in TOLD_APART):
        frame = from_records(records, origin=origin, as_filed=as_filed).frame
        rows = frame[["key", *_NAMES]].to_dict("records")
        shown = {row["key"]: shown_names(row) for row in rows}
    is_empty = True
    for record in search.select(records, origin):
        if search.selection.shows(shown.get(record.key) or names_of(record)):
            is_empty = False
            yield record
    if is_empty:
        raise SelectionError("no record is shown under the names asked for by tables and status")


def _own_code(record: Record) -> dict[str, str | None]:
    """Return what parts of the configuration name, and the digests of the user's own code in it."""
    named = {part: sorted(targets(record.config.get(part))) for part in PARTS_WITH_CODE}
    found = {"code": record.provenance.get("code")}
    found["targets"] = " ".join(sorted(name for names in named.values() for name in names))
    for part, names in named.items():
        found[f"code_{part}"] = record.provenance.get(f"code_{part}")
        found[f"targets_{part}"] = " ".join(names)
    return found


_NAMES = ["protocol", "dataset", "algorithm", "label"]
_as_text = json.JSONEncoder(sort_keys=True, default=str).encode


def _row(record: Record) -> dict[str, Any]:
    config = record.config
    protocol = config.get("protocol")
    held = splits_of(protocol) if isinstance(protocol, dict) else None
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
        "protocol_splits": record.provenance.get("splits") if held is None else held,
        "timeout": record.limits.get("timeout"),
        "shown_metrics": tuple(protocol.get("metrics", ())) if isinstance(protocol, dict) else (),
        "content": record.provenance.get("content"),
        "indices": record.provenance.get("indices"),
        **_own_code(record),
        "started": str(record.provenance.get("started", "")),
        "asked": record.last_asked,
        "versions": _as_text(record.provenance.get("versions") or {}),
        "provenance": _as_text(record.provenance),
    }
    row |= {metric: record.metrics.get(metric, math.nan) for metric in METRICS}
    row |= {
        name: record.counts.get(name)
        for name in ("n_train", "n_test", "n_features", "n_anomalies_train", "n_anomalies_test")
    }
    row |= {f"config_{name}": _as_text(_options(config, name)) for name in SECTIONS}
    return row


#: The columns asked for first, then what tells rows apart and explains them.
COLUMNS = [
    "dataset",
    "algorithm",
    "setting",
    "protocol",
    "split",
    "status",
    *USUAL_METRICS,
    "fit_seconds",
    "score_seconds",
    "peak_memory_mb",
    "variant",
    "label",
    "seed",
    "uses_labels",
    "reason",
]


def exported(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what ``export`` writes: one row per experiment, sorted.

    Metrics that are not recorded under every protocol have a column where an experiment holds one.
    """
    order = ["dataset", "algorithm", "variant", "setting", "protocol", "seed", "split", "key"]
    after = COLUMNS.index(USUAL_METRICS[-1]) + 1
    further = [m for m in METRICS if m not in USUAL_METRICS and frame[m].notna().any()]
    return frame.sort_values(order)[[*COLUMNS[:after], *further, *COLUMNS[after:]]]


def _options(config: Mapping[str, Any], name: str) -> Any:
    """Return a part of a configuration, without what follows from another part of it."""
    part = config.get(name)
    if name == "protocol" and isinstance(part, dict):
        generator = part.get("generator")
        if isinstance(generator, dict) and generator.get("handed_over"):
            # Every algorithm replays the stream of its own: that is one protocol.
            return {**part, "generator": {k: v for k, v in generator.items() if k != "stream"}}
    return part
