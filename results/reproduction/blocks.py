"""What stands in the generated blocks of REPRODUCTION.md."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from results.aggregate import make_cells
from results.metrics import METRICS, PAPER_METRICS
from results.provenance import tabulate, warnings_of
from results.published import paper
from results.published.reasons import UNEXPLAINED, Reason, reason_for
from results.records.frame import Experiments
from results.reproduction.comparison import (
    NOT_JUDGED,
    compare,
    explain,
    not_judged,
    only_by_spread,
)
from results.reproduction.comparison_output import spread_heading, with_reasons
from results.reproduction.conclusions import conclusions_table
from results.reproduction.criterion import criterion_block
from results.reproduction.crossed import crossed_block
from results.reproduction.departures import effects
from results.reproduction.departures_output import rows_of, to_markdown
from results.reproduction.forest_seeds import seeds_block
from results.reproduction.ranks import FIELDS, block_of_tests, rankings
from results.reproduction.repeats import repeats_block
from results.reproduction.replay import readme_block, replay_block
from results.reproduction.runs import comparable
from results.reproduction.standings_block import standings_block
from results.reproduction.subsets import subsets_table
from results.status import failures, missing_remarks
from results.tables.model import TableOptions
from results.tables.text import markdown, table_to_markdown
from results.tables.write import build_tables
from results.vocabulary import PARTIAL, format_number

_NOTHING = "Nothing to show: the records hold no such experiments."
#: Differences above this are listed although two standard errors cover them.
_LARGE = 0.05


def make_blocks(
    experiments: Experiments, reasons: list[Reason]
) -> tuple[dict[str, str], list[str]]:
    """Generate every block; also return remarks (reasons that are not needed any more)."""
    is_replayed = experiments.frame["protocol"].str.startswith("replayed")
    replayed = make_cells(experiments.frame[is_replayed])
    experiments = replace(experiments, frame=experiments.frame[~is_replayed])
    cells = make_cells(experiments.frame)
    shown, remarks = comparable(experiments.frame, paper.publication())
    table = compare(make_cells(shown))
    explained, unused = explain(table, reasons) if len(table) else ([], [])
    makers: dict[str, Callable[[], str]] = {
        "replay": lambda: replay_block(replayed),
        "crossed": lambda: crossed_block(replayed),
        "forest_seeds": lambda: seeds_block(replayed),
        "replay_summary": lambda: readme_block(replayed),
        "criterion": lambda: criterion_block(table, replayed, experiments.frame),
        "summary": lambda: _summary(table, explained, reasons),
        "machine": lambda: _machine(experiments.frame),
        "missing": lambda: _missing(experiments.frame, cells),
        "table2": lambda: side_by_side(table, "novelty", explained),
        "tableS1": lambda: side_by_side(table, "outlier", explained),
        "differs": lambda: _differs(explained),
        "wide": lambda: _wide(table, reasons),
        "subsets": lambda: subsets_table(experiments.frame) or _NOTHING,
        "departures": lambda: _departures(experiments.frame, cells),
        "clean": lambda: _clean(experiments),
        "repeats": repeats_block,
        "rankings": lambda: rankings(cells),
        "tests": lambda: block_of_tests(cells),
        "standings": lambda: standings_block(cells),
        "conclusions": lambda: conclusions_table(cells) or _NOTHING,
    }
    remarks += [
        f"reasons.csv: not needed any more: {r.setting}, {r.dataset}, {r.algorithm}, {r.metric}"
        for r in unused
    ]
    return {name: make() for name, make in makers.items()}, remarks


def _summary(table: pd.DataFrame, explained: list[tuple[dict, str]], reasons: list[Reason]) -> str:
    if table.empty:
        return _NOTHING
    lines = []
    open_cells = _count_open(reason for _, reason in explained)
    lines.append(
        f"- {len(explained)} values differ, or are NA on one side; "
        f"explained below: {len(explained) - open_cells}, unexplained: {open_cells}."
    )
    large = [reason for row, reason in _wide_rows(table, reasons) if _is_large(row)]
    lines.append(
        f"- {len(large)} more differ by over {_LARGE:g} and are covered only by the spread; "
        f"unexplained: {_count_open(large)}."
    )
    if short := not_judged(table):
        lines.append(f"- {len(short)} cells are not judged: fewer splits, or several versions.")
    return "\n".join(lines)


def _count_open(reasons: Iterable[str]) -> int:
    """Count what is not explained; a reason may say so first, and go on with what was tried."""
    return sum(reason.lower().startswith(UNEXPLAINED) for reason in reasons)


def _machine(frame: pd.DataFrame) -> str:
    frame = frame[frame["protocol"].str.match(r"(paper|clean)(\(|_|$)")]
    if frame.empty:
        return _NOTHING
    table = tabulate(frame)
    rows = [[str(value) for value in row] for row in table.to_numpy()]
    seconds = frame[["fit_seconds", "score_seconds"]].sum().sum()
    parts = [
        f"{len(frame)} experiments, {format_number(seconds / 3600, 1)} hours of fitting and "
        "scoring in those that finished.",
        "",
        markdown(["what", "value", "experiments"], rows),
    ]
    parts += [f"\nWarning: {warning}." for warning in warnings_of(table)]
    return "\n".join(parts)


def _missing(frame: pd.DataFrame, cells: pd.DataFrame) -> str:
    """Say what of the two grids was not run, and what failed; variants are not a grid."""
    columns = paper.columns()
    level = cells.index.get_level_values
    grid = cells[
        level("protocol").isin(["paper", "clean"])
        & level("label").isin(columns.loc[columns["as_run"], "algorithm"])
    ]
    lines = [f"- {remark}" for remark in missing_remarks(grid)]
    lines = lines or ["Every cell of the grid was run."]
    failed = failures(frame)
    if len(failed):
        rows = [[str(value) for value in row] for row in failed.to_numpy()]
        lines += ["", markdown([str(c) for c in failed.columns], rows)]
    return "\n".join(lines)


def side_by_side(
    table: pd.DataFrame, setting: str, explained: Iterable[tuple[dict, str]] = ()
) -> str:
    """Return one Markdown table per metric: ours, and the published value in brackets.

    A value that differs is in bold, and its reason stands below the table.
    """
    if table.empty or setting not in set(table["setting"]):
        return _NOTHING
    rows = table[table["as_run"] & (table["setting"] == setting)]
    columns = list(dict.fromkeys(paper.cells()["column"]))
    parts = []
    for metric in PAPER_METRICS:
        part = {
            (row["dataset"], row["column"]): row
            for row in rows[rows["metric"] == metric].to_dict("records")
        }
        datasets = sorted({dataset for dataset, _ in part})
        body = [[d, *(_beside(part[d, column]) for column in columns)] for d in datasets]
        parts += [
            f"{METRICS[metric].heading}, ours (published):\n",
            markdown(["data set", *columns], body),
            "",
        ]
    return "\n".join([*parts, _legend(rows), *_footnotes(setting, explained)])


def _footnotes(setting: str, explained: Iterable[tuple[dict, str]]) -> list[str]:
    """Say why the values in bold differ, where both sides have one."""
    notes: dict[tuple[str, str, str], list[str]] = {}
    for row, reason in explained:
        if row["setting"] == setting and row["verdict"] == "differs":
            areas = notes.setdefault((row["dataset"], row["column"], reason), [])
            spread = f"{format_number(row['ours'], 3)} ± {format_number(row['std'], 3)}"
            areas.append(f"{METRICS[row['metric']].heading} {spread}")
    lines = [
        f"- {dataset}, {column} ({', '.join(areas)} over the splits): {reason}"
        for (dataset, column, reason), areas in notes.items()
    ]
    return ["", *lines] if lines else []


def _legend(rows: pd.DataFrame) -> str:
    marks = set(rows["mark"])
    entries = []
    if (rows["verdict"] == "differs").any():
        entries.append("bold: differs")
    if "NA" in marks or rows["published"].isna().any():
        entries.append("NA: not finished within the time limit")
    if "--" in marks:
        entries.append("--: not run")
    if (rows["verdict"] == NOT_JUDGED).any():
        entries.append(f"{PARTIAL}: not judged, fewer splits than published, or several versions")
    return f"{'; '.join(entries)}." if entries else ""


def _beside(row: dict) -> str:
    ours = format_number(row["ours"], 3) or row["mark"]
    theirs = format_number(row["published"], 3) or "NA"
    text = f"{ours}{PARTIAL if row['verdict'] == NOT_JUDGED else ''} ({theirs})"
    return f"**{text}**" if row["verdict"] == "differs" else text


def _differs(explained: list[tuple[dict, str]]) -> str:
    return _with_reasons(explained) if explained else "Nothing."


def _with_reasons(rows: list[tuple[dict, str]]) -> str:
    """Return a table of differences with numbers for their reasons, and those below it."""
    heading = spread_heading(paper.publication().description)
    table, notes = with_reasons(rows, 3, 3, heading)
    return "\n".join([markdown(*table), *([""] if notes else []), *notes])


def _wide(table: pd.DataFrame, reasons: list[Reason]) -> str:
    """List differences that count as reproduced because means vary that much.

    The large ones, and those whose reason somebody found out.
    """
    if table.empty:
        return _NOTHING
    rows = _wide_rows(table, reasons)
    rows = [(row, reason) for row, reason in rows if _is_large(row) or reason != UNEXPLAINED]
    return _with_reasons(rows) if rows else "None."


def _wide_rows(table: pd.DataFrame, reasons: list[Reason]) -> list[tuple[dict, str]]:
    """Return the differences that only the spread covers, the largest first, with their reasons."""
    return [(row, reason_for(row, reasons)) for row in only_by_spread(table).to_dict("records")]


def _is_large(row: Mapping[Hashable, Any]) -> bool:
    return abs(row["difference"]) > _LARGE


def _departures(frame: pd.DataFrame, cells: pd.DataFrame) -> str:
    found = effects(frame, cells)
    return to_markdown(rows_of(found)) if found else _NOTHING


def _clean(experiments: Experiments) -> str:
    """Return the tables of the clean protocol, of one form of each algorithm at a time."""
    frame = experiments.frame[experiments.frame["protocol"] == "clean"]
    texts: list[str] = []
    for name, labels in FIELDS.items():
        part = frame[frame["label"].isin(labels)]
        if part.empty or (texts and not set(part["label"]) - set(FIELDS["as run"])):
            continue
        tables = build_tables(replace(experiments, frame=part), TableOptions())
        texts += [f"{name.capitalize()}.\n\n{table_to_markdown(table)}" for table in tables]
    return "\n".join(texts) or _NOTHING
