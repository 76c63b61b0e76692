"""The configuration in `conf/`, composed by Hydra as the runners compose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from datasets import collections
from datasets.collections import CONF
from datasets.mistakes import parse_overrides
from datasets.own_folders import check_dataset_name, check_files, file_of, own_folders


def compose(overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Compose the configuration and resolve the groups that data depends on.

    Parameters
    ----------
    overrides : sequence of str
        Hydra overrides, such as `dataset=pima` or `data.source=openml`.

    Returns
    -------
    dict
        The groups `dataset`, `setting`, `protocol` and `data`, resolved; and under `file` the YAML
        file of the data set or its collection.

    Raises
    ------
    UsageError
        If an override cannot be read, or a file or a data set has a name that another one has.
    """
    folders = _searched(overrides)
    if folders:
        check_files(folders)
    collections.register(folders)
    # The definition knows which keys there are, also those that a YAML file leaves out.
    added = [f"++{word}" if word.startswith("dataset.") else word for word in overrides]
    # The runners' own sweeper and launcher are plug-ins of theirs: data need neither.
    plugins = ["hydra/sweeper=basic", "hydra/launcher=basic"]
    # A process that was started by Hydra has its own configuration loaded: leave it in place.
    outer = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
            cfg = hydra_compose("config", overrides=[*plugins, *added], return_hydra_config=True)
    finally:
        GlobalHydra.instance().hydra = outer
    groups: dict[str, Any] = {}
    for group in ("dataset", "setting", "protocol", "data"):
        groups[group] = OmegaConf.to_container(cfg[group], resolve=True, throw_on_missing=True)
    choice = cfg.hydra.runtime.choices.get("dataset")
    groups["file"] = file_of([CONF, *folders], "dataset", choice)
    if groups["dataset"] is not None:
        check_dataset_name(str(groups["dataset"].get("name")), str(choice), groups["file"])
    return groups


def _searched(overrides: Sequence[str]) -> list[Path]:
    """Return the folders on ``hydra.searchpath``."""
    return own_folders([], parse_overrides(overrides))


def published_names() -> list[str]:
    """Return the names of the paper's data sets: those with a row in its Table 1."""
    names = []
    for path in sorted((CONF / "dataset").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if "published" in text and "published" in OmegaConf.create(text):
            names.append(path.stem)
    return names


def members_of(name: str, overrides: Sequence[str] = ()) -> Mapping[str, Mapping[str, Any]]:
    """Return the definitions of a collection's data sets, by the members' names.

    Parameters
    ----------
    name : str
        The collection.
    overrides : sequence of str
        Hydra overrides, of which ``hydra.searchpath`` counts.

    Raises
    ------
    UsageError
        If a member has the name of a data set of the project's.
    """
    for folder in (CONF, *_searched(overrides)):
        file = folder / "dataset" / f"{name}.yaml"
        collection = collections.read_collection(file) if file.is_file() else None
        if collection is not None:
            for member, definition in collection.members.items():
                check_dataset_name(definition["name"], f"{name}/{member}", file)
            return collection.members
    return {}
