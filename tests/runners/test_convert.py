"""Records of earlier versions get today's words and today's keys, and keep everything else."""

import copy
from dataclasses import replace

import pytest

from datasets.strict import Invalid
from results.records.pack import pack, read_packed
from results.records.record import Record
from results.records.store import RecordStore
from runners.convert import converted, converted_protocol, main
from runners.experiment import Cell

PAPER = {
    "name": "paper",
    "max_anomaly_ratio": 0.1,
    "anomaly_subset": "per_split",
    "standardise": "all",
    "repeat_published_rows": True,
    "train_size": 0.5,
    "metrics": ["roc_auc_curve", "pr_auc_curve"],
}


def old_record(composed, *overrides, split=2, **changes):
    """A record as it was before, of an experiment that is composed today."""
    [cell] = composed("dataset=shuttle", "algorithm=lof", *overrides)
    config = copy.deepcopy(cell.config) | {"protocol": PAPER | changes}
    config["dataset"]["repeat"] = (PAPER | changes)["repeat_published_rows"]
    record = Record(
        *("0" * 64, "shuttle", "lof", "", cell.setting, "paper", 0, split, "timeout"),
        reason="too slow",
        config=config,
    )
    return record, cell


@pytest.mark.parametrize(
    ("changes", "overrides"),
    [
        ({}, []),
        ({"anomaly_subset": "fixed"}, ["protocol.cap.drawn=once"]),
        ({"max_anomaly_ratio": None}, ["protocol.cap.ratio=null"]),
        ({"repeat_published_rows": False}, ["protocol.repeats=source"]),
        ({"standardise": "train"}, ["protocol.scaling.fitted_on=train"]),
        ({"standardise": "none"}, ["protocol.scaling.kind=none"]),
        ({"train_size": 0.3}, ["protocol.cut.train_size=0.3"]),
        ({}, ["setting=outlier"]),
    ],
)
def test_the_key_is_that_of_the_same_experiment_today(composed, changes, overrides):
    old, cell = old_record(composed, *overrides, **changes)
    new = converted(old)
    assert new.key == cell.key(old.split)
    assert new.config["protocol"] == cell.config["protocol"]
    assert new.config["dataset"] == cell.config["dataset"]
    assert (new.status, new.reason, new.split) == (old.status, old.reason, old.split)
    assert converted(new) is new


def test_what_is_no_protocol_is_refused():
    with pytest.raises(Invalid, match="scalling: unknown key"):
        converted_protocol({"name": "own", "metrics": ["roc_auc"], "scalling": {}})


def test_packs_and_folders_are_converted_in_place(composed, tmp_path, capsys):
    old, cell = old_record(composed)
    packed, store = tmp_path / "old.parquet", RecordStore(tmp_path / "records")
    pack([old], packed)
    store.put(old)
    for path in (packed, store.path):
        assert main([str(path)]) == 0
        assert "1 records converted" in capsys.readouterr().out
        assert main([str(path)]) == 0
        assert "0 records converted" in capsys.readouterr().out
    [from_pack], [from_store] = read_packed(packed), RecordStore(store.path)
    assert from_pack == from_store == converted(old)
    assert isinstance(cell, Cell)
    assert len(list(store.path.rglob("*.json"))) == 1


@pytest.mark.parametrize("is_old_a_failure", [True, False])
def test_a_result_that_was_run_again_since_is_kept(composed, tmp_path, is_old_a_failure):
    failed, _ = old_record(composed)
    ok = replace(failed, status="ok", reason="", metrics={"roc_auc": 0.9})
    store = RecordStore(tmp_path / "records")
    store.put(failed if is_old_a_failure else ok)
    store.put(converted(ok if is_old_a_failure else failed))
    assert main([str(store.path)]) == 0
    assert list(RecordStore(store.path)) == [converted(ok)]


def test_a_file_that_is_no_pack_is_named(tmp_path, capsys):
    (tmp_path / "x.parquet").write_text("no")
    assert main([str(tmp_path / "x.parquet")]) == 2
    assert "x.parquet" in capsys.readouterr().err


def test_a_record_that_cannot_be_read_is_named(composed, tmp_path, capsys):
    path = RecordStore(tmp_path).put(old_record(composed)[0])
    path.write_text("no")
    assert main([str(tmp_path)]) == 2
    assert str(path) in capsys.readouterr().err
