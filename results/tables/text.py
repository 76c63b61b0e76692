"""Tables as Markdown and CSV, and in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from results.output import csv_text
from results.records.statuses import NAMES_OF_MARKS
from results.tables.model import Entry, Line, Table


def rows_of(table: Table) -> tuple[list[str], list[list[tuple[str, bool]]]]:
    """Flatten a table: one heading per column, and rows of (text, bold).

    A line that spans an algorithm's columns stands in the first of them.
    """
    headings = table.metric_headings
    short = len(table.metrics) == 1
    if table.transposed:
        columns = ["algorithm"]
        for line in table.lines:
            name = line.heading.rstrip(":")
            if line.spans or short:
                columns.append(name)
            else:
                columns += [f"{name} {headings[metric]}" for metric in table.metrics]
        rows = []
        for label in table.algorithms:
            row = [(table.heading(label), False)]
            for line in table.lines:
                for metric in ("",) if line.spans else table.metrics:
                    entry = table.entry(line, label, metric)
                    row.append((entry.plain, entry.bold))
            rows.append(row)
        return columns, rows
    columns = ["data set"]
    for label in table.algorithms:
        name = table.heading(label)
        columns += [name if short else f"{name} {headings[metric]}" for metric in table.metrics]
    rows = []
    for line in table.lines:
        row = [(line.heading, False)]
        for label in table.algorithms:
            if line.spans:
                entry = table.entry(line, label, "")
                row += [(entry.plain, entry.bold)] + [("", False)] * (len(table.metrics) - 1)
            else:
                for metric in table.metrics:
                    entry = table.entry(line, label, metric)
                    row.append((entry.plain, entry.bold))
        rows.append(row)
    return columns, rows


def without_zeros(
    columns: list[str], rows: list[list[str]], optional: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Leave out the optional columns of counts in which every row has 0.

    Examples
    --------
    >>> without_zeros(["algorithm", "off", "not run"], [["LOF", "0", "0"]], ["not run"])
    (['algorithm', 'off'], [['LOF', '0']])
    """
    kept = [
        i
        for i, column in enumerate(columns)
        if column not in optional or any(row[i] != "0" for row in rows)
    ]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]


def table_to_markdown(table: Table) -> str:
    """Return the table in Markdown under its caption, with its notes."""
    columns, rows = rows_of(table)
    texts = [[f"**{text}**" if bold else text for text, bold in row] for row in rows]
    parts = [f"**{table.caption}**", "", markdown(columns, texts), ""]
    for note in table.notes:
        parts += [_plain(note), ""]
    return "\n".join(parts)


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, padded so that it reads well as text; numbers to the right."""
    body = [[_plain(text) for text in row] for row in rows]
    head = [_plain(column) for column in columns]
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    widths = [max(width, 3) for width in widths]

    def line(row: Sequence[str]) -> str:
        texts = [
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(texts)} |"

    rule = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return "\n".join([line(head), line(rule), *(line(row) for row in body)])


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def table_to_csv(table: Table) -> str:
    """Return the table as CSV: names and metrics as in the records, numbers as printed, but bare.

    Where marks or standard deviations are printed beside numbers, or a status in place of one,
    columns of their own follow, ``... mark`` and ``... std``. Times are in seconds.
    """
    lines = [
        (f"{line.key}_seconds" if line.kind == "time" else line.key, line) for line in table.lines
    ]
    if table.transposed:
        data: dict[str, list[str]] = {"algorithm": list(table.algorithms)}
        for key, line in lines:
            for metric in ("",) if line.spans else table.metrics:
                entries = [table.entry(line, label, metric) for label in table.algorithms]
                data |= _bare(f"{key} {metric}".strip(), entries)
        return csv_text(pd.DataFrame(data))
    data = {"dataset": [key for key, _ in lines]}
    for label in table.algorithms:
        for metric in table.metrics:
            entries = [
                Entry("")
                if line.spans and metric != table.metrics[0]
                else table.entry(line, label, metric)
                for line in table.lines
            ]
            data |= _bare(f"{label} {metric}", entries)
    return csv_text(pd.DataFrame(data))


def _bare(name: str, entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Return a column of numbers, and columns of what is printed beside them if anything is."""
    texts = [entry.text.removesuffix("s") for entry in entries]
    numbers = [text if text[-1:].isdigit() else "" for text in texts]
    beside = {
        "mark": [
            # pandas reads NA as no text at all.
            ("" if number else NAMES_OF_MARKS.get(entry.text, entry.text)) + entry.flag.strip()
            for entry, number in zip(entries, numbers, strict=True)
        ],
        "std": [entry.std for entry in entries],
    }
    return {name: numbers} | {f"{name} {key}": v for key, v in beside.items() if any(v)}


def print_table(console: Console, table: Table) -> None:
    """Print a table with its caption and notes."""
    console.print()
    console.print(Text(table.caption, style="bold"))
    if table.transposed:
        columns, rows = rows_of(table)
        texts = [[Text(text, style="bold" if bold else "") for text, bold in row] for row in rows]
        print_columns(console, columns, texts)
    else:
        for labels in _parts(console, table):
            console.print(_part(table, labels))
    for note in table.notes:
        console.print(Text(note, style="dim"))


def _parts(console: Console, table: Table) -> Iterable[list[str]]:
    """Split the algorithms so that each part fits the console."""
    unlimited = console.options.update(width=100_000)

    def width(labels: list[str]) -> int:
        return console.measure(_part(table, labels), options=unlimited).maximum

    headings = width([])
    part: list[str] = []
    used = headings
    for label in table.algorithms:
        added = width([label]) - headings
        if part and used + added > console.width:
            yield part
            part, used = [], headings
        part.append(label)
        used += added
    yield part


def _two_lines(heading: str) -> str:
    """Break ``OneClassRF (text)`` before the bracket."""
    return heading.replace(" (", "\n(", 1)


def _part(table: Table, labels: list[str]) -> RichTable:
    headings = table.metric_headings
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    shown.add_column("", no_wrap=True)
    names = {label: _two_lines(table.heading(label)) for label in labels}
    height = max((name.count("\n") for name in names.values()), default=0) + 1
    for label in labels:
        for i, metric in enumerate(table.metrics):
            name = names[label] if i == 0 else ""
            heading = name + "\n" * (height - name.count("\n")) + headings[metric]
            shown.add_column(heading, justify="left" if i == 0 else "right", no_wrap=True)
    previous: Line | None = None
    for line in table.lines:
        if previous is not None and previous.kind == "dataset" != line.kind:
            shown.add_section()
        texts = [Text(line.heading)]
        for label in labels:
            for i, metric in enumerate(table.metrics):
                if line.spans and i:
                    texts.append(Text(""))
                    continue
                entry = table.entry(line, label, metric)
                texts.append(Text(entry.plain, style="bold" if entry.bold else ""))
        shown.add_row(*texts)
        previous = line
    return shown


def print_columns(
    console: Console, columns: list[str], rows: Iterable[list[Text] | list[str]]
) -> None:
    """Print a plain table: headings and rows, the first column to the left."""
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, column in enumerate(columns):
        shown.add_column(Text(column), justify="left" if i == 0 else "right", overflow="fold")
    for row in rows:
        # A name in square brackets is a name, not rich's markup.
        shown.add_row(*(Text(text) if isinstance(text, str) else text for text in row))
    console.print(shown)
