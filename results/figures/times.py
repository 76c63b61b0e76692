"""Time of training and testing against the size of the training set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from results.figures.style import Look, logarithmic, new_figure, styled
from results.vocabulary import display_name


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
                    label=display_name(label),
                )
            drawn = [line.get_xydata() for line in axis.lines]
            points_drawn = np.vstack(drawn) if drawn else np.empty((0, 2))
            logarithmic(axis, "x", points_drawn[:, 0])
            logarithmic(axis, "y", points_drawn[:, 1])
            axis.set(xlabel=f"points ({title})", ylabel="seconds", title=title)
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure
