"""Each published value is judged by the sharpest criterion that applies, and criteria by wrong columns."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from results.aggregate import make_cells
from results.published import paper
from results.records.frame import from_records
from results.reproduction.comparison import compare
from results.reproduction.criterion import (
    CLOSE,
    DRAW,
    OPEN,
    REPLAYED_EXACTLY,
    compared,
    criterion_block,
    judged,
    judged_summary,
    signs,
    standard_error,
    wrong_columns,
    wrong_replays,
)
from results.reproduction.replay import replay_table
from tests.results.support import make_record

NO_REPLAY = replay_table(make_cells(from_records([make_record()]).frame))


def printed(dataset, column, metric="roc_auc_curve", setting="novelty"):
    cells = paper.cells().set_index(["setting", "dataset", "column"])
    return float(cells.loc[(setting, dataset, column), metric])


def splits(dataset, algorithm, roc, std, **changes):
    """Ten splits of exactly this mean and standard deviation."""
    steps = np.array([-1, 1] * 5) * std * math.sqrt(9 / 10)
    return [
        make_record(dataset, algorithm, split=i, roc=roc + step, pr=roc + step, **changes)
        for i, step in enumerate(steps)
    ]


def rows_of(*records):
    return compared(compare(make_cells(from_records([*records]).frame)))


def test_the_standard_error_is_that_of_two_means():
    found = standard_error(pd.Series([0.1, 0.1]), pd.Series([10, 5]))
    assert found.tolist() == pytest.approx([0.1 * math.sqrt(0.2), 0.1 * math.sqrt(0.3)])


@pytest.mark.parametrize(
    ("errors", "close", "rounded"), [(1.99, True, True), (2.01, False, True), (2.1, False, False)]
)
def test_close_means_two_standard_errors_and_rounded_half_a_digit_more(errors, close, rounded):
    std = 0.02
    error = std * math.sqrt(0.2)
    assert 0.01 * error < 0.0005 < 0.1 * error
    rows = rows_of(*splits("wilt", "lof", printed("wilt", "LOF") + errors * error, std))
    (row,) = rows[rows["metric"] == "roc_auc_curve"].to_dict("records")
    assert (row["close"], row["rounded"]) == (close, rounded)


def test_wrong_columns_are_all_pairs_of_different_columns_in_a_cell():
    records = [
        *splits("wilt", "lof", printed("wilt", "LSAD"), 0.0001),
        *splits("wilt", "lsad", 0.5, 0.0001),
        *splits("pima", "lof", 0.5, 0.0001),
    ]
    wrong = wrong_columns(rows_of(*records))
    # LOF's column against LSAD's values and the reverse, two areas; pima has nothing to confuse.
    assert len(wrong) == 4
    # Ours of LOF are LSAD's printed ROC area; its PR area is not.
    assert wrong["tolerant"].sum() == wrong["rounded"].sum() == 1


def test_wrong_replays_are_judged_by_all_digits():
    replayed = pd.DataFrame(
        {
            "setting": "novelty",
            "dataset": "wilt",
            "metric": "roc_auc_2016",
            "column": ["LOF", "LSAD", "Orca"],
            "published": [0.697, 0.677, 0.441],
            "replayed": [0.67699, 0.69652, math.nan],
        }
    )
    # LSAD's printed .677 by LOF's .67699; LOF's printed .697 by LSAD's .69652; Orca was not run.
    assert wrong_replays(replayed).tolist() == [True, True]


def subset_records(dataset, algorithm, mean, spread):
    steps = np.linspace(-1, 1, 10)
    steps *= spread / steps.std(ddof=1)
    return [
        make_record(
            dataset,
            algorithm,
            seed=seed,
            split=split,
            roc=mean + step,
            pr=mean + step,
            config={
                "protocol": {"name": "paper", "cap": {"drawn": "once"}, "repeats": "published"}
            },
            key=f"{seed:032d}{split:032d}",
        )
        for seed, step in enumerate(steps, start=1)
        for split in range(2)
    ]


def test_the_sharpest_criterion_that_applies_decides():
    cells = make_cells(
        from_records(
            [
                make_record(
                    "wilt",
                    "lof",
                    protocol="replayed",
                    split=i,
                    metrics={"roc_auc_2016": printed("wilt", "LOF"), "pr_auc_2016": 0.9},
                )
                for i in range(10)
            ]
        ).frame
    )
    far = 0.05
    usual = {
        "config": {
            "protocol": {"name": "paper", "cap": {"drawn": "per_split"}, "repeats": "published"}
        }
    }
    records = [
        *splits("wilt", "lof", printed("wilt", "LOF") + far, 0.001, **usual),
        *splits("pima", "lof", printed("pima", "LOF") + far, 0.001, **usual),
        *splits("pima", "lsad", printed("pima", "LSAD"), 0.001, **usual),
        *splits("adult", "lof", printed("adult", "LOF"), 0.001, **usual),
        # So many that the plain name is that of the protocol as published.
        *(make_record("glass", "rfc", split=i, **usual) for i in range(60)),
        *subset_records("pima", "lof", printed("pima", "LOF") + far, far),
        *subset_records("pima", "lsad", printed("pima", "LSAD") + far, far / 3),
    ]  # fmt: skip
    frame = from_records(records).frame
    rows = judged(compare(make_cells(frame)), replay_table(cells), frame)
    roc = rows[rows["metric"] == "roc_auc_curve"].set_index(["dataset", "column"])["judged"]
    assert roc.to_dict() == {
        ("wilt", "LOF"): REPLAYED_EXACTLY,  # far off with random splits
        ("pima", "LOF"): DRAW,  # one spread away
        ("pima", "LSAD"): OPEN,  # its own splits agree, and the draws do not cover it
        ("adult", "LOF"): CLOSE,
    }
    heading, body = judged_summary(rows)
    assert heading[0] == "algorithm"
    assert [row[0] for row in body] == ["LOF", "LSAD", "all"]
    assert body[-1][1] == "8"
    assert sum(map(int, body[-1][2:])) == 8


def test_signs_are_counted_and_corrected(paper_records):
    moved = [
        make_record(dataset, "lof", split=split, roc=printed(dataset, "LOF") - 0.01, pr=0.5)
        for dataset in ("adult", "pima", "wilt", "smtp", "ionosphere")
        for split in range(10)
    ]
    table = signs(rows_of(*moved)).set_index("metric")
    assert table.loc["roc_auc_curve", ["below", "above"]].tolist() == [5, 0]
    assert table.loc["roc_auc_curve", "p"] == pytest.approx(stats.binomtest(0, 5).pvalue)
    assert table.loc["roc_auc_curve", "holm"] == pytest.approx(2 / 16)


def test_the_published_values_themselves_pass_and_are_not_replayed(paper_records):
    frame = from_records(paper_records).frame
    text = criterion_block(compare(make_cells(frame)), make_cells(frame), frame)
    assert (
        "| within two standard errors of a difference            | 162 of 162 | 162 of 162 |"
        in text
    )
    assert "replayed, to all digits" not in text
    assert "Open" not in text


def test_without_a_comparison_there_is_nothing_to_judge():
    frame = from_records([make_record(protocol="clean")]).frame
    cells = make_cells(frame)
    assert criterion_block(compare(cells), cells, frame).startswith("Nothing to show")
