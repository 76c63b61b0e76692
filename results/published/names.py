"""The names of data sets, algorithms and protocols that folders like ``conf/`` configure."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
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
        files = [file for root in roots for file in sorted((root / group).glob("*.yaml"))]
        found = {name for file in files for name in _names_in(file, file.stat().st_mtime_ns)}
        self.known = sorted(found | set(more))

    def __contains__(self, name: str) -> bool:
        return any(name == known or fnmatchcase(name, known) for known in self.known)


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
