"""``python -m runners.speed``: time OneClassRF and the other algorithms, side by side."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console

import ocrf
from datasets import DataUnavailable, load, make_split
from datasets.command import carried_out
from datasets.configuration import compose, published_names
from results.options import Parser
from runners.speed import baselines, contestants, earlier, scale, tables
from runners.speed.paired import TOTAL, Summary, Timing, summarise, time_pairs
from runners.speed.wide import time_wide

PARTS = ("datasets", "wide", "scale", "memory", "earlier", "startup", "baselines")
# The parts that an option has an effect on, of the options that not all parts read.
_READ_BY = {
    "data": ("datasets", "baselines"),
    "against": ("datasets", "wide"),
    "algorithm": ("baselines",),
    "largest": ("scale", "memory", "earlier"),
    "earlier": ("earlier",),
}


def load_novelty(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return train and test parts of the novelty setting under the paper's protocol.

    Raises
    ------
    DataUnavailable
        Where no source has the data set.
    """
    groups = compose([f"dataset={name}", "setting=novelty", "protocol=paper", f"seed={seed}"])
    dataset = load(groups["dataset"], groups["data"])
    split = make_split(
        dataset, setting=groups["setting"], protocol=groups["protocol"], seed=seed, split=0
    )
    return split.X_train, split.X_test


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(
        prog="python -m runners.speed",
        description=(
            "Time OneClassRF against isolation forests on the same data in turn, and the other "
            "algorithms beside the programs that the paper ran."
        ),
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)"
    )
    parser.add_argument(
        "--data", nargs="+", metavar="NAME", help="data sets (default: all at hand)"
    )
    parser.add_argument(
        "--against",
        nargs="+",
        metavar="NAME",
        choices=contestants.available()[1:],
        default=contestants.available()[1:],
        help="forests to compare with (default: all installed)",
    )
    parser.add_argument(
        "--algorithm",
        nargs="+",
        metavar="NAME",
        choices=baselines.NAMES,
        default=baselines.NAMES,
        help=f"of the part baselines: {', '.join(baselines.NAMES)} (default: all)",
    )
    parser.add_argument("--pairs", type=int, default=5, help="paired runs (default: 5)")
    parser.add_argument(
        "--threads",
        type=int,
        nargs="+",
        default=sorted({1, len(os.sched_getaffinity(0))}),
        help="numbers of threads (default: 1 and all processors)",
    )
    parser.add_argument(
        "--largest", type=int, default=10**6, help="rows of the scale table (default: 1000000)"
    )
    parser.add_argument(
        "--earlier",
        type=Path,
        metavar="FOLDER",
        help="of the part earlier: another checkout to compare with (default: none)",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("output"))
    options = parser.parse_args(arguments)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    if options.pairs < 1 or min(options.threads) < 1 or options.largest < 10**4:
        parser.error("--pairs and --threads are at least 1, --largest at least 10000")
    if "earlier" in options.parts and options.earlier is None:
        parser.error("the part earlier needs --earlier FOLDER, another checkout")
    if options.earlier is not None and not (options.earlier / "ocrf" / "__init__.py").is_file():
        parser.error(f"--earlier: {options.earlier} holds no package ocrf")
    options.parts = options.parts or list(PARTS)
    for name, parts in _READ_BY.items():
        given = getattr(options, name) != parser.get_default(name)
        if given and not set(parts) & set(options.parts):
            parser.error(f"--{name} is read by {', '.join(parts)}, and none of these is asked for")
    if options.parts == ["memory"] and options.largest < scale.FEWEST_ROWS:
        parser.error(f"the part memory starts at --largest {scale.FEWEST_ROWS}")
    return options


def time_datasets(options: argparse.Namespace, console: Console) -> bool:
    """Time all contestants on the data sets at hand; return whether there were any."""
    algorithms = [contestants.OURS, *options.against]
    for name in contestants.missing():
        console.print(f"[dim]{name} is not installed (extra `speed`) and left out[/]")
    ocrf.warm_up()
    timings: list[Timing] = []
    for name in options.data or published_names():
        try:
            X_train, X_test = load_novelty(name, options.seed)
        except DataUnavailable as error:
            console.print(f"[yellow]{name}: left out, no source has it[/]")
            console.print(f"[dim]{error}[/]", highlight=False)
            continue
        for n_jobs in options.threads:
            timings += time_pairs(name, X_train, X_test, algorithms, n_jobs, options.pairs)
        console.print(f"[dim]{name}: timed {options.pairs} times[/]")
    if timings:
        show_timings(("timings", timings), ("summary", summarise(timings)), options, console)
    return bool(timings)


def show_timings(
    timings: tuple[str, list[Timing]],
    summaries: tuple[str, list[Summary]],
    options: argparse.Namespace,
    console: Console,
) -> None:
    """Write both under their names, and print the summaries, a table per number of threads."""
    for name, rows in (timings, summaries):
        tables.write_csv(options.output / "speed" / f"{name}.csv", [asdict(row) for row in rows])
    for n_jobs in options.threads:
        part = [summary for summary in summaries[1] if summary.n_jobs == n_jobs]
        tables.show(console, tables.paired_table(part))


def time_wide_data(options: argparse.Namespace, console: Console) -> None:
    """Time all contestants on wide data."""
    ocrf.warm_up()
    algorithms = [contestants.OURS, *options.against]
    timings: list[Timing] = []
    for n_jobs in options.threads:
        timings += time_wide(algorithms, n_jobs, options.pairs, options.seed)
    summaries = [summary for summary in summarise(timings) if summary.dataset != TOTAL]
    show_timings(("wide_timings", timings), ("wide", summaries), options, console)


def measure_memory(options: argparse.Namespace, console: Console) -> None:
    """Measure what fits take beyond the forest, relative to the input."""
    sizes = scale.sizes(options.largest)
    rows = scale.measure_memory(sizes, options.threads, options.pairs, options.seed)
    if rows:
        tables.write_csv(options.output / "speed" / "memory.csv", rows)
        title = "Memory: the input and what a fit takes beside the forest, over the input"
        tables.show(console, tables.rows_table(title, rows))


def compare_with_earlier(options: argparse.Namespace, console: Console) -> None:
    """Time this checkout and an earlier one in turn."""
    rows = [
        earlier.compare(options.earlier.resolve(), shape, n_jobs, options.pairs, options.seed)
        for shape in earlier.shapes(options.largest)
        for n_jobs in options.threads
    ]
    tables.write_csv(options.output / "speed" / "earlier.csv", rows)
    title = f"Processor time over that of {options.earlier}, medians of pairs"
    tables.show(console, tables.rows_table(title, rows))


def measure_scale(options: argparse.Namespace, console: Console) -> None:
    """Measure time and peak memory against the number of rows."""
    n_jobs = max(options.threads)
    rows = scale.measure_scale(scale.sizes(options.largest), n_jobs, options.seed)
    tables.write_csv(options.output / "speed" / "scale.csv", rows)
    tables.show(console, tables.rows_table("Scale: clustered data, a process per row", rows))
    if len(rows) > 1:
        slopes = {part: scale.slope(rows, f"{part}_seconds") for part in ("fit", "score")}
        console.print(
            f"log-log slope against the rows: fit {slopes['fit']:.2f}, score {slopes['score']:.2f}"
        )


def measure_startup(options: argparse.Namespace, console: Console) -> None:
    """Measure what the first call of a process costs."""
    rows = scale.measure_start(options.pairs, options.seed)
    tables.write_csv(options.output / "speed" / "startup.csv", rows)
    tables.show(console, tables.rows_table("Start-up: cold and warm cache of compiled code", rows))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write CSV files; 1 if no data set is at hand or a target is missed."""
    options = parse(arguments)
    return carried_out(lambda: _measure(options))


def _measure(options: argparse.Namespace) -> int:
    for name in options.data or ():
        compose([f"dataset={name}"])  # one that does not exist is refused before anything is timed
    console = tables.make_console()
    status = 0
    if "datasets" in options.parts and not time_datasets(options, console):
        status = 1
    if "wide" in options.parts:
        time_wide_data(options, console)
    if "scale" in options.parts:
        measure_scale(options, console)
    if "memory" in options.parts:
        measure_memory(options, console)
    if "earlier" in options.parts and options.earlier is not None:
        compare_with_earlier(options, console)
    if "startup" in options.parts:
        measure_startup(options, console)
    if set(options.parts) - {"baselines"}:
        console.print(f"CSV files are in {options.output / 'speed'}")
    if "baselines" in options.parts and not baselines.time_baselines(
        console, options.algorithm, options.data
    ):
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
