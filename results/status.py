"""What of the grid is done, NA, failed and missing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pandas as pd

from results.aggregate import labelled_in, make_cells, mark_meanings
from results.output import Output
from results.records.frame import Experiments
from results.records.statuses import MISSING, STATUSES
from results.tables.text import print_columns
from results.vocabulary import PARTIAL, SETTINGS, algorithm_order, flagged


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
        partial = grid[grid["partial"]]
        short: dict[str, list[str]] = {}
        for (setting, dataset, label), row in zip(
            partial.index, partial.to_dict("records"), strict=True
        ):
            done = f"{row['n_ok']} of {row['n_expected']} splits{_failures(row)}"
            short.setdefault(f"{label}, {setting}: {done}", []).append(dataset)
        for where, names in short.items():
            remarks.append(f"incomplete ({protocol}, {where}): {_listed(names, datasets)}")
    return remarks


def _without_anomalies(grid: pd.DataFrame) -> list[str]:
    """Return the settings in which no experiment had an anomaly to train on."""
    most = grid["n_anomalies_train"].groupby(level="setting").max()
    return [str(setting) for setting in most[most == 0].index]


def _listed(names: list[str], everything: list[str]) -> str:
    return "every data set" if len(names) == len(everything) else ", ".join(names)


def _failures(row: dict) -> str:
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


def print_status(experiments: Experiments, output: Output) -> None:
    """Print one grid per protocol and setting, the failures with reasons, and what is missing."""
    cells = make_cells(experiments.frame)
    for key, part in cells.groupby(level=["protocol", "setting"], sort=False):
        protocol, setting = map(str, key)
        output.console.print(
            f"\n[bold]{SETTINGS.get(setting, setting)}, protocol {protocol}[/bold]: "
            f"{len(part)} cells, {int(part['n_ok'].sum())} experiments finished"
        )
        print_columns(output.console, *_grid(part))
    legend = "; ".join(f"{mark}: {meaning}" for mark, meaning in mark_meanings(cells).items())
    output.console.print(f"[dim]n/m: n of m splits finished; {legend}[/dim]")
    table = failures(experiments.frame)
    if len(table):
        output.console.print("\n[bold]Not ok, and why[/bold]")
        print_columns(
            output.console,
            [str(column) for column in table.columns],
            [[str(value) for value in row] for row in table.to_numpy()],
        )
    output.remarks += missing_remarks(cells)


def _grid(part: pd.DataFrame) -> tuple[list[str], Iterator[list[str]]]:
    grid = part.droplevel(["protocol", "setting"])
    datasets = sorted(grid.index.unique("dataset"))
    labels = sorted(grid.index.unique("label"), key=algorithm_order)
    rows = dict(zip(grid.index, grid.to_dict("records"), strict=True))

    def text(dataset: str, label: str) -> str:
        row = rows.get((dataset, label))
        if row is None:
            return MISSING
        if row["mark"]:
            return str(row["mark"])
        return f"{row['n_ok']}/{row['n_expected']}{PARTIAL if row['partial'] else ''}"

    heads = [flagged(label, labelled_in(part)) for label in labels]
    return ["data set", *heads], ([d, *(text(d, label) for label in labels)] for d in datasets)
