"""One look for all figures: colour-blind safe, and readable without any colour."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, NullFormatter

#: Okabe and Ito's palette, with grey for its yellow: thin yellow lines are hard to see on paper.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
    "#000000",
    "#888888",
)
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "---", "ooo")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)))

_RC_PARAMS: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.5,
    "text.parse_math": False,  # a name may hold dollar signs
    "legend.frameon": False,
    "figure.autolayout": False,  # figures lay themselves out, whatever the user's own style is
    "figure.constrained_layout.use": False,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "path",  # the same look on a machine without the font
    "svg.hashsalt": "ocrf",  # the same file for the same figure
}


@dataclass(frozen=True)
class Look:
    """How one series is drawn."""

    colour: str
    hatch: str
    marker: str
    dash: Any


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Return a look for each name; no two share colour and hatch, nor colour and dash."""
    table = {}
    for i, name in enumerate(names):
        cycle = i // len(COLOURS)
        table[name] = Look(
            COLOURS[i % len(COLOURS)],
            HATCHES[(i + 3 * cycle) % len(HATCHES)],
            MARKERS[(i + cycle) % len(MARKERS)],
            DASHES[(i + cycle) % len(DASHES)],
        )
    return table


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, that lays itself out."""
    with mpl.rc_context(_RC_PARAMS):
        engine = ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.08)
        return Figure(figsize=(width, height), layout=engine)


def styled() -> Any:
    """Return the context in which a figure is drawn."""
    return mpl.rc_context(_RC_PARAMS)


def in_legend(name: str) -> str:
    """Return a name as a label; matplotlib leaves labels out that begin with an underscore."""
    return f" {name}" if name.startswith("_") else name


def logarithmic(axes: Axes, which: Literal["x", "y"], values: Iterable[float]) -> None:
    """Make an axis logarithmic from decade to decade, so that it has labels and few of them."""
    positive = [value for value in values if value > 0]
    if not positive:
        return
    low = math.floor(math.log10(min(positive)))
    high = max(math.ceil(math.log10(max(positive))), low + 1)
    if which == "x":
        axes.set(xscale="log", xlim=(10.0**low, 10.0**high))
    else:
        axes.set(yscale="log", ylim=(10.0**low, 10.0**high))
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def render(figure: Figure, kind: str) -> bytes:
    """Return a figure as ``pdf``, ``png`` or ``svg``, the same bytes for the same figure."""
    stamps: dict[str, dict[str, Any]] = {
        "pdf": {"CreationDate": None},
        "png": {"Software": None},
        "svg": {"Date": None},
    }
    out = io.BytesIO()
    with mpl.rc_context(_RC_PARAMS):
        engine = figure.get_layout_engine()
        if engine is not None:
            # Laying out takes longer than drawing: once for all formats. The second pass knows
            # the size that the first one gave to axes of fixed shape.
            engine.execute(figure)
            engine.execute(figure)
            figure.set_layout_engine(None)  # another would have everything measured once more
        figure.savefig(out, format=kind, dpi=150, metadata=stamps[kind])
    return out.getvalue()
