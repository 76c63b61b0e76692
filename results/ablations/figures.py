"""One figure per ablation: differences to the reference, data set by data set."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from results.ablations.effects import JUDGED_BY, Effects
from results.figures.style import Look, looks, new_figure, styled
from results.metrics import METRICS
from results.vocabulary import SETTINGS


def draw(all_effects: list[Effects]) -> Figure:
    """Draw metrics (rows) x settings (columns): a mark per data set; bold, mean and interval."""
    study = all_effects[0].study
    datasets = sorted(
        {name for effects in all_effects for name in effects.means[JUDGED_BY[0]].index}
    )
    look = looks(datasets)
    levels = [
        level
        for level in study.levels.values()
        if any(level in effects.means[JUDGED_BY[0]].columns for effects in all_effects)
    ]
    # A combination of values takes a line per value.
    labels = [level.replace(", ", "\n") for level in levels]
    upright = max(len(line) for label in labels for line in label.splitlines()) > 8
    width = max(7.6, 0.42 * len(levels) * len(all_effects) + 1.6)
    figure = new_figure(width, 6.4 if upright else 5.4)
    with styled():
        panels = figure.subplots(
            len(JUDGED_BY), len(all_effects), sharex=True, sharey="row", squeeze=False
        )
        for row, metric in zip(panels, JUDGED_BY, strict=True):
            for axes, effects in zip(row, all_effects, strict=True):
                _draw(axes, effects, metric, levels, look)
            row[0].set_ylabel(f"{METRICS[metric].heading}, difference to reference", fontsize=8)
        for axes, effects in zip(panels[0], all_effects, strict=True):
            axes.set_title(SETTINGS[effects.setting])
        for axes in panels[-1]:
            axes.set_xticks(
                range(len(levels)),
                labels,
                rotation=90 if upright else 0,
                fontsize=7 if upright else 8,
            )
        # A data set may be missing in one of the settings.
        entries: dict[str, Artist] = {}
        for axes in panels[0]:
            handles, names = axes.get_legend_handles_labels()
            entries |= dict(zip(names, handles, strict=True))
        figure.legend(list(entries.values()), list(entries), loc="outside right center", fontsize=7)
        figure.suptitle(f"{study.title} (reference: {study.reference})", fontsize=10)
    return figure


def _draw(
    axes: Axes, effects: Effects, metric: str, levels: list[str], look: dict[str, Look]
) -> None:
    means = effects.means[metric]
    reference = effects.study.reference
    gaps = means.sub(means[reference], axis=0).reindex(columns=levels)
    summary = effects.summary[effects.summary["metric"] == metric].set_index("level")
    summary = summary.reindex(levels)
    middle = summary["difference"].where(summary.index != reference, 0.0).to_numpy(dtype=float)
    bounds = summary[["low", "high"]].to_numpy(dtype=float).T
    position = np.arange(len(levels))
    # Lines only lead along numbers; other values have no order.
    n_ordered = next((i for i, level in enumerate(levels) if not _is_number(level)), len(levels))
    for name, values in gaps.iterrows():
        style = look[str(name)]
        axes.plot(
            position[:n_ordered], values.to_numpy()[:n_ordered], color=style.colour,
            linestyle=style.dash, linewidth=0.7, alpha=0.75,
        )  # fmt: skip
        axes.plot(
            position, values, color=style.colour, marker=style.marker, linestyle="none",
            markersize=4, alpha=0.75, label=str(name),
        )  # fmt: skip
    axes.plot(position[:n_ordered], middle[:n_ordered], color="black", linewidth=2)
    axes.errorbar(
        position, middle, yerr=np.nan_to_num(np.abs(bounds - middle)), color="black",
        linestyle="none", elinewidth=2, capsize=3, marker="o", markersize=5, label="mean, 95 %",
        zorder=5,
    )  # fmt: skip
    axes.axhline(0.0, color="black", linewidth=0.6)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
