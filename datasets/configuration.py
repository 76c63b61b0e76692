"""The configuration in `conf/`, composed by Hydra as the runners compose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from datasets import collections
from datasets.collections import CONF


def compose(overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Compose the configuration and resolve the groups that data depends on.

    Parameters
    ----------
    overrides : sequence of str
        Hydra overrides, such as `dataset=pima` or `data.source=openml`.

    Returns
    -------
    dict
        The groups `dataset`, `setting`, `protocol` and `data`, resolved.
    """
    collections.register(_searched(overrides))
    # The runners' own sweeper and launcher are plug-ins of theirs: data need neither.
    plugins = ["hydra/sweeper=basic", "hydra/launcher=basic"]
    # A process that was started by Hydra has its own configuration loaded: leave it in place.
    outer = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
            cfg = hydra_compose(config_name="config", overrides=[*plugins, *overrides])
    finally:
        GlobalHydra.instance().hydra = outer
    groups: dict[str, Any] = {}
    for group in ("dataset", "setting", "protocol", "data"):
        groups[group] = OmegaConf.to_container(cfg[group], resolve=True)
    return groups


def _searched(overrides: Sequence[str]) -> list[Path]:
    """Return the folders on ``hydra.searchpath``."""
    folders = []
    for override in OverridesParser.create().parse_overrides(list(overrides)):
        entries = override.value() if override.key_or_group == "hydra.searchpath" else None
        if isinstance(entries, list):
            folders += [Path(str(entry).removeprefix("file://")) for entry in entries]
    return folders


def published_names() -> list[str]:
    """Return the names of the paper's data sets: those with a row in its Table 1."""
    names = []
    for path in sorted((CONF / "dataset").glob("*.yaml")):
        if "published" in OmegaConf.load(path):
            names.append(path.stem)
    return names


def members_of(name: str, overrides: Sequence[str] = ()) -> list[Mapping[str, Any]]:
    """Return the definitions of a collection's data sets.

    Parameters
    ----------
    name : str
        The collection.
    overrides : sequence of str
        Hydra overrides, of which ``hydra.searchpath`` counts.
    """
    for folder in (CONF, *_searched(overrides)):
        file = folder / "dataset" / f"{name}.yaml"
        collection = collections.read_collection(file) if file.is_file() else None
        if collection is not None:
            return list(collection.members.values())
    return []
