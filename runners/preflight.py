"""What must hold before a grid begins, so that nothing is found out after an hour."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from results.records.files import write_atomically
from runners.experiment import Cell, Limits
from runners.isolation.messages import Check, Load
from runners.isolation.pool import POOL
from runners.locks import FOLDER
from runners.own_folders import CONF
from runners.progress import MODES
from runners.summary import UsageError

BACKENDS: Final = ("threads", "dask")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _positive(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value > 0


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


_RULES: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "n_splits": ("a whole number, at least 1", lambda v: _whole(v) and v >= 1),
    "timeout": ("a positive number of seconds", _positive),
    "seed": ("a whole number, at least 0", lambda v: _whole(v) and v >= 0),
    "allow_labels": ("true or false", _boolean),
    "output": ("the name of a folder", lambda v: isinstance(v, str) and v.strip() != ""),
    "runner.backend": (f"one of {', '.join(BACKENDS)}", lambda v: v in BACKENDS),
    "runner.n_jobs": ("a whole number other than 0 (-1: all cores)", lambda v: _whole(v) and v),
    "runner.threads_per_experiment": (
        "a whole number, at least 1",
        lambda v: _whole(v) and v >= 1,
    ),
    "runner.memory_limit_gb": ("null or a positive number", lambda v: v is None or _positive(v)),
    "runner.run_all_splits": ("true or false", _boolean),
    "runner.retry": ("null, failed or all", lambda v: v in (None, "failed", "all")),
    "runner.preparation_timeout": ("a positive number of seconds", _positive),
    "runner.keep_scores": ("true or false", _boolean),
    "runner.scheduler": ("null or an address", lambda v: v is None or isinstance(v, str)),
    "runner.progress": (f"one of {', '.join(MODES)}", lambda v: v in MODES),
}


def check_options(cells: Iterable[Cell]) -> None:
    """Check what the runner itself reads; algorithms and data sets check their own parameters.

    Raises
    ------
    UsageError
        Naming the first setting that is wrong, and what would be right.
    """
    for cell in cells:
        for name in cell.config["runner"]:
            if f"runner.{name}" not in _RULES:
                known = ", ".join(rule.removeprefix("runner.") for rule in _RULES if "." in rule)
                raise UsageError(f"runner has no option {name!r}; it has {known}")
        for name, (words, holds) in _RULES.items():
            if name == "runner.scheduler" and "scheduler" not in cell.config["runner"]:
                continue
            value: Any = cell.config
            for part in name.split("."):
                value = value[part]
            if not holds(value):
                raise UsageError(f"{name} must be {words}, got {value!r}")


def check_inputs(cells: Iterable[Cell]) -> None:
    """Try the algorithms and data sets that are not the project's own as they are.

    A class is imported and constructed, a file is loaded, each in a process of its own and before
    the kernels are compiled: what is wrong with them is found out before the first experiment.

    Raises
    ------
    UsageError
        With what is wrong with the first one.
    """
    tried: set[str] = set()
    for cell in cells:
        for check, name in _checks(cell):
            if (identity := repr(check)) in tried:
                continue
            tried.add(identity)
            limits = Limits.from_config(cell.config)
            with POOL.lend(limits.threads, cell.data_key) as worker:
                problem = worker.check(check, limits)
            if problem:
                raise UsageError(f"{name}: {problem}" if name else problem)


def _checks(cell: Cell) -> Iterator[tuple[Check, str]]:
    known = (CONF / "algorithm" / f"{cell.algorithm}.yaml").is_file()
    if cell.code is not None or cell.variant or not known:
        yield Check(algorithm=cell.config["algorithm"]), f"algorithm {cell.label}"
    if cell.content is not None:
        yield Check(data=Load(cell.config["dataset"], cell.config.get("data"))), ""


def check_writable(path: Path) -> None:
    """Check that records can be written below a folder.

    Raises
    ------
    UsageError
        If they cannot.
    """
    probe = path / FOLDER / f".probe.{uuid.uuid4().hex[:8]}"
    try:
        write_atomically(probe, b"probe")
        probe.unlink()
    except OSError as error:
        raise UsageError(
            f"the record store cannot be written, so nothing was run: {path}: {error.strerror}; "
            "output=FOLDER names another place"
        ) from error
