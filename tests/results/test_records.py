"""Records: lossless, atomic, quick to scan, and honest about files that cannot be read."""

import base64
import dataclasses
import errno
import hashlib
import multiprocessing
import os
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from results.metrics import GRID_POINTS
from results.records import encoding, files
from results.records.encoding import Curves, decode_curve, encode_curve
from results.records.files import safe_name
from results.records.record import Record, RecordError, read_record
from results.records.store import RecordStore


def key_of(text):
    return hashlib.sha256(str(text).encode()).hexdigest()


def make(split=0, status="ok", **changes):
    rng = np.random.default_rng(split)
    values = {
        "key": key_of(split),
        "dataset": "pima",
        "algorithm": "oneclassrf",
        "variant": "",
        "setting": "novelty",
        "protocol": "paper",
        "seed": 0,
        "split": split,
        "status": status,
    }
    if status == "ok":
        values |= {
            "metrics": {"roc_auc": float(rng.random()), "average_precision": 0.1},
            "curves": {"roc": np.sort(rng.random(1000)), "pr": rng.random(1000)},
            "fit_seconds": 0.25,
            "peak_memory_mb": 12.5,
            "counts": {"n_train": 250, "n_test": 275},
        }
    else:
        values |= {"reason": "because", "traceback": "Traceback \ud800 \x00 é"}
    return Record(**(values | changes))


@given(hnp.arrays(np.float64, GRID_POINTS, elements=st.floats(width=64)))
def test_curves_survive_to_the_last_bit(values):
    assert decode_curve(encode_curve(values)).tobytes() == values.tobytes()


@pytest.mark.parametrize("n_bytes", [0, 8, 8 * GRID_POINTS - 8, 8 * GRID_POINTS + 8, 80_000_000])
def test_a_curve_of_another_length_is_refused_before_it_is_decompressed(n_bytes):
    packer = zlib.compressobj(9)
    chunk = bytes(min(n_bytes, 1 << 20))
    parts = [packer.compress(chunk) for _ in range(n_bytes // len(chunk))] if n_bytes else []
    text = base64.b64encode(b"\x02" + b"".join(parts) + packer.flush()).decode()
    tracemalloc.start()
    with pytest.raises(ValueError, match="does not hold 1000 points"):
        decode_curve(text)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_a_curve_of_few_corners_is_a_few_hundred_bytes():
    curve = np.interp(np.linspace(0, 1, 1000), [0, 0.1, 0.3, 1], [0, 0.8, 0.9, 1])
    assert len(encode_curve(curve)) < 1000  # 8000 bytes of numbers


@pytest.mark.parametrize("status", ["ok", "error"])
def test_a_record_comes_back_equal(tmp_path, status):
    store = RecordStore(tmp_path)
    record = make(3, status, traceback=None)
    path = store.put(record)
    assert read_record(path) == record
    assert RecordStore(tmp_path).get(record.key) == record
    assert list(RecordStore(tmp_path)) == [record]


def test_text_that_is_no_unicode_does_not_lose_the_record(tmp_path):
    store = RecordStore(tmp_path)
    store.put(make(1, "error"))
    assert store.get(key_of(1)).reason == "because"


def test_label_and_path_name_the_cell(tmp_path):
    record = make(4, variant="gamma=0.1,max_features_node=5")
    assert record.label == "oneclassrf(gamma=0.1,max_features_node=5)"
    path = RecordStore(tmp_path).path_of(record)
    assert path.relative_to(tmp_path).parts == (
        "pima",
        "oneclassrf_gamma=0.1_max_features_node=5",
        f"novelty-paper-s0-4-{record.key[:16]}.json",
    )


@pytest.mark.parametrize("text", ["../../etc", ".hidden", "a/b\0c", "", "x" * 400])
def test_safe_names_stay_in_their_folder(text):
    name = safe_name(text)
    assert name
    assert "/" not in name
    assert not name.startswith(".")
    assert len(name) <= 120


def test_a_missing_store_is_empty(tmp_path):
    store = RecordStore(tmp_path / "none")
    assert store.get(key_of(1)) is None
    assert list(store) == []
    assert len(store) == 0


def test_files_are_located_by_key(tmp_path):
    store = RecordStore(tmp_path)
    paths = [store.put(make(split)) for split in range(3)]
    found = store.locate(key_of(split) for split in (0, 2, 9))
    assert found == {key_of(0): paths[0], key_of(2): paths[2]}


def test_what_killed_writers_left_is_removed_and_what_is_being_written_is_not(tmp_path):
    store = RecordStore(tmp_path)
    folder = store.put(make(0)).parent
    old, new = folder / ".a.json.1-2.tmp", folder / ".b.json.1-2.tmp"
    for path in (old, new):
        path.write_text("{")
    os.utime(old, (1, 1))
    assert store.tidy() == 1
    assert (old.exists(), new.exists(), len(store)) == (False, True, 1)


def test_a_second_put_replaces_the_first(tmp_path):
    store = RecordStore(tmp_path)
    store.put(make(0, "timeout", reason="1 s", traceback=None))
    store.put(make(0))
    assert [r.status for r in RecordStore(tmp_path)] == ["ok"]


def test_the_same_key_under_another_label_replaces_the_file(tmp_path):
    RecordStore(tmp_path).put(make(0, variant="gamma=1.0"))
    RecordStore(tmp_path).put(make(0))
    assert [r.label for r in RecordStore(tmp_path)] == ["oneclassrf"]


def test_a_store_sees_what_another_process_wrote_and_removed(tmp_path):
    ours, theirs = RecordStore(tmp_path), RecordStore(tmp_path)
    for split in range(50):
        assert ours.get(key_of(split)) is None
        path = theirs.put(make(split))
        assert ours.get(key_of(split)).split == split
    path.unlink()
    assert ours.get(key_of(49)) is None
    assert len(ours) == 49


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[: len(data) // 2], "not JSON"),
        (lambda data: b"", "not JSON"),
        (lambda data: b"[1]", "not a JSON object"),
        (lambda data: b"\xff\xfe" + data, "not JSON"),
        (lambda data: data.replace(b'"format":1', b'"format":99'), "format 99"),
        (lambda data: data.replace(b'"status":"ok"', b'"status":"fine"'), "status: 'fine'"),
        (lambda data: data.replace(b'"seed"', b'"sead"'), "seed: Field required"),
        (lambda data: data.replace(b'"seed"', b'"seed":0,"sead"'), "sead: Extra inputs"),
        (lambda data: data.replace(b'"roc":"', b'"roc":"!!'), "curves.roc"),
        (lambda data: data.replace(b'"roc":"', b'"roc":null,"x":"'), "curves."),
    ],
)
def test_an_unreadable_record_is_named_and_counts_as_missing(tmp_path, damage, reason):
    store = RecordStore(tmp_path)
    path = store.put(make(0))
    store.put(make(1))
    path.write_bytes(damage(path.read_bytes()))
    assert [r.split for r in store] == [1]
    assert store.get(key_of(0)) is None
    [(named, why)] = store.unreadable
    assert named == path
    assert reason in why
    store.put(make(0))
    assert sorted(r.split for r in store) == [0, 1]
    assert store.unreadable == []


@pytest.mark.parametrize("make_file", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_has_no_end_is_not_a_record(tmp_path, make_file):
    path = tmp_path / "a" / "b" / f"x-{key_of(0)[:16]}.json"
    path.parent.mkdir(parents=True)
    make_file(path)
    store = RecordStore(tmp_path)
    assert list(store) == []
    assert store.unreadable == [(path, "not a file")]


def test_a_record_under_the_name_of_another_is_not_that_other(tmp_path):
    store = RecordStore(tmp_path)
    store.put(make(0)).rename(store.path_of(make(1)))
    store = RecordStore(tmp_path)
    assert store.get(key_of(1)) is None
    [(_, why)] = store.unreadable
    assert key_of(0) in why


@pytest.mark.parametrize("status", ["done", "", None])
def test_statuses_are_a_closed_vocabulary(status):
    with pytest.raises(RecordError, match="none of ok, timeout"):
        dataclasses.replace(make(0), status=status)


def test_a_full_disk_leaves_the_old_record_and_no_temporary_file(tmp_path, monkeypatch):
    store = RecordStore(tmp_path)
    path = store.put(make(0))

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.put(make(0, "error"))
    assert read_record(path).status == "ok"
    assert os.listdir(path.parent) == [path.name]


def _write_many(path, start):
    store = RecordStore(path)
    for split in range(start, start + 40):
        store.put(make(split))
        store.put(make(1000, fit_seconds=float(start)))


def test_concurrent_writers_leave_whole_records(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(tmp_path, 100 * i)) for i in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    store = RecordStore(tmp_path)
    assert len(list(store)) == 81
    assert store.unreadable == []


def test_scanning_decodes_no_curve(tmp_path, monkeypatch):
    RecordStore(tmp_path).put(make(0))
    monkeypatch.setattr(encoding, "decode_curve", lambda text: pytest.fail("decoded"))
    [record] = RecordStore(tmp_path)
    assert set(record.curves) == {"roc", "pr"}


def test_curves_compare_with_plain_arrays():
    arrays = {"roc": np.linspace(0, 1, GRID_POINTS)}
    assert Curves.from_arrays(arrays) == arrays
    assert Curves.from_arrays(arrays) != {"pr": arrays["roc"]}
    assert Curves.from_arrays(arrays) != {"roc": arrays["roc"] + 1e-16 + 1e-12}


@pytest.mark.parametrize("at", [0.0, 0.3, 0.6, 0.95])
def test_a_damaged_curve_says_so(at):
    values = np.random.default_rng(0).random(1000)
    text = encode_curve(values)
    i = int(at * len(text))
    damaged = text[:i] + ("B" if text[i] == "A" else "A") + text[i + 1 :]
    with pytest.raises(ValueError, match="a curve is damaged"):
        decode_curve(damaged)
