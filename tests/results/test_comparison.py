"""Verdicts and counts against the published numbers."""

import math

import pytest

from results.aggregate import make_cells
from results.published.description import Tolerance
from results.records.frame import from_records
from results.reproduction.comparison import compare, only_by_spread, overall, summarise, verdict
from results.reproduction.comparison_output import headline, to_markdown, write_comparison
from results.reproduction.departures_output import write_departures
from results.statistics.write import write_statistics
from results.status import print_status
from tests.results.support import make_record


@pytest.mark.parametrize(
    ("published", "ours", "std", "expected"),
    [
        (0.684, 0.664, 0.0, "reproduced"),  # exactly .02
        (0.684, 0.663, 0.0, "differs"),
        (0.684, 0.663, 0.0106, "reproduced"),  # within two standard deviations
        (0.684, 0.663, math.nan, "differs"),  # one split has no spread
        (math.nan, 0.5, 0.1, "paper NA"),
        (0.5, math.nan, math.nan, "ours NA"),
        (math.nan, math.nan, math.nan, "both NA"),
    ],
)
def test_verdicts(published, ours, std, expected):
    tolerance = Tolerance(absolute=0.02, spreads=2.0)
    assert verdict(published, ours, tolerance.allowed(std, math.nan)) == expected


def test_the_published_numbers_reproduce_themselves(paper_records):
    table = compare(make_cells(from_records(paper_records).frame))
    assert len(table) == 2 * 96 * 2
    assert set(table["verdict"]) == {"reproduced", "both NA"}
    finished = 12 + 12 + 7 + 10 + 11 + 12 + 12 + 5
    assert overall(table, "roc_auc_curve") == (2 * finished, 2 * finished)
    assert table["difference"].abs().max() < 1e-12
    assert headline(table)[0].startswith("ROC: 162 of 162 published values")
    assert headline(table)[0].endswith("162 within 0.02, 0 only within two standard deviations.")


def test_column_made_with_labels_is_compared_with_the_variant_that_uses_them():
    records = [
        make_record(
            "wilt", "ocrfsampling_supervised", setting="outlier", roc=0.96, uses_labels=True
        ),
        make_record("wilt", "ocrfsampling", setting="outlier", roc=0.45),
    ]
    table = compare(make_cells(from_records(records).frame))
    rows = table.query("dataset == 'wilt' and metric == 'roc_auc_curve'").set_index("algorithm")
    assert rows.loc["ocrfsampling_supervised", "verdict"] == "reproduced"
    assert rows.loc["ocrfsampling", "verdict"] == "differs"
    # The one without labels does not repeat the column, so it does not count.
    assert overall(table, "roc_auc_curve") == (1, 1)


def test_cells_not_run_are_listed_and_variants_not_run_are_not():
    table = compare(make_cells(from_records([make_record()]).frame))
    assert (table["verdict"] == "not run").sum() == 2 * 95
    assert not {"lof_text", "orca_clean"} & set(table["algorithm"])
    assert set(table["setting"]) == {"novelty"}


def test_summary_counts_every_cell_once():
    table = compare(make_cells(from_records([make_record(), make_record("wilt", roc=0.9)]).frame))
    summary = summarise(table).query("metric == 'roc_auc_curve'").set_index("algorithm")
    assert summary.loc["iforest", ["reproduced", "differs", "not run"]].tolist() == [0, 2, 10]
    assert summary.loc["iforest", "share"] == 0
    assert math.isnan(summary.loc["rfc", "share"])
    assert "differs" in to_markdown(table)


def test_printed_tables_bear_display_names():
    table = compare(make_cells(from_records([make_record()]).frame))
    text = to_markdown(table)
    assert "| iForest" in text
    assert "iforest" not in text


def test_failures_have_no_value_and_the_mark_says_why():
    table = compare(make_cells(from_records([make_record(status="memory")]).frame))
    row = table.query("dataset == 'pima' and algorithm == 'iforest'").iloc[0]
    assert (row["verdict"], row["mark"]) == ("ours NA", "mem")


def test_every_printed_table_marks_who_used_labels(recorder):
    records = [
        make_record(d, a, setting="outlier", uses_labels=a == "ocrfsampling_supervised", roc=r)
        for d in ("pima", "wilt")
        for a, r in (("ocrfsampling_supervised", 0.9), ("ocrfsampling", 0.5), ("lof", 0.7))
    ]
    experiments = from_records(records)
    for write in (write_comparison, write_statistics, write_departures, print_status):
        recorder.text.truncate(0)
        write(experiments, recorder.output)
        printed = recorder.text.getvalue()
        assert any(
            f"{name}‡" in printed for name in ("_supervised", "(supervised)", "OCRFsampling")
        ), write
        assert "LOF‡" not in printed


def test_what_only_a_wide_spread_covers_is_counted_apart():
    """OCSVM on arrhythmia: far from the published .922, yet within two deviations of its splits."""
    records = [
        make_record("arrhythmia", "ocsvm", split=s, roc=0.76 + 0.1 * (-1) ** s, pr=0.639)
        for s in range(10)
    ]
    table = compare(make_cells(from_records(records).frame))
    rows = only_by_spread(table)
    assert rows[["dataset", "metric"]].to_numpy().tolist() == [["arrhythmia", "roc_auc_curve"]]
    assert headline(table)[0].endswith("0 within 0.02, 1 only within two standard deviations.")
    assert headline(table)[1].endswith("1 within 0.02, 0 only within two standard deviations.")
