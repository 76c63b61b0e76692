"""From a composed Hydra configuration to a `Cell`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra.core.config_search_path import ConfigSearchPath
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from datasets import DataError, content_key
from runners.experiment import Cell
from runners.summary import UsageError


def cell_from_config(config: DictConfig) -> Cell:
    """Turn a composed configuration, Hydra's own part included, into a cell.

    Raises
    ------
    UsageError
        If a group that a cell needs is missing.
    """
    choices = config.hydra.runtime.choices
    for group in ("dataset", "algorithm", "setting", "protocol"):
        if not OmegaConf.is_dict(config.get(group)):
            raise UsageError(f"{group} is missing; choose one with {group}=NAME")
    algorithm = str(choices.get("algorithm") or "algorithm")
    task = OmegaConf.masked_copy(config, [str(name) for name in config if name != "hydra"])
    resolved = OmegaConf.to_container(task, resolve=True, throw_on_missing=True)
    assert isinstance(resolved, dict)
    variant = _variant(config, algorithm, resolved["algorithm"])
    try:
        content = content_key(resolved["dataset"])
    except DataError:
        content = None  # loading says what is wrong with the file or the definition
    return Cell(algorithm, variant, {str(name): value for name, value in resolved.items()}, content)


def _variant(config: DictConfig, name: str, resolved: dict[str, Any]) -> str:
    """Return the parameters that differ from the YAML's own, as ``"a=1,b=2"``."""
    own = _own_parameters(config, name)
    differing = {key: value for key, value in resolved.items() if own.get(key, _NONE) != value}
    gone = {key: "absent" for key in own if key not in resolved}
    return ",".join(f"{key}={_brief(value)}" for key, value in sorted((differing | gone).items()))


_NONE = object()


def _own_parameters(config: DictConfig, name: str) -> dict[str, Any]:
    """Return an algorithm's parameters as its YAML has them, interpolations unresolved.

    What the YAML takes from elsewhere (``detector: ${detector}``) always counts as differing: it
    tells apart cells whose algorithm has the same name.
    """
    touched = any(
        str(override).lstrip("+~").partition("=")[0].startswith("algorithm.")
        for override in config.hydra.overrides.task
    )
    # Only overrides on the command line and experiment files change parameters.
    node = config.algorithm
    if touched or config.hydra.runtime.choices.get("grid"):
        node = _defaults(config, name)
    plain = OmegaConf.to_container(node, resolve=False)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


_CACHE: dict[tuple[str, str], DictConfig] = {}


def _defaults(config: DictConfig, name: str) -> DictConfig:
    sources = list(config.hydra.runtime.config_sources)
    key = (str(sources), name)
    if key not in _CACHE:
        loader = ConfigLoaderImpl(config_search_path=_search_path(sources))
        composed = loader.load_configuration(
            config_name=str(config.hydra.job.config_name),
            overrides=[f"algorithm={name}"],
            run_mode=RunMode.RUN,
        )
        _CACHE[key] = composed.algorithm
    return _CACHE[key]


def _search_path(sources: Iterable[Any]) -> ConfigSearchPath:
    search_path = ConfigSearchPathImpl()
    for source in sources:
        search_path.append(source.provider, f"{source.schema}://{source.path}")
    return search_path


def _brief(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)
