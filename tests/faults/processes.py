"""Runs whose processes are killed, stopped or told to end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from tests.faults.sandbox import Findings, Sandbox, wait_for


def _begun(
    folder: Path, *overrides: str
) -> tuple[Sandbox, Findings, subprocess.Popen[str], tuple[str, ...]]:
    """Start a grid of eight slow experiments and wait until some have begun."""
    sandbox = Sandbox(folder)
    grid = ("algorithm=healthy", "setting=novelty,outlier", "n_splits=4", *overrides)
    process = sandbox.start(*grid, "algorithm.seconds=0.7")
    sandbox.wait_for_fits(3)
    return sandbox, Findings(), process, grid


def _complete(
    sandbox: Sandbox, findings: Findings, grid: tuple[str, ...], known: int, begun: int
) -> None:
    """See that a rerun completes a grid of eight and repeats what was in flight at most."""
    findings.check("processes left", sandbox.left_behind(), 0)
    finished = sandbox.run(*grid, "algorithm.seconds=0.7", mended=True, n_jobs=1)
    findings.check("rerun: exit", finished.status, 0)
    findings.check("kept", finished.number("recorded before,"), known)
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
    findings.check("repeated by a rerun", 8 - again.number("recorded before,"), 0)
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


def zygote_stopped(folder: Path) -> Findings:
    """Stop a worker process for good; the run goes on without it."""
    sandbox, findings = Sandbox(folder), Findings()
    grid = ("algorithm=healthy", "setting=novelty,outlier", "n_splits=4")
    options = ("algorithm.seconds=0.7", "runner.preparation_timeout=30", "seed=0,1")
    process = sandbox.start(*grid, *options)
    sandbox.wait_for_fits(2)
    zygotes = [
        pid for pid in sandbox.of_command("runners.isolation.zygote") if _parent(pid) == process.pid
    ]
    os.kill(zygotes[0], signal.SIGSTOP)
    finished = sandbox.finish(process)
    findings.check("exit", finished.status, 0)
    found = dict(sandbox.statuses())
    findings.require(found == {"ok": 16}, "grid complete", f"grid {found}\n{finished.output}")
    findings.check("processes left", sandbox.left_behind(), 0)
    return findings
