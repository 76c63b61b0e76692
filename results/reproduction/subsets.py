"""How far the published values lie from ours, over the choice of the anomalies that are kept.

The paper drew one subset of the anomalies per data set, before its ten splits. What that draw makes
of a mean over ten splits is measured by drawing anew: one seed, one subset.
"""

from __future__ import annotations

import math

import pandas as pd

from results.metrics import METRICS, PAPER_METRICS
from results.published import paper
from results.reproduction.departures import is_fixed_subset
from results.tables.text import markdown
from results.vocabulary import display_name, format_number

# Fewer subsets than these say little about a spread.
_FEWEST = 5
_HEADER = ["data set", "algorithm", "setting", "subsets"]


def subset_spreads(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean and the spread over subsets, beside the published value.

    Parameters
    ----------
    frame : DataFrame
        All experiments, as :attr:`results.records.frame.Experiments.frame`.

    Returns
    -------
    spreads : DataFrame
        setting, dataset, algorithm, metric, subsets (how many), mean and spread (one standard
        deviation of the means over the splits), published, and distance: of the published value
        from the mean, in spreads. ``within``: one standard deviation over the splits of one
        subset. ``draw``: what is left of the spread for the subset alone, with the splits held
        fixed. A new subset comes with new splits, which alone move a mean over n of them by
        within / sqrt(n): the variances are subtracted (one-way analysis of variance; 0 where the
        splits explain all of the spread).
    """
    part = frame[(frame["status"] == "ok") & frame["protocol"].map(is_fixed_subset)]
    cell = ["setting", "dataset", "label"]
    groups = part.groupby([*cell, "seed"])[list(PAPER_METRICS)]
    means, variances, sizes = groups.mean(), groups.var(), groups.count()
    columns = paper.columns()
    rows = []
    for (setting, dataset, label), group in means.groupby(level=cell):
        beside = columns[
            (columns["setting"] == setting) & (columns["algorithm"] == label) & columns["as_run"]
        ]
        if len(group) < _FEWEST or beside.empty:
            continue
        printed = paper.cells().query(
            "setting == @setting and dataset == @dataset and column == @beside['column'].iloc[0]"
        )
        for metric in PAPER_METRICS:
            mean, spread = group[metric].mean(), group[metric].std()
            within = variances.loc[group.index, metric].mean()
            from_splits = (variances / sizes).loc[group.index, metric].mean()
            value = float(printed[metric].iloc[0])
            rows.append(
                {
                    "setting": setting,
                    "dataset": dataset,
                    "algorithm": label,
                    "metric": metric,
                    "subsets": len(group),
                    "mean": mean,
                    "spread": spread,
                    "published": value,
                    "distance": (value - mean) / spread,
                    "within": math.sqrt(within),
                    "draw": math.sqrt(max(0.0, spread**2 - from_splits)),
                }
            )
    return pd.DataFrame(rows)


def subsets_table(frame: pd.DataFrame) -> str:
    """Return the spreads as a Markdown table; an empty string if there are none."""
    spreads = subset_spreads(frame)
    if spreads.empty:
        return ""
    header = list(_HEADER)
    for metric in PAPER_METRICS:
        heading = METRICS[metric].heading
        header += [f"{heading} mean", "spread", "draw alone", "published", "distance"]
    rows = []
    for (dataset, algorithm, setting, subsets), part in spreads.groupby(
        ["dataset", "algorithm", "setting", "subsets"], sort=False
    ):
        row = [str(dataset), display_name(str(algorithm)), str(setting), str(subsets)]
        for metric in PAPER_METRICS:
            (found,) = part[part["metric"] == metric].to_dict("records")
            names = ("mean", "spread", "draw", "published")
            row += [format_number(found[name], 3) for name in names]
            row.append(f"{found['distance']:+.1f}")
        rows.append(row)
    table = markdown(header, sorted(rows, key=lambda row: row[0]))
    return f"{_sentences(spreads)}\n\n{table}"


def _sentences(spreads: pd.DataFrame) -> str:
    """Say how much of what moves a mean is the draw, over all cells and both metrics."""
    lines = []
    for what, name in (
        ("The spread over draws, each with splits of its own,", "spread"),
        ("The draw alone, with the splits held fixed,", "draw"),
    ):
        # Where the splits of a draw all give the same there is nothing to compare with.
        scattered = spreads[spreads["within"] > 0]
        if scattered.empty:
            continue
        ratio = scattered[name] / scattered["within"]
        low, middle, high = (format_number(float(ratio.quantile(q)), 2) for q in (0, 0.5, 1))
        lines.append(
            f"{what} is {low} to {high} of the standard deviation over the splits of one draw "
            f"(median {middle}, {len(ratio)} cells and metrics)."
        )
    beyond = int((spreads["distance"].abs() > 2).sum())
    lines.append(
        f"{len(spreads) - beyond} of the {len(spreads)} published values lie within two spreads."
    )
    return " ".join(lines)
