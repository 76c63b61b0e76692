"""How strict a criterion is, and the verdict on each published value by the strictest there is."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import stats

from results.metrics import METRICS, PAPER_METRICS
from results.published import paper
from results.published.description import Tolerance
from results.reproduction.comparison import NOT_JUDGED
from results.reproduction.replay import EXACT, NOT_RUN, REPLAYED, WITHIN, replay_table
from results.reproduction.replay import verdict as replay_verdict
from results.reproduction.subsets import subset_spreads
from results.statistics.rank_tests import holm
from results.statistics.write import format_p
from results.tables.text import markdown
from results.vocabulary import format_number

#: Published values are means over so many splits.
_PUBLISHED_SPLITS = 10
_ERRORS = 2.0
#: By single splits, whose spread does not shrink with their number: what a reader may think enough.
_BY_SPLITS = Tolerance(absolute=0.02, spreads=_ERRORS, spread_of="ours")
#: Half a unit of the last printed digit: a printed value stands for all that round to it.
_ROUNDING = 0.0005
_NOISE = 1e-9
_CELL = ["setting", "dataset", "column", "metric"]
REPLAYED_EXACTLY, CLOSE, DRAW, OPEN = "replayed", "standard error", "draw", "open"
VERDICTS = {
    REPLAYED_EXACTLY: "the replay gives the printed digits, or the last digit beside them",
    DRAW: "not so, and the anomalies were drawn repeatedly: within two spreads over the draws",
    CLOSE: "neither was run, or only the first: within two standard errors of the difference of "
    "two means over ten splits, and half a unit of the last printed digit",
    OPEN: "beyond the bound that applies",
}
_NOTHING = "Nothing to show: the records hold no such experiments."


def standard_error(std: pd.Series, n: pd.Series) -> pd.Series:
    """Return that of the difference between two means over splits, which scatter alike.

    The published means are over ten splits, whose spread is not printed: ours stands for it.

    Parameters
    ----------
    std : Series
        Standard deviations over our splits.
    n : Series
        How many splits ours are means over.
    """
    return std * np.sqrt(1 / n + 1 / _PUBLISHED_SPLITS)


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Return the as-run rows of a comparison in which both sides have a value, and are judged.

    Adds ``error`` (of the difference, one standard error), ``by_splits`` (within .02 or two
    standard deviations of single splits), ``close`` (within two errors) and ``rounded`` (within two
    and half a unit of the last printed digit).
    """
    both = table["published"].notna() & table["ours"].notna() & (table["verdict"] != NOT_JUDGED)
    rows = table[table["as_run"] & both].copy()
    rows["error"] = standard_error(rows["std"], rows["n_ok"])
    far = rows["difference"].abs() - _NOISE
    rows["by_splits"] = far <= rows["std"].map(_BY_SPLITS.allowed)
    distance = far - _ERRORS * rows["error"]
    rows["close"], rows["rounded"] = distance <= 0, distance <= _ROUNDING
    return rows


def wrong_columns(rows: pd.DataFrame) -> pd.DataFrame:
    """Hold each published value against ours of every other algorithm, in the same cell.

    Parameters
    ----------
    rows : DataFrame
        As :func:`compared`.

    Returns
    -------
    DataFrame
        Columns by_splits, tolerant (the tolerance of `published.yaml`), close and rounded: whether
        a value of the wrong algorithm passes.
    """
    tolerance = paper.publication().description.tolerance
    both = rows.merge(rows, on=["setting", "dataset", "metric"], suffixes=("", "_other"))
    both = both[both["column"] != both["column_other"]]
    distance = (both["published"] - both["ours_other"]).abs()
    allowed = both["spread_other"].map(tolerance.allowed)
    beyond = distance - _ERRORS * both["error_other"] - _NOISE
    return pd.DataFrame(
        {
            "by_splits": distance <= both["std_other"].map(_BY_SPLITS.allowed) + _NOISE,
            "tolerant": distance <= allowed + _NOISE,
            "close": beyond <= 0,
            "rounded": beyond <= _ROUNDING,
        }
    )


def wrong_replays(replayed: pd.DataFrame) -> pd.Series:
    """Tell of each printed value and each other algorithm whether its replay gives the digits."""
    rows = replayed.dropna(subset=["replayed"])
    both = rows.merge(rows, on=["setting", "dataset", "metric"], suffixes=("", "_other"))
    both = both[both["column"] != both["column_other"]]
    return pd.Series(
        [
            replay_verdict(published, other) == EXACT
            for published, other in zip(both["published"], both["replayed_other"], strict=True)
        ],
        dtype=bool,
    )


def strictness(rows: pd.DataFrame, replayed: pd.DataFrame) -> str:
    """Return a table: how many values each criterion passes, right columns and wrong ones."""
    wrong = wrong_columns(rows)
    tolerant = rows["verdict"] == "reproduced"
    printed = rows["metric"]
    lines = []
    for name, good, bad in (
        (
            "within .02 or two standard deviations over the splits",
            rows["by_splits"],
            wrong["by_splits"],
        ),
        ("within .02 or two standard errors of a difference", tolerant, wrong["tolerant"]),
        ("within two standard errors of a difference", rows["close"], wrong["close"]),
        ("the same, and half a unit of the last digit", rows["rounded"], wrong["rounded"]),
    ):
        counts = [f"{good[printed == m].sum()} of {(printed == m).sum()}" for m in PAPER_METRICS]
        lines.append([name, *counts, _share(bad)])
    ran = replayed[replayed["verdict"] != NOT_RUN]
    if len(ran):
        counts = [
            f"{(part['verdict'] == EXACT).sum()} of {len(part)}"
            for metric in REPLAYED.values()
            for part in [ran[ran["metric"] == metric]]
        ]
        lines.append(["replayed, to all digits", *counts, _share(wrong_replays(ran))])
    headings = [METRICS[m].heading for m in PAPER_METRICS]
    return markdown(["criterion", *headings, "another algorithm's column"], lines)


def _share(passes: pd.Series) -> str:
    if passes.empty:
        return "--"
    return f"{format_number(100 * passes.mean(), 0)} % of {len(passes)}"


def judged(table: pd.DataFrame, replayed: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the compared rows with ``judged``, a key of :data:`VERDICTS`, and ``distance``.

    Parameters
    ----------
    table : DataFrame
        As :func:`results.reproduction.comparison.compare`.
    replayed : DataFrame
        As :func:`results.reproduction.replay.replay_table`.
    frame : DataFrame
        All experiments: those with one subset of the anomalies say how far the draw carries.
    """
    rows = compared(table)
    original = {new: old for old, new in REPLAYED.items()}
    replays = {
        (row["setting"], row["dataset"], row["column"], original[row["metric"]]): row["verdict"]
        for row in replayed.to_dict("records")
    }
    spreads = subset_spreads(frame)
    distances = (
        {}
        if spreads.empty
        else spreads.set_index(["setting", "dataset", "algorithm", "metric"])["distance"].to_dict()
    )
    verdicts, far = [], []
    for row in rows.to_dict("records"):
        key = tuple(row[name] for name in _CELL)
        distance = distances.get(
            (row["setting"], row["dataset"], row["algorithm"], row["metric"]), math.nan
        )
        far.append(distance)
        if replays.get(key) in (EXACT, WITHIN):
            verdicts.append(REPLAYED_EXACTLY)
        elif not math.isnan(distance):
            verdicts.append(DRAW if abs(distance) <= _ERRORS else OPEN)
        else:
            verdicts.append(CLOSE if row["rounded"] else OPEN)
    return rows.assign(judged=verdicts, distance=far)


def judged_summary(rows: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows: how many values of each column have which verdict."""
    counts = pd.crosstab(rows["column"], rows["judged"])
    order = [name for name in paper.cells()["column"].unique() if name in counts.index]
    counts = counts.reindex(index=order, columns=list(VERDICTS), fill_value=0)
    counts.loc["all"] = counts.sum()
    body = [
        [str(name), str(sum(row)), *map(str, row)]
        for name, row in zip(counts.index, counts.to_numpy().tolist(), strict=True)
    ]
    return ["algorithm", "values", *VERDICTS], body


def signs(rows: pd.DataFrame) -> pd.DataFrame:
    """Count per column and metric how often ours is above and below the published value.

    Returns
    -------
    DataFrame
        Columns column, metric, below, above, p (two-sided sign test) and holm (over all rows).
    """
    found = []
    for (column, metric), part in rows.groupby(["column", "metric"], sort=False):
        below, above = int((part["difference"] < 0).sum()), int((part["difference"] > 0).sum())
        p = float(stats.binomtest(below, below + above).pvalue) if below + above else 1.0
        found.append({"column": column, "metric": metric, "below": below, "above": above, "p": p})
    return pd.DataFrame(found).assign(holm=holm(np.array([row["p"] for row in found])))


def signs_table(rows: pd.DataFrame) -> str:
    """Return the counts of signs as a Markdown table, the smallest p value first."""
    table = signs(rows).sort_values("p", kind="stable")
    body = [
        [
            row["column"],
            METRICS[row["metric"]].heading,
            str(row["below"]),
            str(row["above"]),
            format_p(row["p"]),
            format_p(row["holm"]),
        ]
        for row in table.to_dict("records")
    ]
    return markdown(["algorithm", "metric", "ours below", "ours above", "p", "Holm"], body)


def criterion_block(table: pd.DataFrame, replayed_cells: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Return how strict each criterion is, the verdicts by the strictest, and the signs."""
    if table.empty or compared(table).empty:
        return _NOTHING
    replayed = replay_table(replayed_cells)
    rows = judged(table, replayed, frame)
    left = rows[rows["judged"] == OPEN]
    parts = [
        strictness(rows, replayed),
        "",
        "Each published value with one here, by the sharpest criterion that applies to it:",
        "",
        markdown(*judged_summary(rows)),
        "",
        *(f"*{name}*: {meaning}.  " for name, meaning in VERDICTS.items()),
        "",
    ]
    if len(left):
        parts += [f"Open, {len(left)} values:", "", markdown(*_open_rows(left)), ""]
    parts += [
        "Whether ours lie above or below the published values (sign test over data sets and "
        "settings, as if both settings of a data set were independent, which they are not):",
        "",
        signs_table(rows),
    ]
    return "\n".join(parts)


def _open_rows(left: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    heading = ["data set", "algorithm", "setting", "metric", "published", "ours"]
    heading += ["standard errors", "spreads over draws"]
    left = left.assign(errors=left["difference"] / left["error"])
    order = left["errors"].abs().sort_values(ascending=False, kind="stable").index
    body = [
        [
            row["dataset"],
            row["column"],
            row["setting"],
            METRICS[row["metric"]].heading,
            format_number(row["published"], 3),
            format_number(row["ours"], 3),
            f"{row['errors']:+.1f}",
            "--" if math.isnan(row["distance"]) else f"{-row['distance']:+.1f}",
        ]
        for row in left.loc[order].to_dict("records")
    ]
    return heading, body
