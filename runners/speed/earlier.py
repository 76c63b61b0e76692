"""OneClassRF beside that of an earlier checkout, on the same data in turn.

Seconds of the processors, each fit and scoring in a process of its own; the two checkouts take
turns in coming first.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runners.speed.child import run
from runners.speed.scale import N_FEATURES
from runners.speed.wide import WIDE


def shapes(largest: int) -> list[tuple[int, int]]:
    """Return the rows and features of the data: wide, and as many rows as the scale table has."""
    return [WIDE, (largest, N_FEATURES)]


def ratios(
    ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]], part: str
) -> dict[str, float]:
    """Return the median, the lowest and the highest of the pairs' ratios, ours over theirs."""
    found = [a[f"{part}_seconds"] / b[f"{part}_seconds"] for a, b in zip(ours, theirs, strict=True)]
    return {
        f"{part}_ratio": statistics.median(found),
        f"{part}_lowest": min(found),
        f"{part}_highest": max(found),
    }


def compare(
    folder: Path, shape: tuple[int, int], n_jobs: int, n_pairs: int, seed: int
) -> dict[str, Any]:
    """Time both checkouts on clustered data of a shape.

    Returns
    -------
    row : dict
        Ratios below 1 say that this checkout is faster; ``same_scores``, whether the scores of all
        pairs are the same to the last bit.
    """
    n_rows, n_features = shape
    size = {"n_rows": n_rows, "n_features": n_features, "n_jobs": n_jobs}
    ours, theirs = [], []
    for pair in range(n_pairs):
        task = {"measure": "time", **size, "seed": seed + pair}
        if pair % 2:
            theirs.append(run(task, folder))
        ours.append(run(task))
        if not pair % 2:
            theirs.append(run(task, folder))
    same = all(a["scores"] == b["scores"] for a, b in zip(ours, theirs, strict=True))
    parts = {**ratios(ours, theirs, "fit"), **ratios(ours, theirs, "score")}
    return {**size, "pairs": n_pairs, **parts, "same_scores": same}
