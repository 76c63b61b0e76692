"""The command ``standings``: printed, and written as CSV and Markdown."""

from __future__ import annotations

import pandas as pd
from rich.text import Text

from results.aggregate import make_cells
from results.metrics import METRICS
from results.output import Output, csv_text
from results.published.publication import Publication
from results.records.files import safe_name
from results.records.frame import Experiments
from results.reproduction.runs import check_runs
from results.reproduction.standings import OURS, Standings, standing_rows, standings
from results.statistics.rank_tests import Comparison, win_tie_loss
from results.statistics.write import format_p, sentences
from results.tables.text import markdown, print_columns
from results.vocabulary import format_number

_NOTE = (
    "Means and ranks are over the data sets on which all of the algorithms have a value; rank 1 is "
    "best, and values that read the same as printed tie. Wins: data sets on which no other value "
    "is better."
)


def write_standings(
    experiments: Experiments,
    output: Output,
    publication: Publication,
    metrics: tuple[str, ...] = (),
) -> list[Standings]:
    """Print and write the standings of every setting and metric that was run; return them.

    Parameters
    ----------
    experiments : Experiments
        Algorithms that were selected are inserted, and no others.
    output : Output
    publication : Publication
    metrics : tuple of str
        Default: those of the publication.

    Raises
    ------
    ValueError
        If no experiment was made with the publication's protocol, or it does not print a metric.
    """
    output.remarks += check_runs(experiments.frame, publication)
    for metric in metrics:
        if metric not in publication.metrics:
            raise ValueError(
                f"{publication.name} does not print {metric}; it prints "
                f"{', '.join(publication.metrics)}"
            )
    cells = make_cells(experiments.frame)
    chosen = experiments.selection.algorithms
    written = []
    for setting in publication.description.settings:
        for metric in metrics or publication.metrics:
            found = standings(cells, publication, setting, metric, chosen)
            if found is None:
                continue
            written.append(found)
            _print(found, publication, output)
            name = f"standings_{safe_name(publication.name)}_{safe_name(setting)}_{metric}"
            csv = csv_text(to_frame(found))
            output.write(f"tables/{name}.csv", csv)
            output.write(f"tables/{name}.md", to_markdown(found, publication))
    return written


def _title(found: Standings, publication: Publication) -> str:
    run = publication.description.settings[found.setting]
    own = "" if found.setting == run.setting else f"{found.setting}, "
    scale = " in per cent" if publication.description.scale == "percent" else ""
    return (
        f"{publication.name}, {own}setting {run.setting}, protocol {run.protocol}: "
        f"{METRICS[found.metric].heading}{scale}"
    )


def _print(found: Standings, publication: Publication, output: Output) -> None:
    output.console.print(Text(f"\n{_title(found, publication)}", style="bold"))
    for comparison in found.comparisons:
        output.console.print(Text(f"\n{comparison.title}", style="italic"))
        columns, rows = _rows(comparison, publication)
        styled = [
            [Text(text, style="bold" if OURS in row[1] else "") for text in row] for row in rows
        ]
        print_columns(output.console, columns, styled)
        for text in sentences(comparison, name=str):
            output.console.print(Text(text))
    for text in found.left_out:
        output.console.print(Text(text))


def _rows(comparison: Comparison, publication: Publication) -> tuple[list[str], list[list[str]]]:
    digits = publication.description.digits
    rows = [
        [
            str(place),
            str(name),
            format_number(row["mean"], digits),
            format_number(row["mean_rank"], 2),
            str(int(row["wins"])),
        ]
        for place, (name, row) in enumerate(standing_rows(comparison).iterrows(), start=1)
    ]
    return ["place", "algorithm", "mean", "mean rank", "wins"], rows


def _against(comparison: Comparison, name: str, digits: int) -> tuple[list[str], list[list[str]]]:
    """Return one of ours against every other algorithm, the best mean rank first."""
    counts = win_tie_loss(comparison.values, comparison.metric, digits)
    rows = []
    for other in comparison.mean_ranks.sort_values(kind="stable").index:
        if other == name:
            continue
        tests = (comparison.nemenyi, comparison.wilcoxon_holm)
        p_values = ["--" if test is None else format_p(test.loc[name, other]) for test in tests]
        rows.append([str(other), counts.loc[name, other], *p_values])
    return ["against", "wins/ties/losses", "Nemenyi p", "Wilcoxon-Holm p"], rows


def to_markdown(found: Standings, publication: Publication) -> str:
    """Return the standings in Markdown, with the tests of ours against each other algorithm."""
    lines = [f"# {_title(found, publication)}", "", f"{publication.description.citation}.", ""]
    lines += [_NOTE, "", *(f"{text}\n" for text in found.left_out)]
    for comparison in found.comparisons:
        lines += [f"## {comparison.title[:1].upper()}{comparison.title[1:]}", ""]
        lines += [markdown(*_rows(comparison, publication)), ""]
        lines += [f"{text}\n" for text in sentences(comparison, name=str)]
        for name in found.ours:
            if name in comparison.values:
                table = _against(comparison, name, publication.description.digits)
                lines += [
                    f"### {name}",
                    "",
                    markdown(*table),
                    "",
                ]
    return "\n".join(lines)


def to_frame(found: Standings) -> pd.DataFrame:
    """Return the standings as one table.

    Returns
    -------
    DataFrame
        One row per comparison and algorithm, the best mean rank first: ``comparison``,
        ``algorithm``, ``origin`` (``ours`` or ``published``), ``n_datasets``, ``mean``,
        ``mean_rank``, ``wins``, and for each of ours the p values of the two tests against it.
    """
    parts = []
    for comparison in found.comparisons:
        table = standing_rows(comparison).rename_axis("algorithm").reset_index()
        origin = ["ours" if name in found.ours else "published" for name in table["algorithm"]]
        table.insert(0, "comparison", comparison.title)
        table.insert(2, "origin", origin)
        table.insert(3, "n_datasets", comparison.n_datasets)
        for name in found.ours:
            for test, p_values in (
                ("nemenyi", comparison.nemenyi),
                ("wilcoxon_holm", comparison.wilcoxon_holm),
            ):
                if p_values is not None and name in p_values:
                    own = table["algorithm"].map(p_values[name])
                    table[f"{test}: {name}"] = own.where(table["algorithm"] != name)
        parts.append(table)
    # Rounding errors of sums would show as digits.
    return pd.concat(parts, ignore_index=True).round(12)
