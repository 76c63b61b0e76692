"""The command line: Hydra composes the cells, the grid runs them, the exit status tells."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from datasets import collections
from datasets.command import USAGE_ERROR, discard_output
from datasets.errors import UsageError
from datasets.mistakes import MISUSE, in_words, parse_overrides
from datasets.own_folders import check_files, own_folders
from datasets.strict import suggestion
from runners import launcher
from runners.composition import PRIMARY, Composed, Composer
from runners.configuration import CellFactory
from runners.grid import run_grid
from runners.isolation.pool import POOL
from runners.preflight import HeldNotes
from runners.summary import Summary

ROOT = Path(__file__).resolve().parents[1]

launcher.register()


def run_cell(config: DictConfig) -> Summary:
    """Run one cell: Hydra's task function, here and in the jobs of other launchers."""
    hydra_part = HydraConfig.get()
    chosen = hydra_part.runtime.choices.get("hydra/launcher")
    if chosen != "grid" and hydra_part.mode != RunMode.MULTIRUN:
        raise UsageError(f"hydra/launcher={chosen} launches the jobs of a sweep: add -m")
    if hydra_part.mode != RunMode.MULTIRUN and (swept := hydra_part.sweeper.get("params")):
        raise UsageError(
            f"hydra.sweeper.params sweeps over {', '.join(map(str, swept))}, but this run is not a "
            "sweep and would ignore it: add -m, or `mode: MULTIRUN` below hydra in the file"
        )
    factory = CellFactory(Composer(hydra_part))
    composed = Composed.from_config(config, hydra_part)
    return run_grid([factory.cell(composed, alone="SUBMITIT_EXECUTOR" not in os.environ)])


# Options of Hydra's that take a value, as the next argument.
_WITH_VALUE = (
    *("--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn"),
    *("--package", "-p", "--cfg", "-c", "--experimental-rerun"),
)


# Those that print instead of running something.
_PRINTING = {"--help", "-h", "--hydra-help", "--cfg", "-c", "--info", "-i"}

_OPTIONS = (
    *_WITH_VALUE,
    *("--help", "-h", "--hydra-help", "--version", "--resolve", "--run", "-r", "--multirun", "-m"),
    *("--shell-completion", "-sc", "--info", "-i"),
)


class Misuse(BaseException):
    """Carries the message of a `UsageError` through Hydra."""


def _task(config: DictConfig) -> Summary:
    try:
        summary = run_cell(config)
    except UsageError as error:
        # Hydra announces an Exception by "Error executing job", and lets others pass.
        raise Misuse(str(error)) from None
    launcher.SUMMARIES.append(summary)
    return summary


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says.

    Returns
    -------
    int
        0: everything has a result, NA included. 1: an experiment failed. 2: the command line or
        the configuration is wrong. 3: the run could not go on. 130, 143: ended by a signal.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    # Hydra's parser wants flags before overrides; its users do not.
    flags = _flags(given)
    printing = any(flag.partition("=")[0] in _PRINTING for flag in flags)
    rest = [argument for argument, flag in zip(given, flags, strict=True) if not flag]
    sys.argv[1:] = [*filter(None, flags), *map(_added, rest)]
    # Jobs of other launchers, and whatever else starts Python, find the checkout.
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(p for p in (str(ROOT), *path) if p))
    # Hydra then raises its errors instead of printing them and leaving.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    launcher.SUMMARIES.clear()
    application = hydra.main(
        config_path=str(ROOT / "conf"), config_name=PRIMARY, version_base="1.3"
    )(_task)
    try:
        with HeldNotes(), said_in_words(given):
            try:
                application()
            finally:
                if printing and sys.stdout:
                    sys.stdout.flush()
    except Misuse as error:
        print(error, file=sys.stderr)
        return USAGE_ERROR
    except BrokenPipeError:
        if not printing:
            raise
        discard_output()  # the reader has left: ``| head``
        return 128 + signal.SIGPIPE
    finally:
        POOL.close()
    summary = sum(launcher.SUMMARIES, Summary())
    return summary.exit_status


@contextlib.contextmanager
def said_in_words(arguments: Sequence[str]) -> Iterator[None]:
    """Check a command line, and turn what Hydra finds wrong with it into a `Misuse`."""
    flags = list(filter(None, _flags(arguments)))
    try:
        _check_options(flags)
        folders = own_folders(flags, parse_overrides([a for a in arguments if a not in flags]))
        check_files(folders)
        collections.register(folders)
        yield
    except MISUSE as error:
        raise Misuse(in_words(error)) from error
    except RuntimeError as error:
        # As Hydra says of a `_target_` of `hydra.sweeper` or `hydra.launcher`.
        if not str(error).startswith("Invalid plugin"):
            raise
        raise Misuse(str(error)) from error


# Of these Hydra does one at a time.
_ACTIONS = {
    "-m": "--multirun",
    "-r": "--run",
    "-c": "--cfg",
    "-i": "--info",
    "-sc": "--shell-completion",
}


def _check_options(flags: Sequence[str]) -> None:
    options = [flag.partition("=")[0] for flag in flags]
    actions = {_ACTIONS.get(option, option) for option in options} & {*_ACTIONS.values()}
    if len(actions) > 1:
        raise UsageError(
            f"{' and '.join(sorted(actions))} exclude each other: leave out all but one"
        )
    for flag in flags:
        option = flag.partition("=")[0]
        if option.startswith("-") and option not in _OPTIONS:
            # Hydra's parser would take an abbreviation for what it may mean.
            near = suggestion(option, _OPTIONS) or "."
            raise UsageError(f"there is no option {option}{near} The options are {_listed()}")


def _listed() -> str:
    return ", ".join(option for option in _OPTIONS if option.startswith("--"))


def _flags(arguments: Sequence[str]) -> list[str]:
    """Return each argument that is an option or follows one as its value, and ``""`` for others."""
    flags: list[str] = []
    for argument in arguments:
        before = flags[-1] if flags else ""
        follows = before in _WITH_VALUE or (before in ("--info", "-i") and "=" not in argument)
        if argument.startswith("-") or follows:
            flags.append(argument)
        else:
            flags.append("")
    return flags


_PLAIN = re.compile(r"\w+(\.\w+)*=", re.ASCII)


def _added(argument: str) -> str:
    """Let an override set what the YAML file leaves out: ``x.y=1`` becomes ``++x.y=1``.

    Which keys there are is for the schema to say, which names all that are mistyped at once.
    """
    name = argument.partition("=")[0]
    chooses = (ROOT / "conf" / name).is_dir()
    if _PLAIN.match(argument) and not chooses and not name.startswith("hydra."):
        return f"++{argument}"
    return argument
