"""The command ``tables``: every table in every format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from results.aggregate import make_cells
from results.metrics import PAPER_METRICS
from results.output import Output
from results.published.paper import TABLES
from results.records.files import safe_name
from results.records.frame import Experiments
from results.records.mixtures import mixtures
from results.tables import datasets
from results.tables.build import build_table
from results.tables.latex import standalone, table_to_latex
from results.tables.model import Table, TableOptions
from results.tables.text import print_table, table_to_csv, table_to_markdown
from results.vocabulary import SETTINGS


@dataclass(frozen=True)
class Slice:
    """The cells of one protocol and one setting, with what its table shows by default."""

    protocol: str
    setting: str
    cells: pd.DataFrame
    metrics: tuple[str, ...]

    @property
    def name(self) -> str:
        """File name: the paper's table for its protocol, ``..._<protocol>`` for another."""
        stem = TABLES.get(self.setting, f"table_{safe_name(self.setting)}")
        return stem if self.protocol == "paper" else f"{stem}_{safe_name(self.protocol)}"

    @property
    def caption(self) -> str:
        """What the table shows."""
        setting = SETTINGS.get(self.setting, self.setting)
        return f"Results for {setting}, protocol {self.protocol}"


def slices(experiments: Experiments, cells: pd.DataFrame | None = None) -> Iterator[Slice]:
    """Yield one slice per protocol and setting that the experiments hold, the paper's first."""
    cells = make_cells(experiments.frame) if cells is None else cells
    shown: dict[str, tuple[str, ...]] = {}
    names = zip(experiments.frame["protocol"], experiments.frame["shown_metrics"], strict=True)
    for protocol, metrics in names:
        if metrics:
            shown.setdefault(protocol, metrics)
    for key, part in cells.groupby(level=["protocol", "setting"], sort=False):
        protocol, setting = map(str, key)
        yield Slice(protocol, setting, part, shown.get(protocol, PAPER_METRICS))


def build_tables(experiments: Experiments, options: TableOptions) -> list[Table]:
    """Build the results table of every protocol and setting."""
    options_ordered = TableOptions(
        options.metrics,
        options.precision,
        options.std,
        options.algorithms or experiments.selection.algorithms,
        options.transposed,
    )
    tables = []
    frame = experiments.frame
    for part in slices(experiments):
        table = build_table(
            part.cells,
            options_ordered,
            name=part.name,
            caption=part.caption,
            default_metrics=part.metrics,
        )
        own = frame[(frame["protocol"] == part.protocol) & (frame["setting"] == part.setting)]
        table.notes += [f"{remark}." for remark in mixtures(own)]
        tables.append(table)
    return tables


def write_tables(experiments: Experiments, options: TableOptions, output: Output) -> None:
    """Write and print Table 1 and every results table."""
    tables = build_tables(experiments, options)
    rows = datasets.build_rows(make_cells(experiments.frame))
    for suffix, text in (
        ("tex", datasets.to_latex(rows)),
        ("md", datasets.to_markdown(rows)),
        ("csv", datasets.to_csv(rows)),
    ):
        output.write(f"tables/{datasets.NAME}.{suffix}", text)
    for table in tables:
        output.write(f"tables/{table.name}.tex", table_to_latex(table))
        output.write(f"tables/{table.name}.md", table_to_markdown(table))
        output.write(f"tables/{table.name}.csv", table_to_csv(table))
        print_table(output.console, table)
    noted = {note.removesuffix(".") for table in tables for note in table.notes}
    output.remarks = [remark for remark in output.remarks if remark not in noted]
    held = experiments.frame[list(options.metrics)].notna().any()
    output.remarks += [f"no experiment holds {metric}" for metric in held.index[~held]]
    names = [datasets.NAME, *(table.name for table in tables)]
    output.write("tables/standalone.tex", standalone(names))
