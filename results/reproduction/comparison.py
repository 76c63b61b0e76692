"""The command ``compare``: ours beside the published values, with a verdict for each."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd
from rich.text import Text

from results import published
from results.aggregate import make_cells
from results.metrics import METRICS, PAPER_METRICS
from results.output import Output, csv_text
from results.records.frame import Experiments
from results.records.statuses import MISSING, NA
from results.tables.text import markdown, print_columns
from results.vocabulary import LABELLED, LABELLED_MEANING, SETTINGS, display_name, format_number

#: A value is reproduced within the larger of this and two standard deviations of ours.
TOLERANCE = 0.02
VERDICTS = ("reproduced", "differs", "paper NA", "ours NA", "both NA", "not run")
VERDICT_MEANINGS = {
    "reproduced": "the difference is at most the larger of .02 and two standard deviations of ours",
    "differs": "the difference is larger than that",
    "paper NA": "a value here, NA in the paper",
    "ours NA": "NA here or failed, a value in the paper",
    "both NA": "no value in either",
    "not run": "no experiment here",
}


def compare(cells: pd.DataFrame, protocol: str = "paper") -> pd.DataFrame:
    """Put every published value beside ours.

    Parameters
    ----------
    cells : DataFrame
        As :func:`results.aggregate.make_cells`.
    protocol : str

    Returns
    -------
    DataFrame
        Sorted by setting, published column and data set; one row per metric, with ``setting``,
        ``column``, ``algorithm``, ``as_run``, ``uses_labels``, ``dataset``, ``metric``,
        ``published``, ``ours``, ``std``, ``n_ok``, ``mark``, ``difference`` (ours - published),
        ``verdict``. Algorithms that do not repeat how the column was made (``as_run`` false) are
        listed only if they were run.
    """
    ours = {
        (setting, dataset, label): row
        for (own_protocol, setting, dataset, label), row in zip(
            cells.index, cells.to_dict("records"), strict=True
        )
        if own_protocol == protocol
    }
    settings = {setting for setting, _, _ in ours}
    pairs = published.cells().merge(published.columns(), on=["setting", "column"])
    rows = []
    for pair in pairs.to_dict("records"):
        if pair["setting"] not in settings:
            continue
        cell = ours.get((pair["setting"], pair["dataset"], pair["algorithm"]))
        if cell is None and not pair["as_run"]:
            continue
        for metric in PAPER_METRICS:
            rows.append(_row(pair, cell, metric))
    return pd.DataFrame(rows)


def _row(pair: dict, cell: dict | None, metric: str) -> dict:
    theirs = float(pair[metric])
    value = float(cell[metric]) if cell else math.nan
    std = float(cell[f"{metric}_std"]) if cell else math.nan
    return {
        "setting": pair["setting"],
        "column": pair["column"],
        "algorithm": pair["algorithm"],
        "as_run": bool(pair["as_run"]),
        "uses_labels": bool(cell["uses_labels"]) if cell else False,
        "dataset": pair["dataset"],
        "metric": metric,
        "published": theirs,
        "ours": value,
        "std": std,
        "n_ok": int(cell["n_ok"]) if cell else 0,
        "mark": cell["mark"] if cell else MISSING,
        "difference": value - theirs,
        "verdict": verdict(theirs, value, std, ran=cell is not None),
    }


def verdict(published_value: float, ours: float, std: float, *, ran: bool = True) -> str:
    """Return one of :data:`VERDICTS`.

    Examples
    --------
    >>> verdict(0.684, 0.673, 0.049), verdict(0.684, 0.6, 0.01)
    ('reproduced', 'differs')
    """
    if not ran:
        return "not run"
    if math.isnan(published_value):
        return "both NA" if math.isnan(ours) else "paper NA"
    if math.isnan(ours):
        return "ours NA"
    allowed = max(TOLERANCE, 0.0 if math.isnan(std) else 2 * std)
    # Published values have three decimals: a difference of .02 may come out as .0200...01.
    return "reproduced" if abs(ours - published_value) <= allowed + 1e-9 else "differs"


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Count verdicts per setting, metric and algorithm that repeats a published column.

    Returns
    -------
    DataFrame
        Columns: setting, metric, algorithm, one per verdict, ``share`` (reproduced among the values
        that both have; NaN if none), ``uses_labels``.
    """
    as_run = table[table["as_run"]]
    keys = ["setting", "metric", "algorithm"]
    counts = as_run.groupby([*keys, "verdict"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    both = counts["reproduced"] + counts["differs"]
    marked = set(as_run.loc[as_run["uses_labels"], "algorithm"])
    counts["share"] = counts["reproduced"] / both.where(both > 0)
    counts = counts.reset_index()
    return counts.assign(uses_labels=counts["algorithm"].isin(marked))


def overall(table: pd.DataFrame, metric: str) -> tuple[int, int]:
    """Return how many as-run values of a metric are reproduced, and how many can be compared."""
    rows = table[table["as_run"] & (table["metric"] == metric)]
    reproduced = int((rows["verdict"] == "reproduced").sum())
    return reproduced, reproduced + int((rows["verdict"] == "differs").sum())


def only_by_spread(table: pd.DataFrame) -> pd.DataFrame:
    """Return the as-run rows that are reproduced only because their spread is wide.

    Two standard deviations of single splits may be much more than the published mean of ten splits
    would move by chance, so these deserve a look.
    """
    beyond = table["difference"].abs() > TOLERANCE + 1e-9
    return table[table["as_run"] & (table["verdict"] == "reproduced") & beyond]


def printed_rows(
    table: pd.DataFrame, metrics: Iterable[str] = PAPER_METRICS
) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of text: one row per cell, both metrics side by side."""
    metrics = tuple(metrics)
    columns = ["data set", "algorithm"]
    for metric in metrics:
        name = METRICS[metric].heading
        columns += [f"{name} paper", f"{name} ours", "spread", "diff", f"{name} verdict"]
    rows = []
    for (dataset, algorithm), part in table.groupby(["dataset", "algorithm"], sort=False):
        by_metric = {str(row["metric"]): row for row in part.to_dict("records")}
        mark = LABELLED if part["uses_labels"].any() else ""
        row = [str(dataset), f"{display_name(str(algorithm))}{mark}"]
        for metric in metrics:
            row += _texts(by_metric[metric])
        rows.append(row)
    return columns, rows


def _texts(row: dict) -> list[str]:
    difference = float(row["difference"])
    return [
        format_number(row["published"], 3) or NA,
        format_number(row["ours"], 3) or str(row["mark"]),
        format_number(row["std"], 3),
        ""
        if math.isnan(difference)
        else f"{'+' if difference >= 0 else ''}" + format_number(difference, 3),
        str(row["verdict"]),
    ]


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
    output.write("tables/comparison.csv", csv_text(table))
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
