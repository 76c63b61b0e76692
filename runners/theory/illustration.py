"""One illustration: a figure, what the paper claims about it, and what came out here."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.style import library

# Okabe and Ito's colours, which colour-blind readers tell apart, as matplotlib has them.
_COLOURS = library["seaborn-v0_8-colorblind"]["axes.prop_cycle"].by_key()["color"]
BLUE, GREEN, ORANGE, PINK = _COLOURS[:4]
GREY: Final = "#7F7F7F"
LIGHT: Final = "#DCE9F2"

STYLE: Final[dict[Any, Any]] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.dpi": 150,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
}

_CHARACTERS_PER_INCH = 18.5
_LINE_INCHES = 0.145


@dataclass
class Illustration:
    """A figure with its text.

    Attributes
    ----------
    name : str
        Name of the files, without suffix.
    figure : Figure
    source : str
        Which figure or section of the paper it stands for.
    claim : str
        What the paper says.
    finding : str
        What this computation shows, numbers included.
    holds : bool
        Whether the claim holds here.
    verdict : str
        The same in words, which may set limits to it.
    numbers : dict of str to float
        The numbers of `finding`.
    """

    name: str
    figure: Figure
    source: str
    claim: str
    finding: str
    holds: bool
    verdict: str
    numbers: dict[str, float]

    def text(self) -> str:
        """Return the caption."""
        return f"{self.source}\nPaper: {self.claim}\nHere: {self.finding}\n{self.verdict}\n"

    def save(self, folder: Path) -> list[Path]:
        """Write the figure (PDF and PNG, the caption below it) and its caption as text."""
        folder.mkdir(parents=True, exist_ok=True)
        width, height = self.figure.get_size_inches()
        lines = [
            line
            for paragraph in self.text().splitlines()
            for line in textwrap.wrap(paragraph, int(_CHARACTERS_PER_INCH * width))
        ]
        room = _LINE_INCHES * len(lines) + 0.15
        self.figure.set_size_inches(width, height + room)
        bottom = room / (height + room)
        self.figure.set_layout_engine(ConstrainedLayoutEngine(rect=(0, bottom, 1, 1 - bottom)))
        self.figure.text(
            0.08 / width,
            0.06 / (height + room),
            "\n".join(lines),
            fontsize=7,
            va="bottom",
            linespacing=1.3,
        )
        written = []
        for suffix in ("pdf", "png"):
            path = folder / f"{self.name}.{suffix}"
            # No date: the same numbers make the same file.
            self.figure.savefig(path, metadata={"CreationDate": None} if suffix == "pdf" else None)
            written.append(path)
        path = folder / f"{self.name}.txt"
        path.write_text(self.text(), encoding="utf-8")
        return [*written, path]
