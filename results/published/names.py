"""The names of data sets, algorithms and protocols that folders like ``conf/`` configure."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

#: The place of a member's name in the names of a collection, and where members are not listed.
_MEMBER, _ANY = "{member}", "*"


class Names:
    """The names of one group, and patterns for those of files that are not looked at.

    Parameters
    ----------
    group : {"dataset", "algorithm", "protocol"}
    roots : sequence of Path
        Folders like ``conf/``.
    more : iterable of str
        Further names: those of records.
    """

    def __init__(self, group: str, roots: Sequence[Path], more: Iterable[str] = ()):
        self.known = sorted(set(files_of(group, roots)) | set(more))

    def __contains__(self, name: str) -> bool:
        return any(name == known or fnmatchcase(name, known) for known in self.known)


def files_of(group: str, roots: Sequence[Path]) -> dict[str, Path]:
    """Return the files that configure the names, and patterns for names, of a group."""
    files = [file for root in roots for file in sorted((root / group).glob("*.yaml"))]
    return {
        name: file for file in reversed(files) for name in _names_in(file, file.stat().st_mtime_ns)
    }


def file_of(name: str, files: Mapping[str, Path]) -> Path | None:
    """Return the file that configures a name; None if there is none."""
    fitting = (file for known, file in files.items() if fnmatchcase(name, known))
    return files.get(name) or next(fitting, None)


@functools.cache  # hundreds of files, and a command may load several publications
def _names_in(file: Path, changed: int) -> tuple[str, ...]:
    """Return the name of a configuration, or those of a collection's members.

    `changed` says when the file was, so that it is read again after that.
    """
    if "collection:" not in file.read_text(encoding="utf-8"):
        return (file.stem,)
    config = OmegaConf.load(file)
    if not isinstance(config, DictConfig) or not isinstance(config.get("collection"), DictConfig):
        return (file.stem,)
    collection = config["collection"]
    names = str(collection.get("names", f"{config.get('name', file.stem)}_{_MEMBER}"))
    # Without a list the members are the files of a folder, perhaps on another machine.
    members = collection.get("members") or (_ANY,)
    return tuple(names.replace(_MEMBER, str(member)) for member in members)
