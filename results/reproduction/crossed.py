"""Every algorithm on the splits of every stream: how much of a published ranking is the draw.

Each column of the tables was measured on splits and on a choice of the anomalies of its own. With
``protocol=replayed_splits`` all algorithms run on those of one column, and can be compared.
"""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np
import pandas as pd

from results.metrics import METRICS
from results.published import paper
from results.reproduction.replay import ALGORITHMS, REPLAYED, value_of
from results.tables.text import markdown
from results.vocabulary import SETTINGS

PREFIX: Final = "replayed_splits_"
_NOTHING = "Nothing to show: no data set was run with all algorithms on the splits of all streams."
_CASE = ["setting", "dataset", "metric"]


def crossed_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the value of each algorithm on the splits of each stream.

    Parameters
    ----------
    cells : DataFrame
        As `results.aggregate.make_cells` returns them.

    Returns
    -------
    DataFrame
        Columns setting, dataset, metric, column, published, one for each stream (named as the
        column that it made), rank (published, 1 is the best) and paired_rank (mean over the streams
        of the rank on its splits). Only cases in which nothing is missing, printed values included.
    """
    rows = []
    for printed in paper.cells().to_dict("records"):
        if (column := printed["column"]) not in ALGORITHMS:
            continue
        where = {key: printed[key] for key in ("setting", "dataset")}
        for printed_metric, metric in REPLAYED.items():
            values = {
                stream: value_of(
                    cells, (PREFIX + name, *where.values(), ALGORITHMS[column]), metric
                )
                for stream, name in ALGORITHMS.items()
            }
            row: dict[Any, Any] = {**where, "metric": metric, "column": column}
            rows.append(row | {"published": printed[printed_metric]} | values)
    table = pd.DataFrame(rows)
    measured = ["published", *ALGORITHMS]
    whole = table[measured].notna().all(axis=1).groupby([table[k] for k in _CASE]).transform("all")
    table = table[whole].reset_index(drop=True)
    ranks = table.groupby(_CASE)[measured].rank(ascending=False)
    return table.assign(rank=ranks["published"], paired_rank=ranks[list(ALGORITHMS)].mean(axis=1))


def statements(table: pd.DataFrame) -> list[str]:
    """Say how much of the published rankings is the draw."""
    cases = [case for _, case in table.groupby(_CASE, sort=False)]
    outside, gaps = 0, []
    for row in table.to_dict("records"):
        others = _others(row)
        outside += not others.min() <= row[row["column"]] <= others.max()
        gaps.append((row[row["column"]] - others.mean(), row))
    pairs = unstable = reversed_ = 0
    for case in cases:
        streams = case[list(ALGORITHMS)].to_numpy()
        for a, b in itertools.combinations(range(len(case)), 2):
            signs = np.sign(streams[a] - streams[b])
            printed = np.sign(case["published"].iloc[a] - case["published"].iloc[b])
            pairs += 1
            unstable += bool(signs.min() < signs.max())
            reversed_ += bool(printed * signs.mean() < 0)
    best = sum(
        case["rank"].to_numpy().argmin() != case["paired_rank"].to_numpy().argmin()
        for case in cases
    )
    gap, row = max(gaps, key=lambda found: abs(found[0]))
    others = _others(row)
    return [
        f"Of {len(table)} values on the own stream's splits {outside} lie outside the range of "
        "what the same algorithm has on the splits of the five other streams; if the streams are "
        f"alike, one in three does so by chance ({len(table) / 3:.0f}).",
        f"The largest distance to their mean is {gap:+.3f}: {row['column']} on {row['dataset']}, "
        f"{row['setting']}, {METRICS[row['metric']].heading}, published {row['published']:.3f}, "
        f"{row[row['column']]:.3f} on its own stream's splits, {others.mean():.3f} on the others' "
        f"({others.min():.3f} to {others.max():.3f}).",
        f"Of {pairs} pairs of algorithms (within a data set, setting and area) {reversed_} stand "
        "in another order than printed on more of the six streams than not; "
        f"{unstable} change their order from one stream to another even when compared on the same "
        "splits.",
        f"In {best} of {len(cases)} cases the best mean rank is another algorithm's than the best "
        "published value.",
    ]


def _others(row: dict[Any, Any]) -> np.ndarray:
    return np.array([row[stream] for stream in ALGORITHMS if stream != row["column"]])


def _values(part: pd.DataFrame) -> str:
    """Return published value, own splits, and mean and range on the splits of the others."""
    body = []
    for (dataset, column), rows in part.groupby(["dataset", "column"], sort=False):
        line = [str(dataset), str(column)]
        for row in sorted(rows.to_dict("records"), key=lambda r: list(METRICS).index(r["metric"])):
            others = _others(row)
            line += [f"{row['published']:.3f}", f"{row[row['column']]:.3f}"]
            line += [f"{others.mean():.3f} ({others.min():.3f} to {others.max():.3f})"]
        body.append(line)
    head = [
        f"{METRICS[metric].heading} {name}"
        for metric in REPLAYED.values()
        for name in ("published", "own", "others'")
    ]
    return markdown(["data set", "algorithm", *head], body)


def _ranks(part: pd.DataFrame) -> str:
    """Return the rank on the splits of all streams, and the published one in brackets."""
    mean = part.groupby("column")[["rank", "paired_rank"]].mean()
    groups = [(str(name), rows.set_index("column")) for name, rows in part.groupby("dataset")]
    body = [
        [name, *(f"{r['paired_rank'][c]:.1f} ({r['rank'][c]:.3g})" for c in ALGORITHMS)]
        for name, r in [*groups, ("mean", mean)]
    ]
    return markdown(["data set", *ALGORITHMS], body)


def crossed_block(cells: pd.DataFrame) -> str:
    """Return the generated block of REPRODUCTION.md."""
    table = crossed_table(cells)
    if table.empty:
        return _NOTHING
    parts = [f"- {line}" for line in statements(table)]
    for setting, part in table.groupby("setting", sort=False):
        title = SETTINGS[str(setting)]
        parts += ["", f"Areas, {title}, on own splits and on the others':", "", _values(part)]
        for metric, ranked in part.groupby("metric", sort=False):
            heading = METRICS[str(metric)].heading
            parts += ["", f"{heading}, {title}, mean rank over the streams (published):", ""]
            parts += [_ranks(ranked)]
    return "\n".join(parts)
