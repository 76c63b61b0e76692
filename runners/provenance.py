"""Provenance: with what code, versions and hardware a record was made."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from results.records.record import targets
from runners.isolation.zygote_process import thread_environment
from runners.own_code import own_code

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pandas",
    "pyarrow",
    "pyod",
    "joblib",
    "hydra-core",
)
#: What tells a library for which processor it shall compute. The last digits follow from it.
PROCESSOR_VARIABLES = (
    "OPENBLAS_CORETYPE",
    "BLIS_ARCH_TYPE",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "NPY_DISABLE_CPU_FEATURES",
    "NUMBA_CPU_NAME",
    "NUMBA_CPU_FEATURES",
)


def provenance(threads: int, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the provenance of an experiment that starts now on this machine.

    Parameters
    ----------
    threads : int
        Threads that an experiment may use.
    config : mapping, optional
        The resolved configuration. The versions of the packages that its targets lie in are added,
        and of those that the user's own modules import.
    """
    versions = dict(_versions())
    for package in () if config is None else _packages(tuple(targets(config))):
        if known := _version_of(package):
            versions.setdefault(*known)
    return {
        **_commit(),
        "versions": versions,
        **_machine(),
        "threads": thread_environment(threads),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@functools.cache
def _commit() -> dict[str, Any]:
    """Return the commit, and whether tracked files differ from it; None outside of git."""
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changed is None else bool(changed)}


def _git(*arguments: str) -> str | None:
    # A checkout of another user's is read all the same: nothing of it is executed.
    command = ["git", "-c", f"safe.directory={ROOT}", "--no-optional-locks", *arguments]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
        )
        return done.stdout.strip()
    return None


@functools.cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


@functools.cache
def _packages(named: tuple[str, ...]) -> tuple[str, ...]:
    return own_code(named).packages


@functools.cache
def _version_of(module: str) -> tuple[str, str] | None:
    """Return the name and version of the installed package that a top-level module belongs to."""
    for package in importlib.metadata.distributions():
        if _holds(package, module):
            return package.metadata["Name"], package.version
    return None


def _holds(package: importlib.metadata.Distribution, module: str) -> bool:
    # As importlib.metadata.packages_distributions() tells, which takes apart the list of files of
    # every package: an eighth of a second, against a hundredth for a search in its text.
    if declared := (package.read_text("top_level.txt") or "").split():
        return module in declared
    files = package.read_text("RECORD") or ""
    return re.search(rf"^{re.escape(module)}(/.*)?\.py,", files, re.MULTILINE) is not None


@functools.cache
def _machine() -> dict[str, Any]:
    chosen = [f"{name}={os.environ[name]}" for name in PROCESSOR_VARIABLES if name in os.environ]
    return {
        "cpu": ", ".join([_cpu_model(), *chosen]),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30), 1),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.lower().startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
