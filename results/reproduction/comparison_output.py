"""The command ``compare``: printed per setting, and written as CSV and Markdown."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd
from rich.text import Text

from results.aggregate import make_cells
from results.metrics import METRICS
from results.output import Output, csv_text
from results.published import paper
from results.published.description import Description
from results.published.publication import Publication
from results.published.reasons import UNEXPLAINED, reason_for
from results.records.files import safe_name
from results.records.frame import Experiments
from results.records.statuses import NA
from results.reproduction.comparison import (
    COLUMNS,
    NOT_JUDGED,
    NOT_RUN,
    VERDICTS,
    bound_in_words,
    compare,
    explain,
    not_judged,
    only_by_spread,
    overall,
    summarise,
    verdict_meanings,
)
from results.reproduction.runs import check_runs, not_run
from results.tables.text import markdown, print_columns, without_zeros
from results.vocabulary import (
    LABELLED,
    LABELLED_MEANING,
    SETTINGS,
    display_name,
    format_number,
)

_STYLES = {"reproduced": "green", "differs": "red"}
#: Counted where there are some.
_GAPS = (NOT_JUDGED, NOT_RUN)
NOT_JUDGED_TITLE = "What is not judged"
WIDE_TITLE = "Within the spread only"
#: So many of the values that only the spread covers are listed.
_N_WIDE = 10
_NAMES = ["data set", "algorithm", "setting", "metric", "published", "ours"]


def write_comparison(
    experiments: Experiments,
    output: Output,
    publication: Publication | None = None,
    *,
    every_cell: bool = False,
) -> pd.DataFrame:
    """Print and write the comparison with a publication (default: the paper); return it.

    Raises
    ------
    ValueError
        If no experiment was made with the publication's protocol.
    """
    publication = publication or paper.publication()
    output.remarks += check_runs(experiments.frame, publication)
    cells = make_cells(experiments.frame)
    table = compare(cells, publication)
    parts = sections(table, publication)
    output.console.print(Text(f"{publication.name}: {publication.description.citation}"))
    if every_cell:
        for setting, part in table.groupby("setting", sort=False):
            output.console.print(Text(f"\n{_heading(str(setting), publication)}", style="bold"))
            ran = part[part["verdict"] != NOT_RUN]
            columns, rows = printed_rows(ran, publication)
            print_columns(
                output.console,
                columns,
                [[Text(text, style=_STYLES.get(text, "")) for text in row] for row in rows],
            )
    for title, texts, rows_of in parts:
        output.console.print(Text(f"\n{title}", style="bold"))
        if rows_of:
            print_columns(output.console, *rows_of)
        for text in texts:
            output.console.print(Text(text))
    output.remarks += unused_remarks(table, publication)
    spreads = ["published_std"] if table["published_std"].notna().any() else []
    csv = csv_text(table[[*COLUMNS, *spreads]])
    name = f"comparison_{safe_name(publication.name)}"
    output.write(f"tables/{name}.csv", csv)
    output.write(f"tables/{name}.md", to_markdown(table, publication))
    return table


def sections(
    table: pd.DataFrame, publication: Publication
) -> list[tuple[str, list[str], tuple[list[str], list[list[str]]] | None]]:
    """Return titles with the sentences and the table below each: counts, differences, gaps."""
    short = _not_judged_lines(table, publication)
    explained, _ = explain(table, publication.reasons)
    digits, heading = publication.description.digits, spread_heading(publication.description)
    body, notes = with_reasons(explained, digits, _digits(publication), heading)
    gaps = not_run(table, publication)
    wide = only_by_spread(table).to_dict("records")
    counted = [*headline(table, publication)]
    if table["uses_labels"].any():
        counted.append(f"{LABELLED}: {LABELLED_MEANING}")
    return [
        ("Counts", counted, judged_rows(table, publication)),
        ("What differs", notes if explained else ["Nothing."], body if explained else None),
        *([_wide(wide, publication)] if wide else []),
        *([(NOT_JUDGED_TITLE, short, None)] if short else []),
        ("What was not run", gaps or ["Nothing."], None),
    ]


def _wide(
    rows: list[dict[Hashable, Any]], publication: Publication
) -> tuple[str, list[str], tuple[list[str], list[list[str]]]]:
    """List the values that count as reproduced only because of the spread, and are farthest."""
    digits, heading = publication.description.digits, spread_heading(publication.description)
    body = [_difference(row, digits, _digits(publication)) for row in rows[:_N_WIDE]]
    notes = ["Counted as reproduced: a wider spread allows a larger difference."]
    if len(rows) > _N_WIDE:
        notes.append(f"The nearer ones are not listed: {len(rows) - _N_WIDE}.")
    return WIDE_TITLE, notes, ([*_NAMES, heading, "diff"], body)


def _not_judged_lines(table: pd.DataFrame, publication: Publication) -> list[str]:
    """Say which values are not judged and why, the data sets of one algorithm together."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in not_judged(table):
        where = f"{display_name(row['algorithm'])} ({row['setting']}, {row['why']})"
        # What was not run needs no other reason.
        wanted = row["as_run"] and row["failed"]
        reason = reason_for(row, publication.reasons) if wanted else UNEXPLAINED
        note = "" if reason == UNEXPLAINED else f" {reason}"
        found.setdefault((where, note), []).append(row["dataset"])
    return [f"{where}: {', '.join(names)}.{note}" for (where, note), names in found.items()]


def unused_remarks(table: pd.DataFrame, publication: Publication) -> list[str]:
    """Name the reasons that no difference needs, of settings and cells that were run."""
    computed = table[~table["verdict"].isin([NOT_RUN, "both NA"])].to_dict("records")
    _, unused = explain(table, publication.reasons)
    return [
        f"reasons.csv: not needed any more: {r.setting}, {r.dataset}, {r.algorithm}, {r.metric}"
        for r in unused
        if any(r.fits(row) for row in computed)
    ]


def headline(table: pd.DataFrame, publication: Publication | None = None) -> list[str]:
    """Return one sentence per metric: how many published values are reproduced."""
    publication = publication or paper.publication()
    described = publication.description
    absolute = f"{described.tolerance.absolute:g}{' per cent' * (described.scale == 'percent')}"
    _, spreads = bound_in_words(described.tolerance)
    spreads = spreads.removesuffix(" of ours") or "a wider tolerance"
    sentences = []
    for metric in publication.metrics:
        good, total = overall(table, metric)
        wide = int((only_by_spread(table)["metric"] == metric).sum())
        near, far = (_counted(n, total) for n in (good - wide, wide))
        sentences.append(
            f"{METRICS[metric].heading}: {good} of {total} published values with one here "
            f"are reproduced: {near} within {absolute}, {far} only within {spreads}."
        )
    return sentences


def _counted(n: int, total: int) -> str:
    """Return a count with its share; of nothing there is none."""
    return f"{n} ({format_number(100 * n / total, 1)} %)" if total else str(n)


def summary_rows(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of the verdict counts."""
    summary = summarise(table)
    rows = [
        [
            display_name(row["algorithm"]) + (LABELLED if row["uses_labels"] else ""),
            row["setting"],
            METRICS[row["metric"]].heading,
            *(str(row[verdict]) for verdict in VERDICTS),
        ]
        for row in summary.to_dict("records")
    ]
    return without_zeros(["algorithm", "setting", "metric", *VERDICTS], rows, _GAPS)


def judged_rows(table: pd.DataFrame, publication: Publication) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows: per algorithm, how many values are reproduced, and the worst."""
    headings = ["algorithm", "setting", "metric", "computed", "reproduced", "within absolute"]
    headings += ["differs", "NA on one side", NOT_JUDGED, NOT_RUN, "worst", "diff"]
    rows = []
    for row in summarise(table).to_dict("records"):
        numbers = [row["computed"], row["reproduced"], row["within"], row["differs"]]
        numbers += [row["paper NA"] + row["ours NA"], row[NOT_JUDGED], row[NOT_RUN]]
        rows.append(
            [
                display_name(row["algorithm"]) + (LABELLED if row["uses_labels"] else ""),
                row["setting"],
                METRICS[row["metric"]].heading,
                *map(str, numbers),
                row["worst"],
                signed(row["worst_difference"], _digits(publication)),
            ]
        )
    return without_zeros(headings, rows, _GAPS)


def with_reasons(
    rows: Iterable[tuple[Mapping[Hashable, Any], str]],
    digits: int,
    digits_of_difference: int,
    spread: str,
) -> tuple[tuple[list[str], list[list[str]]], list[str]]:
    """Return a table of differences, and its reasons, which are too long for it, numbered."""
    numbers: dict[str, str] = {}
    body = []
    for row, reason in rows:
        number = (
            "none" if reason == UNEXPLAINED else numbers.setdefault(reason, str(len(numbers) + 1))
        )
        body.append([*_difference(row, digits, digits_of_difference), number])
    return ([*_NAMES, spread, "diff", "reason"], body), [
        f"{n}. {reason}" for reason, n in numbers.items()
    ]


def spread_heading(described: Description) -> str:
    """Return whose spreads a table has: those that count for the tolerance."""
    tolerances = [described.tolerance, *described.tolerances.values()]
    whose = {tolerance.spread_of for tolerance in tolerances if tolerance.spreads}
    headings = {"published": "their spread", "means": "std. error"}
    return headings.get(whose.pop(), "spread") if len(whose) == 1 else "spread"


def _digits(publication: Publication) -> int:
    """Return the decimals of a difference, which must show whether it is within the tolerance."""
    tolerance = publication.description.tolerance.absolute
    return max(publication.description.digits, 1 - math.floor(math.log10(tolerance or 1)))


def _difference(row: Mapping[Hashable, Any], digits: int, digits_of_difference: int) -> list[str]:
    return [
        row["dataset"],
        display_name(row["algorithm"]),
        row["setting"],
        METRICS[row["metric"]].heading,
        format_number(row["published"], digits) or NA,
        format_number(row["ours"], digits) or row["mark"],
        format_number(row["spread"], digits),
        format_number(row["difference"], digits_of_difference),
    ]


def printed_rows(
    table: pd.DataFrame, publication: Publication | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of text: one row per cell, the metrics side by side."""
    publication = publication or paper.publication()
    columns = ["data set", "algorithm"]
    for metric in publication.metrics:
        name = METRICS[metric].heading
        spread = spread_heading(publication.description)
        columns += [f"{name} published", f"{name} ours", spread, "diff", f"{name} verdict"]
    rows = []
    for (dataset, algorithm), part in table.groupby(["dataset", "algorithm"], sort=False):
        by_metric = {str(row["metric"]): row for row in part.to_dict("records")}
        mark = LABELLED if part["uses_labels"].any() else ""
        row = [str(dataset), f"{display_name(str(algorithm))}{mark}"]
        for metric in publication.metrics:
            # A publication may print one metric of a cell and not the other.
            found = by_metric.get(metric)
            row += _texts(found, publication) if found else [""] * 5
        rows.append(row)
    return columns, rows


def _texts(row: Mapping[Hashable, Any], publication: Publication) -> list[str]:
    digits = publication.description.digits
    return [
        format_number(row["published"], digits) or NA,
        format_number(row["ours"], digits) or str(row["mark"]),
        format_number(row["spread"], digits),
        signed(float(row["difference"]), _digits(publication)),
        str(row["verdict"]) + (f" ({row['why']})" if row["why"] else ""),
    ]


def signed(value: float, digits: int) -> str:
    """Return a difference with its sign; an empty string for NaN."""
    if math.isnan(value):
        return ""
    return f"{'+' if value >= 0 else ''}{format_number(value, digits)}"


def to_markdown(table: pd.DataFrame, publication: Publication | None = None) -> str:
    """Return the comparison in Markdown: the counts, what differs and why, then every cell."""
    publication = publication or paper.publication()
    described = publication.description
    lines = [f"# Comparison with {publication.name}", "", f"{described.citation}.", ""]
    if described.scale == "percent":
        lines += ["All values are in per cent, as printed.", ""]
    for title, texts, rows in sections(table, publication):
        lines += [f"## {title}", ""]
        if rows:
            lines += [markdown(*rows), ""]
        lines += [f"{text}\n" for text in texts]
    lines += ["## Every cell", ""]
    lines += [f"- {name}: {text}" for name, text in verdict_meanings(publication).items()]
    for setting, part in table.groupby("setting", sort=False):
        ran = part[part["verdict"] != NOT_RUN]
        lines += ["", f"### {_heading(str(setting), publication)}", ""]
        lines.append(markdown(*printed_rows(ran, publication)))
    return "\n".join([*lines, ""])


def _heading(setting: str, publication: Publication) -> str:
    run = publication.description.settings[setting]
    name = SETTINGS[run.setting].capitalize()
    own = "" if setting == run.setting else f"{setting}, "
    return f"{name} ({own}protocol {run.protocol})"
