"""``python -m runners.missing``: where splits should send rows that lack the value they compare.

Values are removed from the data sets at hand, from all rows or from anomalies only, and forests are
compared by ROC AUC on the same splits: OneClassRF under each rule, after imputing medians, and
scikit-learn's IsolationForest under its own rule and after imputing medians.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from datasets import DataUnavailable, load, make_split
from datasets.command import carried_out
from datasets.configuration import compose, published_names
from ocrf import OneClassRF
from results.options import Parser

Floats = NDArray[np.float64]

SHARES = (0.05, 0.2, 0.5)
PATTERNS = ("all rows", "anomalies")
SETTINGS = ("novelty", "outlier")


class _Better(OneClassRF):
    """The direction that decreases the proxy more, stored at each split."""

    _missing_rule = "better"


class _Majority(OneClassRF):
    """The child with more of the points that have a value, stored at each split."""

    _missing_rule = "majority"


def _imputed(forest: Any) -> Any:
    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), forest)


METHODS: dict[str, Callable[[int], Any]] = {
    "proportion": lambda seed: OneClassRF(random_state=seed),
    "majority": lambda seed: _Majority(random_state=seed),
    "better": lambda seed: _Better(random_state=seed),
    "median": lambda seed: _imputed(OneClassRF(random_state=seed)),
    "IsolationForest": lambda seed: IsolationForest(random_state=seed),
    "IsolationForest, median": lambda seed: _imputed(IsolationForest(random_state=seed)),
}


def remove(
    X: Floats, y: NDArray[Any], share: float, pattern: str, rng: np.random.Generator
) -> Floats:
    """Return a copy in which a share of the values is missing, of all rows or of anomalies."""
    gone = rng.random(X.shape) < share
    if pattern == "anomalies":
        gone &= (y == 1)[:, None]
    return np.where(gone, np.nan, X)


def sample(y: NDArray[Any], largest: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return at most so many rows: the anomalies, up to half of them, and drawn normal rows."""
    anomalies = rng.permutation(np.flatnonzero(y == 1))[: largest // 2]
    normal = rng.permutation(np.flatnonzero(y == 0))[: largest - len(anomalies)]
    return np.concatenate([anomalies, normal])


def experiments(names: Sequence[str], splits: int, largest: int) -> Iterator[dict[str, Any]]:
    """Yield the ROC AUCs of the methods for each data set, setting, pattern, share and split."""
    for name in names:
        for setting in SETTINGS:
            groups = compose([f"dataset={name}", f"setting={setting}", "protocol=clean", "seed=0"])
            dataset = load(groups["dataset"], groups["data"])
            for split in range(splits):
                parts = make_split(
                    dataset,
                    setting=groups["setting"],
                    protocol=groups["protocol"],
                    seed=0,
                    split=split,
                )
                for pattern in PATTERNS:
                    for share in SHARES:
                        rng = np.random.default_rng([split, int(100 * share)])
                        X, y = parts.X_train[:largest], parts.y_train[:largest]
                        X = remove(X, y, share, pattern, rng)
                        y_test = parts.y_test
                        some = sample(y_test, largest, rng)
                        test = remove(parts.X_test[some], y_test[some], share, pattern, rng)
                        row: dict[str, Any] = {
                            "dataset": name,
                            "setting": setting,
                            "missing": pattern,
                            "share": share,
                            "split": split,
                        }
                        for method, make in METHODS.items():
                            scores = make(split).fit(X).score_samples(test)
                            row[method] = round(roc_auc_score(y_test[some], -scores), 5)
                        yield row


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return mean ROC AUCs over the data sets, as Markdown."""
    lines = [
        "| setting | missing in | share | " + " | ".join(METHODS) + " |",
        "|---|---|--:|" + "--:|" * len(METHODS),
    ]
    for setting in SETTINGS:
        for pattern in PATTERNS:
            for share in SHARES:
                key = (setting, pattern, share)
                means = [
                    mean(
                        float(row[method])
                        for row in rows
                        if (row["setting"], row["missing"], float(row["share"])) == key
                    )
                    for method in METHODS
                ]
                cells = [f"{value:.3f}" for value in means]
                lines.append(f"| {setting} | {pattern} | {share:.0%} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study, write a CSV file, and print the table; 1 if no data set is at hand."""
    parser = Parser(prog="python -m runners.missing", description=__doc__)
    parser.add_argument("--data", nargs="+", metavar="NAME", default=published_names())
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument(
        "--largest", type=int, default=3000, help="training and test rows (default: 3000)"
    )
    parser.add_argument("--output", type=Path, default=Path("output"))
    options = parser.parse_args(arguments)
    return carried_out(lambda: _study(options))


def _study(options: argparse.Namespace) -> int:
    for name in options.data:
        compose([f"dataset={name}"])  # one that does not exist is refused before anything is run
    path = options.output / "missing.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for name in options.data:
        try:
            rows += experiments([name], options.splits, options.largest)
        except DataUnavailable as error:
            print(f"{name}: left out, {error}", file=sys.stderr)
            continue
        print(f"{name}: done", file=sys.stderr, flush=True)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    if not rows:
        return 1
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
