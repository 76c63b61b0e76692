"""Hydra plugins: a sweep's cells go into one pool of experiments instead of one job each."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus, setup_globals
from hydra.errors import HydraException
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from runners.configuration import cell_from_config
from runners.experiment import Cell
from runners.grid import run_grid
from runners.preflight import check_settings
from runners.summary import Summary, UsageError, counted

SUMMARIES: list[Summary] = []
"""What the runs of this process came to: Hydra hands no return value to the command line."""


class GridLauncher(Launcher):
    """Compose all cells of a sweep, and run them as one grid."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what composing a job needs."""
        self.hydra_context = hydra_context
        self.config = config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run all cells of a sweep."""
        cells = [cell for _, cell in _compose(self.hydra_context, self.config, job_overrides)]
        result = JobReturn(status=JobStatus.COMPLETED)
        result.return_value = run_grid(cells) if cells else Summary()
        return [result]


def _compose(
    context: HydraContext, config: DictConfig, jobs: Sequence[Sequence[str]]
) -> list[tuple[list[str], Cell]]:
    """Return the jobs whose data set can come from anywhere, each with its cell."""
    setup_globals()
    loader: Any = context.config_loader
    repository = loader.repository
    loader.repository = _ReadOnce(repository)
    try:
        found = []
        for overrides in map(list, jobs):
            composed = loader.load_sweep_config(config, overrides)
            HydraConfig.instance().set_config(composed)
            if _has_source(composed):
                found.append((overrides, cell_from_config(composed)))
        return found
    finally:
        loader.repository = repository


class _ReadOnce:
    """A configuration repository that reads each file once, however many jobs are composed.

    Hydra reads and parses all files anew for each job, which is nearly half of the time that
    composing takes; it does not change what it has read.
    """

    def __init__(self, inner: Any):
        self._inner = inner
        self._known: dict[tuple[str, str], Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __deepcopy__(self, memo: Any) -> _ReadOnce:
        return self

    def _remember(self, question: str, config_path: str) -> Any:
        key = (question, config_path)
        if key not in self._known:
            self._known[key] = getattr(self._inner, question)(config_path=config_path)
        return self._known[key]

    def load_config(self, config_path: str) -> Any:
        return self._remember("load_config", config_path)

    def group_exists(self, config_path: str) -> Any:
        return self._remember("group_exists", config_path)

    def config_exists(self, config_path: str) -> Any:
        return self._remember("config_exists", config_path)


def _has_source(composed: DictConfig) -> bool:
    """Whether a cell's data set can come from anywhere.

    ``dataset='glob(*)'`` also names the template for data of one's own, which is no data set as
    long as no file is given.
    """
    definition = composed.dataset
    return any(definition.get(name) for name in ("sources", "path", "openml"))


class GridSweeper(Sweeper):
    """Expand overrides as Hydra's basic sweeper does, without a trial composition of every job.

    The launcher composes all jobs before it runs one, so that nothing is found out too late.
    """

    def __init__(self, params: dict[str, str] | None = None):
        self.params = dict(params or {})
        self.hydra_context: Any = None
        self.launcher: Launcher | None = None

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what expanding and launching needs."""
        self.hydra_context = hydra_context
        self.config = config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Expand the overrides into jobs, launch them, and keep what they came to."""
        assert self.launcher is not None
        assert self.config is not None
        given = [f"{name}={value}" for name, value in self.params.items()] + list(arguments)
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        [jobs] = BasicSweeper.split_arguments(parser.parse_overrides(given), None)
        if not jobs:
            raise HydraException("the sweep is empty: a glob matches nothing")
        elsewhere = not isinstance(self.launcher, GridLauncher)
        if elsewhere:
            # A job may wait for hours before it finds out; each is composed again where it runs.
            composed = _compose(self.hydra_context, self.config, jobs)
            check_settings(cell for _, cell in composed)
            jobs = [overrides for overrides, _ in composed]
            name = self.config.hydra.runtime.choices.get("hydra/launcher")
            if name == "submitit_slurm" and shutil.which("srun") is None:
                raise UsageError(
                    "hydra/launcher=submitit_slurm: there is no srun here, so no SLURM; "
                    "hydra/launcher=submitit_local runs the same jobs on this machine"
                )
            print(f"{counted(len(jobs), 'cell')} handed to {name}, one job each", flush=True)
        results = self.launcher.launch(jobs, initial_job_idx=0)
        # A failed job raises here.
        summaries = [r.return_value for r in results if isinstance(r.return_value, Summary)]
        if elsewhere:
            # The jobs have said so in their own logs only.
            print("\n".join(sum(summaries, Summary()).lines()))
        SUMMARIES.extend(summaries)
        return results


# Hydra only instantiates plugins whose names begin so; the classes stay where they are.
_PREFIX = "hydra_plugins.runners.launcher."


@dataclass
class _LauncherConf:
    _target_: str = f"{_PREFIX}GridLauncher"


@dataclass
class _SweeperConf:
    _target_: str = f"{_PREFIX}GridSweeper"
    params: dict[str, str] | None = field(default_factory=dict)


def register() -> None:
    """Make the plugins known to Hydra, as ``hydra/launcher: grid`` and ``hydra/sweeper: grid``."""
    plugins = Plugins.instance()
    for plugin in (GridLauncher, GridSweeper):
        plugins.register(plugin)
        plugins.class_name_to_class[_PREFIX + plugin.__name__] = plugin
    store = ConfigStore.instance()
    store.store(group="hydra/launcher", name="grid", node=_LauncherConf, provider="runners")
    store.store(group="hydra/sweeper", name="grid", node=_SweeperConf, provider="runners")
