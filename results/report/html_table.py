"""Tables of the report: what stands where in the HTML, and what its columns sort by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from results.records.statuses import MARK_MEANINGS
from results.tables.model import Line, Table


@dataclass(frozen=True)
class HtmlEntry:
    """What stands in one place: its text, what it sorts by (empty: goes last), and how it looks."""

    text: str
    sort: str = ""
    bold: bool = False
    css: str = ""
    span: int = 1


@dataclass
class HtmlTable:
    """A table of the report.

    Attributes
    ----------
    caption : str
    groups : list of (str, int)
        Headings over several columns and how many they span; empty if there is one header row.
    columns : list of str
    body, foot : list of list of HtmlEntry
        Rows of the foot stay below when the body is sorted.
    notes : list of str
    """

    caption: str
    columns: list[str]
    groups: list[tuple[str, int]] = field(default_factory=list)
    body: list[list[HtmlEntry]] = field(default_factory=list)
    foot: list[list[HtmlEntry]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


_NUMBER = re.compile(r"^[<+]?\s*(-?\d+(?:\.\d+)?)(?:[s†§]|\s|$|/)")


def sort_key(text: str) -> str:
    """Return the number that a text starts with, the text itself otherwise; "" for marks.

    Examples
    --------
    >>> sort_key("0.665§ ± 0.01"), sort_key("+0.020"), sort_key("wilt"), sort_key("--")
    ('0.665', '0.020', 'wilt', '')
    """
    if text in MARK_MEANINGS:
        return ""
    match = _NUMBER.match(text)
    return match.group(1) if match else text


def from_table(table: Table) -> HtmlTable:
    """Convert a results table: algorithms as column groups, summaries as the foot."""
    headings = table.metric_headings
    several = len(table.metrics) > 1
    converted = HtmlTable(
        caption=table.caption,
        columns=["data set"],
        groups=[("", 1)] if several else [],
        notes=list(table.notes),
    )
    for label in table.algorithms:
        if several:
            converted.groups.append((table.heading(label), len(table.metrics)))
            converted.columns += [headings[metric] for metric in table.metrics]
        else:
            converted.columns.append(table.heading(label))
    for line in table.lines:
        (converted.body if line.kind == "dataset" else converted.foot).append(_line(table, line))
    return converted


def _line(table: Table, line: Line) -> list[HtmlEntry]:
    row = [HtmlEntry(line.heading, line.heading)]
    for label in table.algorithms:
        for metric in ("",) if line.spans else table.metrics:
            entry = table.entry(line, label, metric)
            row.append(
                HtmlEntry(
                    entry.plain,
                    sort_key(entry.plain),
                    entry.bold,
                    span=len(table.metrics) if line.spans else 1,
                )
            )
    return row


def from_rows(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()
) -> HtmlTable:
    """Convert plain rows of text; verdicts get a style of their name."""
    body = [
        [HtmlEntry(str(text), sort_key(str(text)), css=_css(str(text))) for text in row]
        for row in rows
    ]
    return HtmlTable(caption, list(columns), body=body, notes=list(notes))


def _css(text: str) -> str:
    return text if text in ("differs", "reproduced") else ""
