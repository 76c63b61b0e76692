"""The table of the data sets."""

import io

import pandas as pd

from results.aggregate import make_cells
from results.records.frame import from_records
from results.tables import datasets as table1
from tests.results.support import make_record, splits


def test_table1_of_other_data_sets_speaks_of_no_paper():
    rows = table1.build_rows(make_cells(from_records([make_record("mine", "lof")]).frame))
    for text in (table1.to_markdown(rows), table1.to_latex(rows)):
        assert "published" not in text
        assert "paper" not in text


def test_table1_shows_published_numbers_beside_the_counts():
    counts = {
        "n_train": 300,
        "n_test": 384,
        "n_features": 8,
        "n_anomalies_train": 0,
        "n_anomalies_test": 25,
    }
    records = [
        *splits(counts=counts),
        *splits(setting="outlier", counts=counts | {"n_train": 325}),
        *splits(dataset="mine", counts={}),
        *splits(dataset="other", protocol="clean", counts=counts | {"n_features": 3}),
    ]
    rows = {row[0]: row[1:] for row in table1.build_rows(make_cells(from_records(records).frame))}
    assert rows["pima"] == [
        "768",
        "8",
        "pos",
        "34.9",
        "8",
        "300 (novelty), 325 (outlier)",
        "384",
        "25",
    ]
    assert rows["mine"] == ["--"] * 8
    # Of data that the paper does not have, run under another protocol alone.
    assert rows.pop("other")[4:] == ["3", "300", "384", "25"]
    texts = [[name, *row] for name, row in rows.items()]
    csv = pd.read_csv(io.StringIO(table1.to_csv(texts)), index_col=0)
    assert csv.loc["pima", ["train (novelty)", "train (outlier)"]].tolist() == [300, 325]
    assert "train" not in csv
    assert csv.loc["mine"].isna().all()
    assert "--: not in the paper, nor in records, which hold splits: mine." in table1.to_markdown(
        texts
    )
    assert "--: not in the paper" not in table1.to_markdown(texts[1:])
    latex = table1.to_latex([["adult", "1", "6", ">50K", "23.9", "6", "1", "1", "1"]])
    assert r"\ensuremath{>}50K" in latex


def test_table1_counts_are_of_the_paper_s_protocol_and_of_the_cell_with_most_splits():
    def counts(n):
        return {
            "n_train": n,
            "n_test": n,
            "n_features": 9,
            "n_anomalies_train": 0,
            "n_anomalies_test": 1,
        }

    records = [make_record("shuttle", split=s, counts=counts(40 + s)) for s in range(3)]
    records += [make_record("shuttle", "lof", counts=counts(40), status="timeout")]
    records += [make_record("shuttle", protocol="clean", counts=counts(20))]
    (row,) = table1.build_rows(make_cells(from_records(records).frame))
    assert row[-3:] == ["41", "41", "1"]
