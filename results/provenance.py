"""What the records of a table were made with, and whether it was one and the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from results.output import Output
from results.tables.text import print_columns

#: Differences between experiments that do not cast doubt on them.
_MOMENTS = ("started", "finished", "ended", "asked")
# Each data set has a file of its own, and each algorithm of the user's code of its own.
_VOLATILE = (*_MOMENTS, "pid", "time", "load", "content", "code", "indices")
_UNCOMMITTED = "uncommitted changes"


def flatten(provenance: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested provenance as dotted names and texts."""
    flat: dict[str, str] = {}
    for name, value in _folded(provenance).items():
        dotted = f"{prefix}.{name}" if prefix else str(name)
        if isinstance(value, dict):
            flat |= flatten(value, dotted)
        else:
            flat[dotted] = value if isinstance(value, str) else json.dumps(value)
    return flat


def _folded(provenance: dict[str, Any]) -> dict[str, Any]:
    """Make one item of what is one fact: the commit and its state, all thread variables."""
    folded = dict(provenance)
    if "dirty" in folded:
        dirty = folded.pop("dirty")
        clean = "nothing uncommitted" if dirty is False else "state unknown"
        state = _UNCOMMITTED if dirty is True else clean
        folded["commit"] = f"{folded.get('commit') or 'none'}, {state}"
    if isinstance(folded.get("threads"), dict):
        folded["threads"] = _threads(folded["threads"])
    return folded


def _threads(variables: dict[str, Any]) -> str:
    values = {name.removesuffix("_NUM_THREADS"): str(variables[name]) for name in sorted(variables)}
    if len(set(values.values())) == 1:
        return f"{next(iter(values.values()))} each ({', '.join(values)})"
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _moment(value: str) -> str:
    """Return a moment in one notation: some are recorded as seconds since 1970."""
    try:
        return datetime.fromtimestamp(float(value), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return value


def tabulate(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what was recorded: item, value, experiments; values of one item the commonest first.

    Moments (start, end) are shown as a range.
    """
    counts = frame["provenance"].value_counts()
    values: dict[str, dict[str, int]] = {}
    for text, count in counts.items():
        for item, value in flatten(json.loads(str(text))).items():
            value = _moment(value) if _first_word(item) in _MOMENTS else value
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
    return _first_word(item) in _VOLATILE


def _first_word(item: str) -> str:
    return item.rpartition(".")[2].split("_")[0]


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
        dirty = rows["value"].str.endswith(f", {_UNCOMMITTED}")
        if name.rpartition(".")[2] == "commit" and dirty.any():
            count = int(rows.loc[dirty, "experiments"].sum())
            remarks.append(f"{count} experiments were run with {_UNCOMMITTED}")
    return remarks


def print_provenance(frame: pd.DataFrame, output: Output) -> None:
    """Print the table of provenance and the warnings."""
    table = tabulate(frame)
    rows = [[str(value) for value in row] for row in table.to_numpy()]
    print_columns(output.console, [str(column) for column in table.columns], rows)
    output.remarks += [f"warning: {remark}" for remark in warnings_of(table)]
