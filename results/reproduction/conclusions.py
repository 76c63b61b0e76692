"""What the paper concludes from Table 2, held against its own values and against ours."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from results.aggregate import of_other_splits
from results.metrics import EXACT_METRICS, PAPER_METRICS
from results.published import paper
from results.tables.text import markdown
from results.vocabulary import (
    display_name,
    format_number,
    format_seconds,
    is_transductive,
    round_half_up,
)

_SETTING = "novelty"
_METRICS = {"paper": PAPER_METRICS, "clean": EXACT_METRICS}


def conclusions_table(cells: pd.DataFrame) -> str:
    """Return the conclusions, each with the algorithms by the figure it is about, the best first.

    Means and sums are over all data sets of the paper, and only of algorithms that have a value on
    every one of them, over the splits of most. A win is the highest area of a data set as printed,
    to three digits; who shares it has one too.

    Parameters
    ----------
    cells : DataFrame
        As :func:`results.aggregate.make_cells`.

    Returns
    -------
    markdown : str
        Empty if no cell belongs to Table 2.
    """
    sources = {"as published": _published()}
    for protocol, metrics in _METRICS.items():
        ours = _ours(cells, protocol, metrics)
        if not ours.empty:
            sources[f"ours, protocol {protocol}"] = ours
    if len(sources) == 1:
        return ""
    rows = [
        [conclusion, *(make(table) for table in sources.values())]
        for conclusion, make in (
            ("the best mean ROC, with LSAD", lambda table: _means(table, "roc")),
            ("the best mean PR", lambda table: _means(table, "pr")),
            ("the best ROC on five data sets", lambda table: _wins(table, "roc")),
            ("the lowest cumulative training time", _times),
        )
    ]
    return markdown(["OneClassRF has", *sources], rows)


def _published() -> pd.DataFrame:
    """Return Table 2: roc and pr indexed by data set and printed name; seconds are totals."""
    table = paper.cells().query("setting == @_SETTING")
    table = table.rename(columns=dict(zip(PAPER_METRICS, ("roc", "pr"), strict=True)))
    times = paper.train_times().query("setting == @_SETTING").set_index("column")["seconds"]
    # The table gives the totals only: they are kept with every data set, divided evenly.
    table["seconds"] = table["column"].map(times) / table["dataset"].nunique()
    return table.set_index(["dataset", "column"])[["roc", "pr", "seconds"]]


def _ours(cells: pd.DataFrame, protocol: str, metrics: tuple[str, str]) -> pd.DataFrame:
    level = cells.index.get_level_values
    columns = paper.columns().query("setting == @_SETTING and as_run")
    part = cells[
        (level("protocol") == protocol)
        & (level("setting") == _SETTING)
        & level("label").isin(columns["algorithm"])
    ]
    part = part.droplevel(["protocol", "setting"])
    other = of_other_splits(part)
    labels = part.index.get_level_values("label")
    transductive = pd.Series(labels, index=part.index).map(is_transductive)
    return pd.DataFrame(
        {
            "roc": part[metrics[0]].mask(other),
            "pr": part[metrics[1]].mask(other),
            "seconds": part["fit_seconds"] + part["score_seconds"].where(transductive, 0.0),
        }
    ).rename(index=display_name, level="label")


def _means(table: pd.DataFrame, value: str) -> str:
    means = _complete(table[value]).mean()
    return _ranked(means, lambda mean: format_number(mean, 3), ascending=False)


def _wins(table: pd.DataFrame, value: str) -> str:
    wide = (
        table[value].unstack().map(lambda area: float(round_half_up(area, 3)), na_action="ignore")
    )
    wins = wide.eq(wide.max(axis=1), axis=0).sum()
    return _ranked(wins[wins > 0], str, ascending=False)


def _times(table: pd.DataFrame) -> str:
    return _ranked(_complete(table["seconds"]).sum(), format_seconds, ascending=True)


def _complete(values: pd.Series) -> pd.DataFrame:
    """Return the algorithms that have a value on every data set of the paper, as columns."""
    return values.unstack().reindex(paper.datasets().index).dropna(axis=1)


def _ranked(values: pd.Series, text: Callable[[float], str], *, ascending: bool) -> str:
    order = values.sort_values(ascending=ascending, kind="stable")
    return ", ".join(f"{name} {text(value)}" for name, value in order.items()) or "--"
