"""Verdicts and counts against the published numbers."""

import math
from dataclasses import replace

import pytest

from results.aggregate import make_cells
from results.published import paper
from results.published.description import Run, Tolerance
from results.records.frame import from_records
from results.reproduction.comparison import (
    compare,
    only_by_spread,
    overall,
    summarise,
    verdict,
)
from results.reproduction.comparison_output import headline, to_markdown, write_comparison
from results.reproduction.departures_output import write_departures
from results.statistics.write import write_statistics
from results.status import print_status
from tests.results.support import key_of, make_record


def cell(*names, n_splits=10, asked=10, **changes):
    """The experiments of one cell, of a run that was asked for so many splits."""
    config = {"n_splits": asked} | changes.pop("config", {})
    records = [make_record(*names, split=i, config=config, **changes) for i in range(n_splits)]
    return [replace(record, key=key_of(record.key, i)) for i, record in enumerate(records)]


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
    assert verdict(published, ours, tolerance.allowed(std)) == expected


def test_the_published_numbers_reproduce_themselves(paper_records):
    table = compare(make_cells(from_records(paper_records).frame))
    assert len(table) == 2 * 96 * 2
    assert set(table["verdict"]) == {"reproduced", "both NA"}
    finished = 12 + 12 + 7 + 10 + 11 + 12 + 12 + 5
    assert overall(table, "roc_auc_curve") == (2 * finished, 2 * finished)
    assert table["difference"].abs().max() < 1e-12
    assert headline(table)[0].startswith("ROC: 162 of 162 published values")
    assert "162 (100.0 %) within 0.02, 0 (0.0 %) only within" in headline(table)[0]


def test_column_made_with_labels_is_compared_with_the_variant_that_uses_them():
    records = [
        *cell("wilt", "ocrfsampling_supervised", setting="outlier", roc=0.96, uses_labels=True),
        *cell("wilt", "ocrfsampling", setting="outlier", roc=0.45),
    ]
    table = compare(make_cells(from_records(records).frame))
    rows = table.query("dataset == 'wilt' and metric == 'roc_auc_curve'").set_index("algorithm")
    assert rows.loc["ocrfsampling_supervised", "verdict"] == "reproduced"
    assert rows.loc["ocrfsampling", "verdict"] == "differs"
    # The one without labels does not repeat the column, so it does not count.
    assert overall(table, "roc_auc_curve") == (1, 1)


@pytest.mark.parametrize("asked", [2, 10])
@pytest.mark.parametrize(("roc", "if_it_were"), [(0.67, "reproduced"), (0.5, "differs")])
def test_a_mean_over_fewer_splits_than_published_is_not_judged(recorder, asked, roc, if_it_were):
    """However many the run was asked for: the published mean is over ten."""
    records = cell("pima", "lof", setting="outlier", roc=roc, n_splits=2, asked=asked)
    published = {"outlier": {"setting": "outlier", "protocol": "paper"}}
    for publication in (paper.publication(), with_settings(published)):
        table = write_comparison(from_records(records), recorder.output, publication)
        row = table.query("dataset == 'pima' and algorithm == 'lof' and metric == 'roc_auc_curve'")
        assert row[["verdict", "n_ok", "n_splits"]].to_numpy().tolist() == [["not judged", 2, 10]]
        assert overall(table, "roc_auc_curve") == (0, 0)
    text = to_markdown(table, publication)
    assert "not judged (2 of 10 splits)" in text
    assert "LOF (outlier, 2 of 10 splits): pima." in text
    assert "LOF (outlier, 2 of 10 splits): pima." in recorder.text.getvalue()
    two = with_settings({"outlier": published["outlier"] | {"splits": 2}})
    table = compare(make_cells(from_records(records).frame), two).query("algorithm == 'lof'")
    row = table[(table["dataset"] == "pima") & (table["metric"] == "roc_auc_curve")]
    assert row["verdict"].tolist() == [if_it_were]


def test_the_seeds_of_a_protocol_say_how_many_splits_a_whole_cell_has():
    for n_seeds, expected in ((3, "reproduced"), (4, "not judged")):
        config = {"protocol": {"name": "paper", "seeds": list(range(n_seeds))}}
        records = cell(
            "pima", "lof", setting="outlier", roc=0.67, n_splits=3, asked=3, config=config
        )
        settings = {"outlier": {"setting": "outlier", "protocol": "paper"}}
        table = compare(make_cells(from_records(records).frame), with_settings(settings))
        row = table[(table["algorithm"] == "lof") & (table["metric"] == "roc_auc_curve")]
        assert row.set_index("dataset").loc["pima", "verdict"] == expected


def test_a_cell_of_several_versions_is_not_judged():
    records = cell("pima", "lof", setting="outlier", roc=0.67)
    records[3:] = [replace(r, provenance={"versions": {"numpy": "2.5"}}) for r in records[3:]]
    table = compare(make_cells(from_records(records).frame)).query("algorithm == 'lof'")
    row = table[(table["dataset"] == "pima") & (table["metric"] == "roc_auc_curve")].iloc[0]
    assert (row["verdict"], row["why"]) == ("not judged", "splits of several versions")
    assert "not judged (splits of several versions)" in to_markdown(table)


def test_a_failed_split_is_said_beside_its_reason():
    records = cell("pima", "lof", setting="outlier", roc=0.67)
    records[4] = make_record("pima", "lof", setting="outlier", split=4, status="error")
    table = compare(make_cells(from_records(records).frame))
    text = to_markdown(table)
    assert "not judged (9 of 10 splits (1 error))" in text
    assert "LOF (outlier, 9 of 10 splits (1 error)): pima. Which 50 of the 268" in text


def test_ten_splits_of_one_seed_do_not_hide_what_another_lacks():
    records = cell("pima", "lof", setting="outlier", roc=0.67)
    records += cell("pima", "lof", setting="outlier", roc=0.67, n_splits=2, seed=1)
    table = compare(make_cells(from_records(records).frame)).query("algorithm == 'lof'")
    assert "12 of 20 splits" in set(table["why"])


def with_settings(settings):
    publication = paper.publication()
    description = publication.description.model_copy(
        update={"settings": {name: Run(**run) for name, run in settings.items()}}
    )
    values = publication.values[publication.values["setting"].isin(settings)]
    return replace(publication, description=description, values=values)


def test_cells_not_run_are_listed_and_variants_not_run_are_not():
    table = compare(make_cells(from_records([make_record()]).frame))
    assert (table["verdict"] == "not run").sum() == 2 * 95
    assert not {"lof_text", "orca_clean"} & set(table["algorithm"])
    assert set(table["setting"]) == {"novelty"}


def test_summary_counts_every_cell_once():
    table = compare(make_cells(from_records([*cell(), *cell("wilt", roc=0.9)]).frame))
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
    """OCSVM on arrhythmia: far from the published .922, yet within two standard errors."""
    records = [
        make_record("arrhythmia", "ocsvm", split=s, roc=0.85 + 0.1 * (-1) ** s, pr=0.639)
        for s in range(10)
    ]
    table = compare(make_cells(from_records(records).frame))
    rows = only_by_spread(table)
    assert rows[["dataset", "metric"]].to_numpy().tolist() == [["arrhythmia", "roc_auc_curve"]]
    errors = "only within two standard errors of the difference of the means."
    assert headline(table)[0].endswith(f"0 (0.0 %) within 0.02, 1 (100.0 %) {errors}")
    assert headline(table)[1].endswith(f"1 (100.0 %) within 0.02, 0 (0.0 %) {errors}")
    listed = to_markdown(table).partition("## Within the spread only")[2].partition("\n## ")[0]
    (line,) = [line for line in listed.splitlines() if "arrhythmia" in line]
    assert [cell.strip() for cell in line.split("|")[5:-1]] == ["0.922", "0.850", "0.047", "-0.072"]


def test_the_farthest_ten_of_what_only_the_spread_covers_are_listed(recorder):
    """The noisier a run, the more of it is reproduced."""
    datasets = paper.datasets().index
    records = [
        make_record(name, "lof", split=s, roc=0.5 + 0.4 * (-1) ** s, pr=0.5 + 0.4 * (-1) ** s)
        for name in datasets
        for s in range(10)
    ]
    table = write_comparison(from_records(records), recorder.output)
    wide = only_by_spread(table)
    assert len(wide) > 10
    assert wide["difference"].abs().is_monotonic_decreasing
    (file,) = recorder.output.folder.glob("tables/*.md")
    for text in (file.read_text(encoding="utf-8"), recorder.text.getvalue()):
        listed = text.partition("Within the spread only")[2].partition("What ")[0]
        rows = [line for line in listed.splitlines() if any(name in line for name in datasets)]
        assert len(rows) == 10
        assert str(wide["dataset"].iloc[0]) in rows[0]
        assert f"The nearer ones are not listed: {len(wide) - 10}." in listed


def test_nothing_is_listed_where_the_spread_covers_nothing(paper_records):
    assert "Within the spread only" not in to_markdown(
        compare(make_cells(from_records(paper_records).frame))
    )


@pytest.mark.parametrize(("whose", "expected"), [("ours", "reproduced"), ("means", "differs")])
def test_a_noisy_mean_is_reproduced_by_its_spread_and_not_by_its_standard_error(whose, expected):
    records = cell("pima", "lof", setting="outlier")
    records = [replace(r, metrics=dict.fromkeys(r.metrics, 0.2 + r.split / 20)) for r in records]
    table = compare(make_cells(from_records(records).frame), with_tolerance(whose))
    row = table.query("dataset == 'pima' and algorithm == 'lof' and metric == 'roc_auc_curve'")
    std = math.sqrt(10 / 9) * 0.05 * math.sqrt((10**2 - 1) / 12)
    spread = std if whose == "ours" else std * math.sqrt(2 / 10)
    assert row["spread"].item() == pytest.approx(spread)
    assert 2 * std > row["difference"].abs().item() > 2 * std * math.sqrt(2 / 10)
    assert row["verdict"].item() == expected


def with_tolerance(whose):
    publication = paper.publication()
    tolerance = Tolerance(absolute=0.02, spreads=2, spread_of=whose)
    changed = {"tolerance": tolerance, "tolerances": {}}
    return replace(publication, description=publication.description.model_copy(update=changed))
