"""The experiments that a run is asked for are added to ``grid.json``.

`results.records.grid_file` has its format. `python -m results status` reads it, and so knows cells
without a record; all commands read when a cell was last asked for. A file that holds no grid is
written anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from results.records.files import write_atomically
from results.records.grid_file import GridError, grid_file, only_writer, read_grid
from results.records.store import RecordStore
from runners.experiment import Cell


def describe(cells: Sequence[Cell], store: RecordStore) -> None:
    """Add the cells of a grid to ``grid.json``.

    Cells of earlier runs stay as long as they have a record. In a job of another launcher, which
    has one cell of a sweep, all stay.
    """
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    described: list[dict[str, Any]] = [
        {
            "dataset": cell.dataset,
            "algorithm": cell.algorithm,
            "variant": cell.variant,
            "setting": cell.setting,
            "protocol": cell.protocol,
            "seed": cell.seed,
            "asked": now,
            "keys": list(cell.keys),
        }
        for cell in cells
    ]
    path = grid_file(store.path)
    with only_writer(store.path):
        job = "SUBMITIT_EXECUTOR" in os.environ
        merged: dict[str, dict[str, Any]] = {}
        for old in _read_grid(path):
            if job or store.locate(old["keys"]):
                merged[old["keys"][0]] = old
        for new in described:
            first = new["keys"][0]
            known = merged[first]["keys"] if first in merged else []
            merged[first] = new | {"keys": max(known, new["keys"], key=len)}
        text = json.dumps({"cells": list(merged.values())}, indent=1)
        write_atomically(path, text.encode())


def _read_grid(path: Path) -> list[dict[str, Any]]:
    try:
        return [cell.model_dump() for cell in read_grid(path)] if path.is_file() else []
    except GridError:
        return []
