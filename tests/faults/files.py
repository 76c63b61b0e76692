"""Runs whose files are full, damaged, shared, edited or wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.faults.sandbox import Findings, Sandbox, read_only_checkout, remount, tmpfs

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
        findings.check("kept", again.number("skipped as done before,"), known)
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


def _refused(folder: Path, *overrides: str, words: Sequence[str]) -> Findings:
    """See that a command is refused in one line, before anything is started."""
    sandbox, findings = Sandbox(folder), Findings()
    finished = sandbox.run("algorithm=healthy", *overrides)
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
    return _refused(
        folder, "algorithm=healthy,missing_class", words=["'no.such.Class' cannot be imported"]
    )


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


def checkout_read_only(folder: Path) -> Findings:
    """Run from a checkout that cannot be written to, without a home; kernels go elsewhere."""
    sandbox, findings = Sandbox(folder / "grid"), Findings()
    temporary = folder / "tmp"
    temporary.mkdir()
    sandbox.root = folder / "checkout"
    sandbox.environment = {
        "HOME": "/proc/none",  # where not even root can make a folder
        "XDG_CACHE_HOME": "/proc/none",
        "NUMBA_CACHE_DIR": "",
        "TMPDIR": str(temporary),
    }
    with read_only_checkout(sandbox.root):
        # Every kernel is compiled.
        options = ("algorithm=iforest", "n_splits=2", "runner.preparation_timeout=3600")
        finished = sandbox.run(*options, n_jobs=1)
        findings.check("exit", finished.status, 0)
        said = finished.output.count("NUMBA_CACHE_DIR")
        findings.check("advice given", said, 1)
        findings.check("records", dict(sandbox.statuses()), {"ok": 2})
        kept = len(list(temporary.glob("ocrf-kernels-*/*/*.nbc")))
        findings.require(kept > 0, "kernels kept elsewhere", f"no kernels: {finished.output}")
        findings.check("processes left", sandbox.left_behind(), 0)
    return findings


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
        findings.check("repeated", finished.number("skipped as done before,"), 0)
        areas = {r.split: r.metrics["roc_auc"] for r in sandbox.latest()}
        findings.check("splits", len(areas), n_splits)
        means.append(areas)
    flipped = all(abs(means[0][s] + means[1][s] - 1.0) < 1e-9 for s in means[0])
    findings.require(flipped, "all scores are the new code's", f"mixed: {means}")
    findings.check("processes left", sandbox.left_behind(), 0)
    return findings
