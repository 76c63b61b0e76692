"""Every metric and every status is known to every table, figure, file and command."""

import csv

import pytest

from results.aggregate import make_cells
from results.cli import main
from results.metrics import METRICS, USUAL_METRICS
from results.records.frame import from_records
from results.records.pack import pack, read_packed
from results.records.statuses import FAILED_STATUSES, MARK_MEANINGS, NA_STATUSES, STATUSES
from results.records.store import RecordStore
from tests.results.support import make_record, write_fast


def records_with(metric):
    """Two algorithms on three data sets; the first one's values of the metric are the higher."""
    config = {"n_splits": 2, "protocol": {"seeds": [0, 1], "metrics": ["roc_auc_curve"]}}
    for i, dataset in enumerate(("pima", "wilt", "glass")):
        for algorithm, value in (("iforest", 0.75), ("lof", 0.25)):
            for split in range(2):
                record = make_record(dataset, algorithm, split=split, config=config)
                yield make_record(
                    dataset,
                    algorithm,
                    split=split,
                    config=config,
                    metrics=record.metrics | {metric: value + i / 100},
                )


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_is_packed_exported_tabulated_tested_and_drawn(metric, tmp_path, capsys):
    write_fast(tmp_path / "records", records_with(metric))
    assert pack(RecordStore(tmp_path / "records"), tmp_path / "all.parquet") == 12
    assert {record.metrics[metric] for record in read_packed(tmp_path / "all.parquet")} == {
        v + i / 100 for v in (0.25, 0.75) for i in range(3)
    }
    output = ["--output", str(tmp_path)]
    assert main(["export", str(tmp_path / "all.csv"), *output]) == 0
    with open(tmp_path / "all.csv", newline="") as file:
        assert {float(row[metric]) for row in csv.DictReader(file)} >= {0.25, 0.75, 0.77}
    assert main(["tables", "--metrics", metric, *output]) == 0
    assert METRICS[metric].meaning in capsys.readouterr().out.replace("\n", " ")
    with open(tmp_path / "tables" / "table2_novelty.csv", newline="") as file:
        (pima,) = [row for row in csv.DictReader(file) if row["dataset"] == "pima"]
    assert pima[f"iforest {metric}"] == "0.750"
    assert main(["statistics", "--metrics", metric, *output]) == 0
    text = (tmp_path / "statistics" / f"table2_novelty_{metric}.md").read_text()
    first = "iForest" if METRICS[metric].higher_is_better else "LOF"
    line = next(line for line in text.splitlines() if line.startswith(f"| {first}"))
    assert line.split("|")[2].strip() == "1.00"


def test_a_table_says_which_metric_no_record_holds(tmp_path, capsys):
    write_fast(tmp_path / "records", records_with("roc_auc"))
    assert main(["tables", "--metrics", "roc_auc,best_f1", "--output", str(tmp_path)]) == 0
    assert "no experiment holds best_f1" in capsys.readouterr().out.replace("\n", " ")


def test_usual_metrics_are_those_of_the_records_made_so_far():
    assert USUAL_METRICS == ("roc_auc", "average_precision", "roc_auc_curve", "pr_auc_curve")


@pytest.mark.parametrize("status", [name for name in STATUSES if name != "ok"])
def test_a_status_is_marked_explained_and_listed(status, tmp_path, capsys):
    records = [
        make_record("pima", "iforest", status=status),
        make_record("pima", "lof"),
        make_record("wilt", "iforest", split=0),
        make_record("wilt", "iforest", split=1, status=status),
        make_record("wilt", "lof"),
    ]
    write_fast(tmp_path / "records", records)
    cells = make_cells(from_records(records).frame)
    mark = STATUSES[status].mark
    assert cells.loc[("paper", "novelty", "pima", "iforest"), "mark"] == mark
    assert cells.loc[("paper", "novelty", "pima", "iforest"), f"n_{status}"] == 1
    assert mark in MARK_MEANINGS
    assert main(["tables", "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert f"{mark}: " in printed
    assert main(["status", "--output", str(tmp_path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert mark in printed
    if status != "skipped":  # counted with the timeout that it follows from
        assert f"because of {status}" in printed


def test_a_status_is_ok_not_available_or_a_failure():
    assert {"ok"} | NA_STATUSES | FAILED_STATUSES == set(STATUSES)
    assert not NA_STATUSES & FAILED_STATUSES
