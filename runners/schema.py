"""The schema of the whole configuration: every group, every key, every value, checked at once.

Hydra puts a configuration together from YAML files and overrides; what comes out is held to this
schema before anything is started. What is recorded and never read would be a wrong result.
"""

from __future__ import annotations

import functools
import pickle
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from datasets import DataError
from datasets.definition import Definition
from datasets.format import Format
from datasets.protocols import Protocol
from datasets.sources.kinds import SOURCES
from datasets.strict import Invalid, Strict, check, suggestion
from results.metrics import METRICS
from results.records.splits import USUAL_SPLITS, splits_of
from runners.algorithm_check import in_algorithm, in_pairing

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]
Plain = dict[str, Any]


def _folder(value: str) -> str:
    if not value.strip():
        raise ValueError("output must be the name of a folder")
    return value


def _address(value: str) -> str:
    if not re.fullmatch(r"(\w+://)?[^\s/]+:\d+", value):
        raise ValueError(f"{value!r} is not an address such as tcp://host:8786")
    return value


def _kind_of_source(value: str) -> str:
    if value not in SOURCES:
        raise ValueError(
            f"there is no kind of source {value!r}{suggestion(value, SOURCES) or '.'} "
            f"The kinds are {', '.join(SOURCES)}"
        )
    return value


class Setting(Strict):
    """Whether anomalies train: novelty detection (they do not) or outlier detection (they do)."""

    name: Literal["novelty", "outlier"]
    anomalies_in_train: bool

    @model_validator(mode="after")
    def _as_named(self) -> Setting:
        if self.anomalies_in_train != (self.name == "outlier"):
            raise ValueError(
                f"anomalies_in_train is {str(self.anomalies_in_train).lower()}, which is not "
                f"what {self.name} detection means"
            )
        return self


class Runner(Strict):
    """How experiments are run. Nothing in this group affects a metric."""

    backend: Literal["threads", "dask"]
    n_jobs: int
    threads_per_experiment: Count
    memory_limit_gb: Positive | None
    run_all_splits: bool
    retry: Literal["failed", "all"] | None
    preparation_timeout: Positive
    keep_scores: bool
    progress: Literal["auto", "live", "plain", "none"]
    scheduler: Annotated[str, AfterValidator(_address)] | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Runner:
        if self.n_jobs == 0:
            raise ValueError("n_jobs must be a whole number other than 0 (-1: all cores)")
        if self.scheduler is not None and self.backend != "dask":
            raise ValueError(f"scheduler is for backend: dask, not {self.backend}")
        return self


_OF_DATA_SETS = {f.name for part in (Definition, Format) for f in fields(part)}


class Data(Strict):
    """Where data come from; `datasets.access` says what each key does."""

    home: Text | None
    offline: bool
    source: Annotated[str, AfterValidator(_kind_of_source)] | None
    openml_server: Text
    uci_url: Text
    sklearn_url: Text | None
    timeout: Positive
    retries: Annotated[int, Field(ge=0)]
    backoff: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    path: Text | None
    openml: Count | None
    target: Text | None
    anomalies: list[bool | str | int | float] | str | int | float | None

    @model_validator(mode="before")
    @classmethod
    def _not_of_a_data_set(cls, value: Any) -> Any:
        """Say where the other keys of ``dataset=custom`` stand: none of these is near them."""
        for name in value if isinstance(value, Mapping) else ():
            if name in _OF_DATA_SETS and name not in cls.model_fields:
                raise ValueError(f"{name} is a key of the data set: dataset.{name}")
        return value


def _of_a_grid(value: Any) -> None:
    if value is not None:
        raise ValueError(
            "a grid's file begins with the line `# @package _global_`; without it as the first, "
            "the keys of the file are not those of the configuration"
        )


class Configuration(Strict):
    """The configuration of one cell; `dataset` and `algorithm` are checked by their own rules."""

    dataset: Any
    algorithm: Any
    setting: Setting
    protocol: Protocol
    runner: Runner
    data: Data
    grid: Annotated[None, BeforeValidator(_of_a_grid)] = None
    n_splits: Count | None
    timeout: Positive
    seed: Annotated[int, Field(ge=0)]
    output: Annotated[str, AfterValidator(_folder)]
    allow_labels: bool
    detector: Text | None

    @model_validator(mode="after")
    def _makes_sense(self) -> Configuration:
        protocol = self.protocol
        protocol.keeps_anomalies(self.setting.anomalies_in_train)
        for key in ("metrics", "recorded"):
            for name in getattr(protocol, key):
                if name not in METRICS:
                    near = suggestion(name, METRICS) or "."
                    raise ValueError(
                        f"protocol.{key}: there is no metric {name!r}{near} "
                        f"The metrics are {', '.join(METRICS)}"
                    )
        seeds = protocol.seeds
        if seeds is not None and self.n_splits is not None and self.n_splits > len(seeds):
            raise ValueError(
                f"n_splits={self.n_splits}, but protocol {protocol.name!r} has {len(seeds)} seeds"
            )
        if seeds is not None and self.seed:
            # The same splits and fits would be recorded, and counted, once more.
            raise ValueError(
                f"seed={self.seed} changes nothing: protocol {protocol.name!r} has seeds of its "
                "own, and protocol.seeds=[1,2] chooses others"
            )
        return self


#: What a cell is made of.
GROUPS = ("dataset", "algorithm", "setting", "protocol")
#: What `dataset=custom` takes from the group `data`, and `algorithm=pyod` from the root.
_HANDED_ON = (
    ("dataset", "data", ("path", "openml", "target", "anomalies"), "dataset=custom"),
    ("algorithm", None, ("detector",), "algorithm=pyod"),
)


#: The keys of the group `data` that only `dataset=custom` takes.
OF_CUSTOM = frozenset(_HANDED_ON[0][2])


def checked(resolved: Mapping[str, Any], own: Collection[str] = ()) -> Plain:
    """Return a resolved configuration that fits the schema, with its protocol written out.

    Parameters
    ----------
    resolved : mapping
        As Hydra composed it, without Hydra's own part.
    own : collection of str
        Top-level keys of the user's own, which other values are taken from.

    Raises
    ------
    datasets.strict.Invalid
        With one line for each mistake in any group.
    """
    known = Configuration.model_fields
    read = {name: value for name, value in resolved.items() if name in known or name not in own}
    # The cells of a sweep share most of what is checked.
    rest = {k: v if k not in ("dataset", "algorithm") else {} for k, v in read.items()}
    protocol, mistakes = _of_configuration(_frozen(rest))
    mistakes += _of_keys(_frozen(read))
    if isinstance(resolved.get("dataset"), Mapping):
        mistakes += _of_dataset(_frozen(resolved["dataset"]))
    if isinstance(resolved.get("algorithm"), Mapping):
        if resolved["algorithm"].get("detector", "") is None:
            raise Invalid("algorithm=pyod is a template: detector=NAME says which of PyOD's it is")
        mistakes += in_algorithm(_frozen(resolved["algorithm"]))
        if protocol is not None:
            mistakes += in_pairing(resolved["algorithm"], protocol, resolved["setting"])
    for group in ("dataset", "algorithm"):
        if not isinstance(resolved.get(group), Mapping):
            mistakes += (f"{group} must be a group of keys, got {resolved.get(group)!r}",)
    if mistakes or protocol is None:
        raise Invalid("\n".join(mistakes))
    described, n_splits = protocol.described(), resolved["n_splits"]
    if n_splits is None:
        n_splits = splits_of(described) or USUAL_SPLITS
    return {**resolved, "protocol": described, "n_splits": n_splits}


def _frozen(value: Any) -> bytes:
    """Return a configuration as something that can be looked up."""
    return pickle.dumps(value)


@functools.lru_cache(maxsize=1024)
def _of_configuration(frozen: bytes) -> tuple[Protocol | None, tuple[str, ...]]:
    try:
        return check(Configuration, pickle.loads(frozen), "").protocol, ()
    except Invalid as error:
        return None, tuple(str(error).splitlines())


@functools.lru_cache(maxsize=1024)
def _of_keys(frozen: bytes) -> tuple[str, ...]:
    """Return which groups of keys mix numbers and texts, which no order puts in a record."""
    return tuple(_mixed(pickle.loads(frozen), ""))


def _mixed(value: Any, where: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        if len({isinstance(name, str) for name in value}) > 1:
            names = ", ".join(map(repr, value))
            yield f"{where} has numbers and texts as names, {names}: write all of them in quotes"
        inner: Iterable[tuple[Any, Any]] = value.items()
    else:
        inner = enumerate(value) if isinstance(value, list | tuple) else ()
    for name, item in inner:
        yield from _mixed(item, f"{where}.{name}" if where else str(name))


@functools.lru_cache(maxsize=1024)
def _of_dataset(frozen: bytes) -> tuple[str, ...]:
    try:
        Definition.from_mapping(pickle.loads(frozen))
    except DataError as error:
        return tuple(str(error).splitlines())
    return ()


def ignored(resolved: Mapping[str, Any]) -> list[str]:
    """Return what was given for a template that is not the one chosen, and would be ignored.

    Parameters
    ----------
    resolved : mapping
        As for `checked`.
    """
    mistakes = []
    for group, source, names, template in _HANDED_ON:
        values = resolved if source is None else resolved.get(source)
        taken = resolved.get(group)
        if not isinstance(values, Mapping) or not isinstance(taken, Mapping):
            continue
        for name in names:
            value = values.get(name)
            if value is not None and taken.get(name) != value:
                given = f"{source}.{name}" if source else name
                mistakes.append(f"{given} is for {template}; this {group} does not take it")
    return mistakes
