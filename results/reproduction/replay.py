"""The published tables replayed: each printed value beside what the stream of 2016 gives today."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from typing import Any, Final

import pandas as pd
from rich.text import Text

from results.aggregate import make_cells
from results.metrics import METRICS
from results.output import Output, csv_text
from results.published import paper
from results.published.reasons import Reason, read_reasons
from results.records.frame import Experiments
from results.status import incomplete_remarks
from results.tables.text import markdown, print_columns, without_zeros
from results.vocabulary import SETTINGS

PROTOCOL: Final = "replayed"
#: The algorithms whose randomness can be replayed, by their column.
ALGORITHMS: Final = {
    "OneClassRF": "oneclassrf_2016",
    "iForest": "iforest_2016",
    "OCSVM": "ocsvm",
    "LOF": "lof",
    "Orca": "orca_2016",
    "LSAD": "lsad",
}
#: Metrics of the replay, by the metric of the printed value.
REPLAYED: Final = {"roc_auc_curve": "roc_auc_2016", "pr_auc_curve": "pr_auc_2016"}
EXACT, WITHIN, OFF, NOT_RUN = "exact", "within .001", "off", "not run"
VERDICTS: Final = {
    EXACT: "rounds to the printed digits",
    WITHIN: "rounds to one unit of the last printed digit beside it",
    OFF: "rounds to another value",
    NOT_RUN: "its ten experiments have not all been run",
}
_STYLES = {EXACT: "green", WITHIN: "yellow", OFF: "red"}
_DIGITS = 3
_HALF_WAY = re.compile(rf"\.\d{{{_DIGITS}}}50*$")
_NOTHING = "Nothing to show: no experiment was replayed."


def verdict(published: float, replayed: float) -> str:
    """Judge a replayed value against a printed one.

    >>> verdict(0.922, 0.92196), verdict(0.922, 0.92149), verdict(0.922, 0.9203)
    ('exact', 'within .001', 'off')
    """
    if math.isnan(replayed):
        return NOT_RUN
    units = round(abs(float(f"{replayed:.{_DIGITS}f}") - published) * 10**_DIGITS)
    return [EXACT, WITHIN, OFF][min(units, 2)]


def replay_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Set each printed value of the replayable algorithms beside the replayed one.

    Parameters
    ----------
    cells : DataFrame
        As `results.aggregate.make_cells` returns them.

    Returns
    -------
    DataFrame
        Columns setting, dataset, column, algorithm, metric, published, replayed (NaN where the
        cell is not complete), verdict, reason.
    """
    reasons = replay_reasons()
    rows: list[dict[Any, Any]] = []
    for printed in paper.cells().to_dict("records"):
        algorithm = ALGORITHMS.get(printed["column"])
        for printed_metric, metric in REPLAYED.items():
            published = printed[printed_metric]
            if algorithm is None or math.isnan(published):
                continue
            where = {key: printed[key] for key in ("setting", "dataset", "column")}
            replayed = value_of(
                cells, (PROTOCOL, where["setting"], where["dataset"], algorithm), metric
            )
            row: dict[Any, Any] = {
                **where,
                "algorithm": algorithm,
                "metric": metric,
                "published": published,
                "replayed": replayed,
                "verdict": verdict(published, replayed),
            }
            rows.append(row | {"reason": _reason(row, reasons)})
    return pd.DataFrame(rows)


def replay_reasons() -> list[Reason]:
    """Return why values are not exact: ``replay.csv`` in the folder of the printed values."""
    printed = paper.cells()
    known = {
        "setting": printed["setting"].unique().tolist(),
        "dataset": printed["dataset"].unique().tolist(),
        "algorithm": list(ALGORITHMS.values()),
        "metric": list(REPLAYED.values()),
    }
    return read_reasons(paper.FOLDER / "replay.csv", known)


def value_of(cells: pd.DataFrame, key: tuple[str, str, str, str], metric: str) -> float:
    """Return the mean of a complete cell of one version, NaN of any other."""
    if key not in cells.index or metric not in cells.columns:
        return math.nan
    cell: dict[Any, Any] = cells.xs(key).to_dict()
    whole = cell["n_ok"] == cell["n_expected"] and not cell["mixed"]
    return float(cell[metric]) if whole else math.nan


def _reason(row: Mapping[Hashable, Any], reasons: list[Reason]) -> str:
    if row["verdict"] not in (WITHIN, OFF):
        return ""
    found = (reason.reason for reason in reasons if reason.fits(row))
    return next(found, "unexplained")


def summary_rows(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return how many values have which verdict, by algorithm and in all."""
    counts = pd.crosstab(table["column"], table["verdict"])
    counts = counts.reindex(index=list(ALGORITHMS), columns=list(VERDICTS), fill_value=0)
    counts.loc["all"] = counts.sum()
    rows = [
        [str(name), *(str(n) for n in row)]
        for name, row in zip(counts.index, counts.to_numpy(), strict=True)
    ]
    return without_zeros(["algorithm", *VERDICTS], rows, [NOT_RUN])


def headline(table: pd.DataFrame) -> str:
    """Say in one sentence how many values come out.

    The 276 values of Tables 2 and S1 are those of the algorithms whose randomness can be replayed.
    """
    ran = table[table["verdict"] != NOT_RUN]
    exact = int((ran["verdict"] == EXACT).sum())
    return (
        f"Of {len(table)} printed values {len(ran)} were replayed, and {exact} of these come out "
        f"to all {_DIGITS} digits."
    )


def spelled(value: float) -> str:
    """Spell a replayed value: five digits, more where these lie midway between printed ones.

    >>> spelled(0.98077), spelled(0.999497)
    ('0.98077', '0.999497')
    """
    digits = 5
    while digits < 10 and _HALF_WAY.search(f"{value:.{digits}f}"):
        digits += 1
    return f"{value:.{digits}f}"


def value_rows(part: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return one row per value: where it stands, both numbers, the verdict."""
    rows = [
        [
            row["dataset"],
            row["column"],
            METRICS[row["metric"]].heading,
            f"{row['published']:.{_DIGITS}f}",
            "--" if math.isnan(row["replayed"]) else spelled(row["replayed"]),
            row["verdict"],
        ]
        for row in part.to_dict("records")
    ]
    return ["data set", "algorithm", "area", "published", "replayed", "verdict"], rows


def side_by_side(table: pd.DataFrame, setting: str, metric: str) -> str:
    """Return a Markdown table of all replayed values of one printed table: published in brackets.

    A value that does not come out to the printed digits is in bold.
    """
    part = table[(table["setting"] == setting) & (table["metric"] == metric)]
    body = []
    for dataset, rows in part.groupby("dataset", sort=True):
        by_column = {row["column"]: row for row in rows.to_dict("records")}
        body.append([str(dataset), *(_beside(by_column.get(column)) for column in ALGORITHMS)])
    return markdown(["data set", *ALGORITHMS], body)


def _beside(row: Mapping[Any, Any] | None) -> str:
    if row is None:
        return "NA"
    printed = f"({row['published']:.{_DIGITS}f})"
    if row["verdict"] == NOT_RUN:
        return f"-- {printed}"
    text = f"{spelled(row['replayed'])} {printed}"
    return text if row["verdict"] == EXACT else f"**{text}**"


def replay_block(cells: pd.DataFrame) -> str:
    """Return the generated block of REPRODUCTION.md."""
    table = replay_table(cells)
    ran = table[table["verdict"] != NOT_RUN]
    if ran.empty:
        return _NOTHING
    parts = [headline(table), "", markdown(*summary_rows(table)), ""]
    shown = summary_rows(table)[0]
    parts += [f"*{name}*: {meaning}.  " for name, meaning in VERDICTS.items() if name in shown]
    for setting, title in SETTINGS.items():
        for metric in REPLAYED.values():
            parts += ["", f"{METRICS[metric].heading}, {title}, replayed (published):", ""]
            parts += [side_by_side(table, setting, metric)]
    inexact = ran[ran["verdict"] != EXACT]
    if len(inexact):
        rows = [
            [
                r["dataset"],
                r["column"],
                r["setting"],
                METRICS[r["metric"]].heading,
                f"{r['published']:.{_DIGITS}f}",
                spelled(r["replayed"]),
                r["reason"],
            ]
            for r in inexact.to_dict("records")
        ]
        head = ["data set", "algorithm", "setting", "area", "published", "replayed", "why"]
        parts += ["", "What does not come out to the digit:", "", markdown(head, rows)]
    return "\n".join(parts)


def readme_block(cells: pd.DataFrame) -> str:
    """Return the generated block of README.md: the counts."""
    table = replay_table(cells)
    if (table["verdict"] == NOT_RUN).all():
        return _NOTHING
    return "\n".join([headline(table), "", markdown(*summary_rows(table))])


def replay_tables(cells: pd.DataFrame) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return caption, columns and rows of the tables of the report; none if nothing was replayed.

    The first counts the verdicts, the others hold the values of one setting each.
    """
    table = replay_table(cells)
    ran = table[table["verdict"] != NOT_RUN]
    if ran.empty:
        return []
    return [
        (headline(table), *summary_rows(table)),
        *(
            (SETTINGS[str(setting)].capitalize(), *value_rows(part))
            for setting, part in ran.groupby("setting", sort=False)
        ),
    ]


def _instead_of_2016(algorithms: set[str]) -> list[str]:
    """Say which algorithms are there in today's form alone.

    >>> _instead_of_2016({"iforest", "lof"})
    ['what replays iForest is algorithm iforest_2016, not iforest']
    """
    return [
        f"what replays {column} is algorithm {name}, not {today}"
        for column, name in ALGORITHMS.items()
        if (today := name.removesuffix("_2016")) != name
        and today in algorithms
        and name not in algorithms
    ]


def write_replay(experiments: Experiments, output: Output) -> pd.DataFrame:
    """Print and write the replayed values beside the printed ones; return them.

    Raises
    ------
    ValueError
        If no experiment was made with the protocol.
    """
    cells = make_cells(experiments.frame)
    table = replay_table(cells)
    ran = table[table["verdict"] != NOT_RUN]
    own = cells[cells.index.get_level_values("protocol") == PROTOCOL]
    output.remarks += incomplete_remarks(own)
    today = _instead_of_2016(set(experiments.frame["algorithm"]))
    if ran.empty:
        raise ValueError(
            f"the records hold no complete cell of protocol {PROTOCOL}: run "
            f"`python -m runners grid=replayed` first"
            f"{''.join(f'; {text}' for text in [*incomplete_remarks(own), *today])}"
        )
    output.remarks += today
    for setting, part in ran.groupby("setting", sort=False):
        output.console.print(Text(f"\n{SETTINGS[str(setting)].capitalize()}", style="bold"))
        columns, rows = value_rows(part)
        print_columns(
            output.console,
            columns,
            [[*map(Text, row[:-1]), Text(row[-1], style=_STYLES[row[-1]])] for row in rows],
        )
    output.console.print(Text("\nSummary", style="bold"))
    print_columns(output.console, *summary_rows(table))
    output.console.print(Text(headline(table)))
    for row in ran[ran["verdict"] != EXACT].to_dict("records"):
        output.console.print(
            Text(
                f"{row['dataset']} {row['column']} {row['setting']} "
                f"{METRICS[row['metric']].heading}, {row['verdict']}: {row['reason']}"
            )
        )
    output.write("tables/replay.csv", csv_text(table))
    output.write("tables/replay.md", replay_block(cells))
    return table
