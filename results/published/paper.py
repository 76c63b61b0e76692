"""The paper's own numbers, and what it prints beside the two tables of results."""

from __future__ import annotations

from functools import cache

import pandas as pd

from results.published.publication import SHIPPED, Publication, load_publication

NAME = "goix2016"
FOLDER = SHIPPED / NAME
#: File names of the tables of results, by setting.
TABLES = {"novelty": "table2_novelty", "outlier": "tableS1_outlier"}


@cache
def publication() -> Publication:
    """Return Tables 2 and S1 as a publication like any other."""
    return load_publication(NAME)


@cache
def cells() -> pd.DataFrame:
    """Return Tables 2 and S1: setting, dataset, column and both areas (NaN where NA)."""
    values = publication().values
    keys = ["setting", "dataset", "column"]
    wide = values.set_index([*keys, "metric"])["published"].unstack("metric")
    order = pd.MultiIndex.from_frame(values[keys].drop_duplicates())
    return wide.reindex(order)[list(publication().metrics)].rename_axis(columns=None).reset_index()


@cache
def columns() -> pd.DataFrame:
    """Return which algorithm stands beside which column: setting, column, algorithm, as_run."""
    found = publication()
    rows = [
        (setting, column, algorithm, algorithm == algorithms[0])
        for setting in found.description.settings
        for column in found.columns
        for algorithms in [found.description.algorithms_of(column, setting)]
        for algorithm in algorithms
    ]
    return pd.DataFrame(rows, columns=["setting", "column", "algorithm", "as_run"])


@cache
def datasets() -> pd.DataFrame:
    """Return Table 1, indexed by data set."""
    return pd.read_csv(FOLDER / "table1_datasets.csv", index_col="dataset")


@cache
def train_times() -> pd.DataFrame:
    """Return the rows of cumulative training times: setting, column, seconds (NaN where NA)."""
    return pd.read_csv(FOLDER / "train_times.csv").rename(
        columns={"algorithm": "column", "cumulative_train_seconds": "seconds"}
    )
