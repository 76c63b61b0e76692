"""What must hold before a grid begins, so that nothing is found out after an hour."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from datasets.errors import UsageError
from datasets.own_folders import CONF
from results.records.files import write_atomically
from runners.experiment import Cell, Limits
from runners.isolation.messages import Check, Load
from runners.isolation.pool import POOL
from runners.locks import FOLDER


def check_inputs(cells: Iterable[Cell]) -> None:
    """Try the algorithms, data sets and splitters that are not the project's own as they are.

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
    if "_target_" in (cell.config["protocol"].get("cut") or {}):
        yield Check(protocol=cell.config["protocol"]), f"protocol {cell.protocol}"


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
