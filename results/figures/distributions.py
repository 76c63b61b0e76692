"""How values are distributed: metrics over the splits, and scores over the points of a test part.

Records hold curves and not scores: the histogram is drawn from a file of scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from results.figures.style import COLOURS, Look, new_figure, styled
from results.metrics import METRICS, evaluate
from results.vocabulary import display_name, format_number

_COLUMNS = 4


def box_plots(
    frame: pd.DataFrame, labels: Sequence[str], look: dict[str, Look], metric: str
) -> Figure:
    """Draw one panel per data set with one box per algorithm.

    Parameters
    ----------
    frame : DataFrame
        Experiments of one protocol and setting.
    labels : sequence of str
    look : dict
    metric : str
    """
    finished = frame[frame["status"] == "ok"]
    datasets = sorted(frame["dataset"].unique())
    n_columns = min(_COLUMNS, len(datasets))
    n_rows = math.ceil(len(datasets) / n_columns)
    width = max(2.1, 0.26 * len(labels) + 0.5)
    figure = new_figure(max(width * n_columns, 4.0), 2.0 * n_rows + 0.8)
    with styled():
        axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for axis, dataset in zip(axes, datasets, strict=False):
            part = finished[finished["dataset"] == dataset]
            values = [part.loc[part["label"] == label, metric].to_numpy(float) for label in labels]
            drawn = axis.boxplot(
                values,
                widths=0.65,
                patch_artist=True,
                medianprops={"color": "black", "linewidth": 1.1},
                flierprops={"markersize": 2.5},
            )
            for box, label in zip(drawn["boxes"], labels, strict=True):
                box.set(facecolor=look[label].colour, hatch=look[label].hatch, alpha=0.85)
                if look[label].colour == "#000000":
                    box.set_facecolor("#444444")
                    box.set_alpha(0.6)  # the median must stay visible
            axis.set_title(dataset)
            axis.grid(visible=False, axis="x")
            axis.set_xticks([])
        for axis in axes[len(datasets) :]:
            axis.set_visible(False)
        figure.legend(
            drawn["boxes"],
            [display_name(label) for label in labels],
            loc="outside upper center",
            ncols=max(2, int(figure.get_figwidth() / 1.7)),
        )
        figure.supylabel(METRICS[metric].heading)
    return figure


def read_scores(path: Path) -> pd.DataFrame:
    """Read labels and anomaly scores of test points from CSV or Parquet.

    Parameters
    ----------
    path : Path
        Columns ``y`` (1 = anomaly) and ``anomaly_score`` (higher = more abnormal), and possibly
        ``row``: where a point stands in its table; and ``contributions``: pairs of a feature and
        what it adds to the score, for some of the points.

    Raises
    ------
    ValueError
        If a column is missing.
    """
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    for name in ("y", "anomaly_score"):
        if name not in frame:
            raise ValueError(f"{path} has no column {name!r}; it has: {', '.join(frame.columns)}")
    return frame.astype({"anomaly_score": float})


def most_anomalous(frame: pd.DataFrame, n_points: int = 10, n_features: int = 3) -> pd.DataFrame:
    """Return the test points with the highest scores, and which features make them anomalous.

    Parameters
    ----------
    frame : DataFrame
        From `read_scores`.
    n_points, n_features : int
        Rows, and largest contributions named in a row.

    Returns
    -------
    table : DataFrame
        Columns ``row`` of the table, or ``point`` of the test part where that is not known,
        ``class``, ``anomaly score``, and ``because of`` where contributions are known: the largest
        above zero.
    """
    top = frame.sort_values("anomaly_score", ascending=False, kind="stable").head(n_points)
    table = pd.DataFrame(
        {
            **({"row": top["row"].to_numpy()} if "row" in top else {"point": top.index}),
            "class": top["y"].map({0: "normal", 1: "anomaly"}).to_numpy(),
            "anomaly score": [f"{score:.4g}" for score in top["anomaly_score"]],
        }
    )
    if "contributions" in top:
        table["because of"] = [_largest(known, n_features) for known in top["contributions"]]
    return table


def _largest(contributions: object, n_features: int) -> str:
    if not isinstance(contributions, list):
        return ""
    ordered = sorted(contributions, key=lambda pair: -pair[1])[:n_features]
    return ", ".join(f"{name} {value:+.3f}" for name, value in ordered if value > 0)


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
