"""What can go wrong with a run: what is done to it, and what must be seen afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.sandbox import Findings, Sandbox, read_only_checkout, remount, tmpfs, wait_for

TIMEOUT = 3.0
MEMORY_LIMIT_GB = 0.3
_N_SPLITS = 2


@dataclass(frozen=True)
class Detectors:
    """A misbehaving detector, and the outcome that its experiments must have."""

    name: str
    status: str
    reason: str  # part of the record's reason
    second: str | None = None  # the status of the second split, if it differs


DETECTORS: Final = {
    fault.name: fault
    for fault in (
        Detectors("healthy", "ok", ""),
        Detectors("spins_in_numba", "timeout", "fitting took longer", "skipped"),
        Detectors("slow_to_score", "timeout", "scoring took longer", "skipped"),
        Detectors("forks_children", "timeout", "fitting took longer", "skipped"),
        Detectors("ignores_signals", "timeout", "fitting took longer", "skipped"),
        Detectors("stops_itself", "timeout", "fitting took longer", "skipped"),
        Detectors("leaves_children", "ok", ""),
        Detectors("prints_much", "ok", ""),
        Detectors("allocates", "memory", f"fitting exceeded {MEMORY_LIMIT_GB:g} GiB"),
        Detectors("allocates_at_once", "memory", "Unable to allocate 1.00 TiB"),
        Detectors("refuses_memory", "memory", "would need 512.0 GB"),
        Detectors("segfaults", "crashed", "killed by SIGSEGV while fitting"),
        Detectors("aborts", "crashed", "killed by SIGABRT while fitting"),
        Detectors("exits", "crashed", "exited with status 0 while fitting"),
        Detectors("kills_its_parent", "crashed", "worker died"),
        Detectors("raises", "error", "RuntimeError: the matrix is singular"),
        Detectors("system_exits", "error", "SystemExit: enough"),
        Detectors("returns_nan", "error", "scores not finite: 20 NaN"),
        Detectors("returns_infinity", "error", "scores not finite: 0 NaN, 1 infinite"),
        Detectors("returns_too_few", "error", "returned shape (59,), expected (60,)"),
        Detectors("returns_equal", "error", "all 60 scores are equal"),
        Detectors("wants_labels", "error", "asks for the labels"),
    )
}


def misbehaving(*names: str) -> Callable[[Path], Findings]:
    """Return a scenario: these detectors and a healthy one, on one small grid."""

    def scenario(folder: Path) -> Findings:
        sandbox, findings = Sandbox(folder), Findings()
        algorithms = list(dict.fromkeys([*names, "healthy"]))
        grid = (
            f"algorithm={','.join(algorithms)}",
            f"n_splits={_N_SPLITS}",
            f"runner.memory_limit_gb={MEMORY_LIMIT_GB}",
        )
        finished = sandbox.run(*grid, f"timeout={TIMEOUT}", n_jobs=1)
        for name in algorithms:
            _look_at(sandbox, DETECTORS[name], findings)
        failed = any(DETECTORS[n].status not in ("ok", "timeout") for n in algorithms)
        findings.check("exit", finished.status, int(failed))
        findings.check("processes left", sandbox.left_behind(), 0)

        again = sandbox.run(*grid, f"timeout={TIMEOUT}", n_jobs=1)
        n = len(algorithms) * _N_SPLITS
        findings.check("repeated by a rerun", n - again.number("skipped as done before,"), 0)
        sandbox.run(
            *grid,
            "allow_labels=true",
            "timeout=60",
            "runner.retry=failed",
            mended=True,
            n_jobs=1,
        )
        statuses = {name: dict(sandbox.statuses(name)) for name in algorithms}
        left = {k: v for k, v in statuses.items() if v != {"ok": _N_SPLITS}}
        findings.require(not left, "complete once mended", f"not mended: {left}")
        return findings

    return scenario


def _look_at(sandbox: Sandbox, fault: Detectors, findings: Findings) -> None:
    records = sorted(
        (r for r in sandbox.records() if r.algorithm == fault.name), key=lambda r: r.split
    )
    expected = sorted([fault.status] * (_N_SPLITS - 1) + [fault.second or fault.status])
    found = sorted(record.status for record in records)
    name = f"{fault.name}:"
    findings.check(name, "/".join(found), "/".join(expected))
    for record in records:
        if record.status == fault.status and fault.reason not in (record.reason or ""):
            findings.require(False, "", f"{name} reason {record.reason!r}, not {fault.reason!r}")
        if record.status == "memory" and fault.name == "allocates":
            peak = (record.peak_memory_mb or 0) / 1024
            good = MEMORY_LIMIT_GB <= peak < MEMORY_LIMIT_GB + 0.2
            findings.require(good, f"peak {peak:.2f} GiB", f"{name} peak {peak:.2f} GiB")
        if record.status == "ok" and record.peak_memory_mb is None:
            findings.require(False, "", f"{name} no peak memory")
        if record.status == "error" and not record.traceback:
            findings.require(False, "", f"{name} no traceback")


def _begun(
    folder: Path, *overrides: str, fits: int = 3, output: Path | None = None
) -> tuple[Sandbox, Findings, subprocess.Popen[str], tuple[str, ...]]:
    """Start a grid of eight slow experiments and wait until some have begun."""
    sandbox = Sandbox(folder, output)
    grid = ("algorithm=healthy", "setting=novelty,outlier", "n_splits=4", *overrides)
    process = sandbox.start(*grid, "algorithm.seconds=0.7")
    sandbox.wait_for_fits(fits)
    return sandbox, Findings(), process, grid


def _complete(
    sandbox: Sandbox, findings: Findings, grid: tuple[str, ...], known: int, begun: int
) -> None:
    """See that a rerun completes a grid of eight and repeats what was in flight at most."""
    findings.check("processes left", sandbox.left_behind(), 0)
    finished = sandbox.run(*grid, "algorithm.seconds=0.7", mended=True, n_jobs=1)
    findings.check("rerun: exit", finished.status, 0)
    findings.check("kept", finished.number("skipped as done before,"), known)
    repeated = sandbox.fit_count() - 8
    findings.require(
        0 <= repeated <= begun - known,
        f"{repeated} in flight repeated",
        f"{repeated} repeated, {begun - known} were in flight",
    )
    found = dict(sandbox.statuses())
    findings.require(found == {"ok": 8}, "grid complete", f"grid {found}")


def parent_killed(folder: Path) -> Findings:
    """Kill -9 of the runner."""
    sandbox, findings, process, grid = _begun(folder)
    process.kill()
    process.communicate()
    wait_for(lambda: not sandbox.processes())
    known, begun = len(sandbox.records()), sandbox.fit_count()
    _complete(sandbox, findings, grid, known, begun)
    return findings


def worker_killed(folder: Path) -> Findings:
    """Kill -9 of a worker process; the runner starts another one."""
    sandbox, findings, process, _ = _begun(folder)
    # The zygotes are those whose parent is the runner; the others were forked by them.
    zygotes = [
        pid for pid in sandbox.of_command("runners.isolation.zygote") if _parent(pid) == process.pid
    ]
    os.kill(zygotes[0], signal.SIGKILL)
    finished = sandbox.finish(process)
    findings.check("exit", finished.status, 0)
    found = dict(sandbox.statuses())
    findings.require(found == {"ok": 8}, "grid complete", f"grid {found}")
    findings.check("processes left", sandbox.left_behind(), 0)
    return findings


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def dask_worker_killed(folder: Path) -> Findings:
    """Kill -9 of a Dask worker; its experiment is begun anew on another one."""
    sandbox, findings, process, grid = _begun(folder, "runner=dask")
    zygotes = sandbox.of_command("runners.isolation.zygote")
    # The runner has a zygote of its own, in which it tries the user's classes.
    workers = {_parent(pid) for pid in zygotes} - {*zygotes, process.pid}
    os.kill(min(workers), signal.SIGKILL)
    finished = sandbox.finish(process)
    findings.check("exit", finished.status, 0)
    found = dict(sandbox.statuses())
    findings.require(found == {"ok": 8}, "grid complete", f"grid {found}\n{finished.output}")
    findings.check("processes left", sandbox.left_behind(), 0)
    again = sandbox.run(*grid[:3], "algorithm.seconds=0.7")
    findings.check("repeated by a rerun", 8 - again.number("skipped as done before,"), 0)
    return findings


def interrupted(folder: Path) -> Findings:
    """Ctrl-C: what runs is finished, and the run says what is left."""
    sandbox, findings, process, grid = _begun(folder)
    process.send_signal(signal.SIGINT)
    finished = sandbox.finish(process)
    findings.check("exit", finished.status, 128 + signal.SIGINT)
    known, begun = len(sandbox.records()), sandbox.fit_count()
    findings.check("in flight and finished", known, begun)
    findings.check("said to be left", finished.number("left;"), 8 - known)
    _complete(sandbox, findings, grid, known, begun)
    return findings


def interrupted_twice(folder: Path) -> Findings:
    """Ctrl-C twice: the run ends now."""
    return _ended_now(folder, signal.SIGINT, signal.SIGINT)


def terminated(folder: Path) -> Findings:
    """SIGTERM: the run ends now."""
    return _ended_now(folder, signal.SIGTERM)


def _ended_now(folder: Path, *numbers: signal.Signals) -> Findings:
    sandbox, findings = Sandbox(folder), Findings()
    process = sandbox.start("algorithm=healthy", "algorithm.seconds=3600", "n_splits=2")
    sandbox.wait_for_fits(1)
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.3)  # two signals at the same moment are one
    # The experiments would sleep for an hour: a run that ends has not waited for them.
    finished = sandbox.finish(process)
    findings.check("exit", finished.status, 128 + numbers[-1])
    findings.check("records", len(sandbox.records()), 0)
    rerun = ("algorithm=healthy", "algorithm.seconds=3600", "n_splits=2")
    findings.after(sandbox, {"ok": 2}, rerun)
    return findings


def disk_full(folder: Path) -> Findings:
    """Fill up the disk; the run stops and says so."""
    findings = Findings()
    disk = folder / "disk"
    with tmpfs(disk, "160k"):
        sandbox = Sandbox(folder / "grid", output=disk / "output")
        grid = ("algorithm=healthy", "setting=novelty,outlier", "n_splits=30")
        finished = sandbox.run(*grid)
        findings.check("exit", finished.status, 3)
        said = "No space left on device" in finished.output
        findings.require(said, "said so", f"not said: {finished.output}")
        known = len(sandbox.records())
        findings.require(0 < known < 60, f"{known} of 60 records kept", f"{known} records")
        findings.check("processes left", sandbox.left_behind(), 0)
        remount(disk, "size=50m")
        again = sandbox.run(*grid, n_jobs=1)
        findings.check("rerun: exit", again.status, 0)
        findings.check("kept", again.number("skipped as done before,"), known)
        found = dict(sandbox.statuses())
        findings.require(found == {"ok": 60}, "grid complete", f"grid {found}")
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
    findings.after(sandbox, {"ok": 12}, grid)
    findings.check("fits after a rerun:", sandbox.fit_count(), 12)
    return findings


def record_corrupted(folder: Path) -> Findings:
    """Cut a record short; it is named, and its experiment run again."""
    sandbox, findings = Sandbox(folder), Findings()
    grid = ("algorithm=healthy", "n_splits=4")
    sandbox.run(*grid, n_jobs=1)
    path = next((sandbox.output / "records").rglob("*-s0-2-*.json"))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    finished = sandbox.run(*grid, n_jobs=1)
    findings.check("exit", finished.status, 0)
    findings.require(str(path) in finished.output, "named", f"not named: {finished.output}")
    findings.check("repeated", sandbox.fit_count() - 4, 1)
    findings.after(sandbox, {"ok": 4}, grid)
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


def zygote_stopped(folder: Path) -> Findings:
    """Stop a worker process for good; the run goes on without it."""
    sandbox, findings = Sandbox(folder), Findings()
    grid = ("algorithm=healthy", "setting=novelty,outlier", "n_splits=4")
    options = ("algorithm.seconds=0.7", "runner.preparation_timeout=30", "seed=0,1")
    sandbox.run("algorithm=healthy", "n_splits=1", "seed=7")  # in which kernels may be compiled
    process = sandbox.start(*grid, *options)
    sandbox.wait_for_fits(2)
    zygotes = [
        pid for pid in sandbox.of_command("runners.isolation.zygote") if _parent(pid) == process.pid
    ]
    os.kill(zygotes[0], signal.SIGSTOP)
    finished = sandbox.finish(process)
    findings.check("exit", finished.status, 0)
    found = dict(sandbox.statuses())
    findings.require(found == {"ok": 17}, "grid complete", f"grid {found}\n{finished.output}")
    findings.check("processes left", sandbox.left_behind(), 0)
    return findings


def record_odd(folder: Path) -> Findings:
    """Put values of other kinds into records; they are named, and their experiments run again."""
    sandbox, findings = Sandbox(folder), Findings()
    grid = ("algorithm=healthy", f"n_splits={len(_ODD)}")
    sandbox.run(*grid, n_jobs=1)
    paths = sorted((sandbox.output / "records").rglob("*-s0-*.json"))
    for path, odd in zip(paths, _ODD, strict=True):
        path.write_text(json.dumps(json.loads(path.read_text()) | odd))
    finished = sandbox.run(*grid, n_jobs=1)
    findings.check("exit", finished.status, 0)
    named = [path for path in paths if str(path) in finished.output]
    findings.check("named", len(named), len(paths))
    findings.check("repeated", sandbox.fit_count() - len(paths), len(paths))
    findings.after(sandbox, {"ok": len(paths)}, grid)
    return findings


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


SCENARIOS: Final[Mapping[str, tuple[str, Callable[[Path], Findings]]]] = {
    **{
        name: (
            f"{fault.status}{', then ' + fault.second if fault.second else ''}; the rest ok",
            misbehaving(name),
        )
        for name, fault in DETECTORS.items()
        if name != "healthy"
    },
    "kill -9 of the runner": ("nothing lost but what was in flight", parent_killed),
    "kill -9 of a worker": ("the run goes on", worker_killed),
    "kill -9 of a Dask worker": ("the run goes on", dask_worker_killed),
    "Ctrl-C": ("finishes what runs, exit 130", interrupted),
    "Ctrl-C twice": ("ends now, exit 130", interrupted_twice),
    "SIGTERM": ("ends now, exit 143", terminated),
    "full disk": ("stops with a message, exit 3", disk_full),
    "read-only store": ("does not begin, exit 2", store_read_only),
    "read-only checkout": ("runs, with one advice", checkout_read_only),
    "two runs at once": ("each experiment run once", two_runs),
    "corrupted record": ("named, and run again", record_corrupted),
    "records of odd values": ("named, and run again", record_odd),
    "stopped worker": ("the run goes on", zygote_stopped),
    "edited code": ("run again", edited_code),
    "missing class": ("does not begin, exit 2", missing_class),
    "column of text": ("does not begin, exit 2", text_column),
    "shadowed name": ("does not begin, exit 2", shadowed_name),
}
