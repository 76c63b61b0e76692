"""Tables in the terminal, in as many parts as its width asks for."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from results.tables.model import Line, Table
from results.tables.text import rows_of


def make_console() -> Console:
    """Return a console; output that goes to a file or a pipe is not cut to a terminal's width."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=200)


def print_table(console: Console, table: Table) -> None:
    """Print a table with its caption and notes."""
    console.print()
    console.print(Text(table.caption, style="bold"))
    if table.transposed:
        columns, rows = rows_of(table)
        cells = [[Text(text, style="bold" if bold else "") for text, bold in row] for row in rows]
        print_columns(console, columns, cells)
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
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    grid.add_column("", no_wrap=True)
    names = {label: _two_lines(table.heading(label)) for label in labels}
    height = max((name.count("\n") for name in names.values()), default=0) + 1
    for label in labels:
        for i, metric in enumerate(table.metrics):
            name = names[label] if i == 0 else ""
            heading = name + "\n" * (height - name.count("\n")) + headings[metric]
            grid.add_column(heading, justify="left" if i == 0 else "right", no_wrap=True)
    previous: Line | None = None
    for line in table.lines:
        if previous is not None and previous.kind == "dataset" != line.kind:
            grid.add_section()
        cells = [Text(line.heading)]
        for label in labels:
            for i, metric in enumerate(table.metrics):
                if line.spans and i:
                    cells.append(Text(""))
                    continue
                entry = table.entry(line, label, metric)
                cells.append(Text(entry.plain, style="bold" if entry.bold else ""))
        grid.add_row(*cells)
        previous = line
    return grid


def print_columns(
    console: Console, columns: list[str], rows: Iterable[list[Text] | list[str]]
) -> None:
    """Print a plain table: headings and rows, the first column to the left."""
    grid = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, column in enumerate(columns):
        grid.add_column(column, justify="left" if i == 0 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*row)
    console.print(grid)
