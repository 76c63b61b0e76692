"""Runs whose files are full, damaged, shared, edited or wrong."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from results.records.pack import pack
from tests.faults.sandbox import Findings, Sandbox, remount, tmpfs

_ODD = (
    {"config": None},
    {"metrics": []},
    {"fit_seconds": "x"},
    {"seed": [1]},
    {"algorithm": ["a"]},
    {"reason": 5},
    {"metrics": {"roc_auc": -5.0}},
    {"dataset": "../../elsewhere"},
)


def disk_full(folder: Path) -> Findings:
    """Fill up the disk; the run stops and says so."""
    findings = Findings()
    disk = folder / "disk"
    with tmpfs(disk, "100k"):
        sandbox = Sandbox(folder / "grid", output=disk / "output")
        grid = ("algorithm=healthy", "setting=novelty,outlier", "n_splits=15")
        finished = sandbox.run(*grid)
        findings.check("exit", finished.status, 3)
        said = "No space left on device" in finished.output
        findings.require(said, "said so", f"not said: {finished.output}")
        known = len(sandbox.records())
        findings.require(0 < known < 30, f"{known} of 30 records kept", f"{known} records")
        findings.check("processes left", sandbox.left_behind(), 0)
        remount(disk, "size=50m")
        again = sandbox.run(*grid, n_jobs=1)
        findings.check("rerun: exit", again.status, 0)
        findings.check("kept", again.number("recorded before,"), known)
        found = dict(sandbox.statuses())
        findings.require(found == {"ok": 30}, "grid complete", f"grid {found}")
    return findings


def store_read_only(folder: Path) -> Findings:
    """Make the record store read-only; nothing is run."""
    findings = Findings()
    disk = folder / "disk"
    with tmpfs(disk, "10m"):
        sandbox = Sandbox(folder / "grid", output=disk / "output")
        remount(disk, "ro")
        finished = sandbox.run("algorithm=healthy", "n_splits=2")
        findings.check("exit", finished.status, 2)
        said = "the record store cannot be written" in finished.output
        findings.require(said, "said so", f"not said: {finished.output}")
        findings.check("fits", sandbox.fit_count(), 0)
        remount(disk, "rw")
        findings.after(sandbox, {"ok": 2}, ("algorithm=healthy", "n_splits=2"))
    return findings


def two_runs(folder: Path) -> Findings:
    """Two runs of one grid at once share the work."""
    sandbox, findings = Sandbox(folder), Findings()
    grid = ("algorithm=healthy", "algorithm.seconds=0.5", "setting=novelty,outlier", "n_splits=6")
    runs = [sandbox.start(*grid, n_jobs=1) for _ in range(2)]
    for run in runs:
        findings.check("exit", sandbox.finish(run).status, 0)
    findings.check("fits of 12 experiments:", sandbox.fit_count(), 12)
    findings.check("processes left", sandbox.left_behind(), 0)
    found = dict(sandbox.statuses())
    findings.require(found == {"ok": 12}, "grid complete", f"grid {found}")
    return findings


def records_damaged(folder: Path) -> Findings:
    """Cut a record short, and put values of other kinds into others; each is run again."""
    sandbox, findings = Sandbox(folder), Findings()
    n = len(_ODD) + 3
    grid = ("algorithm=healthy", f"n_splits={n}")
    sandbox.run(*grid, n_jobs=1)
    cut, *odd = sorted((sandbox.output / "records").rglob("*-s0-*.json"))[: len(_ODD) + 1]
    whole = cut.read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    for path, values in zip(odd, _ODD, strict=True):
        path.write_text(json.dumps(json.loads(path.read_text()) | values))
    finished = sandbox.run(*grid, n_jobs=1)
    findings.check("exit", finished.status, 0)
    findings.check("not named", [p.name for p in (cut, *odd) if str(p) not in finished.output], [])
    findings.check("repeated", sandbox.fit_count() - n, len(_ODD) + 1)
    findings.check("processes left", sandbox.left_behind(), 0)
    found = dict(sandbox.statuses())
    findings.require(found == {"ok": n}, "grid complete", f"grid {found}")
    return findings


def _refused(
    folder: Path, *overrides: str, algorithm: str = "healthy", words: Sequence[str]
) -> Findings:
    """See that a command is refused in one line, before anything is started."""
    sandbox, findings = Sandbox(folder), Findings()
    finished = sandbox.run(f"algorithm={algorithm}", *overrides)
    findings.check("exit", finished.status, 2)
    for part in words:
        said = part in finished.output
        findings.require(said, f"said {part!r}", f"{part!r} not said: {finished.output}")
    findings.check("lines", len(finished.output.splitlines()), 1)
    findings.check("fits", sandbox.fit_count(), 0)
    findings.check("records", len(sandbox.records()), 0)
    findings.check("processes left", sandbox.left_behind(), 0)
    return findings


def missing_class(folder: Path) -> Findings:
    """Name a class that does not exist; nothing is run."""
    words = ["'no.such.Class' cannot be imported"]
    return _refused(folder, algorithm="healthy,missing_class", words=words)


def text_column(folder: Path) -> Findings:
    """Give a file with a column of text; nothing is run, and no kernel compiled."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "text.csv"
    table.write_text("a,b,label\n" + "".join(f"{i},x{i % 3},{i % 2}\n" for i in range(40)))
    return _refused(folder / "grid", f"data.path={table}", "data.anomalies=[1]", words=["'b'"])


def shadowed_name(folder: Path) -> Findings:
    """Give a data set a name that the project has; nothing is run."""
    path = folder / "mine" / "dataset" / "pima.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("name: pima\npath: pima.csv\n")
    search = f"hydra.searchpath=[file://{folder / 'mine'}]"
    return _refused(folder / "grid", search, words=[str(path), "conf/dataset/pima.yaml"])


_OWN = """
from tests.faults.detectors import Healthy

class Own(Healthy):
    def spoil(self, scores):
        return {sign}scores
"""


def edited_code(folder: Path) -> Findings:
    """Edit a class between two runs; no score of the old one is left among the new ones."""
    sandbox, findings = Sandbox(folder), Findings()
    code = folder / "code"
    (code / "algorithm").mkdir(parents=True)
    (code / "algorithm" / "own.yaml").write_text("_target_: own_detector.Own\n")
    sandbox.path = code
    grid = ("algorithm=own", f"hydra.searchpath=[file://{code}]")
    means = []
    for sign, n_splits in (("", 2), ("-", 4)):
        (code / "own_detector.py").write_text(_OWN.format(sign=sign))
        finished = sandbox.run(*grid, f"n_splits={n_splits}", n_jobs=1)
        findings.check("exit", finished.status, 0)
        findings.check("repeated", finished.number("recorded before,"), 0)
        areas = {r.split: r.metrics["roc_auc"] for r in sandbox.latest()}
        findings.check("splits", len(areas), n_splits)
        means.append(areas)
    flipped = all(abs(means[0][s] + means[1][s] - 1.0) < 1e-9 for s in means[0])
    findings.require(flipped, "all scores are the new code's", f"mixed: {means}")
    findings.check("processes left", sandbox.left_behind(), 0)
    return findings


def replaced_data(folder: Path) -> Findings:
    """Replace a file of data between two runs; no experiment on the old one is left in tables."""
    sandbox, findings = Sandbox(folder), Findings()
    sandbox.run("algorithm=healthy", "n_splits=2", n_jobs=1)
    lines = sandbox.data.read_text().splitlines()
    sandbox.data.write_text("\n".join(lines[:-1]) + "\n")
    finished = sandbox.run("algorithm=healthy", "n_splits=3", n_jobs=1)
    findings.check("exit", finished.status, 0)
    findings.check("kept", finished.number("recorded before,"), 0)
    tables = sandbox.results("tables")
    said = (
        "left out 2 experiments on another version of the file than that of the latest run"
        in tables.output
    )
    findings.require(said, "left out of tables", f"not said: {tables.output}")
    findings.check("processes left", sandbox.left_behind(), 0)
    return findings


def hostile_pack(folder: Path) -> Findings:
    """Damage the records of a pack; what is wrong is named, and nothing is written elsewhere."""
    around, folder = folder, folder / "one" / "two"
    sandbox, findings = Sandbox(folder), Findings()
    sandbox.run("algorithm=healthy", "n_splits=2", n_jobs=1)
    [whole, _] = sandbox.records()
    packed = folder / "pack.parquet"
    pack([whole], packed)
    table = pq.read_table(packed)
    [row] = table.to_pylist()
    plain = json.loads(row["record"])
    bomb = b"\x02" + zlib.compress(bytes(100 << 20), 9)
    rows = [row | {"record": json.dumps(plain | odd)} for odd in _HOSTILE]
    rows += [row | {"curve_roc": bomb}, row]
    # A text that is longer than any record is refused with its pack, before one is read.
    large = [row | {"record": " " * (100 << 20)}, row]
    pq.write_table(pa.Table.from_pylist(large, table.schema), packed)
    refused = sandbox.results("tables", "--records", str(packed))
    findings.check("100 MB of text: exit", refused.status, 2)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), packed)
    for command in ("tables", "status"):
        read = sandbox.results(command, "--records", str(packed))
        findings.check(f"{command}: exit", read.status, 0)
        findings.check("named", read.output.count("left out, unreadable"), len(rows) - 1)
    store = sandbox.output / "unpacked"
    done = sandbox.results("unpack", str(packed), "--records", str(store))
    findings.check("unpack: exit", done.status, 0)
    findings.check("unpacked", len(list(store.rglob("*.json"))), 1)
    beyond = [path for path in around.rglob("*.json") if folder not in path.parents]
    findings.check("written elsewhere", beyond, [])
    return findings


_HOSTILE = (
    {"seed": "/../../../x"},
    {"dataset": "../x"},
    {"metrics": {"roc_auc": float("nan")}},
    {"metrics": {"roc_auc": float("inf")}},
    {"dataset": "caf\udce9"},
    {"counts": []},
    {"config": {"protocol": {"metrics": ["no_such"]}}},
)


def names_not_utf8(folder: Path) -> Findings:
    """Give a data set a name with a byte that is not UTF-8; nothing is run."""
    return _refused(folder, 'dataset.name="caf\udce9"', words=["'caf\\udce9' holds"])
