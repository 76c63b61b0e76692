"""What is missing from the grid is told, and nothing that has no place in it."""

from results.aggregate import make_cells
from results.records.frame import from_records
from results.status import missing_remarks, unpaired_remarks
from tests.results.support import COUNTS, make_record


def test_an_algorithm_that_learns_from_labels_is_not_missed_where_there_are_none():
    def record(algorithm, setting, n, **changes):
        counts = COUNTS | {"n_anomalies_train": n}
        return make_record("wilt", algorithm, setting=setting, counts=counts, **changes)

    records = [record("lof", "novelty", 0), record("lof", "outlier", 5)]
    labelled = record("ocrfsampling_supervised", "outlier", 5, uses_labels=True)
    cells = make_cells(from_records([*records, labelled]).frame)
    assert not [remark for remark in missing_remarks(cells) if "not run" in remark]
    # What does not learn from them is missed, and so is any where there are anomalies to learn.
    cells = make_cells(from_records([*records, record("rfc", "outlier", 5)]).frame)
    assert "not run (paper, rfc, novelty): every data set" in missing_remarks(cells)
    other = record("lof", "novelty", 5)
    cells = make_cells(from_records([other, records[1], labelled]).frame)
    assert any("ocrfsampling_supervised, novelty" in text for text in missing_remarks(cells))


def test_algorithms_on_other_seeds_are_named():
    records = [make_record("pima", name) for name in ("iforest", "ocsvm")]
    records += [make_record("pima", "lof", seed=1), make_record("wilt", "lof", seed=1)]
    cells = make_cells(from_records(records).frame)
    assert unpaired_remarks(cells) == [
        "not on the same splits, and so not compared "
        "(paper, lof, novelty: 0 of seed 1, others 0 of seed 0): pima"
    ]
