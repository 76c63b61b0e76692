"""A results table before any format: which text stands where."""

from __future__ import annotations

from dataclasses import dataclass, field

from results.metrics import check_metrics, metric_headings
from results.vocabulary import display_name


@dataclass(frozen=True)
class TableOptions:
    """What a table shows.

    Attributes
    ----------
    metrics : tuple of str
        Empty: those that the protocol names.
    precision : int
        Decimals of metrics.
    std : bool
        Whether the standard deviation over the splits follows each mean.
    algorithms : tuple of str
        Columns come in this order; empty: the paper's order.
    transposed : bool
        Algorithms as rows.
    """

    metrics: tuple[str, ...] = ()
    precision: int = 3
    std: bool = False
    algorithms: tuple[str, ...] = ()
    transposed: bool = False

    def __post_init__(self) -> None:
        check_metrics(self.metrics)
        if not 1 <= self.precision <= 10:
            raise ValueError(f"precision must be from 1 to 10, got {self.precision}")


@dataclass(frozen=True)
class Entry:
    """One printed value: its text, what follows it, and whether it is the best of its line."""

    text: str
    std: str = ""
    flag: str = ""
    bold: bool = False

    @property
    def plain(self) -> str:
        """The whole text without emphasis."""
        return self.text + self.flag + (f" ± {self.std}" if self.std else "")


@dataclass(frozen=True)
class Line:
    """One data set or summary; lines that span have one entry per algorithm, not per metric."""

    key: str
    heading: str
    kind: str = "dataset"
    spans: bool = False


@dataclass
class Table:
    """A results table.

    Attributes
    ----------
    name, caption : str
    algorithms : list of str
        Labels, in order.
    metrics : tuple of str
    lines : list of Line
    entries : dict
        Keyed by (line key, label, metric); metric is "" on spanning lines.
    flags : dict of str to str
        Mark after an algorithm's name.
    notes : list of str
    transposed : bool
    """

    name: str
    caption: str
    algorithms: list[str]
    metrics: tuple[str, ...]
    lines: list[Line]
    entries: dict[tuple[str, str, str], Entry]
    flags: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    transposed: bool = False

    @property
    def metric_headings(self) -> dict[str, str]:
        """Heading of each metric's column."""
        return metric_headings(self.metrics)

    def heading(self, label: str) -> str:
        """Return the printed name of an algorithm with its mark."""
        return display_name(label) + self.flags.get(label, "")

    def entry(self, line: Line, label: str, metric: str) -> Entry:
        """Return what stands for a data set or summary, an algorithm and a metric."""
        return self.entries[line.key, label, "" if line.spans else metric]
