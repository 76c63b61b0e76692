"""The command line: ``python -m results COMMAND``; `results.commands` holds the commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from results import commands
from results.options import (
    Parser,
    common_options,
    metrics_option,
    names,
    published_options,
    table_options,
)

if TYPE_CHECKING:
    from results.output import Output


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


def _parser() -> Parser:
    parser = Parser(
        prog="python -m results",
        description="Tables, figures, comparisons and a report from the records of a run.",
    )
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    common = common_options()

    def add(run: Callable[[argparse.Namespace, Output], None]) -> argparse.ArgumentParser:
        """Add a command named as its function, whose help is the function's docstring."""
        text = " ".join((run.__doc__ or "").split()).rstrip(".")
        text = text[:1].lower() + text[1:]
        command = subparsers.add_parser(run.__name__, help=text, description=text, parents=[common])
        command.set_defaults(run=run)
        return command

    tables = add(commands.tables)
    table_options(tables)
    export = add(commands.export)
    export.add_argument("file", type=Path, metavar="FILE.csv")
    compare = add(commands.compare)
    published_options(compare, default="goix2016")
    compare.add_argument("--cells", action="store_true", help="print every cell as well")
    standings = add(commands.standings)
    published_options(standings)
    metrics_option(standings, "those of the publication")
    add(commands.replay)
    add(commands.report)
    add(commands.departures)
    reproduction = add(commands.reproduction)
    reproduction.add_argument(
        "--file", type=Path, help="document to update (default: REPRODUCTION.md in --output)"
    )
    reproduction.add_argument(
        "--reasons", type=Path, help="default: results/published/goix2016/reasons.csv"
    )
    add(commands.figures)
    histogram = add(commands.histogram)
    histogram.add_argument("file", type=Path, metavar="SCORES")
    histogram.add_argument("--title", default="", help="title of the figure")
    statistics = add(commands.statistics)
    metrics_option(statistics)
    ablations = add(commands.ablations)
    ablations.add_argument(
        "--file", type=Path, help="document to update (default: ABLATIONS.md in the output folder)"
    )
    benchmarks = add(commands.benchmarks)
    benchmarks.add_argument(
        "--file", type=Path, help="document to update (default: BENCHMARKS.md in --output)"
    )
    add(commands.status)
    add(commands.provenance)
    forgetting = add(commands.forget)
    forgetting.add_argument(
        "--status", type=names, default=(), metavar="NAME,...", help="only records with these"
    )
    forgetting.add_argument("--yes", action="store_true", help="remove them without asking")
    packing = add(commands.pack)
    packing.add_argument("file", type=Path, metavar="FILE.parquet")
    packing.add_argument(
        "--without-curves", action="store_true", help="leave out the curves, most of the size"
    )
    packing.add_argument(
        "--without-paths",
        action="store_true",
        help="leave out the names of this machine's folders (for publication)",
    )
    unpacking = add(commands.unpack)
    unpacking.add_argument("file", type=Path, metavar="FILE.parquet")
    return parser
