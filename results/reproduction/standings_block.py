"""Where OneClassRF stands beyond the paper's data sets, against isolation forest in particular."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from results.metrics import METRICS
from results.published import paper
from results.published.publication import Publication, load_publication, publication_names
from results.reproduction.standings import OURS, Standings, standing_rows, standings
from results.statistics.rank_tests import bootstrap_intervals, holm, signed_rank_p, win_tie_loss
from results.statistics.write import format_p
from results.tables.text import markdown
from results.vocabulary import SETTINGS, display_name, format_number

FORMS = ("oneclassrf_text", "oneclassrf")
RIVAL = "iforest"
NOTHING = "Nothing to show: OneClassRF was not run under the protocol of another benchmark."


@dataclass(frozen=True)
class Place:
    """One form of OneClassRF among the printed columns of one setting and metric.

    Attributes
    ----------
    publication, setting, metric, label : str
        The setting is ours.
    n_datasets, n_algorithms, position : int
        Position by mean rank, 1 for the best, among the printed columns and this form alone.
    mean_rank, mean, rival_mean : float
        The means in per cent.
    difference, low, high : float
        Of the means to isolation forest as printed, with a bootstrap interval over data sets.
    wins : str
        ``wins/ties/losses`` against it.
    p : float
        Wilcoxon's signed-rank test over data sets.
    """

    publication: str
    setting: str
    metric: str
    label: str
    n_datasets: int
    n_algorithms: int
    position: int
    mean_rank: float
    mean: float
    rival_mean: float
    difference: float
    low: float
    high: float
    wins: str
    p: float


def places(cells: pd.DataFrame, names: list[str] | None = None) -> list[Place]:
    """Return every place that the records allow to measure.

    Parameters
    ----------
    cells : DataFrame
        As :func:`results.aggregate.make_cells`.
    names : list of str, optional
        Publications, by name or path. Default: all that are shipped but the paper.
    """
    ran = {(protocol, setting, label) for protocol, setting, _, label in cells.index}
    label_of = cells.index.get_level_values("label")
    found = []
    for name in names or [n for n in publication_names() if n != paper.publication().name]:
        publication = load_publication(name)
        for setting, run in publication.description.settings.items():
            for label in FORMS:
                if (run.protocol, run.setting, label) in ran:
                    for metric in publication.metrics:
                        # What repeats a printed column is not in the field twice.
                        own = cells[label_of == label]
                        table = standings(own, publication, setting, metric, (label,))
                        if table is not None:
                            found += _place(table, publication, run.setting, label)
    return found


def _place(table: Standings, publication: Publication, setting: str, label: str) -> list[Place]:
    rivals = [
        column
        for column in publication.columns
        if RIVAL in publication.description.algorithms_of(column, table.setting)
    ]
    ours = display_name(label) + OURS
    if not table.comparisons:
        return []
    # The data sets that all have: the first comparison.
    comparison = table.comparisons[0]
    if not rivals or rivals[0] not in comparison.values or comparison.n_datasets < 2:
        return []
    pair = comparison.values[[rivals[0], ours]]
    rows = standing_rows(comparison)
    row: dict[Any, Any] = rows.loc[ours].to_dict()
    interval: dict[Any, Any] = bootstrap_intervals(pair).loc[ours].to_dict()
    digits = publication.description.digits
    counts = win_tie_loss(pair, table.metric, digits)
    percent = 100 / publication.description.factor
    return [
        Place(
            publication.name,
            setting,
            table.metric,
            label,
            comparison.n_datasets,
            len(rows),
            1 + int((rows["mean_rank"] < row["mean_rank"]).sum()),
            float(row["mean_rank"]),
            percent * float(row["mean"]),
            percent * float(pair[rivals[0]].mean()),
            percent * float(interval["difference"]),
            percent * float(interval["difference_low"]),
            percent * float(interval["difference_high"]),
            str(counts.loc[ours, rivals[0]]),
            signed_rank_p((pair[ours] - pair[rivals[0]]).to_numpy().round(digits)),
        )
    ]


def standings_block(cells: pd.DataFrame) -> str:
    """Return the table of all places, and how to read it; values in per cent."""
    found = places(cells)
    if not found:
        return NOTHING
    corrected = holm(np.array([place.p for place in found]))
    rows = [
        [
            f"{place.publication}, {SETTINGS[place.setting].removesuffix(' detection')}",
            METRICS[place.metric].heading,
            display_name(place.label),
            str(place.n_datasets),
            f"{place.position} of {place.n_algorithms} ({format_number(place.mean_rank, 1)})",
            format_number(place.mean, 1),
            format_number(place.rival_mean, 1),
            f"{place.difference:+.1f} ({place.low:+.1f} to {place.high:+.1f})",
            place.wins,
            format_p(place.p),
            format_p(float(p)),
        ]
        for place, p in zip(found, corrected, strict=True)
    ]
    heading = ["benchmark", "metric", "form", "data sets", "place (mean rank)", "mean", "iForest"]
    heading += ["difference (95 %)", "wins/ties/losses", "p", "Holm"]
    return "\n".join(
        [
            markdown(heading, rows),
            "",
            "Values in per cent. Place: by mean rank among the printed columns, over the data sets "
            "that all have. Difference, wins/ties/losses and p (Wilcoxon's signed-rank test over "
            "data sets): against isolation forest as printed. Holm: over the rows of this table. "
            "OneClassRF (text): the defaults of `OneClassRF()`; OneClassRF: as the paper's tables "
            'were made, with `max_features_node=None, out_of_bounds="maximal"`. P@n leaves out '
            "what is tied at its threshold, as PyOD's does: it is 0 where more rows than there are "
            "anomalies lie outside OneClassRF's box, whose scores are tied.",
        ]
    )
