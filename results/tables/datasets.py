"""Table 1: the data sets as published, and as the experiments used them."""

from __future__ import annotations

import math
import re

import pandas as pd

from results.output import csv_text
from results.published import paper
from results.tables.latex import escape, frame_to_tabular, wrap
from results.tables.text import markdown
from results.vocabulary import format_number

NAME = "table1_datasets"
CAPTION = "The data sets as published, and the experiments made from them (means over the splits)"
#: Of data sets that the paper does not have.
OWN_CAPTION = "The data sets in the experiments (means over the splits)"
COLUMNS = [
    "data set",
    "samples",
    "features",
    "anomaly class",
    "anomalies %",
    "features used",
    "train",
    "test",
    "test anomalies",
]
NOTES = (
    "Left: Table 1 of the paper, before anomalies are capped at 10 % of the normal points. Right: "
    "counts in the records; novelty detection drops the anomalies from the training half.",
)


def build_rows(cells: pd.DataFrame) -> list[list[str]]:
    """Return one row of texts per data set of the cells, published numbers first.

    Counts are those of the paper's protocol, or of the first one that a data set was run under.
    """
    printed = paper.datasets()
    rows = []
    for key, group in cells.groupby(level="dataset", sort=True):
        dataset, protocols = str(key), group.index.get_level_values("protocol")
        group = group[protocols == ("paper" if "paper" in protocols else protocols[0])]
        known = printed.loc[dataset] if dataset in printed.index else None
        row = [dataset]
        row += (
            [
                str(known["n_samples"]),
                str(known["n_features"]),
                str(known["anomaly_class"]).replace("!=", "≠"),
                str(known["anomaly_percent"]),
            ]
            if known is not None
            else ["--"] * 4
        )
        row.append(_usual(group, "n_features"))
        row.append(_by_setting(group, "n_train"))
        row.append(_usual(group, "n_test"))
        row.append(_usual(group, "n_anomalies_test"))
        rows.append(row)
    return rows


def caption(rows: list[list[str]]) -> str:
    """Return the caption, which speaks of what was published if there is some of it."""
    return CAPTION if any(row[1] != "--" for row in rows) else OWN_CAPTION


def notes(rows: list[list[str]]) -> list[str]:
    """Return the notes below the table: what its sides hold, and why a cell is empty."""
    own = [row[0] for row in rows if row[1] == "--"]
    if not own:
        return [*NOTES]
    if len(own) == len(rows):
        return [
            "Counts in the records, which hold splits; novelty detection drops the anomalies from "
            "the training part. --: not in the records."
        ]
    return [*NOTES, f"--: not in the paper, nor in records, which hold splits: {', '.join(own)}."]


def _usual(group: pd.DataFrame, name: str) -> str:
    """Return the mean count of the cell with most experiments: all cells share their splits."""
    known = group[group[name].notna()]
    if known.empty:
        return "--"
    return _count(float(known[name].iloc[int(known["n_experiments"].to_numpy().argmax())]))


def _by_setting(group: pd.DataFrame, name: str) -> str:
    parts = {str(s): _usual(part, name) for s, part in group.groupby(level="setting", sort=True)}
    parts = {setting: text for setting, text in parts.items() if text != "--"}
    if len(parts) < 2:
        return next(iter(parts.values()), "--")
    return ", ".join(f"{text} ({setting})" for setting, text in parts.items())


def _count(value: float) -> str:
    whole = math.isclose(value, round(value), abs_tol=1e-9)
    return format_number(value, 0 if whole else 1)


def to_latex(rows: list[list[str]]) -> str:
    """Return Table 1 as a ``table*`` environment."""
    columns = [escape(column) for column in COLUMNS[1:]]
    frame = pd.DataFrame(
        [[escape(text) for text in row[1:]] for row in rows],
        index=[escape(row[0]) for row in rows],
        columns=columns,
    )
    tabular = frame_to_tabular(frame, column_format="lrrl" + "r" * (len(COLUMNS) - 4))
    return wrap(tabular, caption(rows), NAME, notes(rows))


def to_markdown(rows: list[list[str]]) -> str:
    """Return Table 1 in Markdown."""
    return "\n".join([f"**{caption(rows)}**", "", markdown(COLUMNS, rows), "", *notes(rows), ""])


def to_csv(rows: list[list[str]]) -> str:
    """Return Table 1 as CSV, in which counts that differ by setting are columns of their own."""
    bare = []
    for row in rows:
        named = {
            name: "" if text == "--" else text for name, text in zip(COLUMNS, row, strict=True)
        }
        found = re.findall(r"([\d.]+) \((\w+)\)", named["train"])
        for count, setting in found:
            named[f"train ({setting})"] = count
        bare.append(named | ({"train": ""} if found else {}))
    frame = pd.DataFrame(bare).fillna("")
    after = COLUMNS.index("train") + 1
    columns = [*COLUMNS[:after], *frame.columns[len(COLUMNS) :], *COLUMNS[after:]]
    return csv_text(frame[[name for name in columns if name != "train" or frame[name].any()]])
