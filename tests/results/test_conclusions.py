"""The paper's conclusions: what each is held against."""

import pytest

from results.aggregate import make_cells
from results.records.frame import from_records
from results.reproduction.conclusions import conclusions_table
from tests.results.support import make_record


def rows(records):
    lines = conclusions_table(make_cells(from_records(records).frame)).splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_published_values_give_the_published_conclusions(paper_records):
    head, _, roc, pr, wins, times = rows(paper_records)
    assert head == ["OneClassRF has", "as published", "ours, protocol paper"]
    for row in (roc, pr, wins, times):
        assert row[1] == row[2]  # the records hold the published values
    assert roc[1] == "OneClassRF 0.850, LSAD 0.850, iForest 0.821, Orca 0.759"
    assert pr[1].startswith("OneClassRF 0.495, ")
    assert wins[1].startswith("OneClassRF 5, ")
    assert times[1] == "OneClassRF 61s, iForest 68s, LSAD 73s, Orca 2232s"


def test_only_algorithms_with_every_data_set_have_means(paper_records):
    gone = [r for r in paper_records if (r.dataset, r.algorithm) != ("wilt", "oneclassrf")]
    _, _, roc, *_ = rows(gone)
    assert "OneClassRF" in roc[1]
    assert "OneClassRF" not in roc[2]


@pytest.mark.parametrize("areas", [(0.9001, 0.8999), (0.8999, 0.9001)])
def test_a_win_is_shared_where_the_printed_values_are_equal(areas):
    records = [make_record("pima", a, roc=v) for a, v in zip(("lof", "orca"), areas, strict=True)]
    records.append(make_record("pima", "lsad", roc=0.89))
    *_, wins, _ = rows(records)
    assert set(wins[2].split(", ")) == {"LOF 1", "Orca 1"}


def test_values_on_other_splits_win_nothing():
    records = [make_record("pima", a, roc=0.5 + 0.1 * i) for i, a in enumerate(("lof", "lsad"))]
    *_, wins, _ = rows([*records, make_record("pima", "orca", roc=0.9, split=1)])
    assert wins[2] == "LSAD 1"


def test_the_clean_protocol_is_judged_by_its_own_metrics():
    records = [
        make_record("pima", name, protocol="clean", metrics=metrics)
        for name, metrics in (
            ("lof", {"roc_auc": 0.9, "average_precision": 0.5, "roc_auc_curve": 0.1}),
            ("lsad", {"roc_auc": 0.8, "average_precision": 0.5, "roc_auc_curve": 0.9}),
        )
    ]
    head, *_, wins, _ = rows(records)
    assert head[2] == "ours, protocol clean"
    assert wins[2] == "LOF 1"


def test_without_table_2_there_is_nothing_to_say():
    records = [make_record("pima", "lof", setting="outlier")]
    assert conclusions_table(make_cells(from_records(records).frame)) == ""
