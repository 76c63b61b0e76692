"""Runs and results at places that cannot be written, or not by everybody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.faults.sandbox import Findings, Sandbox, read_only_checkout, tmpfs

_NOWHERE = "/proc/none"  # where not even root can make a folder
_NO_CACHE = {"HOME": _NOWHERE, "XDG_CACHE_HOME": _NOWHERE, "NUMBA_CACHE_DIR": ""}
_NOBODY = 65534
# Every kernel is compiled.
_PATIENT = "runner.preparation_timeout=3600"


def checkout_read_only(folder: Path) -> Findings:
    """Run from a checkout that cannot be written to, without a home; kernels go elsewhere."""
    temporary = folder / "tmp"
    temporary.mkdir()
    findings = _run_there(folder, temporary, "algorithm=iforest,oneclassrf")
    kept = len(list(temporary.glob("ocrf-kernels-*/*/*.nbc")))
    findings.require(kept > 0, "kernels kept elsewhere", "no kernels")
    return findings


def no_cache(folder: Path) -> Findings:
    """Let kernels be kept nowhere: others could write to the folder below the temporary one."""
    temporary = folder / "tmp"
    shared = temporary / f"ocrf-kernels-{os.getuid()}"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    findings = _run_there(folder, temporary, "algorithm=oneclassrf")
    findings.check("kernels kept", len(list(shared.rglob("*.nb?"))), 0)
    return findings


def _run_there(folder: Path, temporary: Path, algorithms: str) -> Findings:
    sandbox, findings = Sandbox(folder / "grid"), Findings()
    sandbox.root = folder / "checkout"
    sandbox.environment = _NO_CACHE | {"TMPDIR": str(temporary)}
    with read_only_checkout(sandbox.root):
        finished = sandbox.run(algorithms, "n_splits=1", _PATIENT, n_jobs=1)
        findings.check("exit", finished.status, 0)
        findings.check("advice given", finished.output.count("NUMBA_CACHE_DIR"), 1)
        n = algorithms.count(",") + 1
        found = dict(sandbox.statuses())
        findings.require(found == {"ok": n}, f"records {n}", f"{found}: {finished.output}")
        findings.check("processes left", sandbox.left_behind(), 0)
    return findings


def another_user(folder: Path) -> Findings:
    """Run as a user who has no home and owns nothing but the output folder; only root may."""
    prefix = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    # The command itself may be started with root's rights: what counts is whether it starts others.
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"
    reachable = [*prefix, sys.executable, "-c", f"import numpy, runners; {child}"]
    sandbox, findings = Sandbox(folder), Findings()
    if subprocess.run(reachable, cwd=sandbox.root, capture_output=True).returncode:
        raise PermissionError("another user needs root, and an interpreter that all can read")
    for path in (folder.parent, folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o055)
    sandbox.output.mkdir()
    os.chown(sandbox.output, _NOBODY, _NOBODY)
    sandbox.prefix = prefix
    sandbox.environment = _NO_CACHE | {"TMPDIR": str(sandbox.output), "OCRF_FITS": ""}
    finished = sandbox.run("algorithm=oneclassrf,healthy", "n_splits=1", _PATIENT)
    findings.check("exit", finished.status, 0)
    found = dict(sandbox.statuses())
    findings.require(found == {"ok": 2}, "grid complete", f"{found}: {finished.output}")
    owners = {path.stat().st_uid for path in (sandbox.output / "records").rglob("*")}
    findings.check("owners", owners, {_NOBODY})
    findings.check("processes left", sandbox.left_behind(), 0)
    return findings


def disk_full_for_results(folder: Path) -> Findings:
    """Write tables to a disk that is full; the file is named, and none is cut short."""
    findings = Findings()
    disk = folder / "disk"
    with tmpfs(disk, "16k"):
        sandbox = Sandbox(folder / "grid", output=disk / "output")
        (disk / "filler").write_bytes(b"x" * 12_000)
        finished = sandbox.results("tables", "--records", "results/runs/trials")
        findings.check("exit", finished.status, 2)
        words = "No space left on device"
        said = str(disk) in finished.output and words in finished.output
        findings.require(said, "file named", f"not said: {finished.output}")
        tables = disk / "output" / "tables"
        cut = [p.name for p in tables.glob("*") if not p.read_bytes().endswith(b"\n")]
        findings.check("cut short", cut, [])
    return findings
