"""Where records are read from and written to: nothing that was named is left out in silence."""

import pytest

from results.cli import main
from results.records.frame import load_experiments
from results.records.opening import open_records
from results.records.pack import pack, read_packed
from results.records.store import RecordStore
from tests.results.support import make_record, write_fast


@pytest.fixture
def store(tmp_path):
    """A store of three experiments."""
    folder = tmp_path / "run" / "records"
    records = [make_record(), make_record("wilt"), make_record("wilt", "lof")]
    write_fast(folder, records)
    return folder


@pytest.fixture
def refused(capsys):
    """Run a command that must be refused; return its one line of explanation."""

    def command(*arguments):
        assert main([str(argument) for argument in arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert error.count("\n") == 1
        return error

    return command


def test_a_packed_file_in_a_store_hides_nothing_of_it(store):
    pack([make_record("adult")], store / "some.parquet")
    assert set(load_experiments(store).frame["dataset"]) == {"adult", "pima", "wilt"}


def test_each_place_must_hold_a_record(store, tmp_path, refused):
    (tmp_path / "empty").mkdir()
    pack([], tmp_path / "none.parquet")
    for place in ("empty", "typo", "none.parquet"):
        named = ["--records", store, "--records", tmp_path / place]
        assert f"no records in {tmp_path / place}; run some" in refused("status", *named)
    absent = tmp_path / "absent.parquet"
    assert f"there is no packed file {absent}" in refused("status", "--records", absent)


def test_the_folder_above_the_records_is_no_place_but_a_hint(store, refused):
    assert f"did you mean {store}?" in refused("status", "--records", store.parent)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (["--records", "nowhere"], "no records in nowhere"),
        (["--dataset", "nope"], "no record has dataset 'nope'; there are: pima, wilt"),
        (["--dataset", "pima", "--algorithm", "lof"], "no record fits all of the selection"),
    ],
)
def test_packing_nothing_leaves_the_old_file(store, tmp_path, refused, choice, message):
    file = tmp_path / "good.parquet"
    pack([make_record()], file)
    before = file.read_bytes()
    place = [] if "--records" in choice else ["--records", store]
    assert message in refused("pack", file, *place, *choice)
    assert file.read_bytes() == before


def test_what_no_command_would_read_is_not_packed(store, tmp_path, refused):
    assert "*.parquet" in refused("pack", tmp_path / "x.txt", "--records", store)
    assert not (tmp_path / "x.txt").exists()


def test_a_selection_of_a_store_is_packed_and_what_it_lacks_is_told(store, tmp_path, capsys):
    file = tmp_path / "p.parquet"
    choice = ["--algorithm", "lof,pyod_*", "--protocol", "paper"]
    assert main(["pack", str(file), "--records", str(store), *choice]) == 0
    assert [record.algorithm for record in read_packed(file)] == ["lof"]
    told = capsys.readouterr().out
    assert "no record has algorithm 'pyod_*'; there are: iforest, lof" in told
    assert "no record has protocol" not in told


def test_unpacking_where_no_command_would_look_is_refused(store, tmp_path, refused):
    file = tmp_path / "published" / "p.parquet"
    pack([make_record()], file)
    before = sorted(file.parent.iterdir())
    assert "folder of packed files (p.parquet)" in refused("unpack", file, "--records", file.parent)
    assert "is not" in refused("unpack", file, "--records", tmp_path / "b.parquet")
    (tmp_path / "text").write_text("")
    assert "is not" in refused("unpack", file, "--records", tmp_path / "text")
    assert sorted(file.parent.iterdir()) == before


def test_what_is_no_packed_file_is_named(store, tmp_path, refused):
    assert f"{store} is a folder" in refused("unpack", store, "--output", tmp_path / "new")
    (tmp_path / "text").write_text("")
    below = tmp_path / "text" / "p.parquet"
    assert "text: File exists" in refused("pack", below, "--records", store)
    assert "no packed file" in refused("unpack", below, "--output", tmp_path / "new")


def test_places_count_their_records(store, tmp_path):
    pack(RecordStore(store), tmp_path / "p.parquet")
    assert len(open_records(tmp_path / "p.parquet")) == 3
    assert len(open_records(store)) == 3
    assert len(list(open_records(store, tmp_path / "p.parquet"))) == 3


@pytest.mark.parametrize(
    ("choice", "remarks"),
    [
        (["--dataset", "wilt"], []),
        (["--algorithm", "lof,i*"], []),
        (
            ["--algorithm", "lof,nope", "--dataset", "wilt,ionosfere"],
            ["dataset 'ionosfere'; there are: pima, wilt", "algorithm 'nope'; there are: iforest"],
        ),
        (["--algorithm", "iforest,pyod_*"], ["algorithm 'pyod_*'; there are: iforest, lof"]),
        (
            ["--dataset", "pima", "--algorithm", "iforest,lof"],
            ["algorithm 'lof' and fits the rest of the selection"],
        ),
        (
            ["--protocol", "paper,paper(cap.drawn=once)"],
            ["protocol 'paper(cap.drawn=once)' and fits the rest"],
        ),
    ],
)
def test_each_name_or_pattern_that_matches_nothing_is_told(
    store, tmp_path, capsys, choice, remarks
):
    assert main(["status", "--records", str(store), "--output", str(tmp_path), *choice]) == 0
    told = capsys.readouterr().out.replace("\n", " ")
    assert told.count("no record has") == len(remarks)
    for remark in remarks:
        assert f"no record has {remark}" in told
