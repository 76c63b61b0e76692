"""The command ``report``: everything that the records hold, in one HTML file."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from matplotlib.figure import Figure

from results.aggregate import make_cells
from results.figures.style import render
from results.figures.write import draw_all
from results.output import Output
from results.provenance import tabulate, warnings_of
from results.records.frame import Experiments
from results.reproduction.comparison import compare, verdict_meanings
from results.reproduction.comparison_output import headline, printed_rows, summary_rows
from results.reproduction.departures import effects, missing
from results.reproduction.departures_output import CAPTION, COLUMNS, NOTE, rows_of
from results.reproduction.replay import replay_grids
from results.statistics.rank_tests import win_tie_loss
from results.statistics.write import (
    Section,
    algorithm_rows,
    pair_tables,
    sections,
    sentences,
    square_rows,
)
from results.status import failures, missing_remarks
from results.tables import datasets
from results.tables.model import Line, Table, TableOptions
from results.tables.write import build_tables
from results.vocabulary import SETTINGS

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Image:
    """An embedded figure; its width is in CSS pixels, 96 to the inch."""

    name: str
    group: str
    caption: str
    uri: str
    width: int


def write_report(experiments: Experiments, output: Output) -> None:
    """Write ``report.html``."""
    output.write("report.html", build_report(experiments))
    output.remarks += experiments.remarks


def build_report(experiments: Experiments) -> str:
    """Return the whole report as HTML that needs no other file and no network."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    template = environment.get_template("template.html.j2")
    return template.render(
        style=(_FOLDER / "style.css").read_text(encoding="utf-8"),
        script=(_FOLDER / "sort.js").read_text(encoding="utf-8"),
        **_context(experiments),
    )


def _context(experiments: Experiments) -> dict[str, Any]:
    frame = experiments.frame
    cells = make_cells(frame)
    comparison = compare(cells)
    found = effects(frame, cells)
    provenance = tabulate(frame)
    images: dict[str, list[Image]] = {}
    for drawn in draw_all(experiments):
        images.setdefault(drawn.group, []).append(
            Image(
                drawn.name,
                drawn.group,
                drawn.caption,
                _embed(drawn.figure),
                round(96 * drawn.figure.get_figwidth()),
            )
        )
    failed = failures(frame)
    return {
        "facts": _facts(frame, cells),
        "headline": headline(comparison) if len(comparison) else [],
        "remarks": [*experiments.remarks, *missing_remarks(cells)],
        "options": _protocol_options(frame),
        "tables": [
            from_table(table) for table in build_tables(experiments, TableOptions(std=False))
        ],
        "table1": _table1(cells),
        "verdicts": from_rows("Verdicts", *summary_rows(comparison)) if len(comparison) else None,
        "verdict_meanings": verdict_meanings(),
        "comparisons": _comparisons(comparison),
        "replay": [from_rows(*grid) for grid in replay_grids(cells)],
        "images": images,
        "statistics": [(s.title, _statistics(s)) for s in sections(experiments)],
        "departures": from_rows(CAPTION, COLUMNS, rows_of(found), [NOTE]) if found else None,
        "not_measured": missing(found),
        "failures": _frame_grid("Experiments that failed, and why", failed)
        if len(failed)
        else None,
        "provenance": _frame_grid("What the records were made with", provenance),
        "warnings": warnings_of(provenance),
    }


def _embed(figure: Figure) -> str:
    """Return the figure as a data URI: as SVG, or as PNG where hatches make that far smaller."""
    vector, pixels = render(figure, "svg"), render(figure, "png")
    kind, data = ("svg+xml", vector) if len(vector) <= 2 * len(pixels) else ("png", pixels)
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _facts(frame: pd.DataFrame, cells: pd.DataFrame) -> list[tuple[str, str]]:
    level = cells.index.unique
    seconds = float(frame[["fit_seconds", "score_seconds"]].sum().sum())
    return [
        ("experiments", str(len(frame))),
        ("finished", str(int((frame["status"] == "ok").sum()))),
        ("cells", str(len(cells))),
        ("NA", str(int((cells["mark"] == "NA").sum()))),
        ("failed otherwise", str(int((~cells["mark"].isin(["", "NA"])).sum()))),
        ("data sets", str(len(level("dataset")))),
        ("algorithms", str(len(level("label")))),
        ("hours of fitting and scoring", f"{seconds / 3600:.1f}"),
    ]


def _protocol_options(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Return what each protocol's name stood for."""
    shown = []
    for protocol, part in frame.groupby("protocol", sort=True):
        for text in part["config_protocol"].unique():
            config = json.loads(text)
            if isinstance(config, dict):
                shown.append(
                    (str(protocol), ", ".join(f"{k}: {json.dumps(v)}" for k, v in config.items()))
                )
    return list(dict.fromkeys(shown))


def _table1(cells: pd.DataFrame) -> Grid:
    rows = datasets.build_rows(cells)
    return from_rows(datasets.CAPTION, datasets.COLUMNS, rows, datasets.NOTES)


def _comparisons(comparison: pd.DataFrame) -> list[Grid]:
    if comparison.empty:
        return []
    ran = comparison[comparison["verdict"] != "not run"]
    return [
        from_rows(SETTINGS[str(setting)].capitalize(), *printed_rows(part))
        for setting, part in ran.groupby("setting", sort=False)
    ]


def _statistics(section: Section) -> list[tuple[str, list[str], list[Grid]]]:
    parts = []
    for comparison in section.comparisons:
        grids = [from_rows("Ranks, means and intervals", *algorithm_rows(comparison))]
        grids += [from_rows(title, *rows) for title, rows in pair_tables(comparison)]
        parts.append((comparison.title, sentences(comparison), grids))
    wins = from_rows(
        "wins/ties/losses of the row", *square_rows(win_tie_loss(section.values, section.metric))
    )
    parts.append(("pairs, on the data sets that both finished", [], [wins]))
    return parts


def _frame_grid(caption: str, frame: pd.DataFrame) -> Grid:
    rows = [[str(value) for value in row] for row in frame.to_numpy()]
    return from_rows(caption, [str(column) for column in frame.columns], rows)


@dataclass(frozen=True)
class Cell:
    """One cell: its text, what it sorts by (empty: goes last), and how it looks."""

    text: str
    sort: str = ""
    bold: bool = False
    css: str = ""
    span: int = 1


@dataclass
class Grid:
    """A table of the report.

    Attributes
    ----------
    caption : str
    groups : list of (str, int)
        Headings over several columns and how many they span; empty if there is one header row.
    columns : list of str
    body, foot : list of list of Cell
        Rows of the foot stay below when the body is sorted.
    notes : list of str
    """

    caption: str
    columns: list[str]
    groups: list[tuple[str, int]] = field(default_factory=list)
    body: list[list[Cell]] = field(default_factory=list)
    foot: list[list[Cell]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


_NUMBER = re.compile(r"^[<+]?\s*(-?\d+(?:\.\d+)?)(?:[s†]|\s|$|/)")


def sort_key(text: str) -> str:
    """Return the number that a text starts with, the text itself otherwise; "" for marks.

    Examples
    --------
    >>> sort_key("0.665† ± 0.01"), sort_key("+0.020"), sort_key("wilt"), sort_key("--")
    ('0.665', '0.020', 'wilt', '')
    """
    if text in ("NA", "--", "mem", "crash", "err", "no data"):
        return ""
    match = _NUMBER.match(text)
    return match.group(1) if match else text


def from_table(table: Table) -> Grid:
    """Convert a results table: algorithms as column groups, summaries as the foot."""
    headings = table.metric_headings
    several = len(table.metrics) > 1
    grid = Grid(
        caption=table.caption,
        columns=["data set"],
        groups=[("", 1)] if several else [],
        notes=list(table.notes),
    )
    for label in table.algorithms:
        if several:
            grid.groups.append((table.heading(label), len(table.metrics)))
            grid.columns += [headings[metric] for metric in table.metrics]
        else:
            grid.columns.append(table.heading(label))
    for line in table.lines:
        (grid.body if line.kind == "dataset" else grid.foot).append(_line(table, line))
    return grid


def _line(table: Table, line: Line) -> list[Cell]:
    row = [Cell(line.heading, line.heading)]
    for label in table.algorithms:
        for metric in ("",) if line.spans else table.metrics:
            entry = table.entry(line, label, metric)
            row.append(
                Cell(
                    entry.plain,
                    sort_key(entry.plain),
                    entry.bold,
                    span=len(table.metrics) if line.spans else 1,
                )
            )
    return row


def from_rows(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()
) -> Grid:
    """Convert plain rows of text; verdicts get a style of their name."""
    body = [
        [Cell(str(text), sort_key(str(text)), css=_css(str(text))) for text in row] for row in rows
    ]
    return Grid(caption, list(columns), body=body, notes=list(notes))


def _css(text: str) -> str:
    return text if text in ("differs", "reproduced") else ""
