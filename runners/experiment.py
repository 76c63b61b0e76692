"""Cells and experiments, and the limits that they are held to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from runners.identity import identity_of, key_of

PHASES: Final = {"fit": "fitting", "score": "scoring"}
"""The phases of an experiment that `timeout` limits, each with its word in messages."""


@dataclass(frozen=True, eq=False)
class Cell:
    """A data set, an algorithm, a setting and a protocol: `n_splits` experiments.

    Attributes
    ----------
    algorithm : str
        The name of its YAML file.
    variant : str
        Its parameters that differ from that file, ``"a=1,b=2"``, sorted.
    config : dict
        The whole resolved configuration.
    content : str or None
        Digest of the user's file that the data come from, where they come from one: results on an
        older version of it must not pass for results on this one. Keys depend on it, and the
        provenance of records names it.
    code : str or None
        Digest of the user's own code that the configuration names (`runners.own_code`), with the
        same effect.
    indices : str or None
        Digest of the file of row numbers that the protocol names (`indices`), with the same effect.
    splits : int or None
        How many splits that file has, whatever the run was asked for.
    code_of : mapping of str to str
        Digests of the user's own code by the part of the configuration that names it, for the
        provenance of records alone: tables tell by them what was edited.
    files : mapping of str to str
        The user's own YAML files, by group, for messages. Nothing else depends on them.
    """

    algorithm: str
    variant: str
    config: Mapping[str, Any]
    content: str | None = None
    code: str | None = None
    indices: str | None = None
    splits: int | None = None
    code_of: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """The data set's name."""
        return str(self.config["dataset"]["name"])

    @property
    def setting(self) -> str:
        """The setting's name."""
        return str(self.config["setting"]["name"])

    @property
    def protocol(self) -> str:
        """The protocol's name."""
        return str(self.config["protocol"]["name"])

    @property
    def seed(self) -> int:
        """The root seed."""
        return int(self.config["seed"])

    @property
    def n_splits(self) -> int:
        """How many experiments the cell has."""
        return int(self.config["n_splits"])

    @property
    def label(self) -> str:
        """The algorithm with its variant, as records and tables name it."""
        return f"{self.algorithm}({self.variant})" if self.variant else self.algorithm

    @property
    def name(self) -> str:
        """The cell in one line, for people."""
        return f"{self.dataset} {self.rest}"

    @property
    def rest(self) -> str:
        """The cell's name without the data set's."""
        return f"{self.label} {self.setting} {self.protocol}"

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.identity == other.identity

    @cached_property
    def identity(self) -> str:
        """See `runners.identity.identity_of`."""
        return identity_of(self.config, self.algorithm, self.content, self.code, self.indices)

    def key(self, split: int) -> str:
        """Return the digest of everything that determines the outcome of one split."""
        return key_of(self.identity, split)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of all splits, in order."""
        return tuple(self.key(split) for split in range(self.n_splits))

    @cached_property
    def data_key(self) -> str:
        """Digest of what loading the data set depends on: cells that share it share the data."""
        depends_on = [self.config["dataset"], self.config.get("data"), self.content]
        text = json.dumps(depends_on, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def experiments(self) -> list[Experiment]:
        """Return the cell's experiments."""
        return [Experiment(self, split) for split in range(self.n_splits)]


@dataclass(frozen=True, eq=False)
class Experiment:
    """One fit and one scoring on one split of a cell."""

    cell: Cell
    split: int

    @property
    def key(self) -> str:
        """See `Cell.key`."""
        return self.cell.keys[self.split]

    @property
    def name(self) -> str:
        """The experiment in one line, for people."""
        return f"{self.cell.name} split {self.split}"

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and self.key == other.key


@dataclass(frozen=True)
class Limits:
    """The limits of an experiment.

    Attributes
    ----------
    timeout : float
        Seconds for fitting, and again for scoring.
    memory_limit_gb : float or None
        GiB that the experiment's processes may hold together, beyond what they start with.
    allow_labels : bool
        Whether a detector that asks for training labels gets them.
    threads : int
        Threads that the numerical libraries may use.
    preparation_timeout : float
        Seconds for whatever comes before fitting: loading, imports, construction.
    run_all_splits : bool
        Whether a cell goes on after a timeout.
    """

    timeout: float
    memory_limit_gb: float | None = None
    allow_labels: bool = False
    threads: int = 1
    preparation_timeout: float = 600.0
    run_all_splits: bool = False

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Limits:
        """Take the limits from a cell's configuration, which `runners.preflight` has checked."""
        runner = config["runner"]
        return cls(
            timeout=float(config["timeout"]),
            memory_limit_gb=runner["memory_limit_gb"],
            allow_labels=bool(config["allow_labels"]),
            threads=int(runner["threads_per_experiment"]),
            preparation_timeout=float(runner["preparation_timeout"]),
            run_all_splits=bool(runner["run_all_splits"]),
        )

    def too_late(self, phase: str, cpu_seconds: float | None = None) -> str:
        """Return why an experiment is NA that exceeded the time limit of a phase.

        Parameters
        ----------
        phase : str
        cpu_seconds : float, optional
            The processor time that it had. Where that is little, the machine was busy with other
            work, or the detector waited: it may well be fast.
        """
        words = f"{PHASES[phase]} took longer than {self.timeout:g} s"
        if cpu_seconds is not None and cpu_seconds < self.timeout / 2:
            words += ", less than half of it on a processor"
        return words

    def recorded(self) -> dict[str, Any]:
        """Return what a record says about its limits."""
        return {
            "timeout": self.timeout,
            "memory_limit_gb": self.memory_limit_gb,
            "allow_labels": self.allow_labels,
        }
