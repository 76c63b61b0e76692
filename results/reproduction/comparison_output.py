"""The command ``compare``: printed per setting, and written as CSV and Markdown."""

from __future__ import annotations

import pandas as pd
from rich.text import Text

from results.aggregate import make_cells
from results.metrics import METRICS, PAPER_METRICS
from results.output import Output
from results.records.frame import Experiments
from results.reproduction.comparison import (
    TOLERANCE,
    VERDICT_MEANINGS,
    VERDICTS,
    compare,
    only_by_spread,
    overall,
    printed_rows,
    summarise,
)
from results.rounding import format_number
from results.tables.terminal import print_columns
from results.tables.text import markdown
from results.vocabulary import LABELLED, LABELLED_MEANING, SETTINGS, display_name

_STYLES = {"reproduced": "green", "differs": "red"}


def protocol_to_compare(experiments: Experiments) -> str:
    """Return the paper's protocol where it was run, else the first there is."""
    protocols = sorted(set(experiments.frame["protocol"]))
    return "paper" if "paper" in protocols else protocols[0]


def write_comparison(experiments: Experiments, output: Output) -> pd.DataFrame:
    """Print and write the comparison; return it."""
    protocol = protocol_to_compare(experiments)
    if protocol != "paper":
        output.remarks.append(f"no records of protocol paper; comparing protocol {protocol}")
    table = compare(make_cells(experiments.frame), protocol)
    if table.empty:
        raise ValueError("nothing to compare: the records hold no setting of the paper")
    for setting, part in table.groupby("setting", sort=False):
        output.console.print(Text(f"\n{SETTINGS[str(setting)]}", style="bold"))
        ran = part[part["verdict"] != "not run"]
        columns, rows = printed_rows(ran)
        print_columns(
            output.console,
            columns,
            [[Text(text, style=_STYLES.get(text, "")) for text in row] for row in rows],
        )
    output.console.print(Text("\nVerdicts", style="bold"))
    columns, rows = summary_rows(table)
    print_columns(output.console, columns, rows)
    for line in headline(table):
        output.console.print(line)
    if table["uses_labels"].any():
        output.console.print(f"{LABELLED}: {LABELLED_MEANING}")
    output.write("tables/comparison.csv", table.to_csv(index=False, lineterminator="\n"))
    output.write("tables/comparison.md", to_markdown(table))
    return table


def headline(table: pd.DataFrame) -> list[str]:
    """Return one sentence per metric: how many published values are reproduced."""
    sentences = []
    for metric in PAPER_METRICS:
        good, total = overall(table, metric)
        wide = int((only_by_spread(table)["metric"] == metric).sum())
        share = f" ({format_number(100 * good / total, 1)} %)" if total else ""
        sentences.append(
            f"{METRICS[metric].heading}: {good} of {total} published values with one here "
            f"are reproduced{share}: {good - wide} within {TOLERANCE:g}, {wide} only within two "
            "standard deviations."
        )
    return sentences


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
    return ["algorithm", "setting", "metric", *VERDICTS], rows


def to_markdown(table: pd.DataFrame) -> str:
    """Return the comparison in Markdown: the counts, then every cell."""
    parts = ["# Comparison with the paper", "", *(f"{line}\n" for line in headline(table))]
    parts += [markdown(*summary_rows(table)), ""]
    parts += [f"- {name}: {meaning}" for name, meaning in VERDICT_MEANINGS.items()]
    if table["uses_labels"].any():
        parts.append(f"- {LABELLED}: {LABELLED_MEANING}")
    for setting, part in table.groupby("setting", sort=False):
        parts += ["", f"## {SETTINGS[str(setting)].capitalize()}", ""]
        parts.append(markdown(*printed_rows(part)))
    return "\n".join([*parts, ""])
