"""How many published values come out again where nothing is drawn at random."""

from __future__ import annotations

import pandas as pd

from results.metrics import METRICS
from results.published.publication import Publication
from results.reproduction.comparison import NOT_JUDGED, compare
from results.tables.text import markdown
from results.vocabulary import display_name


def exact_markdown(cells: pd.DataFrame, publication: Publication, setting: str) -> str:
    """Count values within the absolute tolerance, of those whose printed spread is 0."""
    table = compare(cells, publication)
    table = table[
        table["as_run"]
        & (table["setting"] == setting)
        & table["ours"].notna()
        & (table["verdict"] != NOT_JUDGED)
        & (table["published_std"] == 0)
    ]
    rows = []
    for algorithm, part in table.groupby("algorithm", sort=False):
        groups = part.groupby("metric")["within"]
        within, total = groups.sum(), groups.size()
        rows.append(
            [
                display_name(str(algorithm)),
                *(f"{within.get(m, 0)} of {total.get(m, 0)}" for m in publication.metrics),
            ]
        )
    return markdown(["algorithm", *(METRICS[m].heading for m in publication.metrics)], rows)
