"""The command ``report``: everything that the records hold, in one HTML file."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
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
from results.published import paper
from results.records.frame import Experiments
from results.report.html_table import HtmlTable, from_rows, from_table
from results.reproduction.comparison import NOT_RUN, compare, verdict_meanings
from results.reproduction.comparison_output import headline, printed_rows, summary_rows
from results.reproduction.departures import effects, missing
from results.reproduction.departures_output import CAPTION, COLUMNS, NOTE, rows_of
from results.reproduction.replay import replay_tables
from results.reproduction.runs import comparable
from results.statistics.rank_tests import win_tie_loss
from results.statistics.write import (
    TIES,
    Section,
    algorithm_rows,
    pair_tables,
    sections,
    sentences,
    square_rows,
)
from results.status import failures, missing_remarks
from results.tables import datasets
from results.tables.model import TableOptions
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
    shown, changed = comparable(frame, paper.publication())
    comparison = compare(make_cells(shown))
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
        "remarks": [*experiments.remarks, *changed, *missing_remarks(cells)],
        "options": _protocol_options(frame),
        "tables": [
            from_table(table) for table in build_tables(experiments, TableOptions(std=False))
        ],
        "table1": _table1(cells),
        "verdicts": from_rows("Verdicts", *summary_rows(comparison)) if len(comparison) else None,
        "verdict_meanings": verdict_meanings(),
        "comparisons": _comparisons(comparison),
        "replay": [from_rows(*table) for table in replay_tables(cells)],
        "images": images,
        "statistics": [(s.title, _statistics(s)) for s in sections(experiments)],
        "departures": from_rows(CAPTION, COLUMNS, rows_of(found), [NOTE]) if found else None,
        "not_measured": missing(found),
        "failures": _from_frame("Experiments that failed, and why", failed)
        if len(failed)
        else None,
        "provenance": _from_frame("What the records were made with", provenance),
        "warnings": warnings_of(provenance),
    }


_LARGE = 100_000  # bytes of an SVG; it takes time to draw the figure once more


def _embed(figure: Figure) -> str:
    """Return the figure as a data URI: as SVG, or as PNG where hatches make that far smaller."""
    kind, data = "svg+xml", render(figure, "svg")
    if len(data) > _LARGE and 2 * len(pixels := render(figure, "png")) < len(data):
        kind, data = "png", pixels
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


def _table1(cells: pd.DataFrame) -> HtmlTable:
    rows = datasets.build_rows(cells)
    return from_rows(datasets.caption(rows), datasets.COLUMNS, rows, datasets.notes(rows))


def _comparisons(comparison: pd.DataFrame) -> list[HtmlTable]:
    if comparison.empty:
        return []
    ran = comparison[comparison["verdict"] != NOT_RUN]
    return [
        from_rows(SETTINGS[str(setting)].capitalize(), *printed_rows(part))
        for setting, part in ran.groupby("setting", sort=False)
    ]


def _statistics(section: Section) -> list[tuple[str, list[str], list[HtmlTable]]]:
    parts = []
    for comparison in section.comparisons:
        tables = [from_rows("Ranks, means and intervals", *algorithm_rows(comparison))]
        tables += [from_rows(title, *rows) for title, rows in pair_tables(comparison)]
        parts.append((comparison.title, sentences(comparison), tables))
    wins = from_rows(
        "wins/ties/losses of the row", *square_rows(win_tie_loss(section.values, section.metric))
    )
    parts.append(("pairs, on the data sets that both finished", [TIES], [wins]))
    return parts


def _from_frame(caption: str, frame: pd.DataFrame) -> HtmlTable:
    rows = [[str(value) for value in row] for row in frame.to_numpy()]
    return from_rows(caption, [str(column) for column in frame.columns], rows)
