"""The command ``statistics``: each protocol, setting and metric as a Markdown file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd
from rich.text import Text

from results.aggregate import fully_run, labelled_in, make_cells, of_other_splits, usual_splits
from results.metrics import METRICS
from results.output import Output
from results.records.frame import Experiments
from results.statistics.rank_tests import (
    ALPHA,
    TIE_DIGITS,
    Comparison,
    bootstrap_intervals,
    comparisons,
    matrix,
    win_tie_loss,
)
from results.status import incomplete_remarks, unpaired_remarks
from results.tables.text import markdown, print_columns
from results.tables.write import Slice, slices
from results.vocabulary import display_name, flagged, format_number

#: What counts of wins have otherwise than ranks.
TIES = (
    f"Means that are the same to {TIE_DIGITS} decimals tie here, as in the tables; ranks, tests "
    "and intervals are of the means as they are, so that such a tie may be a difference there."
)


@dataclass(frozen=True)
class Section:
    """Statistics of one protocol, setting and metric; `unpaired` names values that are left out."""

    part: Slice
    metric: str
    values: pd.DataFrame
    comparisons: list[Comparison]
    unpaired: list[str]

    @property
    def name(self) -> str:
        """File name without suffix."""
        return f"{self.part.name}_{self.metric}"

    @property
    def title(self) -> str:
        """Heading."""
        return f"{self.part.caption}: {METRICS[self.metric].heading}"


def sections(experiments: Experiments, metrics: tuple[str, ...] = ()) -> Iterator[Section]:
    """Yield the statistics of every protocol, setting and metric with two algorithms or more."""
    for part in slices(experiments):
        for metric in metrics or part.metrics:
            values = matrix(part.cells, metric, experiments.selection.algorithms)
            values = values.dropna(axis=1, how="all")
            if values.shape[1] >= 2:
                labelled = labelled_in(part.cells)
                values = values.set_axis(
                    [flagged(str(label), labelled) for label in values], axis=1
                )
                grid = part.cells.droplevel(["protocol", "setting"])
                run = fully_run(grid)
                yield Section(
                    part,
                    metric,
                    values,
                    comparisons(values, metric, [flagged(label, labelled) for label in run]),
                    _unpaired(grid),
                )


def _unpaired(grid: pd.DataFrame) -> list[str]:
    cells = grid.assign(usual=usual_splits(grid))[of_other_splits(grid)]
    return [
        f"Left out: {display_name(str(label))} on {dataset}, splits {row['splits']}; "
        f"others: {row['usual']}."
        for (dataset, label), row in zip(cells.index, cells.to_dict("records"), strict=True)
    ]


def write_statistics(
    experiments: Experiments, output: Output, metrics: tuple[str, ...] = ()
) -> None:
    """Print and write the statistics."""
    found = False
    for section in sections(experiments, metrics):
        found = True
        output.console.print(Text(f"\n{section.title}", style="bold"))
        blocks: list[tuple[str, list[str], tuple[list[str], list[list[str]]] | None]] = []
        for comparison in section.comparisons:
            blocks.append((comparison.title, sentences(comparison), algorithm_rows(comparison)))
            for title, rows in pair_tables(comparison):
                blocks.append((title, [], rows))
        wins = square_rows(win_tie_loss(section.values, section.metric))
        blocks.append(("wins/ties/losses on the data sets that both finished", [TIES], wins))
        parts = [f"# {section.title}", "", *(f"{text}\n" for text in section.unpaired)]
        for text in section.unpaired:
            output.console.print(Text(text))
        for title, texts, table in blocks:
            output.console.print(Text(f"\n{title}", style="italic"))
            parts += [f"## {title[:1].upper()}{title[1:]}", "", *(f"{text}\n" for text in texts)]
            for text in texts:
                output.console.print(text)
            if table:
                print_columns(output.console, *table)
                parts += [markdown(*table), ""]
        output.write(f"statistics/{section.name}.md", "\n".join(parts))
    cells = make_cells(experiments.frame)
    output.remarks += [*incomplete_remarks(cells), *unpaired_remarks(cells)]
    held = experiments.frame[list(metrics)].notna().any()
    output.remarks += [f"no experiment holds {metric}" for metric in held.index[~held]]
    if not found and held.all():
        output.remarks.append(
            "no statistics: no protocol and setting has two algorithms with values on equal splits"
        )


def sentences(comparison: Comparison, name: Callable[[str], str] = display_name) -> list[str]:
    """Say what was compared, what was left out, and what the tests found.

    Parameters
    ----------
    comparison : Comparison
    name : callable
        Returns the name to print for an algorithm.
    """
    n, k = comparison.values.shape
    on = f"{n} data set{'s' * (n != 1)}"
    texts = [f"{k} algorithms on {on} ({', '.join(map(str, comparison.values.index))})."]
    for dataset, labels in comparison.left_out_datasets.items():
        names = ", ".join(map(name, labels))
        texts.append(f"Left out: {dataset} (no value for {names}).")
    if comparison.left_out_algorithms:
        names = ", ".join(map(name, comparison.left_out_algorithms))
        texts.append(f"Left out: {names} (not run, or not finished, on every data set).")
    if comparison.friedman is None:
        texts.append("No Friedman test: it needs three algorithms, two data sets and a difference.")
    else:
        statistic, p_value = comparison.friedman
        verdict = "differ" if p_value < ALPHA else "are not shown to differ"
        texts.append(
            f"Friedman: chi-squared {format_number(statistic, 2)} with {k - 1} degrees of freedom, "
            f"p = {format_p(p_value)}: at {ALPHA:.0%} the algorithms {verdict}. Nemenyi's critical "
            f"difference of mean ranks: {format_number(comparison.critical_difference, 2)}."
        )
        if p_value >= ALPHA:
            texts.append("The tests of pairs below then show nothing by themselves.")
    if comparison.smallest_p > ALPHA:
        texts.append(
            f"With {on} Wilcoxon's test cannot give less than "
            f"p = {format_p(comparison.smallest_p)}: no pair can be shown to differ by it."
        )
    return texts


def algorithm_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return mean rank, mean and bootstrap intervals per algorithm, the best rank first."""
    intervals = bootstrap_intervals(comparison.values).to_dict("index")
    first = display_name(str(comparison.values.columns[0]))
    columns = ["algorithm", "mean rank", "mean", "95 % interval", f"minus {first}", "95 % interval"]
    rows = []
    for label, rank in comparison.mean_ranks.sort_values(kind="stable").items():
        row = intervals[label]
        rows.append(
            [
                display_name(str(label)),
                format_number(rank, 2),
                format_number(row["mean"], 3),
                _interval(row["low"], row["high"]),
                format_number(row["difference"], 3),
                _interval(row["difference_low"], row["difference_high"]),
            ]
        )
    return columns, rows


def pair_tables(comparison: Comparison) -> Iterator[tuple[str, tuple[list[str], list[list[str]]]]]:
    """Yield the tables of p values that there are, with their titles."""
    for title, table in (
        ("Nemenyi, p values", comparison.nemenyi),
        ("Wilcoxon signed-rank with Holm's correction, p values", comparison.wilcoxon_holm),
    ):
        if table is not None:
            text = table.map(format_p)
            for label in text.index:
                text.loc[label, label] = ""
            yield title, square_rows(text)


def square_rows(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of an algorithm x algorithm table."""
    names = [display_name(str(label)) for label in table.columns]
    rows = [[name, *map(str, row)] for name, row in zip(names, table.to_numpy(), strict=True)]
    return ["", *names], rows


def _interval(low: float, high: float) -> str:
    if math.isnan(low):
        return "--"
    return f"[{format_number(low, 3)}, {format_number(high, 3)}]"


def format_p(value: float) -> str:
    """Return a p value to three digits."""
    return "< 0.001" if value < 0.001 else format_number(value, 3)
