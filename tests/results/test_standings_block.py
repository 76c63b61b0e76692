"""OneClassRF beyond the paper's data sets: the table is that of the standings."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from results.aggregate import make_cells
from results.published.publication import load_publication
from results.records.frame import from_records
from results.reproduction.standings_block import NOTHING, places, standings_block
from tests.results.support import make_record

HERE = {
    printed: ours
    for printed, ours in load_publication("dte2024").datasets.items()
    if ours is not None
}


@cache
def printed(column, metric="roc_auc", setting="semi"):
    table = load_publication("dte2024").values
    table = table[(table["metric"] == metric) & (table["setting"] == setting)]
    return table[table["column"] == column].set_index("dataset")["published"].loc[list(HERE)]


@pytest.mark.parametrize("seed", range(2))
def test_a_place_is_measured_against_the_printed_columns(seed):
    rng = np.random.default_rng(seed)
    rival = printed("IForest")
    ours = (rival + rng.normal(2, 5, size=len(rival))).clip(1, 99).round(2)
    records = [
        make_record(
            HERE[name], "oneclassrf_text", protocol="dte2024_semi", roc=value / 100, pr=0.5,
            config={"n_splits": 1, "protocol": {"seeds": [0]}},
        )
        for name, value in ours.items()
    ]  # fmt: skip
    cells = make_cells(from_records(records).frame)
    roc, ap = places(cells)
    assert (roc.publication, roc.setting, roc.metric, ap.metric) == (
        "dte2024",
        "novelty",
        "roc_auc",
        "average_precision",
    )
    difference = (ours - rival).round(2)
    assert roc.n_datasets == len(HERE)
    assert roc.mean == pytest.approx(ours.mean())
    assert roc.rival_mean == pytest.approx(rival.mean())
    assert roc.difference == pytest.approx(difference.mean())
    assert roc.low < roc.difference < roc.high
    wins, losses = (difference > 0).sum(), (difference < 0).sum()
    assert roc.wins == f"{wins}/{len(HERE) - wins - losses}/{losses}"
    expected = stats.wilcoxon(difference, zero_method="zsplit", method="asymptotic").pvalue
    assert roc.p == pytest.approx(expected, rel=0.1)
    better = [
        column
        for column in load_publication("dte2024").columns
        if (printed(column) > ours).mean() > 0.9
    ]
    assert len(better) < roc.position <= roc.n_algorithms
    text = standings_block(cells)
    assert f"{roc.mean:.1f} |" in text
    assert f" {roc.position} of {roc.n_algorithms} (" in text


def test_without_oneclassrf_elsewhere_there_is_nothing_to_show():
    records = [make_record("pima", "oneclassrf_text"), make_record("adb_pima", "lof", protocol="dte2024_semi")]  # fmt: skip
    assert standings_block(make_cells(from_records(records).frame)) == NOTHING
