"""Hydra plugins: a sweep's cells go into one pool of experiments instead of one job each."""

from __future__ import annotations

import fnmatch
import itertools
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Glob, Override
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus, setup_globals
from hydra.errors import HydraException
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from datasets import collections
from datasets.errors import UsageError
from datasets.mistakes import check_option
from datasets.strict import suggestion
from runners.composition import Composer
from runners.configuration import CellFactory
from runners.experiment import Cell
from runners.grid import run_grid
from runners.preflight import check_inputs
from runners.summary import Summary, counted

SUMMARIES: list[Summary] = []
"""The summaries of this process' runs: Hydra hands no return value to the command line."""


class GridLauncher(Launcher):
    """Compose all cells of a sweep, and run them as one grid."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep the configuration that the jobs are variations of."""
        self.config = config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run the cells of a sweep that another sweeper has expanded."""
        return self.run([cell for _, cell in _factory(self.config).cells(job_overrides)])

    def run(self, cells: Sequence[Cell]) -> Sequence[JobReturn]:
        """Run cells as one grid."""
        result = JobReturn(status=JobStatus.COMPLETED)
        result.return_value = run_grid(cells)
        return [result]


def _factory(config: DictConfig) -> CellFactory:
    setup_globals()
    return CellFactory(Composer(config.hydra))


class GridSweeper(Sweeper):
    """Expand overrides as Hydra's basic sweeper does, and compose all jobs before one is run.

    Unlike Hydra's, a glob matches what lies on ``hydra.searchpath`` too, and leaves out the
    templates ``dataset=custom`` and ``algorithm=pyod`` as long as nothing is filled in.
    """

    def __init__(self, params: dict[str, str] | None = None):
        self.params = dict(params or {})
        self.hydra_context: Any = None
        self.config: Any = None
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
        """Expand the overrides into jobs, launch them, and keep their summaries."""
        assert self.launcher is not None
        given = [f"{name}={value}" for name, value in self.params.items()] + list(arguments)
        loader = self.hydra_context.config_loader
        parsed = OverridesParser.create(config_loader=loader).parse_overrides(given)
        for override in parsed:
            # Those of a grid's file have not been looked at.
            check_option(override)
            if override.key_or_group == "grid" and override.is_sweep_override():
                raise UsageError(
                    f"{override.input_line}: one grid at a time, since a grid says what is swept"
                )
        from_globs: set[str] = set()
        values = {
            override.get_key_element(): self._values(override, from_globs) for override in parsed
        }
        jobs = [list(job) for job in itertools.product(*values.values())]
        composed = list(_factory(self.config).cells(jobs, from_globs))
        if not composed:
            raise UsageError(
                f"{', '.join(sorted(from_globs))}: a template, which is run when it is filled in"
            )
        if isinstance(self.launcher, GridLauncher):
            results = self.launcher.run([cell for _, cell in composed])
        else:
            results = self._launch_elsewhere(composed)
        # Reading the value of a failed job raises its exception.
        summaries = [r.return_value for r in results if isinstance(r.return_value, Summary)]
        if not isinstance(self.launcher, GridLauncher):
            # The jobs have said so in their own logs only.
            print("\n".join(sum(summaries, Summary()).lines()))
        SUMMARIES.extend(summaries)
        return results

    def _values(self, override: Override, from_globs: set[str]) -> list[str]:
        """Return the overrides of single jobs that an override of a sweep stands for.

        Those that a pattern with a wildcard matched, no name, are added to `from_globs`.
        """
        key = override.get_key_element()
        if override.is_delete() and override.value() is None:
            return [key]
        if not override.is_sweep_override():
            return [f"{key}={override.get_value_element_as_str()}"]
        if not override.is_discrete_sweep():
            raise HydraException(f"{override.input_line}: an interval has no end of values")
        given = getattr(override, "_value", None)
        items = given.list if isinstance(given, ChoiceSweep) else [given]
        if not any(isinstance(item, Glob) for item in items):
            return [f"{key}={value}" for value in override.sweep_string_iterator()]
        values: dict[str, None] = {}  # in order, each once
        for item in items:
            if isinstance(item, Glob):
                names = self._matched(override.key_or_group, item)
                values |= dict.fromkeys(f"{key}={name}" for name in names)
                from_globs |= {f"{key}={name}" for name in names if name not in item.include}
            else:
                values[f"{key}={override._get_value_element_as_str(item)}"] = None
        return list(values)

    def _matched(self, group: str, glob: Glob) -> list[str]:
        """Return the options of a group that a glob matches.

        Raises
        ------
        UsageError
            If an entry of the glob matches nothing.
        """
        names = self._options(group)
        # A pattern with a folder, such as adbench/*, asks for the options in that folder.
        folders = {pattern.rpartition("/")[0] for pattern in glob.include} - {""}
        for folder in sorted(folders):
            names += [f"{folder}/{name}" for name in self._options(f"{group}/{folder}")]
        text = f"{group}=glob"
        included = Glob(include=glob.include).filter(names)
        unmatched = [entry for entry in glob.include if not fnmatch.filter(names, entry)]
        # Hydra takes long to list options: only a message needs those of every folder.
        known = [*names, *(f"{n}/*" for n in names if unmatched and self._options(f"{group}/{n}"))]
        wrong = [
            f"{text}: {entry!r} matches no {group}{suggestion(entry, known) or '.'} "
            f"There are {', '.join(names)}"
            for entry in unmatched
        ] or [
            f"{text}: {entry!r} excludes nothing that is included"
            f"{suggestion(entry, included) or '.'} Included are {', '.join(included)}"
            for entry in glob.exclude
            if not fnmatch.filter(included, entry)
        ]
        if wrong:
            raise UsageError("\n".join(wrong))
        return glob.filter(names)

    def _options(self, group: str) -> list[str]:
        names: list[str] = self.hydra_context.config_loader.get_group_options(
            group,
            results_filter=ObjectType.CONFIG,
            config_name=self.config.hydra.job.config_name,
            overrides=list(self.config.hydra.overrides.hydra),
        )
        return names

    def _launch_elsewhere(
        self, composed: Sequence[tuple[Sequence[str], Cell]]
    ) -> Sequence[JobReturn]:
        """Hand each cell to a launcher of other jobs, which compose it again where they run."""
        assert self.launcher is not None
        # A job may wait for hours before it finds out.
        check_inputs(cell for _, cell in composed)
        name = self.config.hydra.runtime.choices.get("hydra/launcher")
        if name == "submitit_slurm" and shutil.which("srun") is None:
            raise UsageError(
                "hydra/launcher=submitit_slurm: srun is not found here, so SLURM is not installed; "
                "hydra/launcher=submitit_local runs the same jobs on this machine"
            )
        print(f"{counted(len(composed), 'cell')} handed to {name}, one job each", flush=True)
        return self.launcher.launch([job for job, _ in composed], initial_job_idx=0)


# Hydra only instantiates plugins whose names begin so; the classes stay where they are.
_PREFIX = "hydra_plugins.runners."


@dataclass
class _LauncherConf:
    _target_: str = f"{_PREFIX}GridLauncher"


@dataclass
class _SweeperConf:
    _target_: str = f"{_PREFIX}GridSweeper"
    params: dict[str, str] | None = field(default_factory=dict)


def register() -> None:
    """Make the plugins known to Hydra, as ``hydra/launcher: grid`` and ``hydra/sweeper: grid``."""
    collections.register()
    plugins = Plugins.instance()
    for plugin in (GridLauncher, GridSweeper):
        plugins.register(plugin)
        plugins.class_name_to_class[_PREFIX + plugin.__name__] = plugin
    store = ConfigStore.instance()
    store.store(group="hydra/launcher", name="grid", node=_LauncherConf, provider="runners")
    store.store(group="hydra/sweeper", name="grid", node=_SweeperConf, provider="runners")
