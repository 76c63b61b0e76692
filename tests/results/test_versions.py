"""Of a file, code or splits that a user edited, the version that was asked for last counts."""

import json
from dataclasses import replace

import pytest

from results.aggregate import make_cells
from results.records.frame import from_records, load_experiments
from results.records.grid_file import grid_file
from results.records.opening import Selection, SelectionError, open_records
from results.records.pack import pack
from results.records.store import RecordStore
from tests.results.support import key_of, make_record


def version(content, started, roc, algorithm="iforest"):
    return [
        make_record(
            "own",
            algorithm,
            split=split,
            roc=roc,
            key=key_of(content, algorithm, split),
            provenance={"started": started, "content": content},
        )
        for split in range(5)
    ]


def test_a_version_that_a_run_asked_for_again_counts_though_it_was_recorded_before(tmp_path):
    """Whoever undoes a change and runs again gets the numbers of the file as it is."""
    store = RecordStore(tmp_path / "records")
    first, second = version("a" * 64, "2026-01-01", 0.1), version("b" * 64, "2026-01-02", 0.2)
    cells = {}
    for records in (first, second):
        for record in records:
            store.put(record)
        names = ("dataset", "algorithm", "variant", "setting", "protocol", "seed")
        cell = {name: getattr(records[0], name) for name in names}
        cells[records[0].key] = cell | {"keys": [record.key for record in records]}
    by_time = [(first[0].key, "2026-01-01"), (second[0].key, "2026-01-02")]
    for asked, expected in (({}, 0.2), (dict(by_time), 0.2), ({first[0].key: "2026-01-03"}, 0.1)):
        grid = [cell | {"asked": asked.get(key, "")} for key, cell in cells.items()]
        grid_file(store.path).write_text(json.dumps({"cells": grid}))
        experiments = load_experiments(store.path)
        assert experiments.frame["roc_auc"].tolist() == [expected] * 5
        assert len(experiments.remarks) == 1
        # A packed file keeps what the folder knew.
        pack(open_records(store.path), tmp_path / "packed.parquet")
        packed = load_experiments(tmp_path / "packed.parquet")
        assert packed.frame["roc_auc"].tolist() == [expected] * 5


@pytest.mark.parametrize("first", [None, "0" * 64, "f" * 64])
def test_a_user_s_file_that_changed_leaves_nothing_of_its_earlier_version(first):
    old = [*version(first, "2026-01-01", 0.1), *version(first, "2026-01-02", 0.2, "lof")]
    new = version("a" * 64, "2026-06-01", 0.9)
    elsewhere = [make_record("pima", provenance={"started": "2025"})]
    experiments = from_records([*new, *old, *elsewhere])
    own = experiments.frame[experiments.frame["dataset"] == "own"]
    assert set(own["label"]) == {"iforest"}
    assert own["roc_auc"].tolist() == [0.9] * 5
    assert len(experiments.frame) == 6
    assert experiments.remarks == [
        "own: left out 10 experiments on another version of the file than that of the latest run"
    ]


def test_a_file_at_an_address_that_changed_leaves_nothing_of_its_earlier_version():
    """The sha256 of the new one stands in another definition of the data set."""

    def record(digest, algorithm, started):
        source = {"kind": "url", "url": f"https://example.org/{digest}", "sha256": digest * 64}
        return make_record(
            "own",
            algorithm,
            config={"dataset": {"name": "own", "sources": [source]}},
            provenance={"started": started, "content": digest * 64},
        )

    experiments = from_records([record("a", "lof", "2026-01"), record("b", "iforest", "2026-06")])
    assert set(experiments.frame["label"]) == {"iforest"}
    assert experiments.remarks == [
        "own: left out 1 experiments on another version of the file than that of the latest run"
    ]


def test_a_file_of_splits_that_changed_leaves_nothing_of_its_earlier_version():
    def cut(indices, started, split, protocol="cut"):
        config = {"protocol": {"name": protocol, "metrics": ["roc_auc"]}}
        if indices:
            config["protocol"]["indices"] = "s.parquet"
        return make_record(
            split=split,
            protocol=protocol,
            key=key_of(indices, split, protocol),
            config=config,
            provenance={"started": started} | ({"indices": indices} if indices else {}),
        )

    few = replace(cut("a" * 64, "2026", 0), config={"n_splits": 1, "protocol": {"indices": "s"}})
    few = replace(few, provenance=few.provenance | {"splits": 3})
    [cell] = make_cells(from_records([few]).frame).to_dict("records")
    assert (cell["n_expected"], cell["partial"]) == (3, True)
    old = [cut("a" * 64, "2026-01", split) for split in range(4)]
    new = [cut("b" * 64, "2026-06", split) for split in range(2)]
    experiments = from_records([*new, *old, cut(None, "2025", 0, "paper")])
    assert sorted(experiments.frame["indices"].fillna("")) == ["", "b" * 64, "b" * 64]
    assert experiments.remarks == [
        "cut: left out 4 experiments on another version of the file of splits than that of the latest run"
    ]


def coded(code, started, roc, dataset="pima", n_splits=4, splitter=None):
    protocol = {"name": "paper"} | ({"splitter": {"_target_": splitter}} if splitter else {})
    return [
        make_record(
            dataset,
            "mine",
            split=split,
            roc=roc,
            key=key_of(code, started, dataset, split, splitter),
            config={"algorithm": {"_target_": "mine.Mine"}, "protocol": protocol},
            provenance={"started": started, "code": code},
        )
        for split in range(n_splits)
    ]


def test_code_that_changed_leaves_nothing_of_its_earlier_version():
    # Two splits before the sign was flipped, and one of another data set; four splits after.
    old = [*coded("a" * 64, "2026-01", 0.9, n_splits=6), *coded("a" * 64, "2026-01", 0.9, "wilt")]
    new = coded("b" * 64, "2026-06", 0.1)
    experiments = from_records([*old, *new, make_record(provenance={"started": "2025"})])
    mine = experiments.frame[experiments.frame["label"] == "mine"]
    assert set(mine["dataset"]) == {"pima"}
    assert mine["roc_auc"].tolist() == [0.1] * 4
    assert len(experiments.frame) == 5
    assert experiments.remarks == [
        "mine: left out 10 experiments on another version of the code than that of the latest run"
    ]


def test_what_supersedes_a_selected_experiment_need_not_be_selected():
    config = {"dataset": {"name": "own", "data": {"path": "own.csv"}}}
    of = {}
    for content, started, algorithm in (
        ("a", "2026-01", "lof"),
        ("a", "2026-01", "iforest"),
        ("b", "2026-06", "lof"),
    ):
        of[content, algorithm] = make_record(
            "own",
            algorithm,
            key=key_of(content, algorithm),
            config=config,
            provenance={"started": started, "content": content * 64},
        )
    everything = from_records(of.values())
    assert set(everything.frame["label"]) == {"lof"}
    with pytest.raises(SelectionError, match="own: left out 1 experiments on another version"):
        from_records(of.values(), Selection(algorithms=("iforest",)))
    chosen = from_records(of.values(), Selection(algorithms=("lof",)))
    assert chosen.frame["content"].tolist() == ["b" * 64]
    assert len(chosen.remarks) == 1


def test_code_that_changed_leaves_no_variant_of_its_earlier_version():
    def variant(power, code, started):
        config = {"algorithm": {"_target_": "mine.Mine", "power": power}}
        return make_record(
            algorithm="mine",
            variant=f"power={power}",
            key=key_of(power, code),
            config=config,
            provenance={"started": started, "code": code * 64},
        )

    records = [variant(1, "a", "2026-01"), variant(2, "a", "2026-01"), variant(1, "b", "2026-06")]
    assert from_records(records).frame["label"].tolist() == ["mine(power=1)"]


def test_code_of_a_splitter_is_no_version_of_the_algorithm():
    records = [
        *coded("a" * 64, "2026-01", 0.9),
        *coded("b" * 64, "2026-06", 0.8, "wilt", splitter="mine.Splitter"),
    ]
    assert len(from_records(records).frame) == 8


def test_an_edit_of_a_splitter_supersedes_every_algorithm_on_its_earlier_version():
    def on(algorithm, splitter_code, started, algorithm_code=None):
        digests = {"algorithm": algorithm_code, "protocol": splitter_code}
        codes = {f"code_{part}": code * 64 for part, code in digests.items() if code}
        return make_record(
            algorithm=algorithm,
            protocol="cut",
            key=key_of(algorithm, splitter_code, algorithm_code),
            config={
                "algorithm": {"_target_": f"{algorithm}.Mine"},
                "protocol": {"name": "cut", "cut": {"_target_": "cut.Splitter"}},
            },
            provenance={"started": started, "code": f"{splitter_code}{algorithm_code}"} | codes,
        )

    old, other = on("iforest", "a", "2026-01"), on("lof", "a", "2026-02")
    mine = on("mine", "b", "2026-06", "c")
    experiments = from_records([old, other, mine])
    assert experiments.frame["label"].tolist() == ["mine"]
    assert experiments.remarks == [
        "cut: left out 2 experiments on another version of the code than that of the latest run"
    ]
    # An algorithm that was edited, run under another protocol.
    elsewhere = replace(mine, protocol="paper", config={"algorithm": mine.config["algorithm"]})
    edited = {"started": "2026-07", "code": "d" * 64, "code_algorithm": "d" * 64}
    elsewhere = replace(elsewhere, key=key_of("elsewhere"), provenance=edited)
    assert from_records([mine, elsewhere]).frame["protocol"].tolist() == ["paper"]


def test_what_has_the_digest_of_all_code_alone_is_not_taken_for_another_version():
    earlier = coded("a" * 64, "2026-01", 0.9)
    later = [
        replace(record, provenance=record.provenance | {"code_algorithm": "a" * 64})
        for record in coded("a" * 64, "2026-06", 0.9, "wilt")
    ]
    assert len(from_records([*earlier, *later]).frame) == 8
