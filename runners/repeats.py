"""``python -m runners.repeats``: how many test rows stand in the training part as well.

The shares are means over the splits of the clean protocol, which keeps repeated rows, and are
written as CSV: one row per data set and setting.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets import Dataset, DataUnavailable, Split, load, make_split
from datasets.command import carried_out
from datasets.configuration import compose, published_names
from results.options import Parser

SETTINGS = ("novelty", "outlier")
PROTOCOL = "clean"
COLUMNS = ("dataset", "setting", "splits", "normal", "anomalies")
_DIGITS = 4


def repeated(split: Split) -> tuple[float, float]:
    """Return the shares of normal test rows and of test anomalies that stand in train as well."""
    known = set(_rows(split.X_train))
    found = np.array([row in known for row in _rows(split.X_test)])
    return float(found[split.y_test == 0].mean()), float(found[split.y_test == 1].mean())


def _rows(X: NDArray[np.float64]) -> list[bytes]:
    # Adding 0 makes -0.0 and 0.0 the same bytes.
    return [row.tobytes() for row in np.ascontiguousarray(X) + 0.0]


def shares(
    dataset: Dataset, setting: str, protocol: dict[str, Any], n_splits: int
) -> tuple[float, float]:
    """Return both shares, means over the splits of seed 0.

    Parameters
    ----------
    dataset : Dataset
        All rows, as :func:`datasets.load` returns them.
    setting : {"novelty", "outlier"}
        Whether the training part holds anomalies.
    protocol : dict
        As composed from `conf/protocol`.
    n_splits : int
        How many splits.
    """
    how = {"anomalies_in_train": setting == "outlier"}
    splits = (
        make_split(dataset, setting=how, protocol=protocol, seed=0, split=i)
        for i in range(n_splits)
    )
    normal, anomalies = zip(*map(repeated, splits), strict=True)
    return float(np.mean(normal)), float(np.mean(anomalies))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table; return 1 if the rows of a data set are not at hand."""
    parser = Parser(prog="python -m runners.repeats", description=__doc__)
    parser.add_argument("--data", nargs="+", default=published_names(), metavar="NAME")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--file", type=Path, default=Path("output/repeated_rows.csv"))
    options = parser.parse_args(arguments)
    return carried_out(lambda: _write(options))


def _write(options: argparse.Namespace) -> int:
    rows, absent = [], []
    for name in options.data:
        # Which rows there are depends on the protocol: shuttle's may be repeated as published.
        composed = compose([f"dataset={name}", f"protocol={PROTOCOL}"])
        try:
            dataset = load(composed["dataset"], composed["data"])
        except DataUnavailable as error:
            absent.append(f"{name}: {error}")
            continue
        for setting in SETTINGS:
            found = shares(dataset, setting, composed["protocol"], options.splits)
            rows.append([name, setting, options.splits, *(f"{v:.{_DIGITS}f}" for v in found)])
    options.file.parent.mkdir(parents=True, exist_ok=True)
    with options.file.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    print(f"wrote {options.file}")
    for text in absent:
        print(f"left out: {text}", file=sys.stderr)
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
