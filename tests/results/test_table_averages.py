"""The lines below a table: averages, mean ranks and times over data sets."""

import pytest

from results.records.frame import from_records
from results.tables.latex import table_to_latex
from results.tables.model import TableOptions
from results.tables.text import table_to_markdown
from results.tables.write import build_tables
from tests.results.support import make_record, splits

ROC = "roc_auc_curve"


def only_table(records, **options):
    tables = build_tables(from_records(records), TableOptions(**options))
    assert len(tables) == 1
    return tables[0]


def test_a_failed_split_takes_its_data_set_out_of_the_ranks_and_a_run_of_fewer_its_algorithm():
    failed = [*splits(9, algorithm="lof"), make_record(algorithm="lof", split=9, status="error")]
    whole = [*splits(algorithm="lof", dataset="wilt"), *splits(), *splits(dataset="wilt")]
    assert "average (1 common):" in {line.heading for line in only_table(failed + whole).lines}
    third = [*splits(algorithm="orca"), *splits(3, algorithm="orca", dataset="wilt")]
    notes = " ".join(only_table([*splits(algorithm="lof"), *whole, *third]).notes)
    assert "common: pima, wilt; without Orca, not run on every data set and split." in notes


def test_a_variant_tried_on_one_data_set_does_not_shrink_the_common_ones():
    records = [
        r
        for d in ("pima", "wilt", "adult")
        for a in ("iforest", "lof")
        for r in splits(dataset=d, algorithm=a)
    ]
    records += splits(variant="max_samples=64")
    table = only_table(records)
    line = next(line for line in table.lines if line.key == "average_common")
    assert line.heading == "average (3 common):"
    label = "iforest(max_samples=64)"
    assert table.entries["average_common", label, "roc_auc_curve"].text == "--"
    assert table.entries["mean_rank", label, "roc_auc_curve"].text == "--"
    assert any("without iForest (max_samples=64), not run on every" in n for n in table.notes)


def test_an_algorithm_that_failed_somewhere_does_shrink_them():
    records = [*splits(), *splits(dataset="wilt"), *splits(algorithm="lof")]
    records.append(make_record("wilt", "lof", status="timeout"))
    table = only_table(records)
    assert (
        next(line for line in table.lines if line.key == "average_common").heading
        == "average (1 common):"
    )


def test_an_average_over_fewer_data_sets_says_over_how_many():
    records = [*splits(), *splits(dataset="wilt"), *splits(algorithm="lof")]
    finished = only_table([*records, *splits(dataset="wilt", algorithm="lof")])
    assert not any(entry.flag for entry in finished.entries.values())
    assert not any("(n)" in note for note in finished.notes)
    for missing in ([], [make_record("wilt", "lof", status="timeout")]):
        # Also where no data set is common to all, and no other line or note says so.
        for more in ([], splits(dataset="adult", algorithm="ocsvm")):
            table = only_table([*records, *missing, *more])
            whole, n = ("3", 2) if more else ("2", 1)
            for metric in table.metrics:
                entries = {a: table.entries["average", a, metric] for a in table.algorithms}
                assert entries["lof"].flag == f" ({n - 1 if more else n})"
                assert entries["iforest"].flag == (" (2)" if more else "")
            assert any(f"(n): an average over n of the {whole} data sets" in x for x in table.notes)
            for text in (table_to_markdown(table), table_to_latex(table)):
                assert entries["lof"].plain in text


@pytest.mark.parametrize(
    ("status", "mark"),
    [("memory", "mem"), ("timeout", "NA"), ("error", "err"), ("no_data", "no data")],
)
def test_a_cumulative_time_over_fewer_data_sets_is_not_shown_but_the_reason_is(status, mark):
    records = [*splits(), *splits(algorithm="lof"), *splits(dataset="wilt")]
    table = only_table([*records, make_record("wilt", "lof", status=status)])
    assert table.entries["train_time", "lof", ""].text == mark
    assert table.entries["train_time", "iforest", ""].text == "2.0s"


def test_who_does_all_the_work_when_scoring_trains_as_long_as_that_takes():
    seconds = {"fit_seconds": 0.25, "score_seconds": 7.0}
    records = [r for name in ("orca", "lof") for r in splits(algorithm=name, **seconds)]
    table = only_table(records)
    texts = {label: table.entries["train_time", label, ""] for label in ("orca", "lof")}
    assert [entry.text for entry in texts.values()] == ["7.3s", "0.25s"]
    assert [entry.bold for entry in texts.values()] == [False, True]
    assert table.entries["total_time", "orca", ""].text == "7.3s"
    assert any("with the test time for Orca, " in note for note in table.notes)
