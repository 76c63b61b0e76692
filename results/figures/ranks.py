"""Critical difference diagrams."""

from __future__ import annotations

import math

import scikit_posthocs as sp
from matplotlib.figure import Figure

from results.figures.style import new_figure, styled
from results.statistics.rank_tests import ALPHA, Comparison
from results.vocabulary import display_name


def critical_difference_diagram(comparison: Comparison) -> Figure | None:
    """Draw mean ranks (best to the left); a bar joins what Nemenyi's test does not tell apart.

    Returns
    -------
    Figure or None
        None where there is no test.
    """
    if comparison.nemenyi is None:
        return None
    names = {label: display_name(str(label)) for label in comparison.mean_ranks.index}
    ranks = comparison.mean_ranks.rename(names)
    p_values = comparison.nemenyi.rename(index=names, columns=names)
    figure = new_figure(8.0, 1.6 + 0.24 * math.ceil(len(ranks) / 2))
    with styled():
        axis = figure.subplots()
        drawn = sp.critical_difference_diagram(
            ranks,
            p_values,
            ax=axis,
            alpha=ALPHA,
            label_fmt_left="{label} ({rank:.2f})",
            label_fmt_right="({rank:.2f}) {label}",
            color_palette=dict.fromkeys(ranks.index, "black"),
            crossbar_props={"color": "black", "linewidth": 2.5},
        )
        for (bar,) in drawn["crossbars"]:
            # Through its members in the order of a set, which differs between runs: a line of two
            # ends looks the same and is the same bytes.
            x, y = bar.get_data()
            bar.set_data([min(x), max(x)], [y[0], y[0]])
        n, _ = comparison.values.shape
        axis.set_title(
            f"mean ranks over {n} data sets, {comparison.title}; "
            f"critical difference {comparison.critical_difference:.2f}",
            fontsize=9,
            pad=14,
        )
        axis.grid(visible=False)
    return figure
