"""``results/REPRODUCTION.md``: numbers regenerated, sentences kept.

The file holds blocks between markers::

    <!-- generated: summary -->
    ...
    <!-- end: summary -->

A rerun replaces what stands between the markers of each known block and nothing else. Why a cell
differs is written by hand in ``results/reasons.csv`` and printed beside the cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from results import published
from results.aggregate import make_cells
from results.comparison import compare, only_by_spread
from results.comparison_output import headline, summary_rows
from results.experiments import Experiments
from results.output import Output
from results.protocols import effects
from results.protocols_output import rows_of, to_markdown
from results.provenance import tabulate, warnings_of
from results.reasons import REASONS, Reason, explain, read_reasons
from results.rounding import format_number
from results.statistics import matrix
from results.status import failures, missing_remarks
from results.tables.model import TableOptions
from results.tables.text import markdown, table_to_markdown
from results.tables.write import build_tables
from results.vocabulary import METRIC_HEADINGS, PAPER_METRICS, SETTINGS, display_name

FILE_NAME = "REPRODUCTION.md"
_BLOCK = re.compile(r"<!-- generated: (\S+) -->\n(.*?)<!-- end: \1 -->", re.DOTALL)
_SKELETON = """# Do the paper's tables hold?

## Summary

{summary}

## What was run, on what, in how long

{machine}

{missing}

## Novelty detection (Table 2)

{table2}

## Outlier detection (the supplementary table)

{tableS1}

## Which columns are reproduced

{verdicts}

## What differs

{differs}

Differences above .05 that two standard deviations over the splits cover:

{wide}

## What the departures are worth

{departures}

## The clean protocol

{clean}

{rankings}
"""


def update(text: str, blocks: Mapping[str, str]) -> tuple[str, list[str]]:
    """Replace the generated blocks of a text.

    Returns
    -------
    text : str
    problems : list of str
        Markers of unknown blocks, and blocks that the text has no markers for.
    """
    found = [match.group(1) for match in _BLOCK.finditer(text)]
    opened = re.findall(r"<!-- generated: (\S+) -->", text)
    if broken := sorted(set(opened) - set(found)):
        raise ValueError(
            f"the block {broken[0]!r} has no line <!-- end: {broken[0]} -->: nothing was replaced"
        )

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        return marked(name, blocks[name]) if name in blocks else match.group(0)

    problems = [f"unknown block {name!r} left as it is" for name in found if name not in blocks]
    problems += [f"the file has no block {name!r}" for name in blocks if name not in found]
    return _BLOCK.sub(replace, text), problems


def marked(name: str, content: str) -> str:
    """Return a block with its markers."""
    return f"<!-- generated: {name} -->\n{content.strip()}\n<!-- end: {name} -->"


def make_blocks(
    experiments: Experiments, reasons: list[Reason]
) -> tuple[dict[str, str], list[str]]:
    """Generate every block; also return remarks (reasons that are not needed any more)."""
    cells = make_cells(experiments.frame)
    table = compare(cells)
    explained, unused = explain(table, reasons) if len(table) else ([], [])
    makers: dict[str, Callable[[], str]] = {
        "summary": lambda: _summary(table, explained),
        "machine": lambda: _machine(experiments.frame),
        "missing": lambda: _missing(experiments.frame, cells),
        "table2": lambda: side_by_side(table, "novelty"),
        "tableS1": lambda: side_by_side(table, "outlier"),
        "verdicts": lambda: markdown(*summary_rows(table)) if len(table) else _NOTHING,
        "differs": lambda: _differs(explained),
        "wide": lambda: _wide(table, reasons),
        "departures": lambda: _departures(experiments.frame, cells),
        "clean": lambda: _clean(experiments),
        "rankings": lambda: rankings(cells),
    }
    remarks = [
        f"reasons.csv: not needed any more: {r.setting}, {r.dataset}, {r.algorithm}, {r.metric}"
        for r in unused
    ]
    return {name: make() for name, make in makers.items()}, remarks


_NOTHING = "Nothing to show: the records hold no such experiments."


def _summary(table: pd.DataFrame, explained: list[tuple[dict, str]]) -> str:
    if table.empty:
        return _NOTHING
    lines = [f"- {line}" for line in headline(table)]
    # A reason may begin so too, and go on with what was tried.
    open_cells = [row for row, reason in explained if reason.lower().startswith("unexplained")]
    lines.append(
        f"- {len(explained)} values differ, or are NA on one side; "
        f"{len(explained) - len(open_cells)} of them are explained below, "
        f"{len(open_cells)} are not."
    )
    return "\n".join(lines)


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
    lines = [f"- {remark}" for remark in missing_remarks(cells)]
    lines = lines or ["Every cell of the grid was run."]
    failed = failures(frame)
    if len(failed):
        rows = [[str(value) for value in row] for row in failed.to_numpy()]
        lines += ["", markdown([str(c) for c in failed.columns], rows)]
    return "\n".join(lines)


def side_by_side(table: pd.DataFrame, setting: str) -> str:
    """Return one Markdown table per metric: ours with its spread, the published value in brackets.

    A value that differs is in bold.
    """
    if table.empty or setting not in set(table["setting"]):
        return _NOTHING
    rows = table[table["as_run"] & (table["setting"] == setting)]
    columns = list(dict.fromkeys(published.cells()["column"]))
    parts = []
    for metric in PAPER_METRICS:
        part = {
            (row["dataset"], row["column"]): row
            for row in rows[rows["metric"] == metric].to_dict("records")
        }
        datasets = sorted({dataset for dataset, _ in part})
        body = [[d, *(_beside(part[d, column]) for column in columns)] for d in datasets]
        parts += [
            f"{METRIC_HEADINGS[metric]}, ours (published):\n",
            markdown(["data set", *columns], body),
            "",
        ]
    return "\n".join(parts)


def _beside(row: dict) -> str:
    ours = format_number(row["ours"], 3) or row["mark"]
    theirs = format_number(row["published"], 3) or "NA"
    text = f"{ours} ({theirs})"
    return f"**{text}**" if row["verdict"] == "differs" else text


def _differs(explained: list[tuple[dict, str]]) -> str:
    if not explained:
        return "Nothing."
    rows = [[*_difference(row), reason] for row, reason in explained]
    return markdown([*_DIFFERENCE, "reason"], rows)


_DIFFERENCE = ["data set", "algorithm", "setting", "metric", "published", "ours", "spread", "diff"]
#: Differences above this are listed although two standard deviations cover them.
_LARGE = 0.05


def _difference(row: Mapping[Hashable, Any]) -> list[str]:
    return [
        row["dataset"],
        display_name(row["algorithm"]),
        row["setting"],
        METRIC_HEADINGS[row["metric"]],
        format_number(row["published"], 3) or "NA",
        format_number(row["ours"], 3) or row["mark"],
        format_number(row["std"], 3),
        format_number(row["difference"], 3),
    ]


def _wide(table: pd.DataFrame, reasons: list[Reason]) -> str:
    """List large differences that count as reproduced because single splits vary that much."""
    if table.empty:
        return _NOTHING
    rows = only_by_spread(table)
    rows = rows[rows["difference"].abs() > _LARGE]
    order = rows["difference"].abs().sort_values(ascending=False, kind="stable").index
    body = [
        [*_difference(row), next((r.reason for r in reasons if r.fits(row)), "")]
        for row in rows.loc[order].to_dict("records")
    ]
    return markdown([*_DIFFERENCE, "reason"], body) if body else "None."


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
        for heading, paper_metric, clean_metric in (
            ("ROC", "roc_auc_curve", "roc_auc"),
            ("PR", "pr_auc_curve", "average_precision"),
        ):
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


def write_reproduction(
    experiments: Experiments, output: Output, file: Path, reasons: Path = REASONS
) -> None:
    """Regenerate the blocks of the file, which is made if it does not exist."""
    blocks, remarks = make_blocks(experiments, read_reasons(reasons))
    text = file.read_text(encoding="utf-8") if file.exists() else skeleton()
    text, problems = update(text, blocks)
    output.remarks += remarks + problems
    output.write(file.resolve(), text)


def skeleton() -> str:
    """Return the file with headings and empty blocks, to be written around."""
    names = re.findall(r"\{(\w+)\}", _SKELETON)
    return _SKELETON.format(**{name: marked(name, "") for name in names})
