"""Our algorithms among published columns, against counts by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from results.aggregate import make_cells
from results.records.frame import from_records
from results.records.opening import Selection
from results.reproduction.comparison import compare
from results.reproduction.runs import check_runs, not_run
from results.reproduction.standings import standing_rows, standings
from results.reproduction.standings_output import to_frame, to_markdown, write_standings
from tests.results.publications import PRINTED, publisher
from tests.results.support import make_record


def random_block(seed, n=9):
    rng = np.random.default_rng(seed)
    # Few distinct values: ties are common.
    values = 50 + rng.integers(0, 8, size=(n, len(PRINTED)))
    return {f"d{i}": [f"{value}.0" for value in row] for i, row in enumerate(values)}


def runs(algorithms, block, seed, **changes):
    rng = np.random.default_rng(seed)
    return [
        make_record(
            dataset, name, protocol="clean", roc=(50 + rng.integers(0, 80) / 10 + 0.04) / 100, **changes
        )
        for name in algorithms
        for dataset in block
    ]  # fmt: skip


def by_hand(table):
    """Means, mean ranks and wins with loops alone; `table` is a list of rows."""
    n, k = len(table), len(table[0])
    ranks = [[0.0] * k for _ in range(n)]
    wins = [0] * k
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            higher = sum(other > value for other in row)
            equal = sum(other == value for other in row)
            ranks[i][j] = higher + (equal + 1) / 2
            wins[j] += higher == 0
    means = [sum(row[j] for row in table) / n for j in range(k)]
    return means, [sum(row[j] for row in ranks) / n for j in range(k)], wins


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_means_ranks_and_wins_are_those_by_hand(tmp_path_factory, seed):
    publish = publisher(tmp_path_factory.mktemp("published"))
    block = random_block(seed, n=14)  # all signs of fewer are tried, which takes longer
    records = runs(["oneclassrf", "orca"], block, seed)
    cells = make_cells(from_records(records).frame)
    found = standings(cells, publish(block), "semi", "roc_auc")
    assert found.ours == ["OneClassRF (ours)", "Orca (ours)"]
    ours = {(r.dataset, r.algorithm): round(100 * r.metrics["roc_auc"] + 1e-9, 1) for r in records}
    table = [
        [*map(float, row), ours[name, "oneclassrf"], ours[name, "orca"]]
        for name, row in block.items()
    ]
    (comparison,) = found.comparisons
    rows = standing_rows(comparison)
    means, ranks, wins = by_hand(table)
    for j, name in enumerate([*PRINTED, *found.ours]):
        assert rows.loc[name, "mean"] == pytest.approx(means[j])
        assert rows.loc[name, "mean_rank"] == pytest.approx(ranks[j])
        assert rows.loc[name, "wins"] == wins[j]
    columns = list(zip(*table, strict=True))
    assert comparison.friedman == pytest.approx(stats.friedmanchisquare(*columns))
    assert rows["mean_rank"].is_monotonic_increasing


def test_what_is_left_out_is_said(publish):
    block = random_block(0)
    records = runs(["oneclassrf", "lof"], list(block)[:6], 0)
    records += runs(["orca"], list(block)[:4], 0)
    records += [make_record("d0", "rfc", protocol="clean", status="timeout")]
    cells = make_cells(from_records(records).frame)
    mapped = {name: name for name in list(block)[:7]}
    found = standings(cells, publish(block, datasets=mapped), "semi", "roc_auc")
    assert found.ours == ["OneClassRF (ours)"]
    assert list(found.values.index) == list(block)[:6]
    assert found.left_out[:5] == [
        "Left out: LOF (A), which repeat a printed column; --algorithm NAME,... inserts them.",
        "Left out: Orca, not run on d4, d5.",
        "Left out: RFC, not run on d1, d2, d3, d4, d5.",
        "Left out: 2 data sets which are not here (d7, d8).",
        "Left out: 1 data sets which were not run (d6).",
    ]


def test_a_mean_over_fewer_splits_than_printed_is_left_out(publish):
    block = random_block(1)
    records = [
        replace(record, split=split, key=f"{split}{record.key[1:]}")
        for record in runs(["oneclassrf"], block, 1)
        for split in range(2 if record.dataset == "d0" else 3)
    ]
    publication = publish(
        block, settings={"semi": {"setting": "novelty", "protocol": "clean", "splits": 3}}
    )
    found = standings(make_cells(from_records(records).frame), publication, "semi", "roc_auc")
    assert list(found.values.index) == list(block)[1:]
    assert "Not judged: OneClassRF on d0, 2 of 3 splits." in found.left_out
    assert "Left out: 1 data sets on which none of ours has a value (d0)." in found.left_out


def test_algorithms_that_are_asked_for_are_inserted_whatever_they_were_run_on(publish):
    block = random_block(1)
    records = runs(["oneclassrf", "lof"], block, 1) + runs(["orca"], list(block)[:4], 1)
    cells = make_cells(from_records(records).frame)
    found = standings(cells, publish(block), "semi", "roc_auc", ("orca", "lof", "oneclassrf"))
    assert found.ours == ["Orca (ours)", "LOF (ours)", "OneClassRF (ours)"]
    common, complete = found.comparisons
    assert list(common.values.index) == ["d0", "d1", "d2", "d3"]
    assert common.left_out_datasets["d4"] == ["Orca (ours)"]
    assert "Orca (ours)" not in complete.values
    assert complete.n_datasets == 9


def test_a_cell_that_timed_out_takes_its_data_set_out_and_says_so(publish):
    block = random_block(2)
    records = [r for r in runs(["oneclassrf"], block, 2) if r.dataset != "d3"]
    records += [make_record("d3", "oneclassrf", protocol="clean", status="timeout")]
    found = standings(make_cells(from_records(records).frame), publish(block), "semi", "roc_auc")
    assert "d3" not in found.values.index
    assert "Left out: 1 data sets on which none of ours has a value (d3)." in found.left_out


def test_nothing_to_insert_says_what_there_is(publish):
    block = random_block(3)
    cells = make_cells(from_records(runs(["lof"], block, 3)).frame)
    with pytest.raises(ValueError, match=r"no algorithm to insert .*--algorithm; there are: lof"):
        standings(cells, publish(block), "semi", "roc_auc")


def test_a_published_value_that_is_not_available_leaves_its_column_out_of_one_comparison(publish):
    block = random_block(4) | {"d3": ["NA", "50.0", "51.0", "52.0"]}
    cells = make_cells(from_records(runs(["oneclassrf"], block, 4)).frame)
    common, complete = standings(cells, publish(block), "semi", "roc_auc").comparisons
    assert (common.n_datasets, complete.n_datasets) == (8, 9)
    assert "A" not in complete.values


def test_both_files_hold_the_same_numbers(publish, recorder):
    block = random_block(5)
    publication = publish(block)
    experiments = from_records(runs(["oneclassrf"], block, 5))
    (found,) = write_standings(experiments, recorder.output, publication)
    frame = to_frame(found).set_index("algorithm")
    assert frame.loc["OneClassRF (ours)", "origin"] == "ours"
    assert frame["wilcoxon_holm: OneClassRF (ours)"].notna().sum() == len(PRINTED)
    text = to_markdown(found, publication)
    for name, row in frame.iterrows():
        assert any(
            f" {name} |" in line and f" {row['mean_rank']:.2f} |" in line and f" {row['wins']} |" in line
            for line in text.splitlines()
        ), name  # fmt: skip
    assert "### OneClassRF (ours)" in text
    assert {path.name for path in recorder.output.written} == {
        "standings_nobody_semi_roc_auc.csv",
        "standings_nobody_semi_roc_auc.md",
    }


def test_the_selection_of_algorithms_is_what_is_inserted(publish, recorder):
    block = random_block(6)
    records = runs(["oneclassrf", "lof", "orca"], block, 6)
    experiments = from_records(records, Selection(algorithms=("lof",)))
    (found,) = write_standings(experiments, recorder.output, publish(block))
    assert found.ours == ["LOF (ours)"]


def test_runs_of_another_protocol_or_setting_are_refused_with_both_named(publish):
    publication = publish(random_block(7))
    for changes, named in (
        ({"protocol": "paper"}, r"protocol paper \(novelty\)"),
        ({"protocol": "clean", "setting": "outlier"}, r"protocol clean \(outlier\)"),
    ):
        frame = from_records([make_record("d0", **changes)]).frame
        with pytest.raises(ValueError, match=rf"made with protocol clean \(novelty\).*{named}"):
            check_runs(frame, publication)
    both = [make_record("d0", protocol="clean"), make_record("d0", protocol="paper")]
    (remark,) = check_runs(from_records(both).frame, publication)
    assert remark.startswith("left out: 1 experiments of protocol paper (novelty)")


def test_what_was_not_run_is_said_in_five_ways(publish):
    block = random_block(8)
    mapped = {name: name for name in list(block)[:4]}
    publication = publish(block, datasets=mapped, algorithms={"A": "lof", "B": "orca", "C": "lsad"})
    records = runs(["lof"], list(block)[:2], 8) + runs(["orca"], list(block)[:3], 8)
    table = compare(make_cells(from_records(records).frame), publication)
    assert not_run(table, publication) == [
        "Data sets that are not here (5): d4, d5, d6, d7, d8.",
        "Algorithms that are not here (1): D.",
        "Data sets of which nothing was run (semi, 1): d3.",
        "Algorithms of which nothing was run (semi, 1): lsad.",
        "Not run (semi, lof): d2.",
    ]


def test_values_are_compared_in_the_printed_scale_and_each_column_has_its_tolerance(publish):
    block = {"d0": ["70.0", "80.0", "1.0", "1.0"]}
    tolerances = {"B": {"absolute": 0.1, "spreads": 2, "spread_of": "ours"}}
    publication = publish(
        block, algorithms={"A": "lof", "B": ["orca", "orca_clean"]}, tolerances=tolerances
    )
    records = [
        make_record("d0", name, protocol="clean", split=split, roc=centre + 0.01 * (-1) ** split)
        for name, centre in (("lof", 0.71), ("orca", 0.81), ("orca_clean", 0.5))
        for split in range(10)
    ]
    table = compare(make_cells(from_records(records).frame), publication).set_index("algorithm")
    assert table.loc["lof", "ours"] == pytest.approx(71.0)
    assert table.loc["lof", "std"] == pytest.approx(100 * 0.01 * np.sqrt(10 / 9))
    assert table.loc["lof", "difference"] == pytest.approx(1.0)
    assert table["verdict"].to_dict() == {
        "lof": "differs",
        "orca": "reproduced",
        "orca_clean": "differs",
    }
    assert table["within"].tolist() == [False, False, False]
    assert table["as_run"].to_dict() == {"lof": True, "orca": True, "orca_clean": False}


def test_names_in_square_brackets_are_printed_whole(publish, recorder, monkeypatch):
    monkeypatch.setattr("tests.results.publications.PRINTED", ["A", "k-NN [bold]", "[/x]", "D"])
    block = random_block(9)
    write_standings(from_records(runs(["oneclassrf"], block, 9)), recorder.output, publish(block))
    printed = recorder.text.getvalue()
    assert "k-NN [bold]" in printed
    assert "[/x]" in printed
