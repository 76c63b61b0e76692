"""The command line: show the data sets beside the paper's Table 1, fetch them, digest one."""

from __future__ import annotations

import argparse
import csv
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.logging import RichHandler
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from datasets.access import Access
from datasets.collections import collections
from datasets.command import carried_out
from datasets.configuration import compose, members_of, published_names
from datasets.dataset import Dataset
from datasets.definition import Definition
from datasets.digest import table_digest
from datasets.errors import DataError, DataUnavailable, UsageError, WrongContent
from datasets.home import DataHome
from datasets.loading import Loader
from datasets.mistakes import parse_overrides
from datasets.own_folders import is_own
from datasets.sources.kinds import NETWORK
from datasets.strict import suggestion

_ERRORS = Console(stderr=True)


@dataclass(frozen=True)
class Asked:
    """A data set that the command line names, where it comes from, and its YAML file."""

    definition: Definition
    access: Access
    file: Path | None = None

    @classmethod
    def from_groups(cls, groups: Mapping[str, Any], dataset: Mapping[str, Any]) -> Asked:
        """Check the definition of a data set, with the other groups of the configuration."""
        try:
            definition = Definition.from_mapping(dataset)
        except DataError as error:
            raise _with_file(error, groups["file"]) from error
        return cls(definition, Access.from_mapping(groups["data"]), groups["file"])


@dataclass(frozen=True)
class Outcome:
    """What came of loading one data set: the data set, or what was wrong."""

    definition: Definition
    dataset: Dataset | None = None
    problem: DataUnavailable | DataError | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns
    -------
    int
        0; or 1 when a table differs from what is published, or a fetch failed; or 2 for a
        configuration that is not valid.
    """
    parser = argparse.ArgumentParser(
        allow_abbrev=False,
        prog="python -m datasets",
        description=(
            "Looks at data sets before anything is run on them: which are at hand, where each "
            "comes from, and whether its rows, features and anomalies are those that the paper "
            "printed. It fetches those that are missing, and shows what a YAML file makes of a "
            "table of your own. dataset=NAME chooses one, several with commas, or a collection; "
            "hydra.searchpath=[file://FOLDER] adds your own. "
            "show: each data set beside the paper's Table 1, asking no server. "
            "fetch: get everything that is missing into the data home. "
            "digest: what the key `expected` of a data set's YAML holds. "
            "traits: size, anomalies and kinds of columns, as CSV."
        ),
    )
    parser.add_argument("words", nargs="*", metavar="[show|fetch|digest|traits] [OVERRIDE ...]")
    words = parser.parse_args(argv).words
    commands = {"show": show, "fetch": fetch, "digest": digest, "traits": print_traits}
    command = commands[words.pop(0)] if words and words[0] in commands else show
    for word in words:
        if "=" not in word and not word.startswith("~"):
            parser.error(
                f"there is no command {word!r}{suggestion(word, commands) or '.'} The commands are "
                f"{', '.join(commands)}; after them, overrides are NAME=VALUE"
            )
    handler = RichHandler(console=Console(stderr=True), show_path=False, show_time=False)
    handler.addFilter(_as_information)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[handler])
    return carried_out(lambda: command(words, Console()))


def _as_information(record: logging.LogRecord) -> bool:
    """Show what was read of data of one's own as information, which it is."""
    if getattr(record, "plain", False):
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
    return True


def _configurations(overrides: Sequence[str]) -> list[Asked]:
    """Return the data sets that overrides name, all of the paper's by default.

    ``dataset=`` takes several names, and the name of a collection for all of its members.
    """
    for override in parse_overrides(overrides):
        word = str(override.input_line)
        if override.key_or_group == "dataset" and not word.startswith("dataset="):
            raise UsageError(f"{word}: write dataset=NAME")
    named = [word for word in overrides if word.startswith("dataset=")]
    if not named:
        composed = [compose([f"dataset={name}", *overrides]) for name in published_names()]
        return [Asked.from_groups(groups, groups["dataset"]) for groups in composed]
    others = [word for word in overrides if word not in named]
    asked = []
    for name in named[0].partition("=")[2].strip("'\"").split(","):
        groups = compose([f"dataset={name}", *others])
        definitions = [groups["dataset"]]
        if "collection" in (groups["dataset"] or {}):
            definitions = list(members_of(name, overrides).values())
        asked += [Asked.from_groups(groups, definition) for definition in definitions]
    return asked


def _with_file(error: DataError, file: Path | None) -> DataError:
    """Name the YAML file of the user's own that a mistake is in."""
    return type(error)(f"{file}: {error}") if is_own(file) else error


def _load(
    asked: Asked, *, check: bool = True, tell: Callable[[str], None] | None = None
) -> Outcome:
    try:
        notes = True if is_own(asked.file) else None
        loader = Loader(asked.definition, asked.access, tell, check=check, notes=notes)
        return Outcome(asked.definition, loader.load())
    except DataUnavailable as problem:
        return Outcome(asked.definition, problem=problem)
    except DataError as error:
        return Outcome(asked.definition, problem=_with_file(error, asked.file))


def show(overrides: Sequence[str], console: Console) -> int:
    """Print every data set beside Table 1; servers are asked only for a source that is forced."""
    outcomes = []
    for asked in _configurations(overrides):
        if asked.access.source not in NETWORK:
            asked = replace(asked, access=asked.access.asking_no_server())
        outcomes.append(_load(asked))
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("data set", "rows", "features", "anomalies", "Table 1", "source", ""):
        numeric = heading in ("rows", "features", "anomalies")
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=True)
    different = False
    for outcome in outcomes:
        texts, differs = _row(outcome)
        table.add_row(*texts, style="red" if differs else None)
        different |= differs
    console.print(table)
    if not any(word.startswith("dataset=") for word in overrides):
        for collection in collections():
            console.print(
                f"dataset={collection.name} lists {len(collection.members)} more: "
                f"{escape(collection.description)}",
                soft_wrap=True,
            )
    problems = [outcome.problem for outcome in outcomes if outcome.problem is not None]
    for problem in problems:
        _tell(problem)
    if hints := [problem.hint for problem in problems if isinstance(problem, DataUnavailable)]:
        _ERRORS.print(hints[0], soft_wrap=True)
    if any(
        isinstance(problem, DataError) and not isinstance(problem, WrongContent)
        for problem in problems
    ):
        return 2
    return int(different)


def _tell(problem: DataUnavailable | DataError) -> None:
    """Say what was wrong; what to do about it is said once, not once per data set."""
    if isinstance(problem, DataError):
        _ERRORS.print(f"[red]{escape(str(problem))}[/]", soft_wrap=True)
        return
    reasons = "; ".join(f"{source}: {reason}" for source, reason in problem.reasons)
    _ERRORS.print(f"[bold]{problem.name}[/]: {escape(reasons)}", soft_wrap=True)


def _row(outcome: Outcome) -> tuple[list[str], bool]:
    """Return the texts of a data set's row, and whether it differs from what is published."""
    definition, dataset = outcome.definition, outcome.dataset
    published = definition.published
    theirs = f"{published[0]} x {published[1]}, {published[2]:g} %" if published else ""
    if dataset is None:
        wrong = isinstance(outcome.problem, DataError)
        verdict = "wrong" if wrong else "not here"
        return [definition.name, "", "", "", theirs, "", verdict], wrong
    rows, features = dataset.X.shape
    percent = 100 * dataset.anomaly_rate
    numbers = [str(rows), str(features), f"{percent:.2f} %"]
    texts = [definition.name, *numbers, theirs, dataset.origin]
    if published is None:
        return [*texts, ""], False
    if definition.repeat_first and not definition.repeats:
        return [*texts, "unrepeated"], False
    same = (rows, features) == published[:2] and _rounds_to(percent, published[2])
    return [*texts, "same" if same else "DIFFERENT"], not same


def _rounds_to(percent: float, published: float) -> bool:
    """Return whether a percentage rounds to the published one: three digits, two decimals at most.

    >>> _rounds_to(23.93, 23.9), _rounds_to(0.0315, 0.03), _rounds_to(7.15, 7.17)
    (True, True, False)
    """
    return published in (round(percent, 1), round(percent, 2)) and (
        percent < 10 or published == round(percent, 1)
    )


def fetch(overrides: Sequence[str], console: Console) -> int:
    """Fetch what is not at hand into the data home."""
    configurations = _configurations(overrides)
    failed: list[DataUnavailable | DataError] = []
    columns = (
        TextColumn("{task.description:12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}"),
    )
    home = configurations[0].access.home
    DataHome(home).sweep()
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("data sets", total=len(configurations), now="")
        for asked in configurations:
            bar.update(task, description=asked.definition.name, now="")
            outcome = _load(asked, tell=lambda what: bar.update(task, now=what))
            if outcome.problem is not None:
                failed.append(outcome.problem)
                _tell(outcome.problem)
            elif outcome.dataset is not None:
                bar.console.print(f"{asked.definition.name}: {outcome.dataset.origin}")
            bar.advance(task)
        bar.update(task, description="done", now="")
    if hints := [problem.hint for problem in failed if isinstance(problem, DataUnavailable)]:
        _ERRORS.print(hints[0], soft_wrap=True)
    console.print(
        f"{len(configurations) - len(failed)} of {len(configurations)} data sets are at hand; "
        f"the data home is {home}"
    )
    return int(bool(failed))


def digest(overrides: Sequence[str], console: Console) -> int:
    """Print the key `expected` for the data set as it is loaded, checked or not."""
    for asked in _configurations(overrides):
        outcome = _load(asked, check=False)
        if outcome.dataset is None:
            raise DataError(str(outcome.problem))
        X, y = outcome.dataset.X, outcome.dataset.y
        print(
            f"{asked.definition.name}: {{samples: {X.shape[0]}, features: {X.shape[1]}, "
            f"anomalies: {int(y.sum())}, digest: {table_digest(X, y)}, "
            f"ordered_digest: {outcome.dataset.ordered_digest}}}"
        )
    return 0


def print_traits(overrides: Sequence[str], console: Console) -> int:
    """Print one line of CSV per data set."""
    from datasets.traits import traits

    rows = []
    for asked in _configurations(overrides):
        outcome = _load(asked)
        if outcome.dataset is None:
            raise DataError(str(outcome.problem))
        rows.append({"dataset": asked.definition.name} | traits(outcome.dataset))
    writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: v if isinstance(v, str) else f"{v:.6g}" for k, v in row.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
