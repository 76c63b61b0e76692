"""Ranks and tests over one form of each algorithm, and what survives correction."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from results.metrics import EXACT_METRICS, METRICS, PAPER_METRICS
from results.published import paper
from results.statistics.rank_tests import (
    ALPHA,
    Comparison,
    comparisons,
    holm,
    matrix,
    signed_rank_p,
    win_tie_loss,
)
from results.statistics.write import format_p
from results.tables.text import markdown
from results.vocabulary import PAPER_ALGORITHMS, SETTINGS, display_name, format_number

#: The forms that the text describes, or that lack what held the original run back.
OTHER_FORM = {"oneclassrf": "oneclassrf_text", "orca": "orca_clean"}
#: One form of each algorithm: a rank among two forms of one says nothing of the others.
FIELDS = {
    "as run": tuple(PAPER_ALGORITHMS),
    "other forms": tuple(OTHER_FORM.get(name, name) for name in PAPER_ALGORITHMS),
}
PROTOCOLS = {"paper": PAPER_METRICS, "clean": EXACT_METRICS}
_NOTHING = "Nothing to show: the records hold no such experiments."
#: Pairs of OneClassRF with others are listed up to this p value before correction.
_LISTED = 0.1


def values_of(cells: pd.DataFrame, protocol: str, setting: str, metric: str) -> pd.DataFrame:
    """Return data sets x algorithms of one protocol and setting; empty if there is none."""
    level = cells.index.get_level_values
    part = cells[(level("protocol") == protocol) & (level("setting") == setting)]
    return matrix(part, metric) if len(part) else pd.DataFrame()


def complete(values: pd.DataFrame, labels: tuple[str, ...]) -> pd.DataFrame:
    """Return the columns `labels` that have a value on every data set of the paper."""
    known = [name for name in labels if name in values]
    return values[known].reindex(paper.datasets().index).dropna(axis=1)


def rankings(cells: pd.DataFrame) -> str:
    """Rank the algorithms under both protocols, over one form of each.

    Mean ranks are over the data sets on which every algorithm of a field that both protocols have
    finished under both.
    """
    parts = []
    for setting in SETTINGS:
        for i, heading in enumerate(METRICS[metric].heading for metric in PAPER_METRICS):
            columns: dict[str, pd.Series] = {}
            shared: list[str] = []
            algorithms: set[str] = set()
            for field, labels in FIELDS.items():
                both = {
                    protocol: values_of(cells, protocol, setting, metrics[i])
                    for protocol, metrics in PROTOCOLS.items()
                }
                run = [name for name in labels if all(name in table for table in both.values())]
                tables = {name: table.reindex(columns=run) for name, table in both.items()}
                finished = (
                    tables["paper"].dropna().index.intersection(tables["clean"].dropna().index)
                )
                if len(run) < 2 or finished.empty or not algorithms <= {_plain(n) for n in run}:
                    continue
                algorithms = set(map(_plain, run))
                shared = shared or [str(name) for name in finished]
                for protocol, table in tables.items():
                    ranks = table.loc[finished].rank(axis=1, ascending=False).mean()
                    columns[f"{protocol}, {field}"] = ranks.rename(_plain)
            if columns:
                frame = pd.DataFrame(columns)
                order = frame.iloc[:, 0].sort_values(kind="stable").index
                rows = [
                    [
                        display_name(str(label)),
                        *(format_number(v, 2) for v in frame.loc[label]),
                    ]
                    for label in order
                ]
                parts += [
                    f"{heading}, {SETTINGS[setting]}, mean rank over {', '.join(shared)}:",
                    "",
                    markdown(["algorithm", *frame.columns], rows),
                    "",
                ]
    return "\n".join(parts) or _NOTHING


def _plain(label: str) -> str:
    """Return the algorithm of a form: that which it is another form of."""
    return next((name for name, other in OTHER_FORM.items() if other == label), label)


@dataclass(frozen=True)
class Family:
    """One field of algorithms compared by one metric under one protocol in one setting."""

    protocol: str
    field: str
    setting: str
    metric: str
    comparison: Comparison
    friedman_holm: float


def families(cells: pd.DataFrame) -> list[Family]:
    """Return the tests over the data sets of the paper, of those that have a value on all.

    Friedman's p values are corrected (Holm) over the settings and metrics of one protocol and
    field.
    """
    found = []
    for protocol, metrics in PROTOCOLS.items():
        for field, labels in FIELDS.items():
            group = []
            for setting in SETTINGS:
                for metric in metrics:
                    block = complete(values_of(cells, protocol, setting, metric), labels)
                    if block.shape[1] == 0 or (
                        field != "as run" and not set(block) & set(OTHER_FORM.values())
                    ):
                        continue
                    (comparison, *_) = comparisons(block, metric)
                    if comparison.friedman is not None:
                        group.append((setting, metric, comparison))
            corrected = holm(np.array([c.friedman[1] for *_, c in group if c.friedman]))
            found += [
                Family(protocol, field, setting, metric, comparison, float(p))
                for (setting, metric, comparison), p in zip(group, corrected, strict=True)
            ]
    return found


def pairs(cells: pd.DataFrame, protocol: str, setting: str, metric: str) -> pd.DataFrame:
    """Return every pair of forms (as run and other) that have all data sets of the paper.

    Returns
    -------
    DataFrame
        Columns first, second (labels), wins (``wins/ties/losses`` of the first), p (Wilcoxon's
        signed-rank test) and holm (corrected over all pairs).
    """
    labels = tuple(dict.fromkeys(label for field in FIELDS.values() for label in field))
    block = complete(values_of(cells, protocol, setting, metric), labels)
    names = list(combinations(map(str, block.columns), 2))
    if not names:
        return pd.DataFrame(columns=["first", "second", "wins", "p", "holm"])
    counts = win_tie_loss(block, metric)
    raw = np.array([signed_rank_p((block[a] - block[b]).to_numpy()) for a, b in names])
    return pd.DataFrame(
        {
            "first": [a for a, _ in names],
            "second": [b for _, b in names],
            "wins": [str(counts.loc[a, b]) for a, b in names],
            "p": raw,
            "holm": holm(raw),
        }
    )


def block_of_tests(cells: pd.DataFrame) -> str:
    """Return the tables of the tests, and of the pairs that matter to what is said."""
    rows = []
    for family in families(cells):
        comparison = family.comparison
        assert comparison.friedman is not None
        rows.append(
            [
                f"{family.protocol}, {family.field}",
                family.setting,
                METRICS[family.metric].heading,
                str(comparison.values.shape[1]),
                str(comparison.n_datasets),
                format_p(comparison.friedman[1]),
                format_p(family.friedman_holm),
                format_number(comparison.critical_difference, 2),
                _told_apart(comparison),
            ]
        )
    if not rows:
        return _NOTHING
    heading = ["protocol, forms", "setting", "metric", "algorithms", "data sets", "Friedman's p"]
    heading += ["Holm", "critical difference", "pairs told apart"]
    listed, counts = _listed_pairs(cells)
    text = [
        "The algorithms that have a value on all data sets of the paper, one form of each:",
        "",
        markdown(heading, rows),
        "",
        "Holm: over the four of one protocol and one form. Critical difference: of mean ranks, "
        f"Nemenyi's test, {ALPHA:.0%}. Told apart: by Wilcoxon's signed-rank test with Holm's "
        "correction over the pairs of the row.",
        "",
        f"Pairs with both forms, {counts} per setting and metric, over which Holm's correction is "
        f"made: those with OneClassRF in either form up to p = {_LISTED:g} before correction, and "
        "all that survive it:",
        "",
        markdown(
            ["protocol", "setting", "metric", "first", "second", "wins/ties/losses", "p", "Holm"],
            listed,
        ),
    ]
    return "\n".join(text)


def _told_apart(comparison: Comparison) -> str:
    table = comparison.wilcoxon_holm
    assert table is not None
    p_values = table.to_numpy()
    names = [display_name(str(label)) for label in table.columns]
    named = [
        f"{names[i]} and {names[j]} ({format_p(p_values[i, j])})"
        for i, j in combinations(range(len(names)), 2)
        if p_values[i, j] < ALPHA
    ]
    return "; ".join(named) or "none"


def _listed_pairs(cells: pd.DataFrame) -> tuple[list[list[str]], str]:
    """Return the rows of the table of pairs, and how many pairs each protocol has."""
    rows, counts = [], dict.fromkeys(PROTOCOLS, 0)
    ours = {"oneclassrf", OTHER_FORM["oneclassrf"]}
    for protocol, metrics in PROTOCOLS.items():
        for setting in SETTINGS:
            for metric in metrics:
                table = pairs(cells, protocol, setting, metric)
                counts[protocol] = max(counts[protocol], len(table))
                kept = table[
                    (table["holm"] < ALPHA)
                    | ((table["p"] < _LISTED) & (table[["first", "second"]].isin(ours).any(axis=1)))
                ]
                rows += [
                    [
                        protocol,
                        setting,
                        METRICS[metric].heading,
                        display_name(row["first"]),
                        display_name(row["second"]),
                        row["wins"],
                        format_p(row["p"]),
                        format_p(row["holm"]),
                    ]
                    for row in kept.sort_values("p", kind="stable").to_dict("records")
                ]
    return rows, " and ".join(f"{count} ({name})" for name, count in counts.items() if count)
