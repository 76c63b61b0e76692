"""Where OneClassRF stands among the columns that a publication printed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from results.benchmarks.duels import FORMS
from results.metrics import METRICS
from results.published.publication import Publication
from results.reproduction.standings import Standings, standing_rows, standings
from results.statistics.rank_tests import ALPHA, Comparison, holm, signed_rank_p
from results.statistics.write import format_p
from results.tables.text import markdown
from results.vocabulary import format_number


def placing(cells: pd.DataFrame, publication: Publication, setting: str) -> str:
    """Return the printed columns of a setting with OneClassRF as run among them, and sentences.

    Ranks are taken with one form of OneClassRF in the field; the other's places are given beside.
    """
    label = cells.index.get_level_values("label")
    found = {
        (form, metric): standings(cells[label == form], publication, setting, metric, (form,))
        for form in FORMS
        for metric in publication.metrics
    }
    shown = {metric: found[FORMS[0], metric] for metric in publication.metrics}
    if not all(part is not None and part.comparisons for part in found.values()):
        return ""
    tables = {m: standing_rows(s.comparisons[0]) for m, s in shown.items() if s is not None}
    headings = ["algorithm"]
    for metric in publication.metrics:
        headings += [METRICS[metric].heading, "mean rank", "wins"]
    rows = []
    for name in tables[publication.metrics[0]].index:
        row = [str(name)]
        for table in tables.values():
            own = table.loc[name]
            row += [format_number(own["mean"], publication.description.digits)]
            row += [format_number(own["mean_rank"], 2), str(int(own["wins"]))]
        rows.append([f"**{cell}**" if " (ours)" in row[0] else cell for cell in row])
    sentences = [sentence for part in found.values() if part for sentence in _sentences(part)]
    left_out = dict.fromkeys(
        text for part in shown.values() if part for text in part.left_out if "which" in text
    )
    return "\n".join(
        [markdown(headings, rows), "", *(f"- {text}" for text in [*sentences, *left_out])]
    )


def _sentences(found: Standings) -> list[str]:
    comparison = found.comparisons[0]
    (name,) = found.ours
    order = list(standing_rows(comparison).index)
    heading = METRICS[found.metric].heading
    p = pair_tests(comparison, name)
    ranks = comparison.mean_ranks
    apart = [str(other) for other in p.index if p[other] < ALPHA]
    behind = [other for other in apart if ranks[other] > ranks[name]]
    ahead = [other for other in apart if ranks[other] < ranks[name]]
    friedman = ""
    if comparison.friedman is not None:
        friedman = (
            f" Friedman's test: p {_equals(format_p(comparison.friedman[1]))}; Nemenyi's critical "
            f"difference {format_number(comparison.critical_difference, 2)}."
        )
    return [
        f"{heading}, {name}: place {order.index(name) + 1} of {len(order)} by mean rank "
        f"({format_number(ranks[name], 2)}) over {comparison.n_datasets} data sets.{friedman} "
        f"Wilcoxon's test over data sets, Holm's correction for {len(p)} pairs: ahead of "
        f"{', '.join(behind) or 'none'}; behind {', '.join(ahead) or 'none'}; not told apart from "
        f"the {len(p) - len(apart)} others."
    ]


def _equals(text: str) -> str:
    return text if text.startswith("<") else f"= {text}"


def pair_tests(comparison: Comparison, name: str) -> pd.Series:
    """Return p values of Wilcoxon's test of one algorithm against each other one, by Holm."""
    block = comparison.values
    others = [str(other) for other in block if other != name]
    raw = [signed_rank_p((block[name] - block[other]).to_numpy()) for other in others]
    return pd.Series(holm(np.array(raw)), index=others)
