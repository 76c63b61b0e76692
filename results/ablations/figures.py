"""One figure per ablation: differences to the reference, data set by data set."""

from __future__ import annotations

from matplotlib.figure import Figure

from results.ablations.effects import METRICS, Effects
from results.figures.style import looks, new_figure, styled
from results.vocabulary import METRIC_HEADINGS, SETTINGS


def draw(all_effects: list[Effects]) -> Figure:
    """Draw metrics (rows) x settings (columns): a line per data set; bold, mean and interval."""
    study = all_effects[0].study
    datasets = sorted({name for effects in all_effects for name in effects.means[METRICS[0]].index})
    look = looks(datasets)
    levels = [
        level
        for level in study.levels.values()
        if any(level in effects.means[METRICS[0]].columns for effects in all_effects)
    ]
    long_labels = max(map(len, levels)) > 8
    width = max(3.4 * len(all_effects) + 1.3, 0.42 * len(levels) * len(all_effects) + 1.5)
    figure = new_figure(width, 5.2 + (1.2 if long_labels else 0.0))
    with styled():
        panels = figure.subplots(
            len(METRICS), len(all_effects), sharex=True, sharey="row", squeeze=False
        )
        for row, metric in zip(panels, METRICS, strict=True):
            for axes, effects in zip(row, all_effects, strict=True):
                means = effects.means[metric]
                gaps = means.sub(means[study.reference], axis=0).reindex(columns=levels)
                for name, values in gaps.iterrows():
                    style = look[str(name)]
                    axes.plot(
                        range(len(levels)), values, color=style.colour, marker=style.marker,
                        linestyle=style.dash, linewidth=0.7, markersize=3.5, alpha=0.75,
                        label=str(name),
                    )  # fmt: skip
                table = (
                    effects.summary.query("metric == @metric").set_index("level").reindex(levels)
                )
                middle = table["difference"].where(table.index != study.reference, 0.0)
                bounds = table[["low", "high"]].sub(middle, axis=0).abs().fillna(0.0)
                spread = bounds.to_numpy().T
                axes.errorbar(
                    range(len(levels)), middle, yerr=spread, color="black", linewidth=2, capsize=3,
                    marker="o", markersize=5, label="mean, 95 %", zorder=5,
                )  # fmt: skip
                axes.axhline(0.0, color="black", linewidth=0.6)
                if metric == METRICS[0]:
                    axes.set_title(SETTINGS[effects.setting])
                if axes is row[0]:
                    axes.set_ylabel(
                        f"{METRIC_HEADINGS[metric]} less that of {study.reference}", fontsize=8
                    )
        for axes in panels[-1]:
            axes.set_xticks(
                range(len(levels)), levels,
                rotation=90 if long_labels else 0, fontsize=7 if long_labels else 8,
            )  # fmt: skip
        handles, names = panels[0, 0].get_legend_handles_labels()
        for axes in panels[0, 1:]:
            for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
                if name not in names:
                    handles.append(handle)
                    names.append(name)
        figure.legend(handles, names, loc="outside right center", fontsize=7)
        figure.suptitle(study.title)
    return figure
