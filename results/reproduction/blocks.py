"""What stands in the generated blocks of REPRODUCTION.md."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from results.aggregate import make_cells
from results.metrics import EXACT_METRICS, METRICS, PAPER_METRICS
from results.published import paper
from results.published.reasons import UNEXPLAINED, Reason, reason_for
from results.records.frame import Experiments
from results.records.provenance import tabulate, warnings_of
from results.reproduction.comparison import compare, explain, only_by_spread
from results.reproduction.comparison_output import headline, summary_rows, with_reasons
from results.reproduction.conclusions import conclusions_table
from results.reproduction.crossed import crossed_block
from results.reproduction.departures import effects
from results.reproduction.departures_output import rows_of, to_markdown
from results.reproduction.forest_seeds import seeds_block
from results.reproduction.replay import readme_block, replay_block
from results.reproduction.subsets import subsets_table
from results.statistics.rank_tests import matrix
from results.status import failures, missing_remarks
from results.tables.model import TableOptions
from results.tables.text import markdown, table_to_markdown
from results.tables.write import build_tables
from results.vocabulary import SETTINGS, display_name, format_number

_NOTHING = "Nothing to show: the records hold no such experiments."
#: Differences above this are listed although two standard deviations cover them.
_LARGE = 0.05


def make_blocks(
    experiments: Experiments, reasons: list[Reason]
) -> tuple[dict[str, str], list[str]]:
    """Generate every block; also return remarks (reasons that are not needed any more)."""
    is_replayed = experiments.frame["protocol"].str.startswith("replayed")
    replayed = make_cells(experiments.frame[is_replayed])
    experiments = replace(experiments, frame=experiments.frame[~is_replayed])
    cells = make_cells(experiments.frame)
    table = compare(cells)
    explained, unused = explain(table, reasons) if len(table) else ([], [])
    makers: dict[str, Callable[[], str]] = {
        "replay": lambda: replay_block(replayed),
        "crossed": lambda: crossed_block(replayed),
        "forest_seeds": lambda: seeds_block(replayed),
        "replay_summary": lambda: readme_block(replayed),
        "summary": lambda: _summary(table, explained, reasons),
        "machine": lambda: _machine(experiments.frame),
        "missing": lambda: _missing(experiments.frame, cells),
        "table2": lambda: side_by_side(table, "novelty"),
        "tableS1": lambda: side_by_side(table, "outlier"),
        "verdicts": lambda: markdown(*summary_rows(table)) if len(table) else _NOTHING,
        "differs": lambda: _differs(explained),
        "wide": lambda: _wide(table, reasons),
        "subsets": lambda: subsets_table(experiments.frame) or _NOTHING,
        "departures": lambda: _departures(experiments.frame, cells),
        "clean": lambda: _clean(experiments),
        "rankings": lambda: rankings(cells),
        "conclusions": lambda: conclusions_table(cells) or _NOTHING,
    }
    remarks = [
        f"reasons.csv: not needed any more: {r.setting}, {r.dataset}, {r.algorithm}, {r.metric}"
        for r in unused
    ]
    return {name: make() for name, make in makers.items()}, remarks


def _summary(table: pd.DataFrame, explained: list[tuple[dict, str]], reasons: list[Reason]) -> str:
    if table.empty:
        return _NOTHING
    lines = [f"- {line}" for line in headline(table)]
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
    return "\n".join(lines)


def _count_open(reasons: Iterable[str]) -> int:
    """Count what is not explained; a reason may say so first, and go on with what was tried."""
    return sum(reason.lower().startswith(UNEXPLAINED) for reason in reasons)


def _machine(frame: pd.DataFrame) -> str:
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


def side_by_side(table: pd.DataFrame, setting: str) -> str:
    """Return one Markdown table per metric: ours, and the published value in brackets.

    A value that differs is in bold.
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
    return "\n".join([*parts, _legend(rows)])


def _legend(rows: pd.DataFrame) -> str:
    marks = set(rows["mark"])
    entries = []
    if (rows["verdict"] == "differs").any():
        entries.append("bold: differs")
    if "NA" in marks or rows["published"].isna().any():
        entries.append("NA: not finished within the time limit")
    if "--" in marks:
        entries.append("--: not run")
    return f"{'; '.join(entries)}." if entries else ""


def _beside(row: dict) -> str:
    ours = format_number(row["ours"], 3) or row["mark"]
    theirs = format_number(row["published"], 3) or "NA"
    text = f"{ours} ({theirs})"
    return f"**{text}**" if row["verdict"] == "differs" else text


def _differs(explained: list[tuple[dict, str]]) -> str:
    return _with_reasons(explained) if explained else "Nothing."


def _with_reasons(rows: list[tuple[dict, str]]) -> str:
    """Return a table of differences with numbers for their reasons, and those below it."""
    table, notes = with_reasons(rows, 3, 3)
    return "\n".join([markdown(*table), *([""] if notes else []), *notes])


def _wide(table: pd.DataFrame, reasons: list[Reason]) -> str:
    """List differences that count as reproduced because single splits vary that much.

    The large ones, and those whose reason somebody found out.
    """
    if table.empty:
        return _NOTHING
    rows = _wide_rows(table, reasons)
    rows = [(row, reason) for row, reason in rows if _is_large(row) or reason != UNEXPLAINED]
    return _with_reasons(rows) if rows else "None."


def _wide_rows(table: pd.DataFrame, reasons: list[Reason]) -> list[tuple[dict, str]]:
    """Return the differences that only the spread covers, the largest first, with their reasons."""
    rows = only_by_spread(table)
    order = rows["difference"].abs().sort_values(ascending=False, kind="stable").index
    return [(row, reason_for(row, reasons)) for row in rows.loc[order].to_dict("records")]


def _is_large(row: Mapping[Hashable, Any]) -> bool:
    return abs(row["difference"]) > _LARGE


def _departures(frame: pd.DataFrame, cells: pd.DataFrame) -> str:
    found = effects(frame, cells)
    return to_markdown(rows_of(found)) if found else _NOTHING


def _clean(experiments: Experiments) -> str:
    tables = build_tables(experiments, TableOptions())
    texts = [table_to_markdown(table) for table in tables if table.name.endswith("_clean")]
    return "\n".join(texts) or _NOTHING


def rankings(cells: pd.DataFrame) -> str:
    """Rank the algorithms under the paper's protocol and metrics, and under the clean ones.

    Mean ranks are over the data sets on which every algorithm that both protocols have finished
    under both.
    """
    parts = []
    for setting in SETTINGS:
        for paper_metric, clean_metric in zip(PAPER_METRICS, EXACT_METRICS, strict=True):
            heading = METRICS[paper_metric].heading
            values = {}
            for protocol, metric in (("paper", paper_metric), ("clean", clean_metric)):
                part = _part(cells, protocol, setting)
                if len(part):
                    values[protocol] = matrix(part, metric)
            if len(values) < 2:
                continue
            shared = [label for label in values["paper"] if label in values["clean"]]
            both = {name: table[shared] for name, table in values.items()}
            finished = both["paper"].dropna().index.intersection(both["clean"].dropna().index)
            if len(shared) < 2 or finished.empty:
                continue
            ranks = {
                name: table.loc[finished].rank(axis=1, ascending=False).mean()
                for name, table in both.items()
            }
            order = ranks["paper"].sort_values(kind="stable").index
            rows = [
                [display_name(str(a)), *(format_number(ranks[p][a], 2) for p in ("paper", "clean"))]
                for a in order
            ]
            parts += [
                f"{heading}, {SETTINGS[setting]}, mean rank over {', '.join(map(str, finished))}:",
                "",
                markdown(["algorithm", "paper", "clean"], rows),
                "",
            ]
    return "\n".join(parts) or _NOTHING


def _part(cells: pd.DataFrame, protocol: str, setting: str) -> pd.DataFrame:
    level = cells.index.get_level_values
    return cells[(level("protocol") == protocol) & (level("setting") == setting)]
