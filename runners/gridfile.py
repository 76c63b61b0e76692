"""``grid.json``: which experiments were asked for, beside the records of those that were run."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from results.records.files import write_atomically
from results.records.store import RecordStore
from runners.experiment import Cell
from runners.locks import FOLDER


def describe(cells: Sequence[Cell], output: Path, store: RecordStore) -> None:
    """Add the grid to ``grid.json``: what `python -m results status` holds the records against.

    Cells of earlier runs stay as long as they have a record. In a job of another launcher all
    stay: it knows one cell of a sweep only.
    """
    described: list[dict[str, Any]] = [
        {
            "dataset": cell.dataset,
            "algorithm": cell.algorithm,
            "variant": cell.variant,
            "setting": cell.setting,
            "protocol": cell.protocol,
            "seed": cell.seed,
            "keys": list(cell.keys),
        }
        for cell in cells
    ]
    path = output / "grid.json"
    with open(store.path / FOLDER / ".grid", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        job = "SUBMITIT_EXECUTOR" in os.environ
        merged: dict[str, dict[str, Any]] = {}
        for old in _read_grid(path):
            if job or store.locate(old["keys"]):
                merged[old["keys"][0]] = old
        for new in described:
            first = new["keys"][0]
            if first not in merged or len(merged[first]["keys"]) < len(new["keys"]):
                merged[first] = new
        text = json.dumps({"cells": list(merged.values())}, indent=1)
        write_atomically(path, text.encode())


def _read_grid(path: Path) -> list[dict[str, Any]]:
    try:
        return list(json.loads(path.read_bytes())["cells"])
    except (FileNotFoundError, ValueError, KeyError):
        return []  # a convenience, not a record: written anew
