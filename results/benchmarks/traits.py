"""What distinguishes the data sets on which OneClassRF is ahead of isolation forest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from results.ablations.effects import JUDGED_BY
from results.benchmarks.duels import FORMS, REFERENCE, pair
from results.figures.style import COLOURS, MARKERS, logarithmic, new_figure, styled
from results.metrics import METRICS
from results.statistics.rank_tests import ALPHA, holm
from results.tables.text import markdown
from results.vocabulary import SETTINGS, format_difference, format_number

FILE = Path(__file__).parents[1] / "runs" / "benchmarks" / "traits.csv"
#: Traits as `python -m datasets traits` names them, and in words; those that are drawn on a
#: logarithmic axis.
TRAITS = {
    "rows": "rows",
    "features": "features",
    "anomaly_share": "share of anomalies",
    "discrete_share": "share of discrete columns",
    "clustered_share": "share of anomalies next to one",
}
_LOGARITHMIC = ("rows", "features", "anomaly_share")


def read_traits(file: Path = FILE) -> pd.DataFrame:
    """Return data sets x traits."""
    return pd.read_csv(file, index_col="dataset")[list(TRAITS)]


def gains(cells: pd.DataFrame, traits: pd.DataFrame, metric: str) -> dict[str, pd.Series]:
    """Return OneClassRF as run less isolation forest, per data set, under every protocol.

    Only data sets whose traits are known count, and protocols with ten of them.
    """
    found = {}
    for (protocol, setting), part in cells.groupby(level=["protocol", "setting"], sort=True):
        values = pair(part, metric, FORMS[0]).dropna()
        values = values[values.index.isin(traits.index)]
        if len(values) >= 10:
            name = f"{protocol}, {SETTINGS[str(setting)]}"
            found[name] = values[FORMS[0]] - values[REFERENCE]
    return found


def correlations(cells: pd.DataFrame, traits: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's rank correlation of each trait with the gain.

    Returns
    -------
    DataFrame
        ``protocol``, ``metric``, ``trait``, ``n``, ``rho``, ``p``, and ``p_holm``, corrected for
        all rows.
    """
    rows = []
    for metric in JUDGED_BY:
        for protocol, gain in gains(cells, traits, metric).items():
            for trait in TRAITS:
                rho, p = stats.spearmanr(traits.loc[gain.index, trait], gain)
                rows.append(
                    {"protocol": protocol, "metric": metric, "trait": trait, "n": len(gain)}
                    | {"rho": float(rho), "p": float(p)}
                )
    table = pd.DataFrame(rows)
    if len(table):
        table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    return table


def correlations_markdown(table: pd.DataFrame) -> str:
    """Return protocols and metrics x traits: correlation, and p where it is below .05."""
    rows = []
    for (metric, protocol), part in table.groupby(["metric", "protocol"], sort=False):
        own = part.set_index("trait").to_dict("index")
        cells = [_cell(own[trait]) for trait in TRAITS]
        rows.append([METRICS[str(metric)].heading, str(protocol), str(part["n"].iloc[0]), *cells])
    held = table[table["p_holm"] < ALPHA]
    sentence = (
        f"Of {len(table)} correlations {int((table['p'] < ALPHA).sum())} have p below .05 (in "
        f"brackets), {len(held)} of them after Holm's correction for all (bold)."
    )
    headings = ["by", "protocol", "data sets", *TRAITS.values()]
    return f"{markdown(headings, rows)}\n\n{sentence}"


def _cell(found: dict) -> str:
    text = format_difference(found["rho"])
    if found["p"] < ALPHA:
        text += f" ({format_number(found['p'], 3)})"
    return f"**{text}**" if found["p_holm"] < ALPHA else text


def draw(cells: pd.DataFrame, traits: pd.DataFrame, metric: str = JUDGED_BY[0]) -> Figure:
    """Draw the gain against each trait, one mark per data set and protocol."""
    found = gains(cells, traits, metric)
    figure = new_figure(11.0, 3.4)
    with styled():
        panels = figure.subplots(1, len(TRAITS), sharey=True)
        for axes, (trait, words) in zip(panels, TRAITS.items(), strict=True):
            for i, (protocol, gain) in enumerate(found.items()):
                axes.plot(
                    traits.loc[gain.index, trait], gain, linestyle="none", markersize=3.5,
                    marker=MARKERS[i % len(MARKERS)], color=COLOURS[i % len(COLOURS)], alpha=0.7,
                    label=protocol,
                )  # fmt: skip
            axes.axhline(0.0, color="black", linewidth=0.7)
            axes.set_xlabel(words.replace(" of ", "\nof ", 1), fontsize=8)
            if trait in _LOGARITHMIC:
                logarithmic(axes, "x", traits[trait])
                axes.tick_params(axis="x", labelrotation=90)
        largest = max((np.abs(gain).max() for gain in found.values()), default=1.0)
        panels[0].set_ylim(-1.1 * largest, 1.1 * largest)
        panels[0].set_ylabel(f"{METRICS[metric].heading}: OneClassRF less iForest", fontsize=8)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=5, fontsize=8)
    return figure
