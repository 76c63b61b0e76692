"""The command ``forget``: remove selected records from a store, after showing them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from results.output import Output
from results.records.ambiguity import AsFiled
from results.records.asked import asked_for
from results.records.frame import selected
from results.records.grid_file import no_longer_ask
from results.records.opening import Search, Selection, StoredRecords, left_out, no_records
from results.records.record import Record
from results.records.statuses import STATUSES


def forget(
    paths: Sequence[Path],
    selection: Selection,
    statuses: Sequence[str],
    output: Output,
    *,
    yes: bool,
    as_filed: AsFiled | None = None,
) -> None:
    """Show the records that are selected, ask, and remove them.

    Parameters
    ----------
    paths : sequence of Path
        One folder of records; packed files are not changed.
    selection : Selection
        It must select by something, unless `statuses` do.
    statuses : sequence of str
        Only records with one of these; empty: with any.
    output : Output
    yes : bool
        Remove without asking.
    as_filed : callable, optional
        Says which of several configurations keeps its name; see `results.records.ambiguity`.

    Raises
    ------
    ValueError
        If nothing or something unknown is selected, or nobody can be asked.
    FileNotFoundError
        If there is no record in the folder.
    GridError
        If the file ``grid.json`` beside it does not hold a grid.
    """
    if len(paths) != 1 or paths[0].suffix == ".parquet":
        raise ValueError("forget removes records from one folder of records; name it by --records")
    if unknown := [name for name in statuses if name not in STATUSES]:
        raise ValueError(f"unknown status {unknown[0]!r}; there are: {', '.join(STATUSES)}")
    if not statuses and not any(selection.asked().values()):
        raise ValueError(
            f"say which records to forget, by --dataset or --status for example; "
            f"to forget all, remove the folder {paths[0]}"
        )
    stored = StoredRecords(paths[0])
    store = stored.store
    if not len(store):
        raise no_records(str(paths[0]))
    asked_for(paths, selection)  # a grid that cannot be read is said before a record is removed
    search = Search(selection)
    chosen = [
        record
        for record in selected(stored, search, str(paths[0]), as_filed)
        if not statuses or record.status in statuses
    ]
    output.remarks += search.unmatched() + left_out(store.unreadable)
    if not chosen:
        raise ValueError(f"no selected record has status {' or '.join(statuses)}")
    for line in described(chosen):
        output.console.print(line, markup=False, soft_wrap=True)
    if not yes and not _agreed(len(chosen)):
        output.console.print("nothing was removed")
        return
    # A run may have replaced some while somebody was asked.
    chosen = [record for record in chosen if _is_same(store.get(record.key), record)]
    for record in chosen:
        store.remove(record.key)
    no_longer_ask(paths[0], {record.key for record in chosen})
    output.console.print(f"removed {len(chosen)} records")


def described(records: Sequence[Record]) -> list[str]:
    """Return one line per cell: its names, and how many records of which status go."""
    cells: dict[tuple[str, ...], Counter[str]] = {}
    for record in records:
        at = (record.protocol, record.setting, record.dataset, record.label, f"seed {record.seed}")
        cells.setdefault(at, Counter())[record.status] += 1
    return [
        f"{', '.join(at)}: {', '.join(f'{counts[s]} {s}' for s in STATUSES if counts[s])}"
        for at, counts in sorted(cells.items())
    ]


def _is_same(now: Record | None, record: Record) -> bool:
    """Whether a record is the one that was shown, whenever it was asked for."""
    texts = [json.dumps(r.to_dict() | {"provenance": _unasked(r)}) for r in (now, record) if r]
    return len(texts) == 2 and texts[0] == texts[1]


def _unasked(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record.provenance.items() if name != "asked"}


def _agreed(count: int) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise ValueError("nothing was removed: --yes removes these records without asking")
    return input(f"remove {count} records? [y/N] ").strip().lower() in ("y", "yes")
