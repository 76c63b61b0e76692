"""The command ``departures``: the table of the effect of each departure."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from rich.text import Text

from results.aggregate import make_cells
from results.output import Output, csv_text
from results.records.frame import Experiments
from results.reproduction.departures import Effect, effects, missing
from results.tables.latex import escape, frame_to_tabular, wrap
from results.tables.text import markdown, print_columns
from results.vocabulary import LABELLED, LABELLED_MEANING, display_name, format_number

NAME = "departures"
CAPTION = "The effect of each departure of the published protocol"
NOTE = (
    "All values are ours, none is the paper's. First, second: the two ways in the order in which "
    "the departure names them; means over the data sets (n) on which both have a value, from the "
    "splits that both have. Change: second less first; largest: the data set that changes most, "
    "and by how much. "
    f"{LABELLED}: {LABELLED_MEANING}."
)
COLUMNS = [
    "departure",
    "algorithm",
    "setting",
    "n",
    "ROC first",
    "ROC second",
    "change",
    "largest",
    "PR first",
    "PR second",
    "change",
    "largest",
]


def rows_of(found: Sequence[Effect]) -> list[list[str]]:
    """Return one row of texts per departure, algorithm and setting."""
    grouped: dict[tuple[str, str, str], dict[str, Effect]] = {}
    for effect in found:
        d = effect.departure
        name = f"{d.name}: {d.first} / {d.second}"
        mark = LABELLED if effect.uses_labels else ""
        at = (name, display_name(effect.algorithm) + mark, effect.setting)
        grouped.setdefault(at, {})[effect.metric] = effect
    rows = []
    for (name, algorithm, setting), by_metric in grouped.items():
        n = len(next(iter(by_metric.values())).datasets)
        row = [name, algorithm, setting, str(n)]
        for metric in ("roc", "pr"):
            row += _texts(by_metric.get(metric))
        rows.append(row)
    return rows


def _texts(effect: Effect | None) -> list[str]:
    if effect is None:
        return ["--"] * 4
    return [
        format_number(effect.first, 3),
        format_number(effect.second, 3),
        _signed(effect.change),
        f"{effect.farthest} {_signed(effect.farthest_change)}",
    ]


def _signed(value: float) -> str:
    text = format_number(value, 3)
    return text if text.startswith("-") else f"+{text}"


def write_departures(experiments: Experiments, output: Output) -> None:
    """Print and write the table of departures."""
    found = effects(experiments.frame, make_cells(experiments.frame))
    output.remarks += [f"not measured: {name}" for name in missing(found)]
    if not found:
        output.remarks.append("no departure can be measured on these records")
        return
    rows = rows_of(found)
    output.console.print(Text(CAPTION, style="bold"))
    print_columns(output.console, COLUMNS, rows)
    output.console.print(Text(NOTE, style="dim"))
    output.write(f"tables/{NAME}.md", to_markdown(rows))
    output.write(f"tables/{NAME}.csv", to_csv(rows))
    output.write(f"tables/{NAME}.tex", to_latex(rows))


def to_markdown(rows: list[list[str]]) -> str:
    """Return the table in Markdown."""
    return "\n".join([f"**{CAPTION}**", "", markdown(COLUMNS, rows), "", NOTE, ""])


def to_csv(rows: list[list[str]]) -> str:
    """Return the table as CSV."""
    names = [*COLUMNS[:4]]
    for metric in ("roc", "pr"):
        names += [f"{metric}_{what}" for what in ("first", "second", "change", "largest")]
    return csv_text(pd.DataFrame(rows, columns=names))


def to_latex(rows: list[list[str]]) -> str:
    """Return the table as a ``table*`` environment."""
    top = [""] * 3 + ["ROC"] * 4 + ["PR"] * 4
    columns = pd.MultiIndex.from_arrays([top, [escape(name.split()[-1]) for name in COLUMNS[1:]]])
    frame = pd.DataFrame(
        [[escape(text) for text in row[1:]] for row in rows],
        index=[escape(row[0]) for row in rows],
        columns=columns,
    )
    return wrap(frame_to_tabular(frame, column_format="lllrrrrlrrrl"), CAPTION, NAME, [NOTE])
