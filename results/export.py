"""One row per experiment, for whoever wants to compute something else."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

#: The columns asked for first, then what tells rows apart and explains them.
COLUMNS = [
    "dataset",
    "algorithm",
    "setting",
    "protocol",
    "split",
    "status",
    "roc_auc",
    "average_precision",
    "roc_auc_curve",
    "pr_auc_curve",
    "fit_seconds",
    "score_seconds",
    "peak_memory_mb",
    "variant",
    "seed",
    "uses_labels",
    "reason",
]


def export_csv(frame: pd.DataFrame, path: Path) -> int:
    """Write the experiments to a CSV file, sorted, with all digits; return how many."""
    order = ["dataset", "algorithm", "variant", "setting", "protocol", "seed", "split", "key"]
    rows = frame.sort_values(order)[COLUMNS]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.to_csv(path, index=False, lineterminator="\n")
    return len(rows)
