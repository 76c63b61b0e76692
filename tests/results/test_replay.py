"""The replayed values beside the printed ones: verdicts, gaps, reasons, what is printed."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from results.reproduction.replay import (
    ALGORITHMS,
    EXACT,
    NOT_RUN,
    OFF,
    WITHIN,
    headline,
    readme_block,
    replay_block,
    replay_table,
    replay_tables,
    summary_rows,
    verdict,
)


def cells(rows):
    """Cells of protocol replayed: setting, dataset, algorithm, ROC, PR, finished experiments."""
    keys = [("replayed", *row[:3]) for row in rows]
    names = ["protocol", "setting", "dataset", "label"]
    values = {
        "roc_auc_2016": [row[3] for row in rows],
        "pr_auc_2016": [row[4] for row in rows],
        "n_ok": [row[5] for row in rows],
        "n_expected": [10] * len(rows),
        "mixed": [False] * len(rows),
    }
    return pd.DataFrame(values, index=pd.MultiIndex.from_tuples(keys, names=names))


NONE = cells([("novelty", "pima", "knn", 0.5, 0.5, 10)])


@pytest.mark.parametrize(
    ("replayed", "expected"),
    [
        (0.92249, EXACT),
        (0.92151, EXACT),
        (0.92149, WITHIN),
        (0.92251, WITHIN),
        (0.92051, WITHIN),
        (0.92049, OFF),
        (0.93, OFF),
        (math.nan, NOT_RUN),
    ],
)
def test_verdict_counts_units_of_the_last_printed_digit(replayed, expected):
    assert verdict(0.922, replayed) == expected


def test_every_printed_value_of_the_six_algorithms_has_a_row():
    table = replay_table(NONE)
    assert len(table) == 276
    assert set(table["column"]) == set(ALGORITHMS)
    assert set(table["verdict"]) == {NOT_RUN}


def test_incomplete_cells_are_not_judged():
    table = replay_table(cells([("novelty", "pima", "lof", 0.70010, 0.15238, 9)]))
    assert set(table["verdict"]) == {NOT_RUN}


def test_values_off_have_a_reason_or_say_that_there_is_none():
    table = replay_table(
        cells(
            [
                ("novelty", "adult", "iforest_2016", 0.66077, 0.2773, 10),
                ("novelty", "pima", "lof", 0.69, 0.15238, 10),
            ]
        )
    )
    table = table.set_index(["dataset", "column", "metric"])
    slip = table.loc[("adult", "iForest", "pr_auc_2016")]
    assert slip["verdict"].tolist()[0] == OFF
    assert "slip" in slip["reason"].tolist()[0]
    lof = table[(table["verdict"] == OFF) & (table["reason"] == "unexplained")]
    assert len(lof) == 1


def test_blocks_show_counts_and_both_numbers():
    made = cells([("novelty", "arrhythmia", "ocsvm", 0.92196, 0.63914, 10)])
    table = replay_table(made)
    assert "2 of these come out" in headline(table)
    assert ["OCSVM", "2", "0", "0", "38"] in summary_rows(table)[1]
    assert "0.92196 (0.922)" in replay_block(made)
    assert "2 of these" in readme_block(made)
    assert replay_block(NONE).startswith("Nothing to show")


def test_grids_of_the_report_are_a_summary_and_one_per_setting():
    assert replay_tables(NONE) == []
    made = cells(
        [
            ("novelty", "arrhythmia", "ocsvm", 0.92196, 0.63914, 10),
            ("outlier", "arrhythmia", "ocsvm", 0.91599, 0.63001, 10),
        ]
    )
    (caption, columns, rows), *values = replay_tables(made)
    assert caption == headline(replay_table(made))
    assert (columns, rows) == summary_rows(replay_table(made))
    assert [title for title, *_ in values] == ["Novelty detection", "Outlier detection"]
    assert all(len(rows) == 2 for _, _, rows in values)
