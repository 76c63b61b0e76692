"""What the records of a table were made with, and whether it was one and the same."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from results.output import Output
from results.tables.terminal import print_columns

#: Differences between experiments that are no reason to doubt them.
_VOLATILE = ("started", "finished", "ended", "pid", "time", "load")


def flatten(provenance: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested provenance as dotted names and texts."""
    flat: dict[str, str] = {}
    for name, value in provenance.items():
        dotted = f"{prefix}.{name}" if prefix else str(name)
        if isinstance(value, dict):
            flat |= flatten(value, dotted)
        else:
            flat[dotted] = value if isinstance(value, str) else json.dumps(value)
    return flat


def tabulate(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what was recorded: item, value, experiments; values of one item the commonest first.

    Moments (start, end) are shown as a range.
    """
    counts = frame["provenance"].value_counts()
    values: dict[str, dict[str, int]] = {}
    for text, count in counts.items():
        for item, value in flatten(json.loads(str(text))).items():
            seen = values.setdefault(item, {})
            seen[value] = seen.get(value, 0) + int(count)
    rows = []
    for item, seen in sorted(values.items()):
        if is_volatile(item):
            low, high = min(seen), max(seen)
            text = low if low == high else f"{low} to {high}"
            rows.append((item, text, sum(seen.values())))
            continue
        ordered = sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))
        rows += [(item, value, count) for value, count in ordered]
    return pd.DataFrame(rows, columns=["item", "value", "experiments"])


def is_volatile(item: str) -> bool:
    """Whether an item differs between experiments by nature."""
    return item.rpartition(".")[2].split("_")[0] in _VOLATILE


def warnings_of(table: pd.DataFrame) -> list[str]:
    """Say which items are mixed (machines, versions, commits), and whether a commit was dirty."""
    remarks = []
    for item, rows in table.groupby("item", sort=True):
        name = str(item)
        if is_volatile(name):
            continue
        if len(rows) > 1:
            parts = [f"{v} ({n})" for v, n in zip(rows["value"], rows["experiments"], strict=True)]
            remarks.append(f"mixed {name}: {', '.join(parts)}")
        if name.rpartition(".")[2] == "dirty" and (rows["value"] == "true").any():
            dirty = int(rows.loc[rows["value"] == "true", "experiments"].sum())
            remarks.append(f"{dirty} experiments were run with uncommitted changes")
    return remarks


def print_provenance(frame: pd.DataFrame, output: Output) -> None:
    """Print the table of provenance and the warnings."""
    table = tabulate(frame)
    rows = [[str(value) for value in row] for row in table.to_numpy()]
    print_columns(output.console, [str(column) for column in table.columns], rows)
    output.remarks += [f"warning: {remark}" for remark in warnings_of(table)]
