"""What can go wrong with a run: what is done to it, and what must be seen afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.files import (
    disk_full,
    edited_code,
    hostile_pack,
    missing_class,
    names_not_utf8,
    records_damaged,
    replaced_data,
    shadowed_name,
    store_read_only,
    text_column,
    two_runs,
)
from tests.faults.places import (
    another_user,
    checkout_read_only,
    disk_full_for_results,
    no_cache,
)
from tests.faults.processes import (
    dask_worker_killed,
    interrupted,
    interrupted_twice,
    parent_killed,
    terminated,
    worker_killed,
    zygote_stopped,
)
from tests.faults.sandbox import Findings, Sandbox

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
        findings.check("repeated by a rerun", n - again.number("recorded before,"), 0)
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
    "full disk for results": ("names the file, exit 2", disk_full_for_results),
    "read-only checkout": ("runs, with one advice", checkout_read_only),
    "no cache of kernels": ("runs, with one advice", no_cache),
    "another user": ("runs", another_user),
    "two runs at once": ("each experiment run once", two_runs),
    "damaged records": ("named, and run again", records_damaged),
    "stopped worker": ("the run goes on", zygote_stopped),
    "hostile pack": ("named, and left out", hostile_pack),
    "edited code": ("run again", edited_code),
    "replaced data": ("run again", replaced_data),
    "missing class": ("does not begin, exit 2", missing_class),
    "column of text": ("does not begin, exit 2", text_column),
    "shadowed name": ("does not begin, exit 2", shadowed_name),
    "name that is not UTF-8": ("does not begin, exit 2", names_not_utf8),
}
