"""Mean ROC and precision-recall curves of one algorithm over the data sets, in both settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from results.aggregate import CELL
from results.figures.style import in_legend, looks, new_figure, styled
from results.metrics import curve_area, grid
from results.records.record import Record
from results.vocabulary import SETTINGS, format_number

#: Every 5th of the 1000 points is drawn, and the last: finer than a printed line.
_SHOWN = np.unique([*range(0, 1000, 5), 999])
_PANELS = (
    ("roc", "false positive rate", "true positive rate"),
    ("pr", "recall", "precision"),
)


@dataclass
class MeanCurve:
    """A running mean of the curves of one cell."""

    total: NDArray[np.float64]
    count: int = 0

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean over the experiments so far, shape (1000,)."""
        return self.total / self.count


Curves = dict[tuple[str, str, str, str], dict[str, MeanCurve]]


def mean_curves(
    records: Iterable[Record], frame: pd.DataFrame, cells: pd.DataFrame, remarks: list[str]
) -> Curves:
    """Average the curves of each cell that has a value, reading the records once.

    Parameters
    ----------
    records : iterable of Record
    frame : DataFrame
        The selected experiments; it says under which names each record goes.
    cells : DataFrame
    remarks : list of str
        Curves that cannot be decoded are left out and named here.

    Returns
    -------
    dict
        Keyed by (protocol, setting, dataset, label); ``roc`` and ``pr`` to a mean curve.
    """
    cell_of = dict(zip(frame["key"], frame[CELL].itertuples(index=False, name=None), strict=True))
    with_value = set(cells.index[cells["mark"] == ""])
    curves: Curves = {}
    for record in records:
        cell = cell_of.get(record.key)
        if cell not in with_value or not record.curves or cell is None:
            continue
        into = curves.setdefault(cell, {})
        for name in record.curves:
            try:
                curve = record.curves[name]
            except ValueError as error:
                remarks.append(
                    f"left out of the curves: record {record.key[:16]} ({record.dataset}, "
                    f"{record.label}, {record.setting}, {record.protocol}, seed {record.seed}, "
                    f"split {record.split}): {error}; remove it and run it again"
                )
                continue
            running = into.setdefault(name, MeanCurve(np.zeros_like(curve)))
            running.total += curve
            running.count += 1
    return curves


def curve_figure(curves: Curves, protocol: str, label: str, datasets: Sequence[str]) -> Figure:
    """Draw the mean curves of one algorithm: a row per setting, ROC left, precision-recall right.

    Parameters
    ----------
    curves : dict
        As :func:`mean_curves`.
    protocol, label : str
    datasets : sequence of str
        All data sets of the run: each keeps its look from figure to figure.
    """
    settings = list(dict.fromkeys(s for p, s, _, lab in curves if (p, lab) == (protocol, label)))
    settings.sort(key=lambda name: [*SETTINGS, name].index(name))
    figure = new_figure(9.2, 3.7 * len(settings))
    look = looks(datasets)
    with styled():
        axes = figure.subplots(len(settings), 2, squeeze=False)
        for row, setting in zip(axes, settings, strict=True):
            for axis, (name, x_label, y_label) in zip(row, _PANELS, strict=True):
                for dataset in datasets:
                    known = curves.get((protocol, setting, dataset, label), {}).get(name)
                    if known is None:
                        continue
                    style = look[dataset]
                    axis.plot(
                        grid()[_SHOWN],
                        known.mean[_SHOWN],
                        color=style.colour,
                        linestyle=style.dash,
                        marker=style.marker,
                        markevery=(7, 40),
                        markersize=3.5,
                        linewidth=1.1,
                        label=in_legend(f"{dataset} {format_number(curve_area(known.mean), 3)}"),
                    )
                axis.set(xlabel=x_label, ylabel=y_label, xlim=(0, 1), ylim=(0, 1.01))
                axis.set_title(SETTINGS.get(setting, setting))
                axis.set_box_aspect(1)
                axis.legend(
                    loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7, handlelength=2.5
                )
    return figure
