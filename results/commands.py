"""What each command does: read the selected records, then print and write.

Each command imports what it needs when it runs: ``--help`` must not wait for pandas, nor ``export``
for the plotting libraries.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from results.options import records_paths, selection

if TYPE_CHECKING:
    from results.output import Output
    from results.published.publication import Publication
    from results.records.frame import Experiments


def _roots(options: argparse.Namespace) -> tuple[Path, ...]:
    """Return the folders whose files say what a name stands for."""
    from results.published.publication import CONF

    return (CONF, *getattr(options, "searchpath", ()))


def _as_filed(options: argparse.Namespace) -> Callable[[str, str, str], bool]:
    from results.reproduction.runs import as_filed

    return as_filed(_roots(options))


def _read(options: argparse.Namespace, output: Output) -> Experiments:
    from results.records.frame import load_experiments

    experiments = load_experiments(
        *records_paths(options), selection=selection(options), as_filed=_as_filed(options)
    )
    output.remarks += experiments.remarks
    return experiments


def _load(options: argparse.Namespace, output: Output) -> Experiments:
    """Load experiments, and say which are not what the files of their names say."""
    from results.reproduction.runs import unlike_files

    experiments = _read(options, output)
    output.remarks += unlike_files(experiments.frame, _roots(options))
    return experiments


def _missing(experiments: Experiments, output: Output) -> None:
    """Say which cells of the grid that the records span are missing, incomplete or unpaired."""
    from results.aggregate import make_cells
    from results.status import missing_remarks, unpaired_remarks

    cells = make_cells(experiments.frame)
    output.remarks += [*missing_remarks(cells), *unpaired_remarks(cells)]


def tables(options: argparse.Namespace, output: Output) -> None:
    """Write and print Tables 1, 2 and S1 (.tex, .md, .csv)."""
    from results.tables.model import TableOptions
    from results.tables.write import write_tables

    shown = TableOptions(
        metrics=options.metrics,
        precision=options.precision,
        std=options.std,
        algorithms=options.algorithm,
        transposed=options.transposed,
    )
    experiments = _load(options, output)
    write_tables(experiments, shown, output)
    _missing(experiments, output)


def export(options: argparse.Namespace, output: Output) -> None:
    """Write one CSV row per experiment."""
    from results.output import csv_text
    from results.records.frame import exported

    rows = exported(_load(options, output).frame)
    output.write(options.file.absolute(), csv_text(rows))
    output.console.print(f"{len(rows)} experiments")


def compare(options: argparse.Namespace, output: Output) -> None:
    """Judge a run against published values: what is reproduced, what is not."""
    from results.reproduction.comparison_output import write_comparison

    experiments, publication = _load_beside(options, output)
    write_comparison(experiments, output, publication, every_cell=options.cells)


def replay(options: argparse.Namespace, output: Output) -> None:
    """Show the paper's tables replayed from their random stream, value by value."""
    from results.reproduction.replay import write_replay

    write_replay(_load(options, output), output)


def standings(options: argparse.Namespace, output: Output) -> None:
    """Insert our algorithms (--algorithm) among the published ones: means, ranks, wins, tests."""
    from results.reproduction.standings_output import write_standings

    experiments, publication = _load_beside(options, output)
    write_standings(experiments, output, publication, options.metrics)


def _load_beside(options: argparse.Namespace, output: Output) -> tuple[Experiments, Publication]:
    """Load experiments, named by the files of today, and the numbers to stand beside."""
    from results.published.publication import load_publication

    experiments = _read(options, output)
    names = {name: set(experiments.frame[name]) for name in ("dataset", "algorithm", "protocol")}
    return experiments, load_publication(options.published, options.searchpath, names)


def report(options: argparse.Namespace, output: Output) -> None:
    """Write report.html: everything in one file."""
    from results.report.build import write_report

    experiments = _load(options, output)
    write_report(experiments, output)
    _missing(experiments, output)


def departures(options: argparse.Namespace, output: Output) -> None:
    """Show the effect of each departure of the published protocol."""
    from results.reproduction.departures_output import write_departures

    write_departures(_load(options, output), output)


def reproduction(options: argparse.Namespace, output: Output) -> None:
    """Write REPRODUCTION.md, or regenerate the numbers of one and keep its sentences."""
    from results.reproduction.document import FILE_NAME, write_reproduction

    file = options.file or options.output / FILE_NAME
    write_reproduction(_load(options, output), output, file, options.reasons)


def figures(options: argparse.Namespace, output: Output) -> None:
    """Write all figures (.pdf, .png)."""
    from results.figures.write import write_figures

    experiments = _load(options, output)
    write_figures(experiments, output)
    _missing(experiments, output)


def histogram(options: argparse.Namespace, output: Output) -> None:
    """Draw the scores of one experiment (CSV or Parquet: y, anomaly_score)."""
    from results.figures.distributions import most_anomalous, read_scores, score_histogram
    from results.figures.style import render

    frame = read_scores(options.file)
    figure = score_histogram(frame["y"], frame["anomaly_score"], title=options.title)
    for kind in ("pdf", "png"):
        output.write(f"figures/scores_{options.file.stem}.{kind}", render(figure, kind))
    table = most_anomalous(frame)
    lines = [list(table), *table.astype(str).to_numpy().tolist()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    output.console.print("the most anomalous test points:")
    for row in lines:
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        output.console.print(line.rstrip(), soft_wrap=True)


def statistics(options: argparse.Namespace, output: Output) -> None:
    """Write and print rank tests, win/tie/loss and intervals."""
    from results.statistics.write import write_statistics

    write_statistics(_load(options, output), output, options.metrics)


def ablations(options: argparse.Namespace, output: Output) -> None:
    """Write the effect of each choice in OneClassRF (tables, figures)."""
    from results.ablations.document import write_ablations

    write_ablations(_load(options, output), output, options.file)


def benchmarks(options: argparse.Namespace, output: Output) -> None:
    """Write BENCHMARKS.md: OneClassRF on other published benchmarks, and its choices there."""
    from results.benchmarks.document import write_benchmarks
    from results.published.publication import load_publication

    experiments = _load(options, output)
    made_with = set(experiments.frame["protocol"])
    published = [load_publication(name) for name in ("dte2024", "pyod2019")]
    shown = [
        publication
        for publication in published
        if made_with & {run.protocol for run in publication.description.settings.values()}
    ]
    write_benchmarks(experiments, output, shown, options.file)


def status(options: argparse.Namespace, output: Output) -> None:
    """Print what is done, NA, failed (and why) and missing."""
    from results.records.asked import asked_for
    from results.records.opening import NoRecordsError
    from results.status import print_status

    asked = asked_for(records_paths(options), selection(options))
    try:
        experiments = _load(options, output)
    except NoRecordsError:
        if not any(cell.missing for cell in asked):
            raise
        print_status(None, output, asked)
    else:
        print_status(experiments, output, asked)


def provenance(options: argparse.Namespace, output: Output) -> None:
    """Print what the records were made with; warn if it is mixed."""
    from results.provenance import print_provenance

    print_provenance(_load(options, output).frame, output)


def forget(options: argparse.Namespace, output: Output) -> None:
    """Remove the selected records from a store, after showing them (failed attempts, say)."""
    from results.forget import forget

    forget(
        records_paths(options),
        selection(options),
        options.status,
        output,
        yes=options.yes,
        as_filed=_as_filed(options),
    )


def pack(options: argparse.Namespace, output: Output) -> None:
    """Write the (selected) records into one compressed Parquet file."""
    from results.records.frame import selected
    from results.records.opening import Search, left_out, open_records
    from results.records.pack import pack

    if options.file.suffix != ".parquet":
        raise ValueError(
            f"name the packed file *.parquet, not {options.file}: --records takes those"
        )
    paths = records_paths(options)
    records = open_records(*paths)
    search = Search(selection(options))
    # The file is replaced only after the search: not if it ends with nothing.
    count = pack(
        selected(records, search, ", ".join(map(str, paths)), _as_filed(options)),
        options.file,
        curves=not options.without_curves,
        paths=not options.without_paths,
    )
    output.remarks += search.unmatched()
    output.remarks += left_out(records.unreadable)
    output.written.append(options.file)
    output.console.print(f"{count} records, {options.file.stat().st_size / 1e6:.2f} MB")


def unpack(options: argparse.Namespace, output: Output) -> None:
    """Merge a packed file into the record store."""
    from results.records.opening import left_out, packed_files
    from results.records.pack import unpack
    from results.records.store import RecordStore

    path, *more = records_paths(options)
    if more:
        raise ValueError("unpack merges into one folder of records; name one with --records")
    if path.suffix == ".parquet" or path.is_file():
        raise ValueError(f"unpack merges into a folder of records, and {path} is not")
    if packed := packed_files(path):
        raise ValueError(
            f"{path} is a folder of packed files ({packed[0].name}), which are read as they are; "
            "name another folder to unpack to"
        )
    store = RecordStore(path)
    unreadable: list[tuple[Path, str]] = []
    counts = unpack(options.file, store, unreadable)
    output.remarks += left_out(unreadable)
    output.console.print(", ".join(f"{count} {what}" for what, count in counts.items()))
    output.written.append(store.path)
