"""Records that are not wanted any more, and experiments that were asked for and never ran."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from results.cli import main
from results.records.frame import load_experiments
from results.records.grid_file import no_longer_ask, only_writer
from results.records.opening import PackedFile
from results.records.store import RecordStore
from tests.results.support import key_of, make_record, write_fast


@pytest.fixture
def folder(tmp_path):
    """Two finished cells, one failed one, and one that was asked for and has no record."""
    records = [make_record("pima", "lof", split=s, config={"n_splits": 2}) for s in range(2)]
    records += [make_record("pima", "mine", status="error", split=s) for s in range(2)]
    records += [make_record("wilt", "lof", split=0, config={"n_splits": 2})]
    write_fast(tmp_path / "records", records)
    cells = {}
    for record in records:
        cells.setdefault((record.dataset, record.algorithm), []).append(record.key)
    cells["glass", "lof"] = [key_of("glass", i) for i in range(2)]
    cells["wilt", "lof"] += [key_of("wilt", 1)]
    names = {"variant": "", "setting": "novelty", "protocol": "paper", "seed": 0}
    grid = [
        {"dataset": dataset, "algorithm": algorithm, "keys": keys} | names
        for (dataset, algorithm), keys in cells.items()
    ]
    (tmp_path / "grid.json").write_text(json.dumps({"cells": grid}))
    return tmp_path


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, " ".join(captured.out.split()), captured.err


def test_status_shows_what_was_asked_for_and_has_no_record(folder, capsys):
    status, out, _ = run(capsys, "status", "--output", folder)
    assert status == 0
    assert "glass 0/2 --" in out
    assert "wilt 1/2† --" in out
    assert "pima 2/2† 0/2" in out or "pima 2/2† err" in out
    assert "asked for and not run (paper, lof, novelty, seed 0; 2 of 2 splits): glass" in out
    assert "asked for and not run (paper, lof, novelty, seed 0; 1 of 2 splits): wilt" in out
    status, out, _ = run(capsys, "status", "--output", folder, "--dataset", "wilt")
    assert "glass" not in out


def test_status_counts_cells_that_tables_list_apart_by_themselves(tmp_path, capsys):
    """As two values of a key of the protocol leave them, both under its name in the grid."""
    cells = []
    for ratio in (0.1, 0.2):
        config = {"n_splits": 2, "protocol": {"name": "paper", "cap": {"ratio": ratio}}}
        records = [make_record("pima", "lof", split=split, config=config) for split in range(2)]
        write_fast(tmp_path / "records", records)
        names = {"variant": "", "setting": "novelty", "protocol": "paper", "seed": 0}
        names |= {"dataset": "pima", "algorithm": "lof"}
        cells.append(names | {"keys": [record.key for record in records]})
    (tmp_path / "grid.json").write_text(json.dumps({"cells": cells}))
    _, out, _ = run(capsys, "status", "--output", tmp_path)
    assert out.count("pima 2/2†") == 2


def test_status_shows_a_grid_of_which_nothing_was_run(folder, capsys):
    for path in (folder / "records").rglob("*.json"):
        path.unlink()
    status, out, _ = run(capsys, "status", "--output", folder)
    assert status == 0
    assert "novelty detection, protocol paper: 0 cells, 0 experiments finished" in out
    assert "glass 0/2" in out


def test_a_grid_that_is_not_one_is_refused_by_name(folder, capsys):
    (folder / "grid.json").write_text('{"cells": [{"dataset": 5}]}')
    status, _, err = run(capsys, "status", "--output", folder)
    assert status == 2
    assert f"{folder / 'grid.json'} does not hold a grid (cells.0.dataset: " in err


def test_a_grid_that_is_not_one_is_said_before_records_are_removed(folder, capsys):
    (folder / "grid.json").write_text("{")
    status, _, err = run(capsys, "forget", "--output", folder, "--dataset", "pima", "--yes")
    assert status == 2
    assert f"{folder / 'grid.json'} does not hold a grid" in err
    assert len(RecordStore(folder / "records")) == 5


def test_the_grid_is_changed_by_one_process_at_a_time(folder):
    """A run adds a cell while another process takes one out: both changes stay."""
    store, file = RecordStore(folder / "records"), folder / "grid.json"
    removed = {record.key for record in store if record.label == "mine"}
    for key in removed:
        store.remove(key)
    with ThreadPoolExecutor(1) as pool:
        with only_writer(store.path):
            taking = pool.submit(no_longer_ask, store.path, removed)
            cells = json.loads(file.read_text())["cells"]
            with pytest.raises(TimeoutError):
                taking.result(timeout=0.5)
            added = cells[0] | {"dataset": "vowels", "keys": [key_of("vowels", 0)]}
            file.write_text(json.dumps({"cells": [*cells, added]}))
        taking.result()
    kept = {(cell["dataset"], cell["algorithm"]) for cell in json.loads(file.read_text())["cells"]}
    assert kept == {("pima", "lof"), ("wilt", "lof"), ("glass", "lof"), ("vowels", "lof")}


@pytest.mark.parametrize(
    ("name", "left"), [("paper", 0.2), ("paper(cap.ratio=0.2)", 0.1), ("pape*", None)]
)
def test_protocols_are_forgotten_by_the_names_that_tables_show(tmp_path, capsys, name, left):
    for ratio, n in ((0.1, 3), (0.2, 2)):
        config = {"protocol": {"name": "paper", "cap": {"ratio": ratio}}}
        made = [make_record("pima", "lof", split=split, config=config) for split in range(n)]
        write_fast(tmp_path / "records", made)
    _, out, _ = run(capsys, "forget", "--output", tmp_path, "--protocol", name, "--yes")
    kept = {r.config["protocol"]["cap"]["ratio"] for r in RecordStore(tmp_path / "records")}
    assert kept == ({left} if left else set())
    assert f"removed { ({0.2: 3, 0.1: 2, None: 5}[left]) } records" in out


@pytest.mark.parametrize(("name", "ratio"), [("paper", 0.1), ("paper(cap.ratio=0.2)", 0.2)])
def test_protocols_are_packed_by_the_names_that_tables_show(tmp_path, capsys, name, ratio):
    for of, n in ((0.1, 3), (0.2, 2)):
        config = {"protocol": {"name": "paper", "cap": {"ratio": of}}}
        made = [make_record("pima", "lof", split=split, config=config) for split in range(n)]
        write_fast(tmp_path / "records", made)
    file = tmp_path / "some.parquet"
    run(capsys, "pack", file, "--output", tmp_path, "--protocol", name)
    assert {r.config["protocol"]["cap"]["ratio"] for r in PackedFile(file)} == {ratio}
    before = file.read_bytes()
    status, _, err = run(capsys, "pack", file, "--output", tmp_path, "--protocol", "paper(cap=1)")
    assert status == 2
    assert "no record is shown under the names asked for" in err
    assert file.read_bytes() == before


def test_forget_shows_and_removes_what_is_selected(folder, capsys):
    arguments = ["forget", "--output", folder, "--algorithm", "mine"]
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert "paper, novelty, pima, mine, seed 0: 2 error" in out
    assert "nothing was removed: --yes" in err
    status, out, _ = run(capsys, *arguments, "--yes")
    assert status == 0
    assert "removed 2 records" in out
    assert {record.label for record in RecordStore(folder / "records")} == {"lof"}
    assert not (folder / "records" / "pima" / "mine").exists()
    _, out, _ = run(capsys, "status", "--output", folder)
    assert "mine" not in out  # it is not asked for any more either
    assert "glass" in out


@pytest.mark.parametrize(("answer", "left"), [("y", 3), ("n", 5), ("", 5)])
def test_forget_asks(folder, capsys, monkeypatch, answer, left):
    monkeypatch.setattr("results.forget.sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: answer)
    assert run(capsys, "forget", "--output", folder, "--status", "error")[0] == 0
    assert len(RecordStore(folder / "records")) == left


def test_what_a_run_replaces_while_forget_asks_stays(folder, capsys, monkeypatch):
    store = RecordStore(folder / "records")
    first = next(record for record in store if record.status == "error")

    def answer(_question):
        store.put(make_record("pima", "mine", key=first.key, split=first.split))
        return "y"

    monkeypatch.setattr("results.forget.sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", answer)
    _, out, _ = run(capsys, "forget", "--output", folder, "--status", "error")
    assert "removed 1 records" in out
    assert store.get(first.key).status == "ok"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say which records to forget"),
        (("--status", "bad"), "unknown status 'bad'; there are: ok, timeout"),
        (("--status", "timeout"), "no selected record has status timeout"),
        (("--dataset", "pina"), "no record has dataset 'pina'; there are: pima, wilt"),
        (("--dataset", "pima(openml=1)"), "no record is shown under the names asked for"),
        (("--dataset", "pima", "--records", "x.parquet"), "forget removes records from one folder"),
    ],
)
def test_forget_refuses_what_makes_no_sense(folder, capsys, arguments, message):
    status, _, err = run(capsys, "forget", "--output", folder, *arguments, "--yes")
    assert status == 2
    assert message in err
    assert len(RecordStore(folder / "records")) == 5


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--dataset", "write --dataset once, with commas between names"),
        ("--precision", "write --precision once"),
    ],
)
def test_an_option_given_twice_is_refused(folder, capsys, option, words):
    """Of two, the last would be used, and `forget` would keep records without a word."""
    value = "2" if option == "--precision" else "pima"
    command = "tables" if option == "--precision" else "forget"
    with pytest.raises(SystemExit) as left:
        run(capsys, command, "--output", folder, option, value, option, value)
    assert left.value.code == 2
    assert f"argument {option}: given twice; {words}\n" in capsys.readouterr().err
    assert len(RecordStore(folder / "records")) == 5


def test_what_is_forgotten_is_what_tables_show_after_an_edit_is_undone(tmp_path, capsys):
    """The name goes to the configuration that a run asked for last, here as in tables."""
    cells = []
    for value, month, asked in ((0, "01", "2026-03"), (2, "02", "2026-02")):
        config = {"n_splits": 2, "algorithm": {"_target_": "own.Mine", "col": value}}
        records = [
            make_record(
                "pima",
                "mine",
                split=split,
                roc=0.5 + 0.1 * value,
                key=key_of("col", value, split),
                config=config,
                provenance={"started": f"2026-{month}"},
            )
            for split in range(2)
        ]
        write_fast(tmp_path / "records", records)
        names = {"dataset": "pima", "algorithm": "mine", "variant": "", "setting": "novelty"}
        names |= {"protocol": "paper", "seed": 0, "asked": asked}
        cells.append(names | {"keys": [record.key for record in records]})
    (tmp_path / "grid.json").write_text(json.dumps({"cells": cells}))
    shown = load_experiments(tmp_path / "records").frame.query("label == 'mine'")["key"]
    status, out, _ = run(capsys, "forget", "--output", tmp_path, "--algorithm", "mine()", "--yes")
    assert (status, "removed 2 records" in out) == (0, True)
    left = {record.key for record in RecordStore(tmp_path / "records")}
    assert set(shown) == {key_of("col", 0, split) for split in range(2)}
    assert left == {key_of("col", 2, split) for split in range(2)}
