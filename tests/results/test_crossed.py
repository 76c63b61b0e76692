"""All algorithms on the splits of all streams, and forests of several seeds: synthetic records."""

from __future__ import annotations

import pandas as pd
import pytest

from results.published import paper
from results.reproduction.crossed import PREFIX, crossed_block, crossed_table, statements
from results.reproduction.forest_seeds import seeds_block, seeds_table
from results.reproduction.replay import ALGORITHMS

AREAS = ("roc_auc_2016", "pr_auc_2016")


def cells(values, n_ok=10):
    """Cells from (protocol, setting, dataset, label) to both areas."""
    names = ["protocol", "setting", "dataset", "label"]
    table = pd.DataFrame(
        list(values.values()),
        columns=list(AREAS),
        index=pd.MultiIndex.from_tuples(list(values), names=names),
    )
    return table.assign(n_ok=n_ok, n_expected=10, mixed=False)


def printed(setting="novelty", dataset="pima"):
    table = paper.cells()
    table = table[(table["setting"] == setting) & (table["dataset"] == dataset)]
    return table.set_index("column")[["roc_auc_curve", "pr_auc_curve"]]


def crossed(change=lambda column, stream, values: values):
    """Every algorithm has its printed values on every stream, but for what is changed."""
    made = {}
    for column, label in ALGORITHMS.items():
        for stream, name in ALGORITHMS.items():
            values = tuple(map(float, printed().loc[column]))
            made[PREFIX + name, "novelty", "pima", label] = change(column, stream, values)
    return made


def test_equal_values_on_all_streams_give_the_published_ranks():
    table = crossed_table(cells(crossed()))
    assert len(table) == 12
    assert table["rank"].tolist() == table["paired_rank"].tolist()
    said = statements(table)
    assert "Of 12 values on the own stream's splits 0 lie outside" in said[0]
    assert "Of 30 pairs" in said[2]
    assert " 0 stand in another order than printed" in said[2]
    assert said[3].startswith("In 0 of 2 cases")


def test_a_lucky_draw_shows_in_range_distance_ranks_and_best():
    """OCSVM has its printed values on its own splits, and the lowest of all on the others'."""
    low = lambda column, stream, values: (  # noqa: E731
        (0.1, 0.01) if column == "OCSVM" != stream else values
    )
    table = crossed_table(cells(crossed(low)))
    said = statements(table)
    assert "Of 12 values on the own stream's splits 2 lie outside" in said[0]
    assert "+0.616: OCSVM on pima, novelty, ROC, published 0.716" in said[1]
    assert "0.100 on the others' (0.100 to 0.100)" in said[1]
    roc = table[table["metric"] == "roc_auc_2016"].set_index("column")
    # Printed third; third on its own splits and last on five.
    assert roc.loc["OCSVM", "rank"] == 3
    assert roc.loc["OCSVM", "paired_rank"] == pytest.approx((3 + 5 * 6) / 6)
    assert roc["paired_rank"].sum() == pytest.approx(21)
    # Three stand below OCSVM in print: with each it changes places from stream to stream.
    below = (printed().loc[list(ALGORITHMS), "roc_auc_curve"] < 0.716).sum()
    below += (printed().loc[list(ALGORITHMS), "pr_auc_curve"] < 0.237).sum()
    assert f" {below} stand in another order" in said[2]
    assert f"not; {below} change their order" in said[2]


def test_a_data_set_with_a_gap_is_left_out():
    made = crossed()
    del made[PREFIX + "lof", "novelty", "pima", "ocsvm"]
    assert crossed_table(cells(made)).empty
    assert crossed_block(cells(made)).startswith("Nothing to show")
    assert crossed_block(cells(crossed(), n_ok=9)).startswith("Nothing to show")


def test_block_holds_values_and_ranks():
    text = crossed_block(cells(crossed()))
    assert "| pima     |       LSAD |         0.713 |   0.713 | 0.713 (0.713 to 0.713) |" in text
    assert "ROC, novelty detection, mean rank over the streams (published):" in text
    assert "3.0 (3)" in text


def test_forest_seeds_give_the_place_of_the_printed_value():
    protocol = PREFIX + "ocrfsampling"
    made = {
        (protocol, "novelty", "pima", f"ocrfsampling(random_state={seed})"): (roc, 0.3)
        for seed, roc in enumerate([0.74, 0.75, 0.79])
    }
    # The outlier setting's column is that of the supervised variant, and this is another.
    made |= {(protocol, "outlier", "pima", f"ocrfsampling(random_state={s})"): (0, 0) for s in "01"}
    table = seeds_table(cells(made))
    assert len(table) == 2
    roc = table.iloc[0]
    assert (roc["n_seeds"], roc["n_below"]) == (3, 2)
    assert roc["mean"] == pytest.approx(0.76)
    assert roc["spreads"] == pytest.approx((0.759 - 0.76) / 0.026458, rel=1e-3)
    assert "Of 2 printed values 1 lie within two spreads" in seeds_block(cells(made))
    assert seeds_block(cells(crossed())).startswith("Nothing to show")
