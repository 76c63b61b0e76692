"""A folder with a small grid, and what a run of it leaves behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from results.records.record import Record
from results.records.store import RecordStore

ROOT = Path(__file__).resolve().parents[2]
CONF = Path(__file__).parent / "conf"
_MARK = "OCRF_FAULTS"
_N_ROWS, _N_ABNORMAL = 120, 10
RUN_SECONDS = 900.0  # for a run of a small grid; a hang is a finding


class Sandbox:
    """Run the command line in a folder of its own and look at what is left.

    Parameters
    ----------
    folder : Path
        Empty; records go to its subfolder ``output`` unless `output` names another place.
    """

    def __init__(self, folder: Path, output: Path | None = None):
        self.folder = folder
        self.output = output or folder / "output"
        self.mark = uuid.uuid4().hex
        self.fits = folder / "fits.log"
        self.data = folder / "data.csv"
        self.path: Path | None = None  # a folder from which detectors are imported
        self.root = ROOT
        self.environment: dict[str, str] = {}
        self.prefix: list[str] = []  # of the command: who runs it
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        X = rng.standard_normal((_N_ROWS, 3))
        X[:_N_ABNORMAL] += 1.5
        labels = ["odd"] * _N_ABNORMAL + ["even"] * (_N_ROWS - _N_ABNORMAL)
        rows = [
            ",".join([*(f"{x:.6f}" for x in point), label])
            for point, label in zip(X, labels, strict=True)
        ]
        self.data.write_text("\n".join(["a,b,c,label", *rows]) + "\n")

    def arguments(self, *overrides: str) -> list[str]:
        """Return the arguments of a sweep over this folder's data, where not given otherwise."""
        usual = [
            *("dataset=custom", f"data.path={self.data}", "data.target=label"),
            *("data.anomalies=[odd]", "protocol=clean", "runner.progress=plain"),
            f"output={self.output}",
        ]
        given = {override.partition("=")[0] for override in overrides}
        usual = [override for override in usual if override.partition("=")[0] not in given]
        return ["--config-dir", str(CONF), "-m", *usual, *overrides]

    def start(
        self, *overrides: str, mended: bool = False, n_jobs: int | None = 2
    ) -> subprocess.Popen[str]:
        """Start a sweep over this folder's data."""
        environment = os.environ | {_MARK: self.mark, "OCRF_FITS": str(self.fits)}
        environment |= self.environment
        environment.pop("OCRF_MENDED", None)
        if self.path is not None:
            path = os.environ.get("PYTHONPATH", "")
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(self.path), path]))
        if mended:
            environment["OCRF_MENDED"] = str(self.data)
        jobs = [] if n_jobs is None else [f"runner.n_jobs={n_jobs}"]
        return subprocess.Popen(
            [*self.prefix, sys.executable, "-m", "runners", *self.arguments(*jobs, *overrides)],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *overrides: str, mended: bool = False, n_jobs: int | None = 2) -> Finished:
        """Run a sweep to its end."""
        return self.finish(self.start(*overrides, mended=mended, n_jobs=n_jobs))

    def results(self, *arguments: str) -> Finished:
        """Run a command of `results` on this folder's records, or on those that it names."""
        command = [sys.executable, "-m", "results", *arguments, "--output", str(self.output)]
        done = subprocess.run(
            command, cwd=self.root, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return Finished(done.returncode, done.stdout)

    def finish(self, process: subprocess.Popen[str]) -> Finished:
        """Wait for a sweep to end; one that hangs is killed, and its exit status says so."""
        try:
            output, _ = process.communicate(timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            output += f"\nstill running after {RUN_SECONDS:g} s"
        return Finished(process.returncode, output)

    def records(self) -> list[Record]:
        """Return the records there are."""
        return list(RecordStore(self.output / "records"))

    def latest(self) -> list[Record]:
        """Return the records that tables are made of: those on the latest version of the code."""
        return [
            record for record in self.records() if record.provenance.get("code") == self._code()
        ]

    def _code(self) -> str | None:
        """Return the digest of the code of the record that was made last."""
        by_time = sorted(self.records(), key=lambda record: record.provenance["finished"])
        code: str | None = by_time[-1].provenance.get("code")
        return code

    def statuses(self, algorithm: str | None = None) -> Counter[str]:
        """Count the records of an algorithm, or of all, by status."""
        records = self.records()
        return Counter(r.status for r in records if algorithm in (None, r.algorithm))

    def processes(self) -> list[int]:
        """Return the processes that descend from this folder's runs, however they detached."""
        marker = f"{_MARK}={self.mark}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            with contextlib.suppress(OSError):
                environment = Path(f"/proc/{entry}/environ").read_bytes()
                state = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[0]
                if marker in environment.split(b"\0") and state not in "ZX":
                    found.append(int(entry))
        return found

    def of_command(self, words: str) -> list[int]:
        """Return those of `processes` whose command line has `words` in it."""
        found = []
        for pid in self.processes():
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                if words in command:
                    found.append(pid)
        return found

    def left_behind(self, seconds: float = 60.0) -> int:
        """Return how many processes do not end by themselves, and kill them."""
        wait_for(lambda: not self.processes(), seconds)
        left = self.processes()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(left)

    def fit_count(self) -> int:
        """Return how many fits were begun."""
        return len(self.fits.read_text().splitlines()) if self.fits.exists() else 0

    def wait_for_fits(self, n: int) -> None:
        """Wait until so many fits were begun."""
        if not wait_for(lambda: self.fit_count() >= n):
            raise TimeoutError(f"only {self.fit_count()} of {n} fits began")


class Finished:
    """A run that ended: exit status and output."""

    def __init__(self, status: int, output: str):
        self.status, self.output = status, output

    def number(self, before: str) -> int:
        """Return the number that stands before some words in the output."""
        found = re.findall(rf"(\d+) {re.escape(before)}", self.output)
        if not found:
            raise LookupError(f"no {before!r} in the output:\n{self.output}")
        return int(found[-1])


def wait_for(condition: Callable[[], bool], seconds: float = RUN_SECONDS) -> bool:
    """Wait until a condition holds; say whether it did.

    The time allowed is for a busy machine: what is awaited takes moments on an idle one.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Findings:
    """What was seen, and what of it was not as expected."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.problems: list[str] = []

    def check(self, words: str, found: object, expected: object) -> None:
        """Note something that was looked at."""
        self.seen.append(f"{words} {found}")
        if found != expected:
            self.problems.append(f"{words} {found} instead of {expected}")

    def require(self, good: bool, words: str, otherwise: str) -> None:
        """Note whether something holds."""
        self.seen.append(words if good else otherwise)
        if not good:
            self.problems.append(otherwise)

    def after(self, sandbox: Sandbox, expected: dict[str, int], rerun: Sequence[str]) -> None:
        """See that nothing is left behind, and that a rerun completes the grid."""
        self.check("processes left", sandbox.left_behind(), 0)
        finished = sandbox.run(*rerun, mended=True, n_jobs=1)
        self.check("rerun: exit", finished.status, 0)
        found = dict(sandbox.statuses())
        self.require(found == expected, "grid complete", f"grid {found} instead of {expected}")


@contextlib.contextmanager
def tmpfs(path: Path, size: str) -> Iterator[None]:
    """Mount a small file system in memory; only root may.

    Raises
    ------
    PermissionError
        If that is not allowed here.
    """
    path.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], capture_output=True
    )
    if done.returncode:
        raise PermissionError("mounting a tmpfs needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@contextlib.contextmanager
def read_only_checkout(path: Path) -> Iterator[None]:
    """Show this checkout at another place, where it cannot be written to; only root may.

    Raises
    ------
    PermissionError
        If that is not allowed here.
    """
    path.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["mount", "--bind", str(ROOT), str(path)], capture_output=True).returncode:
        raise PermissionError("mounting a folder needs root")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(path)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def remount(path: Path, option: str) -> None:
    """Change a file system that `tmpfs` mounted."""
    subprocess.run(["mount", "-o", f"remount,{option}", str(path)], check=True)
