"""The command line: ``python -m results COMMAND``.

Each command imports what it needs when it runs: ``--help`` must not wait for pandas, nor ``export``
for the plotting libraries.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from results.options import (
    common_options,
    metrics_option,
    names,
    published_options,
    records_paths,
    selection,
    table_options,
)

if TYPE_CHECKING:
    from results.output import Output
    from results.published.publication import Publication
    from results.records.frame import Experiments


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status (0, or 2 for a request that makes no sense)."""
    options = _parser().parse_args(arguments)
    from results.output import Output, make_console

    output = Output(options.output, make_console())
    try:
        options.run(options, output)
        output.finish()
    except (OSError, ValueError) as error:
        # The request cannot be carried out; the message says why, a traceback would not help.
        print(f"error: {_message(error)}", file=sys.stderr)
        return 2
    return 0


def _message(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        # The operating system's own errors name the file last, and a number first.
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror}"
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        allow_abbrev=False,
        prog="python -m results",
        description="Tables, figures, comparisons and a report from the records of a run.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    common = common_options()

    def add(name: str, run: object, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name, help=text, description=text, parents=[common], allow_abbrev=False
        )
        command.set_defaults(run=run)
        return command

    tables = add("tables", _tables, "write and print Tables 1, 2 and S1 (.tex, .md, .csv)")
    table_options(tables)
    export = add("export", _export, "write one CSV row per experiment")
    export.add_argument("file", type=Path, metavar="FILE.csv")
    compare = add(
        "compare", _compare, "judge a run against published values: what is reproduced, what is not"
    )
    published_options(compare, default="goix2016")
    compare.add_argument("--cells", action="store_true", help="print every cell as well")
    standings = add(
        "standings",
        _standings,
        "insert our algorithms (--algorithm) among the published ones: means, ranks, wins, tests",
    )
    published_options(standings)
    metrics_option(standings, "those of the publication")
    add(
        "replay",
        _replay,
        "show the paper's tables replayed from their random stream, value by value",
    )
    add("report", _report, "write report.html: everything in one file")
    add("departures", _departures, "show the effect of each departure of the published protocol")
    reproduction = add(
        "reproduction",
        _reproduction,
        "write REPRODUCTION.md, or regenerate the numbers of one and keep its sentences",
    )
    reproduction.add_argument(
        "--file", type=Path, help="document to update (default: REPRODUCTION.md in --output)"
    )
    reproduction.add_argument(
        "--reasons", type=Path, help="default: results/published/goix2016/reasons.csv"
    )
    add("figures", _figures, "write all figures (.pdf, .png)")
    histogram = add(
        "histogram",
        _histogram,
        "draw the scores of one experiment (CSV or Parquet: y, anomaly_score)",
    )
    histogram.add_argument("file", type=Path, metavar="SCORES")
    histogram.add_argument("--title", default="", help="title of the figure")
    statistics = add(
        "statistics", _statistics, "write and print rank tests, win/tie/loss and intervals"
    )
    metrics_option(statistics)
    ablations = add(
        "ablations", _ablations, "write the effect of each choice in OneClassRF (tables, figures)"
    )
    ablations.add_argument(
        "--file", type=Path, help="document to update (default: ABLATIONS.md in the output folder)"
    )
    benchmarks = add(
        "benchmarks",
        _benchmarks,
        "write BENCHMARKS.md: OneClassRF on other published benchmarks, and its choices there",
    )
    benchmarks.add_argument(
        "--file", type=Path, help="document to update (default: BENCHMARKS.md in --output)"
    )
    add("status", _status, "print what is done, NA, failed (and why) and missing")
    add("provenance", _provenance, "print what the records were made with; warn if it is mixed")
    forgetting = add(
        "forget",
        _forget,
        "remove the selected records from a store, after showing them (failed attempts, say)",
    )
    forgetting.add_argument(
        "--status", type=names, default=(), metavar="NAME,...", help="only records with these"
    )
    forgetting.add_argument("--yes", action="store_true", help="remove them without asking")
    packing = add("pack", _pack, "write the (selected) records into one compressed Parquet file")
    packing.add_argument("file", type=Path, metavar="FILE.parquet")
    packing.add_argument(
        "--without-curves", action="store_true", help="leave out the curves, most of the size"
    )
    packing.add_argument(
        "--without-paths",
        action="store_true",
        help="leave out the names of this machine's folders (for publication)",
    )
    unpacking = add("unpack", _unpack, "merge a packed file into the record store")
    unpacking.add_argument("file", type=Path, metavar="FILE.parquet")
    return parser


def _load(options: argparse.Namespace, output: Output) -> Experiments:
    from results.records.frame import load_experiments

    experiments = load_experiments(*records_paths(options), selection=selection(options))
    output.remarks += experiments.remarks
    return experiments


def _missing(experiments: Experiments, output: Output) -> None:
    """Say which cells of the grid that the records span are missing or incomplete."""
    from results.aggregate import make_cells
    from results.status import missing_remarks

    output.remarks += missing_remarks(make_cells(experiments.frame))


def _tables(options: argparse.Namespace, output: Output) -> None:
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


def _export(options: argparse.Namespace, output: Output) -> None:
    from results.output import csv_text
    from results.records.frame import exported

    rows = exported(_load(options, output).frame)
    output.write(options.file.absolute(), csv_text(rows))
    output.console.print(f"{len(rows)} experiments")


def _compare(options: argparse.Namespace, output: Output) -> None:
    from results.reproduction.comparison_output import write_comparison

    experiments = _load(options, output)
    publication = _publication(options, experiments)
    write_comparison(experiments, output, publication, every_cell=options.cells)


def _replay(options: argparse.Namespace, output: Output) -> None:
    from results.reproduction.replay import write_replay

    write_replay(_load(options, output), output)


def _standings(options: argparse.Namespace, output: Output) -> None:
    from results.reproduction.standings_output import write_standings

    experiments = _load(options, output)
    write_standings(experiments, output, _publication(options, experiments), options.metrics)


def _publication(options: argparse.Namespace, experiments: Experiments) -> Publication:
    from results.published.publication import load_publication

    names = {name: set(experiments.frame[name]) for name in ("dataset", "algorithm", "protocol")}
    return load_publication(options.published, options.searchpath, names)


def _report(options: argparse.Namespace, output: Output) -> None:
    from results.report.build import write_report

    experiments = _load(options, output)
    write_report(experiments, output)
    _missing(experiments, output)


def _departures(options: argparse.Namespace, output: Output) -> None:
    from results.reproduction.departures_output import write_departures

    write_departures(_load(options, output), output)


def _reproduction(options: argparse.Namespace, output: Output) -> None:
    from results.reproduction.document import FILE_NAME, write_reproduction

    file = options.file or options.output / FILE_NAME
    write_reproduction(_load(options, output), output, file, options.reasons)


def _figures(options: argparse.Namespace, output: Output) -> None:
    from results.figures.write import write_figures

    experiments = _load(options, output)
    write_figures(experiments, output)
    _missing(experiments, output)


def _histogram(options: argparse.Namespace, output: Output) -> None:
    from results.figures.distributions import most_anomalous, read_scores, score_histogram
    from results.figures.style import render

    frame = read_scores(options.file)
    figure = score_histogram(frame["y"], frame["anomaly_score"], title=options.title)
    for kind in ("pdf", "png"):
        output.write(f"figures/scores_{options.file.stem}.{kind}", render(figure, kind))
    table = most_anomalous(frame)
    cells = [list(table), *table.astype(str).to_numpy().tolist()]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    output.console.print("the most anomalous test points:")
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        output.console.print(line.rstrip(), soft_wrap=True)


def _statistics(options: argparse.Namespace, output: Output) -> None:
    from results.statistics.write import write_statistics

    write_statistics(_load(options, output), output, options.metrics)


def _ablations(options: argparse.Namespace, output: Output) -> None:
    from results.ablations.document import write_ablations

    write_ablations(_load(options, output), output, options.file)


def _benchmarks(options: argparse.Namespace, output: Output) -> None:
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


def _status(options: argparse.Namespace, output: Output) -> None:
    from results.records.asked import asked_for
    from results.records.opening import NoRecordsError
    from results.status import print_status

    asked = asked_for(records_paths(options), selection(options))
    try:
        experiments = _load(options, output)
    except NoRecordsError:
        if not asked:
            raise
        print_status(None, output, asked)
    else:
        print_status(experiments, output, asked)


def _provenance(options: argparse.Namespace, output: Output) -> None:
    from results.records.provenance import print_provenance

    print_provenance(_load(options, output).frame, output)


def _forget(options: argparse.Namespace, output: Output) -> None:
    from results.records.forget import forget

    forget(records_paths(options), selection(options), options.status, output, yes=options.yes)


def _pack(options: argparse.Namespace, output: Output) -> None:
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
        search.select(records, ", ".join(map(str, paths))),
        options.file,
        curves=not options.without_curves,
        paths=not options.without_paths,
    )
    output.remarks += search.unmatched()
    output.remarks += left_out(records.unreadable)
    output.written.append(options.file)
    output.console.print(f"{count} records, {options.file.stat().st_size / 1e6:.2f} MB")


def _unpack(options: argparse.Namespace, output: Output) -> None:
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
