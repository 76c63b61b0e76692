"""Folders of a user's own groups, beside the project's `conf`, and the names that are taken there.

Who composes a configuration, to run experiments or to look at data, holds it to the same rules.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.types import Override
from omegaconf import OmegaConf

from datasets import collections
from datasets.collections import CONF
from datasets.errors import DataError, UsageError
from datasets.mistakes import GROUPS


def own_folders(flags: Sequence[str], overrides: Sequence[Override]) -> list[Path]:
    """Return the folders that ``--config-dir`` and ``hydra.searchpath`` name.

    Raises
    ------
    UsageError
        If one does not exist, has no folder of a group, or has one with the name of a key that is
        set, which Hydra would take for a group.
    """
    found = []
    keys = [override.key_or_group for override in overrides]
    for where, text in _named(flags, overrides):
        folder = _folder(text)
        if folder is None or not folder.is_dir():
            raise UsageError(f"{where}: there is no folder {text}")
        if not _has_groups(folder) and (folder.name in GROUPS or not any(folder.glob("*.yaml"))):
            near = [folder.resolve().parent, *sorted(p for p in folder.iterdir() if p.is_dir())]
            meant = next(filter(_has_groups, near), None)
            hint = f"; did you mean {meant}?" if meant else ""
            raise UsageError(
                f"{where}: {text} has none of the folders {', '.join(GROUPS)}, in which options "
                f"are looked for{hint}"
            )
        for key in keys:
            if (folder / key).is_dir() and not (CONF / key).is_dir():
                raise UsageError(
                    f"{where}: {folder / key} is a folder, so that Hydra takes {key}= for "
                    f"the choice of a file in it; rename it, or move {folder}'s groups of options "
                    "into a folder of their own"
                )
        found.append(folder)
    return found


def _has_groups(folder: Path) -> bool:
    return any((folder / group).is_dir() for group in (*GROUPS, "hydra"))


def _named(flags: Sequence[str], overrides: Sequence[Override]) -> Iterator[tuple[str, str]]:
    for flag, following in itertools.pairwise([*flags, ""]):
        name, equals, value = flag.partition("=")
        if name in ("--config-dir", "-cd"):
            yield "--config-dir", value if equals else following
    for override in overrides:
        given = getattr(override, "_value", None)
        if override.key_or_group == "hydra.searchpath" and isinstance(given, list):
            for item in given:
                yield "hydra.searchpath", str(item)


def _folder(text: str) -> Path | None:
    scheme, separator, rest = text.partition("://")
    if separator and scheme == "pkg":
        try:
            spec = importlib.util.find_spec(rest.replace("/", "."))
        except ImportError:
            return None
        for folder in (spec and spec.submodule_search_locations) or ():
            return Path(folder)
        return None
    return Path(rest if separator else text)


def check_files(folders: Sequence[Path]) -> None:
    """Check that each file in the user's folders is text, and has no name of another in its group.

    Hydra takes the first file of a name that it finds, the project's before a user's, and would say
    nothing.

    Raises
    ------
    UsageError
        Naming the file, or both files.
    """
    known: dict[tuple[str, str], Path] = {}
    for folder in dict.fromkeys(path.resolve() for path in (CONF, *folders)):
        if folder != CONF and (primary := folder / "config.yaml").is_file():
            raise UsageError(
                f"{primary} would not be read, the project's own config.yaml is: what it says "
                "belongs into a file of the group grid"
            )
        for group in GROUPS:
            for path in sorted((folder / group).rglob("*.yml")):
                raise UsageError(f"{path}: configuration is read from files that end in .yaml")
            for path in sorted((folder / group).rglob("*.yaml")):
                name = path.relative_to(folder / group).with_suffix("").as_posix()
                first = known.setdefault((group, name), path)
                if first != path:
                    raise UsageError(
                        f"two files are {group}={name}, {first} and {path}; only the first would "
                        "be used: rename the second"
                    )
                if folder != CONF:
                    _check_text(path)
    for (group, name), path in known.items():
        parent = known.get((group, name.rpartition("/")[0]))
        if group == "dataset" and parent is not None and not path.is_relative_to(CONF):
            _refuse_member(name, path, parent)


def _refuse_member(name: str, path: Path, parent: Path) -> None:
    """Refuse a file that has the name of a member of a collection, which would be used instead."""
    try:
        collection = collections.read_collection(parent)
    except DataError:
        return  # said when one of its members is chosen
    if collection is not None and name.rpartition("/")[2] in collection.members:
        raise UsageError(
            f"dataset={name} is a member of the collection {parent}, and {path} has its name; only "
            "the member would be used: rename the file"
        )


def _check_text(path: Path) -> None:
    try:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
    except UnicodeDecodeError as error:
        words = f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
        raise UsageError(words) from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    written = [line for line in lines if not line.lstrip().startswith("#")]
    if any(map(str.strip, written)) and not any(":" in line for line in written):
        raise UsageError(f"{path} holds no keys: configuration is written as lines NAME: VALUE")
    for line, found in _misread(text):
        raise UsageError(
            f"{path}, line {line}: YAML reads {found} as {yaml.safe_load(found)}; write a number "
            f'without a 0 before it and without colons, and a text in quotes, "{found}"'
        )
    if any(re.match(r"\s*#\s*@package\s+_global_", line) for line in lines):
        _check_groups(path, _keys_of(path))


# What YAML reads as octal (010 is 8) or in base 60 (1:30 is 90, 1:30.5 is 90.5); 0:30 is a text.
_MISREAD = re.compile(
    r"[-+]?(0[0-7_]+|[1-9][0-9_]*(:[0-5]?[0-9])+|[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*)"
)


def _misread(text: str) -> Iterator[tuple[int, str]]:
    """Yield numbers that YAML reads otherwise than people, and their lines."""
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            plain = isinstance(event, yaml.ScalarEvent) and event.implicit[0]
            if plain and _MISREAD.fullmatch(event.value):
                yield event.start_mark.line + 1, event.value
    except yaml.YAMLError:
        return  # said when the file is composed


def _check_groups(path: Path, keys: Mapping[str, Any]) -> None:
    """Refuse a list or a value where a file that concerns all groups has to have keys."""
    found: dict[str, Any] = {name: keys.get(name) for name in (*GROUPS, "hydra", "data")}
    for name in ("hydra.sweeper", "hydra.launcher", "hydra.sweeper.params"):
        parent, _, key = name.rpartition(".")
        inner = found[parent]
        found[name] = inner.get(key) if isinstance(inner, Mapping) else None
    for name, value in found.items():
        # A text where an option is chosen by another spelling is explained when it is composed.
        if (
            value is None
            or isinstance(value, Mapping)
            or (name in GROUPS and isinstance(value, str))
        ):
            continue
        raise UsageError(
            f"{path}: {name} is {value!r}, and has to be a group of keys, written below it as "
            "indented lines NAME: VALUE"
        )


def file_of(folders: Iterable[Path], group: str, choice: str | None) -> Path | None:
    """Return the YAML file of an option of a group, or of the collection that the option is in.

    Parameters
    ----------
    folders : iterable of Path
        The folders of the search path, in its order.
    group : str
    choice : str or None
        The option, ``"pima"`` or ``"odds/cardio"``; None if none was chosen.
    """
    names = [choice, choice.rpartition("/")[0]] if choice else []
    for name, folder in itertools.product(filter(None, names), folders):
        if (path := folder / group / f"{name}.yaml").is_file():
            return path
    return None


def is_own(file: Path | None) -> bool:
    """Tell whether a YAML file is the user's own."""
    return file is not None and not file.is_relative_to(CONF)


def is_shipped(definition: Mapping[str, Any]) -> bool:
    """Tell whether the definition of a data set is that of a file of the project's, unchanged.

    What a file takes from the protocol does not count as a change.

    Parameters
    ----------
    definition : mapping
        The resolved configuration group `dataset`.
    """
    written = shipped(str(definition["name"]))
    return (
        written is not None
        and written.keys() == definition.keys()
        and all(
            definition[key] == value or str(value).startswith("${protocol.")
            for key, value in written.items()
        )
    )


def shipped(name: str) -> Mapping[str, Any] | None:
    """Return the keys of the project's own data set of this name; None if there is none."""
    path = _file_called(name)
    if path is not None:
        return _keys_of(path)
    member = _member_called(name)
    return None if member is None else collections.find(member[0])


def _keys_of(path: Path) -> Mapping[str, Any]:
    """Return the keys of a file, interpolations unresolved."""
    plain = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    if not isinstance(plain, dict):
        raise UsageError(f"{path} holds no keys: configuration is written as lines NAME: VALUE")
    return {str(key): value for key, value in plain.items()}


def check_dataset_name(name: str, choice: str, file: Path | None) -> None:
    """Refuse the name of a data set of the project's for any other data.

    Parameters
    ----------
    name : str
        What the definition says.
    choice : str
        The option of the group `dataset`.
    file : Path or None
        Its YAML file.

    Raises
    ------
    UsageError
    """
    path = _file_called(name)
    owner = _member_called(name) if path is None else (name, path)
    if owner is None or owner[0] == choice:
        return
    raise UsageError(
        f"{file or f'dataset={choice}'}: the name {name!r} is that of {owner[1]}; records and "
        "tables could not tell the two apart: give the data set another name"
    )


def _file_called(name: str) -> Path | None:
    """Return the file of the project's data set of this name, or None.

    The names of files are compared: asking for a file whose name is too long fails.
    """
    return next((p for p in (CONF / "dataset").glob("*.yaml") if p.stem == name), None)


def _member_called(name: str) -> tuple[str, Path] | None:
    """Return the option and the file of the member that has a name in a collection of ours."""
    for collection in collections.collections():
        for member, definition in collection.members.items():
            if definition["name"] == name:
                option = f"{collection.name}/{member}"
                return option, CONF / "dataset" / f"{collection.name}.yaml"
    return None
