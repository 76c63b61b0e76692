"""Records are selected by the names that tables print."""

import json

import pytest

from results.aggregate import in_order
from results.records.frame import exported, from_records, selected
from results.records.opening import Search, Selection, SelectionError
from tests.results.support import key_of, make_record


def edited():
    """Return records of an algorithm whose file was edited between two data sets and a rerun."""
    return [
        make_record(
            dataset,
            "mine",
            key=key_of(dataset, k),
            config={"algorithm": {"_target_": "sklearn.neighbors.LOF", "k": k}},
            provenance={"started": started},
        )
        for dataset, k, started in (
            ("pima", 2, "2026-01"),
            ("wilt", 2, "2026-01"),
            ("pima", 50, "2026-06"),
        )
    ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("mine", {("pima", 2), ("wilt", 2), ("pima", 50)}),
        ("mine()", {("pima", 2), ("wilt", 2)}),
        ("mine(k=50)", {("pima", 50)}),
        ("mine(k=*)", {("pima", 50)}),
    ],
)
def test_an_algorithm_is_selected_by_the_name_that_tables_print(asked, expected):
    """Whatever is shown, packed, forgotten."""
    records = edited()
    selection = Selection(algorithms=(asked,))
    experiments = from_records(records, selection)
    told = [json.loads(text)["k"] for text in experiments.frame["config_algorithm"]]
    assert set(zip(experiments.frame["dataset"], told, strict=True)) == expected
    assert not [remark for remark in experiments.remarks if "no record" in remark]
    chosen = selected(records, Search(selection), "here")
    assert {(r.dataset, r.config["algorithm"]["k"]) for r in chosen} == expected


def test_an_algorithm_that_nothing_is_shown_under_is_no_selection():
    with pytest.raises(SelectionError, match=r"fits all of the selection .*mine\(k=7\)"):
        from_records(edited(), Selection(algorithms=("mine(k=7)",)))
    with pytest.raises(SelectionError, match="no record is shown under the names"):
        list(selected(edited(), Search(Selection(algorithms=("mine(k=7)",))), "here"))


def test_what_is_told_apart_is_exported_under_names_of_its_own():
    table = exported(from_records(edited()).frame)
    names = table[["dataset", "label"]].to_numpy().tolist()
    assert names == [["pima", "mine"], ["pima", "mine(k=50)"], ["wilt", "mine"]]


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (Selection(algorithms=("iforest",)), 2),
        (Selection(algorithms=("iforest(max_samples=64)",)), 1),
        (Selection(algorithms=("iforest()",)), 1),
        (Selection(algorithms=("*()",)), 2),
        (Selection(algorithms=("i*", "lof")), 3),
        (Selection(datasets=("w*",)), 1),
        (Selection(seeds=("0",), settings=("novelty",), protocols=("paper",)), 3),
    ],
)
def test_selection(selection, count):
    everything = [
        make_record(),
        make_record(variant="max_samples=64"),
        make_record("wilt", "lof"),
    ]
    assert len(from_records(everything, selection).frame) == count


def test_the_plain_form_of_an_algorithm_is_named_with_empty_brackets():
    everything = [
        make_record(),
        make_record(variant="max_samples=64"),
        make_record(algorithm="lof"),
        make_record(algorithm="orca", variant="k=3"),
    ]
    found = from_records(everything, Selection(algorithms=("lof()", "iforest()")))
    assert set(found.frame["label"]) == {"lof", "iforest"}
    assert in_order(found.frame["label"], found.selection.algorithms) == ["lof", "iforest"]
    assert not any("no record" in remark for remark in found.remarks)
    found = from_records(everything, Selection(algorithms=("iforest()", "orca()")))
    assert any("no record has algorithm 'orca()'" in remark for remark in found.remarks)


def test_a_selection_that_fits_nothing_names_what_there_is():
    with pytest.raises(SelectionError, match="no record has dataset 'pmia'; there are: pima"):
        from_records([make_record()], Selection(datasets=("pmia",)))
    with pytest.raises(SelectionError, match="all of the selection at once"):
        from_records(
            [make_record(), make_record("wilt", "lof")],
            Selection(datasets=("pima",), algorithms=("lof",)),
        )


def test_no_records_at_all_says_how_to_get_some():
    with pytest.raises(FileNotFoundError, match="python -m runners"):
        from_records([])
