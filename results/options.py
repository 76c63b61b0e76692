"""Options that commands share."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from results.metrics import METRICS, check_metrics

if TYPE_CHECKING:
    from results.records.opening import Selection


def names(text: str) -> tuple[str, ...]:
    """Split at commas, but not inside brackets: labels hold commas of their own.

    Examples
    --------
    >>> names("lof,iforest(max_samples=64,n_estimators=10)")
    ('lof', 'iforest(max_samples=64,n_estimators=10)')
    """
    found = tuple(part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip())
    if not found:
        # As from a variable of the shell that is not set: it would choose everything.
        raise argparse.ArgumentTypeError("names nothing")
    return found


class Parser(argparse.ArgumentParser):
    """A parser that refuses an option given twice, of which others take the last."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)
        self.register("action", None, _Once)


class _Once(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option: Any = None
    ) -> None:
        given = vars(namespace).setdefault("_given", set())
        if option and self.dest in given:
            raise argparse.ArgumentError(self, f"given twice; write {option} once{self._hint()}")
        given.add(self.dest)
        setattr(namespace, self.dest, values)

    def _hint(self) -> str:
        return ", with commas between names" if str(self.metavar).endswith(",...") else ""


def common_options() -> Parser:
    """Return the options of every command: where to read and write, and what to select."""
    common = Parser(add_help=False)
    common.add_argument(
        "--output", type=Path, default=Path("output"), help="folder to write to (default: output)"
    )
    common.add_argument(
        "--records",
        type=Path,
        action="append",
        metavar="PATH",
        help="folder of records, packed file or folder of those; more than once for several "
        "(default: records in the output folder)",
    )
    chosen = common.add_argument_group("selection", "names or patterns, comma separated")
    for name in ("protocol", "setting", "dataset", "algorithm", "seed"):
        chosen.add_argument(f"--{name}", type=names, default=(), metavar="NAME,...")
    return common


def metrics_option(parser: argparse.ArgumentParser, default: str = "those of the protocol") -> None:
    """Add the choice of metrics."""
    parser.add_argument(
        "--metrics",
        type=_metrics,
        default=(),
        metavar="NAME,...",
        help=f"of {', '.join(METRICS)} (default: {default})",
    )


def _metrics(text: str) -> tuple[str, ...]:
    try:
        return check_metrics(dict.fromkeys(names(text)))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def published_options(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add which publication to use, and where one's own are."""
    parser.add_argument(
        "--published",
        metavar="NAME|FOLDER",
        default=default,
        required=default is None,
        help="a publication of results/published/, or the folder of another"
        + (f" (default: {default})" if default else ""),
    )
    parser.add_argument(
        "--searchpath",
        type=lambda text: Path(text.removeprefix("file://")),
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder of your own configuration, as hydra.searchpath has it: published/NAME is "
        "looked for there as well, and the names of data sets, algorithms and protocols",
    )


def table_options(parser: argparse.ArgumentParser) -> None:
    """Add what tables show."""
    metrics_option(parser)
    parser.add_argument("--precision", type=int, default=3, help="decimals (default: 3)")
    parser.add_argument("--std", action="store_true", help="add standard deviations")
    parser.add_argument("--transposed", action="store_true", help="algorithms as rows")


def records_paths(options: argparse.Namespace) -> list[Path]:
    """Return where to read records."""
    return options.records or [options.output / "records"]


def selection(options: argparse.Namespace) -> Selection:
    """Return the selection asked for."""
    from results.records.opening import Selection

    return Selection(
        options.protocol, options.setting, options.dataset, options.algorithm, options.seed
    )
