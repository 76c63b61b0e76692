"""The paper's numbers, from ``results/published/goix2016``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent / "goix2016"
TABLES = {"novelty": "table2_novelty", "outlier": "tableS1_outlier"}


@cache
def datasets() -> pd.DataFrame:
    """Return Table 1, indexed by data set."""
    return pd.read_csv(FOLDER / "table1_datasets.csv", index_col="dataset")


@cache
def cells() -> pd.DataFrame:
    """Return Tables 2 and S1: setting, dataset, column and both areas (NaN where NA)."""
    parts = [
        pd.read_csv(FOLDER / f"{name}.csv").assign(setting=setting)
        for setting, name in TABLES.items()
    ]
    return pd.concat(parts, ignore_index=True).rename(
        columns={"algorithm": "column", "roc_auc": "roc_auc_curve", "pr_auc": "pr_auc_curve"}
    )


@cache
def averages() -> pd.DataFrame:
    """Return the average rows: setting, column, roc_auc_curve, pr_auc_curve."""
    return pd.read_csv(FOLDER / "averages.csv").rename(
        columns={"algorithm": "column", "roc_auc": "roc_auc_curve", "pr_auc": "pr_auc_curve"}
    )


@cache
def train_times() -> pd.DataFrame:
    """Return the rows of cumulative training times: setting, column, seconds (NaN where NA)."""
    return pd.read_csv(FOLDER / "train_times.csv").rename(
        columns={"algorithm": "column", "cumulative_train_seconds": "seconds"}
    )


@cache
def columns() -> pd.DataFrame:
    """Return which algorithm stands beside which column: setting, column, algorithm, as_run."""
    return pd.read_csv(FOLDER / "columns.csv")
