"""Records, packs and names are input: whatever they hold, each command ends with its tables."""

import json
import subprocess
import sys

import pytest

from results.aggregate import make_cells
from results.cli import main
from results.figures.bars import bar_chart
from results.figures.style import looks
from results.records.frame import from_records
from results.records.opening import PackedFile
from results.records.pack import PackError, pack, read_packed, unpack
from results.records.record import Record, RecordError, parse_record
from results.records.store import RecordStore
from tests.results.support import key_of, make_record, write_fast

COMMANDS = ["tables", "status", "compare", "departures", "provenance", "statistics"]
WRONG = [None, [], {}, "x", "", 5, -5, -0.5, True, [1], {"a": 1}, float("nan"), float("inf"), 1e400]
WRONG += [2**70, [{"a": -(2**64)}], "\ud800", {"\ud800": ["\ud800"]}, "a" * 3000]
FIELDS = [name for name in make_record().to_dict() if name not in ("format", "key", "curves")]
NESTED = [
    ("config", "n_splits"),
    ("config", "protocol"),
    ("config", "protocol", "metrics"),
    ("config", "dataset"),
    ("config", "algorithm"),
    ("config", "other"),
    ("curves", "roc"),
    ("provenance", "code"),
    ("limits", "timeout"),
    ("limits", "memory_limit_gb"),
    ("provenance", "versions"),
    ("provenance", "content"),
    ("provenance", "git"),
    ("provenance", "started"),
    ("provenance", "finished"),
    ("provenance", "threads"),
    ("provenance", "dirty"),
    ("counts", "n_train"),
    ("metrics", "roc_auc"),
]


def with_value(plain, path, value):
    if len(path) == 1:
        return plain | {path[0]: value}
    return plain | {path[0]: with_value(plain.get(path[0]) or {}, path[1:], value)}


def wrong_records():
    """One record for each field and each value of WRONG, with a key of its own."""
    for path in [*((name,) for name in FIELDS), *NESTED]:
        for number, value in enumerate(WRONG):
            record = make_record("pima", "lof", split=1, key=key_of(*path, number))
            yield path, value, with_value(record.to_dict(), path, value)


def test_commands_end_with_tables_whatever_the_fields_of_some_records_hold(tmp_path, capsys):
    good = [make_record(d, a) for d in ("pima", "wilt") for a in ("iforest", "lof")]
    write_fast(tmp_path / "records", good)
    folder = tmp_path / "records" / "pima" / "lof"
    for number, (_, _, plain) in enumerate(wrong_records()):
        (folder / f"novelty-paper-s0-{number}-{plain['key'][:16]}.json").write_text(
            json.dumps(plain)
        )
    for command in COMMANDS:
        status, error = main([command, "--output", str(tmp_path)]), capsys.readouterr().err
        # Among them are some whose algorithm is not what its file says: no judgement on those.
        refused = command == "compare" and "do not measure the same as goix2016" in error
        assert status == (2 if refused else 0), error
    assert main(["export", str(tmp_path / "e.csv"), "--output", str(tmp_path)]) == 0
    assert main(["pack", str(tmp_path / "p.parquet"), "--output", str(tmp_path)]) == 0
    assert "left out, unreadable" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("config",), None, "config: "),
        (("metrics",), [], "metrics: "),
        (("fit_seconds",), "x", "fit_seconds: "),
        (("fit_seconds",), -1.0, "fit_seconds: "),
        (("seed",), [1], "seed: "),
        (("seed",), "/../../../x", "seed: "),
        (("seed",), True, "seed: "),
        (("split",), 2**40, "split: "),
        (("algorithm",), ["a"], "algorithm: "),
        (("algorithm",), "../a", "algorithm: '../a' holds '/'"),
        (("dataset",), "a\\b", "holds"),
        (("dataset",), "a\nb", "holds"),
        (("dataset",), "\udce9", "not a character"),
        (("reason",), 5, "reason: "),
        (("status",), "fine", "status: 'fine' is none of ok, timeout"),
        (("metrics", "roc_auc"), float("nan"), "metrics.roc_auc: "),
        (("metrics", "roc_auc"), -5, "metrics: roc_auc is -5.0, not from 0 to 1"),
        (("metrics", "f2"), 0.5, "metrics: 'f2' is none of roc_auc"),
        (("counts", "n_rows"), 5, "counts: 'n_rows' is none of"),
        (("config", "protocol", "metrics"), ["f2"], "config.protocol.metrics.0: 'f2' is none of"),
        (("config", "n_splits"), 0, "config.n_splits: "),
        (("limits", "timeout"), "long", "limits.timeout: "),
        (("curves",), {"third": "AA=="}, "curves.third"),
        (("curves", "roc"), "x", "curves.roc: a curve is damaged"),
        (("curves", "roc"), "AAAA", "curves.roc: a curve is damaged"),
        (("variant",), "a" * 3000, "variant: "),
        (("config", "a"), [{"b": 2**70}], "config.a.0.b: a whole number beyond 64 bits"),
        (("fit_seconds",), 2**70, "fit_seconds: a whole number beyond 64 bits"),
        (("config", "a"), json.loads("[" * 60 + "]" * 60), "nested more than 50 levels deep"),
    ],
)
def test_the_place_and_what_is_wrong_there_are_named(path, value, message):
    text = json.dumps(with_value(make_record().to_dict(), path, value))
    with pytest.raises(RecordError) as caught:
        parse_record(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"seed": 1' + "0" * 5000 + "}", "null", "5", ""])
def test_text_that_is_not_a_record_is_refused(text):
    with pytest.raises(RecordError, match="not"):
        parse_record(text)


@pytest.mark.parametrize("plain", [[], None, "x", 5])
def test_what_is_not_a_group_of_fields_is_not_a_record(plain):
    with pytest.raises(RecordError, match="not a JSON object"):
        Record.from_dict(plain)


def test_lone_surrogates_are_written_out_wherever_they_stand():
    record = make_record(provenance={"git": {"\udce9": ["\udce9"]}}, config={"a": "\udce9"})
    assert record.provenance["git"] == {r"\udce9": [r"\udce9"]}
    again = parse_record(json.dumps(record.to_dict() | {"provenance": {"git": "\udce9"}}))
    assert (again.config["a"], again.provenance) == (r"\udce9", {"git": r"\udce9"})


def pack_with(tmp_path, monkeypatch, **changes):
    """A pack of two records, the second of which holds changed fields."""
    good, bad = make_record("pima"), make_record("wilt")
    file = tmp_path / "p.parquet"
    original = type(bad).to_dict
    monkeypatch.setattr(
        type(bad),
        "to_dict",
        lambda self: original(self) | (changes if self.dataset == "wilt" else {}),
    )
    pack([good, bad], file)
    monkeypatch.undo()
    return file


def test_unpack_writes_nowhere_but_into_its_folder(tmp_path, monkeypatch, capsys):
    file = pack_with(tmp_path, monkeypatch, seed="/../../../x")
    store = tmp_path / "deep" / "er" / "records"
    assert main(["unpack", str(file), "--records", str(store)]) == 0
    assert "row 2: seed: " in capsys.readouterr().out.replace("\n", " ")
    written = set(tmp_path.rglob("*.json"))
    assert [path.is_relative_to(store / "pima") for path in written] == [True]


@pytest.mark.parametrize("name", ["..", ".", "...", "-", "~", "con", "a" * 300])
def test_names_of_folders_stay_below_the_store(tmp_path, name):
    store = RecordStore(tmp_path / "records")
    record = make_record(name, name, setting=name, protocol=name, variant="x=/../../y")
    path = store.put(record)
    assert path.resolve().is_relative_to((tmp_path / "records").resolve())
    assert path.parent.parent.parent == tmp_path / "records"
    assert list(store) == [record]


def test_a_bad_row_of_a_pack_is_left_out_and_named(tmp_path, monkeypatch, capsys):
    file = pack_with(tmp_path, monkeypatch, metrics=[])
    packed = PackedFile(file)
    assert [record.dataset for record in packed] == ["pima"]
    ((named, why),) = packed.unreadable
    assert named == file
    assert why.startswith("row 2: metrics: ")
    with pytest.raises(PackError, match="row 2: metrics: "):
        list(read_packed(file))
    left_out = []
    counts = unpack(file, RecordStore(tmp_path / "s"), left_out)
    assert counts["added"] == len(left_out) == 1
    assert main(["tables", "--records", str(file), "--output", str(tmp_path)]) == 0
    assert "left out, unreadable" in capsys.readouterr().out


NAMES = [
    "=1+1",
    "+x",
    "-x",
    "@x",
    "[1] glass",
    "[bold]x",
    "\u2265 \u03b3 漢",
    "$a$ $",
    "_x",
    "a&b|c%",
    "#~^",
]


@pytest.mark.parametrize("command", ["tables", "status", "statistics", "departures", "export"])
def test_no_name_is_taken_for_a_formula_or_for_markup(tmp_path, capsys, command):
    write_fast(
        tmp_path / "records",
        (make_record(name, a, split=s) for name in NAMES for a in ("lof", "LOF") for s in (0, 1)),
    )
    arguments = [str(tmp_path / "e.csv")] if command == "export" else []
    assert main([command, *arguments, "--output", str(tmp_path)]) == 0
    if command in ("tables", "status"):
        printed = capsys.readouterr().out
        assert all(name in printed for name in NAMES)
    for file in tmp_path.rglob("*.csv"):
        lines = file.read_text().splitlines()
        assert not [line for line in lines if line[0] in "=@+-"], file
    if command == "export":
        assert "\n'=1+1," in (tmp_path / "e.csv").read_text()


def test_algorithms_that_would_print_alike_are_told_apart(tmp_path):
    labels = ["lof", "LOF", "iforest", "iForest"]
    write_fast(
        tmp_path / "records",
        (
            make_record(d, a, roc=0.5 + i / 100, split=s)
            for i, a in enumerate(labels)
            for d in ("pima", "wilt", "glass")
            for s in range(2)
        ),
    )
    for command in ("tables", "statistics", "figures", "compare", "status", "report"):
        assert main([command, "--output", str(tmp_path)]) == 0
    text = (tmp_path / "tables" / "table2_novelty.md").read_text()
    for name in ("LOF ROC", "LOF, own ROC", "iForest ROC", "iForest, own ROC"):
        assert text.count(f"| {name} ") + text.count(f" {name} |") >= 1


def run(arguments, **options):
    command = f'"{sys.executable}" -m results {arguments}'
    return subprocess.run(command, shell=True, capture_output=True, check=False, **options)


def test_output_that_cannot_be_printed_or_written_is_replaced_dropped_or_named(tmp_path):
    write_fast(tmp_path / "records", [make_record("漢", a) for a in ("lof", "iforest")])
    place = f"--output {tmp_path}"
    ascii_only = run(f"tables {place}", env={"PYTHONIOENCODING": "ascii", "PATH": ""})
    assert (ascii_only.returncode, ascii_only.stderr) == (0, b"")
    for redirection in (">&-", "| true", "2>&- >&-"):
        (tmp_path / "tables" / "table2_novelty.md").unlink()
        ended = run(f"tables {place} {redirection}")
        assert (ended.returncode, ended.stderr) == (0, b""), redirection
        assert (tmp_path / "tables" / "table2_novelty.md").exists()
    full = run(f"tables {place} > /dev/full")
    assert full.returncode == 2
    assert full.stderr == b"error: standard output: No space left on device\n"


def test_a_full_disk_is_reported_with_the_file_which_stays_as_it_was(tmp_path, monkeypatch, capsys):
    write_fast(tmp_path / "records", [make_record()])
    assert main(["tables", "--output", str(tmp_path)]) == 0
    before = {p: p.read_bytes() for p in tmp_path.rglob("table*") if p.is_file()}

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("results.records.files.os.fsync", full)
    capsys.readouterr()
    for arguments in (
        ["tables"],
        ["export", str(tmp_path / "e.csv")],
        ["pack", f"{tmp_path}/p.parquet"],
    ):
        assert main([*arguments, "--output", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"error: {tmp_path}/")
        assert error.endswith(": No space left on device\n")
    assert {p: p.read_bytes() for p in tmp_path.rglob("table*") if p.is_file()} == before
    assert not list(tmp_path.rglob("*.tmp"))


def test_figures_take_any_name(tmp_path):
    records = [make_record(d, a) for d in ("$a$ $", "_x") for a in ("$x^$", "_mine", "[1] lof")]
    write_fast(tmp_path / "records", records)
    assert main(["figures", "--output", str(tmp_path)]) == 0
    figure = bar_chart(
        make_cells(from_records(records).frame),
        ["$x^$", "_mine"],
        looks(["$x^$", "_mine"]),
        ["roc_auc"],
    )
    assert [text.get_text().strip() for text in figure.legends[0].get_texts()] == ["$x^$", "_mine"]
