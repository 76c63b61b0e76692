"""Box plots over the splits: how much one random split matters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from results.figures.style import Look, new_figure, styled
from results.metrics import METRICS
from results.vocabulary import display_name

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
