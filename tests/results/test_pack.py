"""Packing and unpacking loses nothing, and merges in any order to the same store."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.cli import main
from results.records.frame import from_records, load_experiments
from results.records.pack import better, pack, read_packed, unpack
from results.records.store import RecordStore
from tests.results.support import make_record, with_curves


def by_key(records):
    return {record.key: record for record in records}


def test_round_trip_is_exact_for_every_field_and_curve(scattered_records, tmp_path):
    assert pack(scattered_records, tmp_path / "p.parquet") == len(scattered_records)
    assert by_key(read_packed(tmp_path / "p.parquet")) == by_key(scattered_records)


def test_store_files_are_the_same_bytes_after_pack_and_unpack(tmp_path):
    rng = np.random.default_rng(0)
    first = RecordStore(tmp_path / "a")
    for split in range(3):
        record = make_record(split=split, reason="née, ünïcode ✓", variant="max_samples=64")
        first.put(with_curves(record, rng))
    pack(first, tmp_path / "p.parquet")
    second = RecordStore(tmp_path / "b")
    assert unpack(tmp_path / "p.parquet", second) == {"added": 3, "replaced": 0, "kept": 0}
    for path in first.paths():
        twin = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert twin.read_bytes() == path.read_bytes()
    assert unpack(tmp_path / "p.parquet", second) == {"added": 0, "replaced": 0, "kept": 3}


@given(
    st.floats(0, 1),
    st.floats(0, allow_infinity=False, allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(0, 2**62),
)
def test_any_number_and_text_survives(tmp_path_factory, metric, seconds, text, seed):
    record = make_record(roc=metric, fit_seconds=seconds, seed=seed, traceback=text)
    file = tmp_path_factory.getbasetemp() / "any.parquet"
    pack([record], file)
    assert list(read_packed(file)) == [record]


def variants_of_one():
    base = make_record(status="error")
    ok = make_record(key=base.key)
    early = replace(ok, provenance={"started": "2026-01-01"})
    late = replace(ok, provenance={"started": "2026-02-01"}, metrics=ok.metrics | {"roc_auc": 0.1})
    full = with_curves(early, np.random.default_rng(0))
    return base, early, late, full


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_merging_resolves_duplicates_in_any_order(tmp_path, order):
    failed, early, late, full = variants_of_one()
    assert better(failed, early) is early
    assert better(early, late) is late
    assert better(late, full) is full
    store = RecordStore(tmp_path / "s")
    for i in order:
        pack([variants_of_one()[i]], tmp_path / f"{i}.parquet")
        unpack(tmp_path / f"{i}.parquet", store)
    assert list(store) == [full]


def failure(status="timeout", timeout=1800, month=1, **limits):
    """One outcome of one experiment, recorded in some month."""
    return make_record(
        status=status,
        key="a" * 64,
        limits={"timeout": timeout} | limits,
        provenance={"started": f"2026-{month:02}-01"},
    )


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        (failure(), failure(timeout=10, month=2)),
        (failure(), failure("skipped", month=2)),
        (failure(), failure("error", month=2)),
        (failure("skipped"), failure("crashed", month=2)),
        (failure("memory", memory_limit_gb=8), failure("memory", memory_limit_gb=1, month=2)),
        (failure("memory", memory_limit_gb=None), failure("memory", memory_limit_gb=8, month=2)),
        (failure("error", month=2), failure("crashed")),
        (failure("ok", timeout=10), failure(month=2)),
        (failure("ok", timeout=10, month=2), failure("ok")),
        (failure(month=2), make_record(status="timeout", key="a" * 64, limits={})),
    ],
)
def test_of_two_failures_the_one_that_says_more_is_kept(stronger, weaker):
    assert better(stronger, weaker) is better(weaker, stronger) is stronger


@pytest.mark.parametrize("curves", [True, False])
def test_of_twins_the_later_one_is_packed_whatever_their_order(tmp_path, curves):
    rng = np.random.default_rng(0)
    old, new = (
        replace(with_curves(make_record(), rng), provenance={"started": s}, fit_seconds=t)
        for s, t in (("2026-01", 1.0), ("2026-02", 2.0))
    )
    for twins in ((old, new), (new, old)):
        pack(twins, tmp_path / "twins.parquet", curves=curves)
        [record] = read_packed(tmp_path / "twins.parquet")
        assert record.fit_seconds == 2.0


def test_names_of_files_that_are_no_unicode_can_be_packed(tmp_path):
    config = {"data": {"path": "caf\udce9.csv"}}
    failed = make_record(status="error", reason="no file caf\udce9.csv", config=config)
    pack([failed], tmp_path / "failed.parquet")
    [record] = read_packed(tmp_path / "failed.parquet")
    assert record == failed
    assert record.reason == "no file caf\\udce9.csv"
    assert record.config["data"] == {"path": "caf\\udce9.csv"}


def test_without_curves_the_rest_is_kept_and_tables_are_the_same(scattered_records, tmp_path):
    pack(scattered_records, tmp_path / "thin.parquet", curves=False)
    pack(scattered_records, tmp_path / "full.parquet")
    thin = by_key(read_packed(tmp_path / "thin.parquet"))
    for record in scattered_records:
        assert not thin[record.key].curves
        assert replace(thin[record.key], curves=record.curves) == record
    assert (tmp_path / "thin.parquet").stat().st_size < (
        tmp_path / "full.parquet"
    ).stat().st_size / 5


def test_commands_read_packed_files_in_place_of_a_store(
    scattered_store, scattered_records, tmp_path, capsys
):
    file = tmp_path / "p" / "novelty.parquet"
    chosen = ["--dataset", "pima,wilt"]
    options = ["--records", str(scattered_store / "records"), "--output", str(tmp_path), *chosen]
    assert main(["pack", str(file), "--setting", "novelty", *options]) == 0
    assert (
        main(["pack", str(tmp_path / "p" / "outlier.parquet"), "--setting", "outlier", *options])
        == 0
    )
    assert "48 records" in capsys.readouterr().out
    for source in (scattered_store / "records", tmp_path / "p"):
        assert (
            main(
                [
                    "tables",
                    "--records",
                    str(source),
                    "--output",
                    str(tmp_path / source.name),
                    *chosen,
                ]
            )
            == 0
        )
    names = sorted(p.name for p in (tmp_path / "p" / "tables").iterdir())
    assert len(names) == 10
    for name in names:
        assert (tmp_path / "p" / "tables" / name).read_bytes() == (
            tmp_path / "records" / "tables" / name
        ).read_bytes()
    assert main(["unpack", str(file), "--output", str(tmp_path / "new")]) == 0
    assert "48 added" in capsys.readouterr().out
    assert len(RecordStore(tmp_path / "new" / "records")) == 48


def test_several_places_are_read_as_one(scattered_records, tmp_path, capsys):
    records = scattered_records[::5]
    whole, first, second = (tmp_path / name for name in ("whole.parquet", "1.parquet", "store"))
    pack(records, whole)
    pack(records[:30], first)
    store = RecordStore(second)
    for record in records[20:]:
        store.put(record)
    merged = load_experiments(first, second)
    assert merged.frame.equals(load_experiments(whole).frame)
    places = ["--records", str(first), "--records", str(second)]
    assert main(["status", *places]) == 0
    assert main(["unpack", str(whole), *places]) == 2
    assert "name one" in capsys.readouterr().err


def test_order_of_records_does_not_change_a_digit(scattered_records):
    forward = from_records(scattered_records).frame
    backward = from_records(reversed(scattered_records)).frame
    assert forward.equals(backward)


def test_an_interrupted_pack_leaves_the_old_file(tmp_path):
    file = tmp_path / "p.parquet"
    pack([make_record()], file)
    before = file.read_bytes()

    def broken():
        yield make_record()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack(broken(), file)
    assert file.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["p.parquet"]


def test_without_paths_no_folder_of_the_machine_is_left(tmp_path):
    config = {
        "output": "/srv/me/out",
        "data": {"home": "/srv/me/data", "path": "/srv/me/x.csv", "source": None},
    }
    trace = (
        'File "/srv/me/project/baselines/orca.py", line 3\nFile "/usr/lib/python3.11/os.py", line 1'
    )
    record = make_record(
        status="error",
        config=config,
        traceback=trace,
        reason="no /srv/me/data/pima.parquet, nor https://example.org/a/b/c; 1/2 tried",
    )
    pack([record], tmp_path / "p.parquet", paths=False)
    (public,) = read_packed(tmp_path / "p.parquet")
    assert "/srv" not in str(public)
    assert public.config["data"] == {"home": None, "path": None, "source": None}
    assert public.config["output"] is None
    assert (
        public.traceback
        == 'File ".../baselines/orca.py", line 3\nFile ".../python3.11/os.py", line 1'
    )
    assert public.reason == "no .../data/pima.parquet, nor https://example.org/a/b/c; 1/2 tried"
    assert (public.key, public.metrics, public.limits) == (
        record.key,
        record.metrics,
        record.limits,
    )


def test_publishing_what_is_public_changes_nothing(tmp_path):
    record = make_record(
        config={"output": None, "algorithm": {"_target_": "a.b"}}, reason="a/b and c"
    )
    pack([record], tmp_path / "p.parquet", paths=False)
    assert list(read_packed(tmp_path / "p.parquet")) == [record]
