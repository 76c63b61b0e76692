"""Histograms of the scores of one experiment, normal points beside anomalies.

Records hold curves, not scores, so this figure is drawn from a file of scores.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from results.figures.style import COLOURS, new_figure, styled
from results.metrics import evaluate
from results.rounding import format_number


def read_scores(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read labels and anomaly scores of test points from CSV or Parquet.

    Parameters
    ----------
    path : Path
        Columns ``y`` (1 = anomaly) and ``anomaly_score`` (higher = more abnormal).

    Raises
    ------
    ValueError
        If a column is missing.
    """
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    for name in ("y", "anomaly_score"):
        if name not in frame:
            raise ValueError(f"{path} has no column {name!r}; it has: {', '.join(frame.columns)}")
    return frame["y"].to_numpy(), frame["anomaly_score"].to_numpy(dtype=float)


def score_histogram(y: ArrayLike, anomaly_scores: ArrayLike, title: str = "") -> Figure:
    """Draw the density of the scores of both classes over common bins.

    Parameters
    ----------
    y : array-like of shape (n_test,)
        1 for an anomaly.
    anomaly_scores : array-like of shape (n_test,)
    title : str
    """
    labels, scores = np.asarray(y), np.asarray(anomaly_scores, dtype=float)
    metrics = evaluate(labels, scores).metrics
    bins = np.linspace(scores.min(), scores.max(), 41).tolist() if np.ptp(scores) else 1
    figure = new_figure(6.2, 3.4)
    with styled():
        axis = figure.subplots()
        for value, name, colour, hatch in (
            (0, "normal", COLOURS[0], ""),
            (1, "anomalies", COLOURS[3], "///"),
        ):
            own = scores[labels == value]
            axis.hist(
                own,
                bins=bins,
                weights=np.full(len(own), 1 / len(own)),
                alpha=0.65,
                color=colour,
                hatch=hatch,
                edgecolor="black",
                linewidth=0.4,
                label=f"{name} ({len(own)})",
            )
        axis.set(xlabel="anomaly score", ylabel="share of the class")
        areas = (
            f"ROC AUC {format_number(metrics['roc_auc'], 3)}, "
            f"average precision {format_number(metrics['average_precision'], 3)}"
        )
        axis.set_title(f"{title}\n{areas}" if title else areas)
        axis.legend()
    return figure
