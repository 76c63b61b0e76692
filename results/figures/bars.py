"""Bars of the metrics and times per data set, and times against sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from results.figures.style import Look, in_legend, logarithmic, new_figure, styled
from results.metrics import METRICS, metric_headings
from results.records.statuses import MISSING
from results.vocabulary import display_name


def bar_chart(
    cells: pd.DataFrame, labels: Sequence[str], look: dict[str, Look], metrics: Sequence[str]
) -> Figure:
    """Draw one panel per metric and one for the time of training and testing.

    Parameters
    ----------
    cells : DataFrame
        Of one protocol and setting, as :func:`results.aggregate.make_cells`.
    labels : sequence of str
        Algorithms in order.
    look : dict
    metrics : sequence of str
    """
    grid = cells.droplevel(["protocol", "setting"])
    datasets = sorted(grid.index.unique("dataset"))
    headings = metric_headings(tuple(metrics))
    width = max(6.0, 0.115 * len(datasets) * (len(labels) + 1.5))
    figure = new_figure(width, 2.4 * (len(metrics) + 1) + 0.6)
    with styled():
        axes = figure.subplots(len(metrics) + 1, 1, sharex=True, squeeze=False)[:, 0]
        for axis, metric in zip(axes, metrics, strict=False):
            values = grid[metric].unstack("label").reindex(index=datasets, columns=list(labels))
            spread = grid[f"{metric}_std"].unstack("label").reindex_like(values)
            _panel(axis, values, spread, grid, look)
            low, high = METRICS[metric].limits
            axis.set_ylim(low, high + 0.02 * (high - low))
            axis.set_ylabel(
                f"{headings[metric]} area" if METRICS[metric].curve else headings[metric]
            )
        seconds = (grid["fit_seconds"] + grid["score_seconds"]).unstack("label")
        seconds = seconds.reindex(index=datasets, columns=list(labels))
        _panel(axes[-1], seconds, None, grid, look)
        logarithmic(axes[-1], "y", seconds.to_numpy().ravel())
        axes[-1].set_ylabel("train + test (s)")
        axes[-1].set_xticks(range(len(datasets)), datasets, rotation=20, ha="right")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=max(2, int(width / 1.6)))
    return figure


def _panel(
    axis: Axes,
    values: pd.DataFrame,
    spread: pd.DataFrame | None,
    grid: pd.DataFrame,
    look: dict[str, Look],
) -> None:
    width = 0.86 / max(values.shape[1], 1)
    marks = grid["mark"].to_dict()
    positions = np.arange(len(values))
    for i, label in enumerate(values.columns):
        offset = (i - (values.shape[1] - 1) / 2) * width
        style = look[label]
        axis.bar(
            positions + offset,
            values[label].fillna(0),
            width,
            yerr=None if spread is None else spread[label].fillna(0),
            error_kw={"elinewidth": 0.6, "ecolor": "#444444"},
            color=style.colour,
            hatch=style.hatch,
            edgecolor="white" if style.colour == "#000000" else "black",
            linewidth=0.4,
            label=in_legend(display_name(label)),
        )
        for at, dataset in enumerate(values.index):
            if np.isnan(values.loc[dataset, label]):
                # An empty place must not read as zero.
                axis.text(
                    at + offset,
                    0.01,
                    marks.get((dataset, label), MISSING) or MISSING,
                    rotation=90,
                    ha="center",
                    va="bottom",
                    fontsize=5.5,
                    transform=axis.get_xaxis_transform(),
                )
    axis.set_xlim(-0.6, len(values) - 0.4)
    axis.grid(visible=False, axis="x")
    for boundary in positions[:-1] + 0.5:
        axis.axvline(boundary, color="#bbbbbb", linewidth=0.6)


def time_figure(cells: pd.DataFrame, labels: Sequence[str], look: dict[str, Look]) -> Figure:
    """Draw training time (left) and scoring time (right), both axes logarithmic.

    Parameters
    ----------
    cells : DataFrame
        Of one protocol; the settings are drawn alike, since their sizes hardly differ.
    labels : sequence of str
    look : dict
    """
    figure = new_figure(9.2, 3.9)
    with styled():
        axes = figure.subplots(1, 2)
        for axis, seconds, size, title in (
            (axes[0], "fit_seconds", "n_train", "training"),
            (axes[1], "score_seconds", "n_test", "testing"),
        ):
            for label in labels:
                part = cells[cells.index.get_level_values("label") == label]
                part = part[part[seconds].notna() & part[size].notna() & (part[seconds] > 0)]
                points = part.groupby(size)[seconds].mean()
                if points.empty:
                    continue
                style = look[label]
                axis.plot(
                    points.index,
                    points,
                    color=style.colour,
                    linestyle=style.dash,
                    marker=style.marker,
                    markersize=4,
                    linewidth=1,
                    label=in_legend(display_name(label)),
                )
            drawn = [line.get_xydata() for line in axis.lines]
            points_drawn = np.vstack(drawn) if drawn else np.empty((0, 2))
            logarithmic(axis, "x", points_drawn[:, 0])
            logarithmic(axis, "y", points_drawn[:, 1])
            axis.set(xlabel=f"points ({title})", ylabel="seconds", title=title)
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure
