"""Ours against the published values."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from results.aggregate import in_order
from results.figures.style import in_legend, looks, new_figure, styled
from results.metrics import METRICS, PAPER_METRICS
from results.published import paper
from results.reproduction.comparison import NOT_JUDGED
from results.vocabulary import SETTINGS, display_name

#: Differences above this are named although the spread may cover them.
_LARGE = 0.05
#: Whether the markers of a setting are filled.
_FILLED = {"novelty": True, "outlier": False}


def _example(filled: bool) -> Line2D:
    """Return a marker for the legend that stands for a setting and no algorithm."""
    face = "black" if filled else "white"
    return Line2D([], [], color="black", marker="o", linestyle="none", markerfacecolor=face)


def _name_farthest(axis: Axes, part: pd.DataFrame, n_named: int) -> None:
    """Write names beside the cells that differ most, where there is room for them."""
    far = part.loc[part["difference"].abs().nlargest(n_named).index]
    named: list[tuple[float, float]] = []
    notable = (far["verdict"] == "differs") | (far["difference"].abs() > _LARGE)
    for row in far[notable].to_dict("records"):
        x, y = float(row["published"]), float(row["ours"])
        above = y > x
        height = y + (0.02 if above else -0.03)  # of the name, about
        if any(abs(height - other) < 0.04 and abs(x - other_x) < 0.5 for other_x, other in named):
            continue
        named.append((x, height))
        axis.annotate(
            f"{row['dataset']}, {display_name(row['algorithm'])}",
            (x, y),
            xytext=(-5, 3) if above else (5, -7),
            textcoords="offset points",
            ha="right" if above and x > 0.4 else "left",
            fontsize=6.5,
            # A name may have to cross points: its letters stand out from them.
            path_effects=[withStroke(linewidth=2, foreground="white")],
            zorder=5,
        )


def comparison_scatter(table: pd.DataFrame, *, n_named: int = 6) -> Figure:
    """Draw every value that both have, if it is judged; the band is the tolerance of a verdict.

    Parameters
    ----------
    table : DataFrame
        As :func:`results.reproduction.comparison.compare`; only the algorithms that repeat a
        column are drawn.
        Filled markers: novelty detection; empty ones: outlier detection.
    n_named : int
        The cells farthest from their published value are named.
    """
    judged = table["difference"].notna() & (table["verdict"] != NOT_JUDGED)
    rows = table[table["as_run"] & judged]
    labels = in_order(rows["algorithm"])
    look = looks(labels)
    tolerance = paper.publication().description.tolerance.absolute
    figure = new_figure(9.2, 5.2)
    with styled():
        axes = figure.subplots(1, 2)
        for axis, metric in zip(axes, PAPER_METRICS, strict=True):
            axis.plot([0, 1], [0, 1], color="black", linewidth=0.7)
            axis.fill_between(
                [0, 1], [-tolerance, 1 - tolerance], [tolerance, 1 + tolerance], color="#dddddd"
            )
            part = rows[rows["metric"] == metric]
            for label in labels:
                style = look[label]
                for setting, filled in _FILLED.items():
                    own = part[(part["algorithm"] == label) & (part["setting"] == setting)]
                    axis.errorbar(
                        own["published"],
                        own["ours"],
                        yerr=own["std"].fillna(0),
                        fmt=style.marker,
                        markersize=4.5,
                        color=style.colour,
                        markerfacecolor=style.colour if filled else "white",
                        elinewidth=0.6,
                        label=in_legend(display_name(label)) if filled else None,
                    )
            _name_farthest(axis, part, n_named)
            axis.set(xlabel="published", ylabel="ours", xlim=(0, 1.02), ylim=(0, 1.02))
            axis.set_title(METRICS[metric].heading)
            axis.set_box_aspect(1)
        handles, names = axes[0].get_legend_handles_labels()
        drawn = set(rows["setting"])
        for setting, filled in _FILLED.items():
            if setting in drawn:
                handles.append(_example(filled))
                names.append(SETTINGS[setting])
        figure.legend(handles, names, loc="outside lower center", ncols=5)
    return figure
