"""The command line: Hydra composes the cells, the grid runs them, the exit status tells."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from runners import launcher
from runners.composition import Composed, Composer
from runners.configuration import CellFactory
from runners.grid import run_grid
from runners.isolation.pool import POOL
from runners.kernels import drop_stale_kernels
from runners.summary import Summary, UsageError

ROOT = Path(__file__).resolve().parents[1]
USAGE_ERROR = 2

launcher.register()


def run_cell(config: DictConfig) -> Summary:
    """Run one cell: Hydra's task function, here and in the jobs of other launchers."""
    hydra_part = HydraConfig.get()
    factory = CellFactory(Composer(hydra_part))
    return run_grid([factory.cell(Composed.from_config(config, hydra_part))])


class _Misuse(BaseException):
    """Carries the message of a `UsageError` through Hydra."""


def _task(config: DictConfig) -> Summary:
    try:
        summary = run_cell(config)
    except UsageError as error:
        # Hydra announces an Exception by "Error executing job", and lets others pass.
        raise _Misuse(str(error)) from None
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
    sys.argv[1:] = sorted(given, key=lambda argument: argument not in ("-m", "--multirun"))
    # Jobs of other launchers, and whatever else starts Python, find the checkout.
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(p for p in (str(ROOT), *path) if p))
    # Hydra then raises its errors instead of printing them and leaving.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    launcher.SUMMARIES.clear()
    drop_stale_kernels()
    application = hydra.main(
        config_path=str(ROOT / "conf"), config_name="config", version_base="1.3"
    )(_task)
    try:
        application()
    except (HydraException, OmegaConfBaseException, UsageError, _Misuse) as error:
        print(error_in_words(error), file=sys.stderr)
        return USAGE_ERROR
    finally:
        POOL.close()
    summary = sum(launcher.SUMMARIES, Summary())
    return summary.exit_status


def error_in_words(error: BaseException) -> str:
    """Return Hydra's message with its cause, and the valid names where Hydra gives none."""
    parts = [str(error)]
    cause = error.__cause__
    while cause is not None:
        if str(cause) not in parts:
            parts.append(str(cause))
        cause = cause.__cause__
    text = "\n".join(parts)
    mistyped = re.search(r"full_key: ([\w.]+)", text)
    if mistyped and "is not in struct" in text:
        parent, _, _ = mistyped[1].rpartition(".")
        node = getattr(cause or error.__cause__, "parent_node", None) if error.__cause__ else None
        if isinstance(node, DictConfig):
            names = ", ".join(sorted(str(name) for name in node if name != "_target_"))
            text += f"\nValid names in {parent or 'the configuration'}: {names}"
    return text
