"""The sentences of BENCHMARKS.md, computed again from the packed records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from results.ablations.effects import effects
from results.ablations.studies import STUDIES
from results.aggregate import make_cells
from results.benchmarks.document import FILE, parameter_effects
from results.benchmarks.duels import duels
from results.benchmarks.halves import judge_all
from results.benchmarks.placing import pair_tests
from results.benchmarks.traits import correlations, read_traits
from results.published.publication import load_publication
from results.records.frame import load_experiments
from results.reproduction.comparison import compare
from results.reproduction.standings import standing_rows, standings
from results.statistics.rank_tests import holm, wilcoxon_holm

RUNS = FILE.parent / "runs"
PACKS = [RUNS / name for name in ("dte2024", "pyod2019", "benchmarks")]
TEXT = " ".join(FILE.read_text(encoding="utf-8").split())


def says(sentence: str) -> bool:
    return sentence in TEXT


@pytest.fixture(scope="module")
def experiments():
    return load_experiments(*map(Path, PACKS)).frame


@pytest.fixture(scope="module")
def cells(experiments):
    return make_cells(experiments)


def exact(cells, publication, algorithm):
    """Values within the absolute tolerance, and values, of those whose printed spread is 0."""
    table = compare(cells, publication)
    judged = table["ours"].notna() & (table["verdict"] != "not judged")
    table = table[table["as_run"] & judged & (table["algorithm"] == algorithm)]
    if publication.name == "dte2024":
        table = table[(table["setting"] == "semi") & (table["published_std"] == 0)]
    return int(table["within"].sum()), len(table), set(table.loc[~table["within"], "dataset"])


@pytest.mark.parametrize("algorithm", ["ocsvm", "lof", "pyod_knn", "pyod_hbos"])
def test_four_algorithms_agree_to_every_digit(cells, algorithm):
    assert says("OCSVM, LOF, kNN and HBOS agree with `dte2024` to every printed digit in all cells")
    within, total, _ = exact(cells, load_publication("dte2024"), algorithm)
    assert within == total >= 50  # 25 data sets, two metrics
    within, total, _ = exact(cells, load_publication("pyod2019"), algorithm)
    assert within == total >= 32


@pytest.mark.parametrize("algorithm", ["pyod_ecod", "pyod_copod"])
def test_two_agree_on_all_data_sets_but_two(cells, algorithm):
    assert says("ECOD and COPOD in all but the two data sets that are printed as exactly 50")
    _, total, farther = exact(cells, load_publication("dte2024"), algorithm)
    assert total >= 50
    assert farther == {"mnist", "optdigits"}


def test_the_place_in_novelty_detection(cells):
    assert says("is in the first third** of 27 algorithms by ROC and in the first half by average")
    own = cells[cells.index.get_level_values("label") == "oneclassrf"]
    publication = load_publication("dte2024")
    for metric, first in (("roc_auc", 9), ("average_precision", 13)):
        comparison = standings(own, publication, "semi", metric, ("oneclassrf",)).comparisons[0]
        order = list(standing_rows(comparison).index)
        assert len(order) == 27
        name = "OneClassRF (ours)"
        assert order.index(name) < first
        if metric == "roc_auc":
            p = pair_tests(comparison, name)
            ranks = comparison.mean_ranks
            assert not [
                other for other in p.index if p[other] < 0.05 and ranks[other] < ranks[name]
            ]


def test_against_isolation_forest(cells):
    table = duels(cells).set_index(["protocol", "setting", "form", "metric"]).sort_index()
    assert says("No difference in novelty detection is beyond chance")
    assert (table.xs("novelty", level="setting")["p"] > 0.05).all()
    assert says("under this project's `clean` protocol it is behind on average")
    as_run = table.xs("oneclassrf", level="form")
    assert (as_run.loc[("clean", "novelty")]["difference"] < 0).all()
    outlier = as_run.xs("outlier", level="setting")
    by_ap = outlier.xs("average_precision", level="metric")
    assert says("it is behind isolation forest** by average precision, under the protocols of all")
    assert set(by_ap.index) == {"adbench", "clean", "dte2024_unsup", "pyod2019"}
    assert (by_ap["difference"] < 0).all()
    assert (by_ap["p"] < 0.05).all()
    assert says("three of the four survive correction for every comparison made here")
    assert (by_ap["p_holm"] < 0.05).sum() == 3
    assert says("By ROC nothing survives it")
    assert (outlier.xs("roc_auc", level="metric")["p_holm"] > 0.05).all()


def test_gamma_is_chosen_by_either_half(experiments, cells):
    assert says("gamma = 0.03 is chosen by either half of the data sets")
    judged = judge_all(parameter_effects(experiments))
    assert {c.protocol for c in judged} == {"adbench", "dte2024_semi"}
    by_ap = [c for c in judged if (c.protocol, c.metric) == ("adbench", "average_precision")]
    assert [c.level for c in by_ap] == ["gamma=0.03"] * 2
    assert all(c.gains.mean() > 0.9 * c.gain_there for c in by_ap)
    tests = [
        wilcoxon_holm(c.gains.to_frame("a").assign(b=0.0)).loc["a", "b"]
        for c in (*by_ap, *(c for c in judged if c not in by_ap))
    ]
    assert says("do not survive that for all choices made here")
    assert (holm(np.array(tests)) > 0.05).all()


def test_a_smaller_gamma_gains_with_anomalies_in_train_only(experiments, cells):
    (study,) = (study for study in STUDIES if study.name == "gamma")
    tables = {e.protocol: e.summary for e in effects(experiments, study)}
    found = tables["adbench"].set_index(["metric", "level"])["p_holm"].sort_index()
    assert says("Over all 43 the gain survives the correction for the levels of gamma")
    assert found["average_precision", "0.03"] < 0.05
    assert says("no level of gamma makes a difference that could be told from chance")
    assert (found["roc_auc"].dropna() > 0.05).all()
    assert (tables["dte2024_semi"]["p_holm"].dropna() > 0.05).all()
    assert says("Isolation forest remains ahead on average")
    own = cells.xs(("adbench", "outlier"), level=("protocol", "setting"))
    means = own["average_precision"].unstack("label").mean()
    assert means["oneclassrf_text(gamma=0.03)"] < means["iforest"]


def test_no_property_says_where_it_wins(cells):
    table = correlations(cells, read_traits())
    assert says("No property of a data set that was looked at says where OneClassRF wins")
    assert (table["p_holm"] > 0.05).all()
    assert says("it does worse where anomalies lie in clusters")
    own = table[table["trait"] == "clustered_share"]
    assert own["protocol"].nunique() == 5
    assert (own["rho"] < 0).all()


def test_of_depth_sub_sample_and_scoring_one_level_differs(experiments):
    found = {study.name: own for study, own in parameter_effects(experiments).items()}
    parts = [part for name in ("depth", "subsample", "scoring") for part in found[name]]
    assert says("These three were not varied in novelty detection")
    assert {part.protocol for part in parts} == {"adbench"}
    assert says("for depth, sub-sample and scoring with the first of them")
    assert all((part.n_splits == 1).all() for part in parts)
    assert says("Of depth, sub-sample and scoring one level differs beyond doubt, and it is worse")
    told = [
        (part.study.name, row["level"], row["difference"] < 0)
        for part in parts
        for row in part.summary[part.summary["p_holm"] < 0.05].to_dict("records")
    ]
    assert told == [("subsample", "1", True)] * 2
    seconds = {part.study.name: part.seconds for part in parts}
    assert says("lose by both metrics and take three times as long")
    assert 2.7 < seconds["subsample"]["1"] < 3.5
    assert says("take nearly as much longer and change nothing")
    assert 2.4 < seconds["depth"]["unbounded"] < seconds["subsample"]["1"]
    assert says("Neither of the two densities is better than the depth score")
    (scoring,) = found["scoring"]
    assert (scoring.summary["difference"].dropna() < 0).all()
    assert says("nor gamma beyond 0.03 and 3")
    assert {part.means["roc_auc"].shape[1] for part in found["gamma"]} == {5}
