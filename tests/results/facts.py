"""Numbers of the packed records, as the sentences of the documents use them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from results.ablations.choice import choices
from results.ablations.effects import contrasts
from results.ablations.effects import effects as ablation_effects
from results.ablations.studies import STUDIES
from results.aggregate import make_cells
from results.metrics import EXACT_METRICS, PAPER_METRICS
from results.published import paper
from results.records.frame import load_experiments
from results.reproduction import criterion, ranks, repeats
from results.reproduction.comparison import compare
from results.reproduction.departures import Effect, effects
from results.reproduction.forest_seeds import seeds_table
from results.reproduction.replay import ALGORITHMS, replay_table
from results.reproduction.subsets import subset_spreads
from results.statistics.rank_tests import holm

RUNS = Path(__file__).parents[2] / "results" / "runs"
METRICS = {"paper": PAPER_METRICS, "clean": EXACT_METRICS}


@cache
def frame(*folders: str) -> pd.DataFrame:
    """All experiments of folders of `results/runs`; "" is the grid's own."""
    return load_experiments(*(RUNS / folder for folder in folders)).frame


def grid() -> pd.DataFrame:
    return frame("", "variants")


@cache
def cells() -> pd.DataFrame:
    return make_cells(grid())


@cache
def replayed() -> pd.DataFrame:
    table = replay_table(make_cells(frame("replay")))
    return table.set_index(["setting", "dataset", "column", "metric"])


@cache
def compared() -> pd.DataFrame:
    return criterion.judged(compare(cells()), replayed().reset_index(), grid())


@cache
def found_effects() -> list[Effect]:
    return effects(grid(), cells())


@cache
def spreads() -> pd.DataFrame:
    return subset_spreads(grid())


def metric(protocol: str, kind: str) -> str:
    return METRICS[protocol][kind != "roc"]


def cell(dataset, label, kind="roc", protocol="paper", setting="novelty") -> float:
    """The mean over the splits of one cell; `kind` is roc or pr."""
    return float(cells().loc[(protocol, setting, dataset, label), metric(protocol, kind)])


def column(label, protocol="paper", setting="novelty") -> pd.DataFrame:
    """The cells of one algorithm, indexed by data set."""
    return cells().xs((protocol, setting, label), level=("protocol", "setting", "label"))


def values(label, kind="pr", protocol="paper", setting="novelty") -> pd.Series:
    """One value per data set of the paper."""
    part = column(label, protocol, setting)[metric(protocol, kind)]
    return part.reindex(paper.datasets().index).astype(float)


def mean(label, kind="pr", protocol="paper", setting="novelty") -> float:
    """The mean over the twelve data sets."""
    found = values(label, kind, protocol, setting)
    assert found.notna().all(), label
    return float(found.mean())


def printed(column, dataset=None, kind="pr", setting="novelty") -> float:
    """A published value, or the mean over the data sets."""
    table = paper.cells().query("setting == @setting and column == @column").set_index("dataset")
    part = table[metric("paper", kind)]
    return float(part.mean() if dataset is None else part[dataset])


def effect(name, algorithm, kind="pr", setting="novelty") -> Effect:
    (found,) = (
        e
        for e in found_effects()
        if (e.departure.name, e.algorithm, e.metric, e.setting) == (name, algorithm, kind, setting)
    )
    return found


def changes(name, kind="pr", setting="novelty") -> list[float]:
    """What a departure changes for each algorithm."""
    return [
        e.change
        for e in found_effects()
        if (e.departure.name, e.metric, e.setting) == (name, kind, setting)
    ]


@cache
def seeds() -> pd.DataFrame:
    """Values of forests that differ in their seed, on replayed splits, beside the printed ones."""
    table = seeds_table(make_cells(frame("replay")))
    table["column"] = table["algorithm"].map(lambda n: "RFC" if n == "rfc" else "OCRFsampling")
    table["far"] = (table["published"] - table["mean"]).abs()
    return table


def replay_today(column, dataset, kind="roc", setting="novelty") -> float:
    """An area of the replayed scores on today's curves."""
    found = make_cells(frame("replay")).loc[("replayed", setting, dataset, ALGORITHMS[column])]
    return float(found[f"{kind}_auc_curve"])


def replay(column, dataset, kind="roc", setting="novelty") -> float:
    name = {"roc": "roc_auc_2016", "pr": "pr_auc_2016"}[kind]
    return float(replayed().loc[(setting, dataset, column, name), "replayed"])


def rank(label, kind="pr", protocol="clean", setting="novelty", field="as run") -> float:
    """The mean rank over the data sets of the paper, among the complete algorithms of a field."""
    table = ranks.values_of(cells(), protocol, setting, metric(protocol, kind))
    block = ranks.complete(table, ranks.FIELDS[field])
    return float(block.rank(axis=1, ascending=False).mean()[label])


@cache
def _families() -> list[ranks.Family]:
    return ranks.families(cells())


def family(kind="pr", protocol="clean", setting="novelty", field="as run") -> ranks.Family:
    (found,) = (
        f
        for f in _families()
        if (f.protocol, f.field, f.setting, f.metric)
        == (protocol, field, setting, metric(protocol, kind))
    )
    return found


@cache
def all_pairs(protocol: str, setting: str, name: str) -> pd.DataFrame:
    """Every pair of forms, with tests."""
    return ranks.pairs(cells(), protocol, setting, name)


def pair(first, second, kind="pr", protocol="clean", setting="novelty") -> dict[Any, Any]:
    table = all_pairs(protocol, setting, metric(protocol, kind))
    (row,) = table[(table["first"] == first) & (table["second"] == second)].to_dict("records")
    return row


def distances(algorithm, dataset, kind="roc") -> list[float]:
    """How far published values lie from ours over the draws, in spreads, without sign."""
    table = spreads()
    chosen = table[
        table["algorithm"].str.startswith(algorithm)
        & (table["dataset"] == dataset)
        & (table["metric"] == metric("paper", kind))
    ]
    return chosen["distance"].abs().tolist()


def draw_spread(dataset, kind="roc", without=()) -> tuple[float, float]:
    """The smallest and the largest spread over draws, over algorithms and settings."""
    table = spreads()
    chosen = table[
        (table["dataset"] == dataset)
        & (table["metric"] == metric("paper", kind))
        & ~table["algorithm"].isin(without)
    ]["spread"]
    return float(chosen.min()), float(chosen.max())


def splits(dataset, label, kind="roc", protocol="paper", setting="novelty", *folders) -> np.ndarray:
    """The values of the single splits."""
    table = frame(*folders) if folders else grid()
    part = table[
        (table["dataset"] == dataset)
        & (table["label"] == label)
        & (table["protocol"] == protocol)
        & (table["setting"] == setting)
    ]
    return part.sort_values(["seed", "split"])[metric("paper", kind)].to_numpy(float)


def repeated(dataset, part="normal", setting="novelty") -> float:
    """The share of repeated rows, in per cent."""
    return 100 * float(repeats.repeated_rows().loc[(dataset, setting), part])


@cache
def _signs() -> pd.DataFrame:
    return criterion.signs(compared())


@cache
def _contrasts(study: str, setting: str, name: str) -> pd.DataFrame:
    return contrasts(ablations()[study, setting], name)


def wrong(column: str) -> float:
    """The share of another algorithm's columns that a criterion passes, in per cent."""
    return 100 * float(criterion.wrong_columns(compared())[column].mean())


def sign(column, kind="roc") -> dict[Any, Any]:
    table = _signs()
    chosen = (table["column"] == column) & (table["metric"] == metric("paper", kind))
    (row,) = table[chosen].to_dict("records")
    return row


def bootstrap_at_least(mean_of_ten: float, sample: np.ndarray, n: int = 50_000) -> float:
    """How often ten splits drawn from a sample have at least this mean."""
    drawn = np.random.default_rng(0).choice(sample, size=(n, 10)).mean(axis=1)
    return float((drawn >= mean_of_ten - 1e-12).mean())


@cache
def ablations() -> dict[tuple[str, str], Any]:
    """The effects of each study, by its name and setting."""
    table = frame("ablations")
    return {(s.name, part.setting): part for s in STUDIES for part in ablation_effects(table, s)}


def level(study, name, column="difference", kind="pr", setting="novelty") -> Any:
    """One number of the row of a level: difference, p, p_holm, wins_ties_losses and others."""
    part = ablations()[study, setting].summary
    chosen = (part["level"] == name) & (part["metric"] == metric("clean", kind))
    (row,) = part[chosen].to_dict("records")
    return row[column]


def gains(study, name, kind="pr", setting="novelty") -> pd.Series:
    """What a level changes on each data set."""
    part = ablations()[study, setting]
    means = part.means[metric("clean", kind)]
    return means[name] - means[part.study.reference]


def fit_time(study, name, setting="novelty") -> float:
    """The processor time of fitting, as a multiple of the reference's."""
    return float(ablations()[study, setting].seconds[name])


def contrast(study, name, column="difference", kind="pr", setting="novelty") -> Any:
    """One number of a row of the table of contrasts."""
    table = _contrasts(study, setting, metric("clean", kind))
    (row,) = table[table["level"] == name].to_dict("records")
    return row[column]


@cache
def all_tests() -> pd.DataFrame:
    """Every test of a level against the reference, corrected over all of them together."""
    tables = [part.summary.assign(study=study) for (study, _), part in ablations().items()]
    table = pd.concat(tables).dropna(subset=["p"])
    return table.assign(all_holm=holm(table["p"].to_numpy(float)))


@cache
def chosen(purpose: str, name: str) -> Any:
    """The choice of the best level for a purpose by a metric."""
    table: dict[Any, list] = {}
    for (study, _), part in ablations().items():
        table.setdefault(next(s for s in STUDIES if s.name == study), []).append(part)
    (found,) = (c for c in choices(table) if (c.purpose, c.metric) == (purpose, name))
    return found
