"""What was measured, as CSV files and as tables in the terminal."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from runners.speed.contestants import OURS
from runners.speed.paired import TOTAL, Summary

# Characters of a line where the output is not a terminal.
_WIDTH = 200


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows that share their columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def paired_table(summaries: Sequence[Summary]) -> Table:
    """Show seconds and ratios of every contestant, data set by data set."""
    (n_jobs,) = {summary.n_jobs for summary in summaries}
    table = Table(
        title=f"Seconds with {n_jobs} thread{'s' if n_jobs > 1 else ''}, medians of paired runs",
        caption=(
            f"ratios: {OURS} over the other, pair by pair (below 1: {OURS} is faster), by clock "
            "and by processor time, which tells more where others use the machine; sub-samples "
            f"of 256 rows, or as large as those of {OURS}: 20 %, at least 100 (same_rows)"
        ),
    )
    table.add_column("data set", no_wrap=True)
    table.add_column("algorithm", no_wrap=True)
    for column in (
        "fit",
        "score",
        "fit ratio",
        "fit + score",
        "cpu: fit",
        "fit + score",
        "one row (ms)",
        "pickle (MB)",
    ):
        table.add_column(column, justify="right", no_wrap=True)
    previous = None
    for summary in summaries:
        if previous is not None and summary.dataset != previous:
            table.add_section()
        style = "bold" if summary.dataset == TOTAL else None
        ratios = [""] * 4
        if summary.algorithm != OURS:
            wall = summary.fit_ratio, summary.total_ratio
            ratios = [f"{r:.2f}" for r in (*wall, summary.fit_cpu_ratio, summary.total_cpu_ratio)]
        table.add_row(
            summary.dataset if summary.dataset != previous else "",
            summary.algorithm,
            f"{summary.fit_seconds:.3f}",
            f"{summary.score_seconds:.3f}",
            *ratios,
            f"{1000 * summary.row_seconds:.2f}",
            f"{summary.pickle_mb:.2f}",
            style=style,
        )
        previous = summary.dataset
    return table


def rows_table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Show rows as they are."""
    table = Table(title=title)
    for column in rows[0]:
        table.add_column(column.replace("_", " "), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()))
    return table


def make_console() -> Console:
    """Return a console whose tables are whole where the output is a pipe or a file, too."""
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


def show(console: Console, table: Table) -> None:
    """Print a table and an empty line."""
    console.print(table)
    console.print()
