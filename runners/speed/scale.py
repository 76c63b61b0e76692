"""Scale and start-up: how time and memory grow with the data, and what the first call costs."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from runners.speed.child import run

N_FEATURES = 10


def sizes(largest: int) -> list[int]:
    """Return 10^4, 10^5, ... up to ``largest``."""
    return [10**k for k in range(4, int(math.log10(largest)) + 1)]


def measure_scale(n_rows: Sequence[int], n_jobs: int, seed: int) -> list[dict[str, Any]]:
    """Fit and score each size in a process of its own."""
    return [
        run(
            {
                "measure": "grow",
                "n_rows": n,
                "n_features": N_FEATURES,
                "n_jobs": n_jobs,
                "seed": seed,
            }
        )
        for n in n_rows
    ]


# A forest of fewer rows is not small beside them.
FEWEST_ROWS = 10**5

_OF_MEMORY = ("n_rows", "n_features", "n_jobs", "input_mb", "fit_peak_mb", "forest_mb")


def measure_memory(
    n_rows: Sequence[int], n_jobs: Sequence[int], repeats: int, seed: int
) -> list[dict[str, Any]]:
    """Measure what fits take beyond the forest, relative to the input: medians of processes."""
    table = []
    for n in (n for n in n_rows if n >= FEWEST_ROWS):
        for threads in n_jobs:
            runs = [measure_scale([n], threads, seed + i)[0] for i in range(repeats)]
            needs = [run["fit_need_over_input"] for run in runs]
            middle = sorted(runs, key=lambda run: float(run["fit_need_over_input"]))[repeats // 2]
            row = {column: middle[column] for column in _OF_MEMORY}
            over_input = {"need_over_input": statistics.median(needs), "highest": max(needs)}
            table.append({**row, "repeats": repeats, **over_input})
    return table


def slope(rows: Sequence[dict[str, Any]], column: str) -> float:
    """Return the slope of the logarithm of a time against that of the number of rows."""
    x = np.log([row["n_rows"] for row in rows])
    y = np.log([row[column] for row in rows])
    return float(np.polyfit(x, y, 1)[0])


def measure_start(repeats: int, seed: int) -> list[dict[str, Any]]:
    """Time the first calls of a process without and with compiled code on disk (medians)."""
    task = {"measure": "start", "seed": seed}
    with tempfile.TemporaryDirectory() as cache:
        # numba compiles anew into an empty folder, and the processes after it find the code there.
        cold = run(task, NUMBA_CACHE_DIR=cache)
        warm = [run(task, NUMBA_CACHE_DIR=cache) for _ in range(repeats)]
    return [
        {"cache": "cold", **cold},
        {"cache": "warm", **{key: statistics.median(w[key] for w in warm) for key in warm[0]}},
    ]
