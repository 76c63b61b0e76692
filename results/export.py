"""One row per experiment, for whoever wants to compute something else."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from results.metrics import METRICS, USUAL_METRICS

#: The columns asked for first, then what tells rows apart and explains them.
COLUMNS = [
    "dataset",
    "algorithm",
    "setting",
    "protocol",
    "split",
    "status",
    *USUAL_METRICS,
    "fit_seconds",
    "score_seconds",
    "peak_memory_mb",
    "variant",
    "seed",
    "uses_labels",
    "reason",
]


def export_csv(frame: pd.DataFrame, path: Path) -> int:
    """Write the experiments to a CSV file, sorted, with all digits; return how many.

    Metrics that are not recorded under every protocol have a column where an experiment holds one.
    """
    order = ["dataset", "algorithm", "variant", "setting", "protocol", "seed", "split", "key"]
    after = COLUMNS.index(USUAL_METRICS[-1]) + 1
    further = [m for m in METRICS if m not in USUAL_METRICS and frame[m].notna().any()]
    rows = frame.sort_values(order)[[*COLUMNS[:after], *further, *COLUMNS[after:]]]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.to_csv(path, index=False, lineterminator="\n")
    return len(rows)
