"""Build a results table: the values, what is best, the averages, and what must be noted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import pandas as pd

from results.aggregate import fully_run, in_order, mark_meanings, of_other_splits
from results.metrics import METRICS, PAPER_METRICS
from results.records.statuses import MARK_MEANINGS, MISSING
from results.tables.model import Entry, Line, Table, TableOptions
from results.vocabulary import (
    FORMS,
    LABELLED,
    LABELLED_MEANING,
    PARTIAL,
    PARTIAL_MEANING,
    UNPAIRED,
    UNPAIRED_MEANING,
    display_name,
    format_number,
    format_seconds,
    is_transductive,
    round_half_up,
)


def build_table(
    cells: pd.DataFrame,
    options: TableOptions,
    *,
    name: str,
    caption: str,
    default_metrics: Sequence[str] = (),
) -> Table:
    """Build the table of one protocol and setting.

    Parameters
    ----------
    cells : DataFrame
        As :func:`results.aggregate.make_cells`, of one protocol and setting.
    options : TableOptions
    name, caption : str
    default_metrics : sequence of str
        Used where the options name none.

    Returns
    -------
    Table
        Data sets, then averages over finished cells, averages over the data sets that every
        algorithm finished, mean ranks on those, and cumulative times.
    """
    metrics = options.metrics or tuple(default_metrics) or PAPER_METRICS
    grid = cells.droplevel(["protocol", "setting"])
    datasets = sorted(grid.index.get_level_values("dataset").unique())
    algorithms = in_order(grid.index.get_level_values("label"), options.algorithms)
    table = Table(name, caption, algorithms, metrics, [], {}, transposed=options.transposed)
    table.flags = {
        label: LABELLED
        for label in algorithms
        if grid.xs(label, level="label")["uses_labels"].any()
    }
    other = of_other_splits(grid)
    compared = [label for label in algorithms if label in fully_run(grid)]
    common = common_datasets(grid[~other], datasets, compared, metrics)
    _add_datasets(table, grid, datasets, options, other)
    _add_summaries(table, grid, datasets, options, other, compared, common)
    _add_times(table, grid, datasets)
    _add_notes(table, grid, datasets, compared, common)
    return table


def _add_datasets(
    table: Table,
    grid: pd.DataFrame,
    datasets: list[str],
    options: TableOptions,
    other: pd.Series,
) -> None:
    known, unpaired = set(grid.index), set(other.index[other])
    columns = {name: grid[name].to_dict() for name in ("mark", "partial", *grid.columns)}
    for dataset in datasets:
        line = Line(dataset, dataset)
        table.lines.append(line)
        for metric in table.metrics:
            values: dict[str, float] = {}
            for label in table.algorithms:
                at = (dataset, label)
                if at not in known or columns["mark"][at]:
                    text = columns["mark"][at] if at in known else MISSING
                    table.entries[dataset, label, metric] = Entry(text)
                    continue
                values[label] = columns[metric][at]
                std = columns[f"{metric}_std"][at]
                table.entries[dataset, label, metric] = Entry(
                    format_number(values[label], options.precision) or MISSING,
                    format_number(std, options.precision) if options.std else "",
                    PARTIAL * columns["partial"][at] + UNPAIRED * (at in unpaired),
                )
            paired = {name: v for name, v in values.items() if (dataset, name) not in unpaired}
            _embolden(table, line, metric, paired, options.precision, _best(metric))


def _add_summaries(
    table: Table,
    grid: pd.DataFrame,
    datasets: list[str],
    options: TableOptions,
    other: pd.Series,
    compared: list[str],
    common: list[str],
) -> None:
    unpaired = sorted(set(other.index[other].get_level_values("label")))
    average = Line("average", "average:", "summary")
    average_common = Line("average_common", f"average ({len(common)} common):", "summary")
    rank = Line("mean_rank", f"mean rank ({len(common)} common):", "summary")
    table.lines.append(average)
    # With one algorithm the two averages are one and ranks say nothing.
    compares = len(compared) > 1 and bool(common)
    if compares:
        table.lines += [average_common, rank]
    for metric in table.metrics:
        values = grid[metric].unstack("label").reindex(index=datasets, columns=table.algorithms)
        best = _best(metric)
        counts = values.notna().sum()
        over = {str(label): f" ({n})" for label, n in counts.items() if 0 < n < len(datasets)}
        over |= {label: over.get(label, "") + UNPAIRED for label in unpaired}
        _add_numbers(table, average, metric, values.mean(), options.precision, best, over)
        if compares:
            # Those not compared keep their places, as NaN.
            shared = values.loc[common, compared].reindex(columns=table.algorithms)
            _add_numbers(table, average_common, metric, shared.mean(), options.precision, best)
            ranks = shared.round(12).rank(axis=1, ascending=best is min).mean()
            _add_numbers(table, rank, metric, ranks, 2, min)


def _best(metric: str) -> Callable[..., float]:
    return max if METRICS[metric].higher_is_better else min


def common_datasets(
    grid: pd.DataFrame, datasets: list[str], algorithms: Sequence[str], metrics: Sequence[str]
) -> list[str]:
    """Return the data sets on which every algorithm has every metric."""
    has_all = grid[list(metrics)].notna().all(axis=1).unstack("label", fill_value=False)
    has_all = has_all.reindex(index=datasets, columns=list(algorithms), fill_value=False)
    return [dataset for dataset in datasets if has_all.loc[dataset].all()]


def _add_numbers(
    table: Table,
    line: Line,
    metric: str,
    values: pd.Series,
    digits: int,
    best: Callable[..., float],
    flags: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add a line of numbers, with the best of those without a flag in bold."""
    for label, value in values.items():
        text = format_number(value, digits) or MISSING
        table.entries[line.key, str(label), metric] = Entry(text, flag=flags.get(str(label), ""))
    finite = {str(name): v for name, v in values.dropna().items() if str(name) not in flags}
    _embolden(table, line, metric, finite, digits, best)


def _embolden(
    table: Table,
    line: Line,
    metric: str,
    values: dict[str, float],
    digits: int,
    best: Callable[..., float],
) -> None:
    """Mark the best of a line, and what ties with it at the printed precision."""
    if len(table.algorithms) < 2:
        return
    printed = {
        label: round_half_up(value, digits)
        for label, value in values.items()
        if not math.isnan(value)
    }
    if not printed:
        return
    top = best(printed.values())
    for label, value in printed.items():
        if value == top:
            at = (line.key, label, metric)
            old = table.entries[at]
            table.entries[at] = Entry(old.text, old.std, old.flag, bold=True)


def _add_times(table: Table, grid: pd.DataFrame, datasets: list[str]) -> None:
    marks = grid["mark"].unstack("label").reindex(index=datasets, columns=table.algorithms)
    marks = marks.astype("object").where(marks.notna(), MISSING)
    fit = grid["fit_seconds"].unstack("label").reindex(index=datasets, columns=table.algorithms)
    score = grid["score_seconds"].unstack("label").reindex(index=datasets, columns=table.algorithms)
    together = fit + score
    for label in filter(is_transductive, table.algorithms):
        fit[label] = together[label]
    for key, heading, seconds in (
        ("train_time", "cum. train time:", fit),
        ("total_time", "cum. train + test time:", together),
    ):
        if seconds.isna().all(axis=None):
            continue
        line = Line(key, heading, "time", spans=True)
        table.lines.append(line)
        totals: dict[str, float] = {}
        for label in table.algorithms:
            missing = [mark for mark in marks[label] if mark]
            if missing or seconds[label].isna().any():
                # A sum over fewer data sets is not a cumulative time: the mark says why, NA first.
                text = next((mark for mark in MARK_MEANINGS if mark in missing), "--")
                table.entries[key, label, ""] = Entry(text)
            else:
                totals[label] = float(seconds[label].sum())
                table.entries[key, label, ""] = Entry(format_seconds(totals[label]))
        if totals and len(table.algorithms) > 1:
            top = min(totals.values())
            for label, total in totals.items():
                if format_seconds(total) == format_seconds(top):
                    old = table.entries[key, label, ""]
                    table.entries[key, label, ""] = Entry(old.text, bold=True)


def _add_notes(
    table: Table, grid: pd.DataFrame, datasets: list[str], compared: list[str], common: list[str]
) -> None:
    headings = table.metric_headings
    meanings = "; ".join(f"{headings[m]}: {METRICS[m].meaning}" for m in table.metrics)
    table.notes.append(f"{meanings}.")
    if any(line.key == "average_common" for line in table.lines):
        others = [label for label in table.algorithms if label not in compared]
        names = ", ".join(map(display_name, others))
        reached = grid.groupby(level="label").size()
        what = "data set and split" if (reached[others] == len(datasets)).any() else "data set"
        without = f"; without {names}, not run on every {what}" if others else ""
        table.notes.append(
            "average: over the data sets that the algorithm finished, which are not the same for "
            f"all; common: {', '.join(common)}{without}."
        )
    forms = [
        f"{display_name(label)}: {FORMS[label]}" for label in FORMS if label in table.algorithms
    ]
    if forms:
        table.notes.append(f"{'; '.join(forms)}.")
    together = [display_name(label) for label in table.algorithms if is_transductive(label)]
    if together and any(line.key == "train_time" for line in table.lines):
        table.notes.append(
            f"cum. train time: with the test time for {', '.join(together)}, "
            "which cannot be told apart."
        )
    if any("(" in e.flag for (key, _, _), e in table.entries.items() if key == "average"):
        table.notes.append(
            f"(n): an average over n of the {len(datasets)} data sets, not to be compared with one "
            "over others."
        )
    used = {entry.text for entry in table.entries.values()}
    marks = [f"{mark}: {meaning}" for mark, meaning in mark_meanings(grid).items() if mark in used]
    for mark, meaning in ((PARTIAL, PARTIAL_MEANING), (UNPAIRED, UNPAIRED_MEANING)):
        if any(mark in entry.flag for entry in table.entries.values()):
            marks.append(f"{mark}: {meaning}")
    if table.flags:
        marks.append(f"{LABELLED}: {LABELLED_MEANING}")
    if marks:
        table.notes.append(f"{'; '.join(marks)}.")
