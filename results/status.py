"""What of the grid is done, NA, failed and missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd
from rich.text import Text

from results.aggregate import (
    labelled_in,
    make_cells,
    mark_meanings,
    of_fewer_splits,
    of_other_splits,
    usual_splits,
)
from results.output import Output
from results.records.asked import Asked
from results.records.frame import Experiments
from results.records.statuses import MISSING, STATUSES
from results.tables.text import print_columns
from results.vocabulary import PARTIAL, PARTIAL_MEANING, SETTINGS, algorithm_order, flagged


def missing_remarks(cells: pd.DataFrame) -> list[str]:
    """Say which cells of the grid spanned by the records are missing or incomplete.

    Per protocol, the grid is every setting x data set x algorithm that occurs in it. An algorithm
    that learns from labels has no place in a setting whose training points hold no anomaly.
    """
    remarks = []
    for protocol, part in cells.groupby(level="protocol", sort=False):
        grid = part.droplevel("protocol")
        absent: dict[str, list[str]] = {}
        settings, datasets, labels = (list(grid.index.unique(i)) for i in range(3))
        pointless = set(product(_without_anomalies(grid), labelled_in(grid)))
        for setting, label, dataset in product(settings, labels, datasets):
            if (setting, label) in pointless:
                continue
            if (setting, dataset, label) not in grid.index:
                absent.setdefault(f"{label}, {setting}", []).append(dataset)
        for where, names in absent.items():
            remarks.append(f"not run ({protocol}, {where}): {_listed(names, datasets)}")
        remarks += _incomplete(str(protocol), grid)
    return remarks


def incomplete_remarks(cells: pd.DataFrame) -> list[str]:
    """Say which cells have a value from fewer splits than the protocol has."""
    groups = cells.groupby(level="protocol", sort=False)
    parts = [_incomplete(str(name), part.droplevel("protocol")) for name, part in groups]
    return [remark for part in parts for remark in part]


def unpaired_remarks(cells: pd.DataFrame) -> list[str]:
    """Say which values are not compared, being of as many splits as others, but of other ones."""
    found: dict[str, list[str]] = {}
    own = cells.assign(usual=usual_splits(cells))
    own = own[of_other_splits(cells) & ~of_fewer_splits(cells)]
    for at, splits, usual in zip(own.index, own["splits"], own["usual"], strict=True):
        protocol, setting, dataset, label = at
        where = f"{protocol}, {label}, {setting}: {splits}, others {usual}"
        found.setdefault(where, []).append(str(dataset))
    return [
        f"not on the same splits, and so not compared ({at}): {', '.join(names)}"
        for at, names in found.items()
    ]


def _incomplete(protocol: str, grid: pd.DataFrame) -> list[str]:
    datasets = list(grid.index.unique("dataset"))
    partial = grid[grid["partial"]]
    short: dict[str, list[str]] = {}
    for (setting, dataset, label), row in zip(
        partial.index, partial.to_dict("records"), strict=True
    ):
        done = f"{row['n_ok']} of {row['n_expected']} splits{failed_in_words(row)}"
        short.setdefault(f"{label}, {setting}: {done}", []).append(dataset)
    return [
        f"incomplete ({protocol}, {where}): {_listed(names, datasets)}"
        for where, names in short.items()
    ]


def _without_anomalies(grid: pd.DataFrame) -> list[str]:
    """Return the settings in which no experiment had an anomaly to train on."""
    most = grid["n_anomalies_train"].groupby(level="setting").max()
    return [str(setting) for setting in most[most == 0].index]


def _listed(names: list[str], everything: list[str]) -> str:
    return "every data set" if len(names) == len(everything) else ", ".join(names)


def failed_in_words(row: Mapping[Hashable, Any]) -> str:
    """Return how many experiments of a cell failed, in brackets; empty if none did."""
    failed = [
        f"{row[f'n_{status}']} {status}"
        for status in STATUSES
        if status != "ok" and row[f"n_{status}"]
    ]
    return f" ({', '.join(failed)})" if failed else ""


def failures(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what failed and why: protocol, setting, dataset, label, status, reason, experiments.

    Splits that were skipped after a timeout are counted with no row of their own.
    """
    failed = frame[~frame["status"].isin(["ok", "skipped"])]
    keys = ["protocol", "setting", "dataset", "label", "status", "reason"]
    reasons = failed.assign(reason=failed["reason"].fillna("no reason recorded"))
    return reasons.groupby(keys, sort=True).size().rename("experiments").reset_index()


def print_status(
    experiments: Experiments | None, output: Output, asked: Sequence[Asked] = ()
) -> None:
    """Print one grid per protocol and setting, the failures with reasons, and what is missing.

    Parameters
    ----------
    experiments : Experiments or None
        None if there is no record yet.
    output : Output
    asked : sequence of Asked
        Cells of which experiments were asked for.
    """
    missing = [cell for cell in asked if cell.missing]
    planned = _planned(experiments, asked)
    cells = make_cells(experiments.frame) if experiments else None
    parts = (
        {}
        if cells is None
        else {
            (str(protocol), str(setting)): part.droplevel(["protocol", "setting"])
            for (protocol, setting), part in cells.groupby(
                level=["protocol", "setting"], sort=False
            )
        }
    )
    for protocol, setting in dict.fromkeys([*parts, *((a.protocol, a.setting) for a in missing)]):
        part = parts.get((protocol, setting))
        wanted = [a for a in missing if (a.protocol, a.setting) == (protocol, setting)]
        n_cells, n_ok = (0, 0) if part is None else (len(part), int(part["n_ok"].sum()))
        heading = Text(f"\n{SETTINGS.get(setting, setting)}, protocol {protocol}", style="bold")
        heading.append(f": {n_cells} cells, {n_ok} experiments finished", style="not bold")
        output.console.print(heading)
        print_columns(output.console, *_grid(part, wanted, planned.get((protocol, setting), {})))
    if cells is not None and experiments is not None:
        legend = "; ".join(f"{mark}: {meaning}" for mark, meaning in mark_meanings(cells).items())
        splits = "n/m: n of m splits finished, m those asked for, or else those of the protocol"
        legend = f"{splits}; {PARTIAL}: {PARTIAL_MEANING}; {legend}"
        output.console.print(Text(legend, style="dim"))
        table = failures(experiments.frame)
        if len(table):
            output.console.print(Text("\nNot ok, and why", style="bold"))
            print_columns(
                output.console,
                [str(column) for column in table.columns],
                [[str(value) for value in row] for row in table.to_numpy()],
            )
        output.remarks += missing_remarks(cells)
    output.remarks += asked_remarks(missing)


def asked_remarks(asked: Sequence[Asked]) -> list[str]:
    """Say which experiments that were asked for have no record."""
    absent: dict[str, list[str]] = {}
    for cell in asked:
        where = f"{cell.protocol}, {cell.label}, {cell.setting}, seed {cell.seed}"
        how_many = f"{cell.missing} of {cell.planned} splits"
        absent.setdefault(f"asked for and not run ({where}; {how_many})", []).append(cell.dataset)
    return [f"{where}: {', '.join(names)}" for where, names in absent.items()]


def _planned(
    experiments: Experiments | None, asked: Sequence[Asked]
) -> dict[tuple[str, str], Counter[tuple[str, str]]]:
    """Count the experiments asked for of cells with records, as these are named in tables.

    Returns
    -------
    dict
        By protocol and setting, a count by data set and algorithm.
    """
    found: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    if experiments is None:
        return found
    names = experiments.frame[["protocol", "setting", "dataset", "label"]]
    of_key = dict(zip(experiments.frame["key"], names.itertuples(index=False), strict=True))
    for cell in asked:
        # Of an earlier version of data or code there are none.
        if at := next((of_key[key] for key in cell.keys if key in of_key), None):
            counts = found.setdefault((at.protocol, at.setting), Counter())
            counts[at.dataset, at.label] += cell.planned
    return found


def _grid(
    part: pd.DataFrame | None, asked: Sequence[Asked], wanted: Mapping[tuple[str, str], int]
) -> tuple[list[str], Iterator[list[str]]]:
    """Return headings and rows of a grid of data sets and algorithms."""
    known = set() if part is None else set(part.index)
    missing: Counter[tuple[str, str]] = Counter()
    for cell in asked:
        missing[cell.dataset, cell.label] += cell.missing
    names = [*known, *missing]
    labels = sorted({label for _, label in names}, key=algorithm_order)
    rows = {} if part is None else dict(zip(part.index, part.to_dict("records"), strict=True))
    labelled = frozenset() if part is None else labelled_in(part)

    def text(dataset: str, label: str) -> str:
        row = rows.get((dataset, label))
        not_run = missing[dataset, label]
        if row is None:
            return f"0/{not_run}" if not_run else MISSING
        if row["mark"]:
            return str(row["mark"])
        usual = wanted.get((dataset, label)) or row["n_expected"]
        planned = max(usual, row["n_experiments"] + not_run)
        whole = max(planned, row["n_expected"])
        return f"{row['n_ok']}/{planned}{PARTIAL if row['n_ok'] < whole else ''}"

    heads = [flagged(label, labelled) for label in labels]
    datasets = sorted({dataset for dataset, _ in names})
    return ["data set", *heads], ([d, *(text(d, label) for label in labels)] for d in datasets)
