"""Our algorithms among the columns that others printed: means, ranks, wins, tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from results.aggregate import in_order, labelled_in
from results.metrics import METRICS
from results.published.publication import Publication
from results.reproduction.comparison import why_not_judged
from results.statistics.rank_tests import Comparison, comparisons
from results.vocabulary import display_name, flagged, round_half_up

#: Follows the names of our algorithms, which may bear the name of a printed column.
OURS = " (ours)"


@dataclass(frozen=True)
class Standings:
    """The printed columns of one setting and metric, and our algorithms among them.

    Attributes
    ----------
    setting, metric : str
        The setting by its printed name.
    ours : list of str
        Names of our algorithms as in the columns of `values`.
    values : DataFrame
        Data sets x algorithms, in the printed scale and digits; NaN without a value.
    comparisons : list of Comparison
        Of all algorithms on the data sets that all of them have, and of those that have every one.
    left_out : list of str
        Sentences: which data sets and which of our algorithms are not compared, and why.
    """

    setting: str
    metric: str
    ours: list[str]
    values: pd.DataFrame
    comparisons: list[Comparison]
    left_out: list[str]


def standings(
    cells: pd.DataFrame,
    publication: Publication,
    setting: str,
    metric: str,
    chosen: tuple[str, ...] = (),
) -> Standings | None:
    """Insert our algorithms among the published columns.

    Our values are rounded to the printed digits first: two values that read the same tie. A mean
    of ours over fewer splits than the printed ones is left out.

    Parameters
    ----------
    cells : DataFrame
        As :func:`results.aggregate.make_cells`.
    publication : Publication
    setting : str
        By its printed name.
    metric : str
    chosen : tuple of str
        Our algorithms, in this order, whatever data sets they were run on. Default: those that do
        not repeat a printed column and were run on every data set on which one of ours was run.

    Returns
    -------
    Standings or None
        None if nothing was run in the setting with the publication's protocol.

    Raises
    ------
    ValueError
        If no algorithm is left to insert.
    """
    run = publication.description.settings[setting]
    level = cells.index.get_level_values
    part = cells[(level("protocol") == run.protocol) & (level("setting") == run.setting)]
    part = part.droplevel(["protocol", "setting"])
    of_ours = {ours: printed for printed, ours in publication.datasets.items() if ours is not None}
    part = part[part.index.get_level_values("dataset").isin(of_ours)]
    if part.empty:
        return None
    run_on, labelled = part["mark"].unstack("label").notna(), labelled_in(part)
    left_out: list[str] = []
    labels = in_order(map(str, run_on.columns), chosen)
    if not chosen:
        labels, left_out = _default_algorithms(run_on, labels, publication, setting)
    part = part[part.index.get_level_values("label").isin(labels)]
    why = pd.Series(
        [why_not_judged(cell, run) for cell in part.to_dict("records")], part.index, dtype=object
    )
    why = why.where(part[metric].notna(), "")
    own = part[metric].where(why == "").unstack("label")[labels]
    own = own.rename(index=of_ours).dropna(how="all")
    digits, factor = publication.description.digits, publication.description.factor
    own = own.map(lambda value: _rounded(factor * value, digits))
    own.columns = [flagged(display_name(label), _displayed(labelled)) + OURS for label in labels]
    printed = _printed(publication, setting, metric)
    values = printed.join(own, how="inner")
    left_out += _left_out_datasets(list(printed.index), values, publication, run_on)
    left_out += [
        f"Not judged: {display_name(str(label))} on {dataset}, {text}."
        for (dataset, label), text in zip(why.index, why, strict=True)
        if text
    ]
    return Standings(
        setting, metric, list(own.columns), values, comparisons(values, metric), left_out
    )


def _displayed(labels: frozenset[str]) -> frozenset[str]:
    return frozenset(map(display_name, labels))


def _rounded(value: float, digits: int) -> float:
    return value if math.isnan(value) else float(round_half_up(value, digits))


def _printed(publication: Publication, setting: str, metric: str) -> pd.DataFrame:
    """Return data sets x printed columns."""
    values = publication.values
    values = values[(values["setting"] == setting) & (values["metric"] == metric)]
    wide = values.set_index(["dataset", "column"])["published"].unstack("column")
    columns = [name for name in publication.columns if name in wide]
    return wide.reindex(index=list(dict.fromkeys(values["dataset"])), columns=columns)


def _default_algorithms(
    run_on: pd.DataFrame, labels: list[str], publication: Publication, setting: str
) -> tuple[list[str], list[str]]:
    """Return the algorithms to insert, and sentences on the others."""
    beside = {
        label: column
        for column in publication.columns
        for label in publication.description.algorithms_of(column, setting)
    }
    repeated = [label for label in labels if label in beside]
    gaps = {
        label: list(run_on.index[~run_on[label]])
        for label in labels
        if label not in beside and not run_on[label].all()
    }
    texts = []
    if repeated:
        names = ", ".join(f"{display_name(label)} ({beside[label]})" for label in repeated)
        texts.append(
            f"Left out: {names}, which repeat a printed column; --algorithm NAME,... inserts them."
        )
    for label, datasets in gaps.items():
        texts.append(f"Left out: {display_name(label)}, not run on {', '.join(datasets)}.")
    kept = [label for label in labels if label not in beside and label not in gaps]
    if not kept:
        raise ValueError(
            f"no algorithm to insert in {publication.name} ({setting}). {' '.join(texts)} "
            f"Name some with --algorithm; there are: {', '.join(labels)}"
        )
    return kept, texts


def _left_out_datasets(
    printed: list[str], values: pd.DataFrame, publication: Publication, run_on: pd.DataFrame
) -> list[str]:
    """Return sentences on the printed data sets that are not compared."""
    gone = [name for name in printed if name not in values.index]
    ours = publication.datasets
    reasons = {
        "which are not here": [name for name in gone if ours[name] is None],
        "which were not run": [
            name for name in gone if ours[name] is not None and ours[name] not in run_on.index
        ],
        "on which none of ours has a value": [name for name in gone if ours[name] in run_on.index],
    }
    return [
        f"Left out: {len(names)} data sets {why} ({', '.join(names)})."
        for why, names in reasons.items()
        if names
    ]


def standing_rows(comparison: Comparison) -> pd.DataFrame:
    """Return one row per algorithm, the best mean rank first.

    Returns
    -------
    DataFrame
        Indexed by algorithm: ``mean``, ``mean_rank``, ``wins`` (data sets on which no value is
        better as printed; who shares the best has won too).
    """
    block = comparison.values
    higher = METRICS[comparison.metric].higher_is_better
    best = block.max(axis=1) if higher else block.min(axis=1)
    wins = block.eq(best, axis=0).sum()
    table = pd.DataFrame(
        {"mean": block.mean(), "mean_rank": comparison.mean_ranks, "wins": wins.astype(int)}
    )
    return table.sort_values("mean_rank", kind="stable")
