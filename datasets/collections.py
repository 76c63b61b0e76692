"""Collections: many data sets described by one YAML file, each chosen like any other.

A file `conf/dataset/NAME.yaml` with the key `collection` describes them. Its members are the
options ``dataset=NAME/MEMBER``: a source of configurations, in Hydra's own sense, makes them from
that file.
"""

from __future__ import annotations

import fnmatch
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from datasets.errors import DataError, listed
from datasets.sources.archive import split_archive
from datasets.strict import suggestion

CONF = Path(__file__).resolve().parent.parent / "conf"

_KEYS = ("names", "path", "url", "file", "members", "exclude")


@dataclass(frozen=True)
class Collection:
    """What one YAML file says of many data sets.

    Attributes
    ----------
    name : str
        The name of the file.
    members : mapping of str to mapping
        The definition of each data set by the member's name: what the group `dataset` holds if it
        is chosen.
    description : str
        For people.
    """

    name: str
    members: Mapping[str, Mapping[str, Any]]
    description: str = ""


def read_collection(path: Path) -> Collection | None:
    """Read a collection from its YAML file.

    Returns
    -------
    Collection or None
        None if the file describes a single data set.

    Raises
    ------
    DataError
        If the key `collection` is not valid, naming the file.
    """
    return _read(path, path.stat().st_mtime_ns)


def find(choice: str) -> Mapping[str, Any] | None:
    """Return the definition that ``dataset=COLLECTION/MEMBER`` chooses, or None."""
    name, _, member = choice.partition("/")
    for folder in (CONF, *_Collections.folders):
        file = folder / "dataset" / f"{name}.yaml"
        collection = read_collection(file) if member and file.is_file() else None
        if collection is not None:
            return collection.members.get(member)
    return None


def choice_of(name: str) -> str | None:
    """Return what chooses the member of a collection that tables print under a name, or None."""
    for file in (f for folder in (CONF, *_Collections.folders) for f in _files(folder)):
        try:
            collection = read_collection(file)
        except DataError:
            continue  # said when one of its members is chosen
        members = {} if collection is None else collection.members
        for member, definition in members.items():
            if definition["name"] == name:
                return f"{file.stem}/{member}"
    return None


def collections(folder: Path = CONF) -> list[Collection]:
    """Return the collections among the data sets of a folder that is laid out like `conf`."""
    found = map(read_collection, _files(folder))
    return [collection for collection in found if collection is not None]


def _files(folder: Path) -> list[Path]:
    return sorted((folder / "dataset").glob("*.yaml"))


@lru_cache(maxsize=256)
def _read(path: Path, mtime_ns: int) -> Collection | None:
    text = path.read_text(encoding="utf-8")
    if not re.search(r"^collection\s*:", text, re.MULTILINE):
        return None
    content = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    assert isinstance(content, dict)
    common = {str(key): value for key, value in content.items()}
    given, where = common.pop("collection"), f"the collection in {path}"
    if not isinstance(given, dict):
        raise DataError(f"{where}: collection is a group of keys; got {given!r}")
    if unknown := sorted(set(given) - set(_KEYS)):
        raise DataError(
            f"{where}: unknown key collection.{unknown[0]}{suggestion(unknown[0], _KEYS) or '.'} "
            f"Valid keys are {', '.join(_KEYS)}"
        )
    if ("path" in given) == ("url" in given):
        raise DataError(f"{where}: give exactly one of collection.path and collection.url")
    names = str(given.get("names", f"{common.get('name', path.stem)}_{{member}}"))
    if "{member}" not in names:
        raise DataError(f"{where}: collection.names holds {{member}}; got {names!r}")
    excluded = [str(pattern) for pattern in _list(given.get("exclude"))]
    sources = _from_urls(given, where) if "url" in given else _from_files(given, where)
    for name in excluded:
        if name not in sources and not re.search(r"[*?\[]", name):
            near = suggestion(name, sources) or "."
            raise DataError(
                f"{where}: collection.exclude names {name!r}, and no member is called so{near} "
                f"The members are {listed(list(sources))}"
            )
    members = {
        member: {**common, "name": names.replace("{member}", member), "sources": own}
        for member, own in sorted(sources.items())
        if not any(fnmatch.fnmatchcase(member, pattern) for pattern in excluded)
    }
    return Collection(path.stem, members, str(common.get("description", "")))


def _from_files(given: Mapping[str, Any], where: str) -> dict[str, list[dict[str, Any]]]:
    """Return the sources of the files that a pattern matches, in a folder or a zip file."""
    pattern = str(given["path"])
    if pattern.count("{member}") != 1:
        raise DataError(f"{where}: collection.path holds {{member}} once; got {pattern!r}")
    before = pattern.partition("{member}")[0]
    archive, _ = split_archive(Path(pattern).expanduser())
    if archive is not None:
        if not archive.is_file():
            raise DataError(f"{where}: there is no file {archive}")
        with zipfile.ZipFile(archive) as content:
            paths = [f"{archive}/{name}" for name in content.namelist()]
    else:
        folder = Path(before).expanduser()
        folder = folder if before.endswith("/") else folder.parent
        depth = Path(pattern).expanduser().relative_to(folder)
        paths = [str(p) for p in folder.glob(str(depth).replace("{member}", "*")) if p.is_file()]
    expression = re.compile(
        re.escape(str(Path(pattern).expanduser())).replace(re.escape("{member}"), r"([^/]+)")
    )
    found = [(match[1], path) for path in paths if (match := expression.fullmatch(path))]
    wanted = given.get("members")
    if wanted is not None:
        wanted = {str(member) for member in _list(wanted)}
        if missing := sorted(wanted - {member for member, _ in found}):
            raise DataError(f"{where}: collection.members names {missing[0]!r}, and no file does")
        found = [(member, path) for member, path in found if member in wanted]
    if not found:
        raise DataError(f"{where}: no file matches collection.path, {pattern}")
    return {member: [{"kind": "file", "path": path}] for member, path in found}


def _from_urls(given: Mapping[str, Any], where: str) -> dict[str, list[dict[str, Any]]]:
    """Return the sources of the members that a YAML lists, each with its sha256."""
    urls = [str(url) for url in _list(given["url"])]
    members = given.get("members")
    if not isinstance(members, dict) or not members:
        raise DataError(f"{where}: collection.members maps each name to its sha256")
    kept = given.get("file")
    sources = {}
    for member, entry in members.items():
        # A file that is not called like the member: {file: NAME, sha256: DIGEST}.
        entry = {"sha256": entry} if isinstance(entry, str) else entry
        if not isinstance(entry, dict) or set(entry) - {"file", "sha256"} or "sha256" not in entry:
            raise DataError(f"{where}: members.{member} is a sha256, or {{file: ..., sha256: ...}}")
        stem = str(entry.get("file", member))
        source: dict[str, Any] = {
            "kind": "url",
            "url": [url.replace("{file}", stem) for url in urls],
            "sha256": str(entry["sha256"]),
        }
        if kept is not None:
            source["file"] = str(kept).replace("{file}", stem)
        sources[str(member)] = [source]
    return sources


def _list(value: Any) -> Sequence[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


class CollectionSource(ConfigSource):
    """Serves the members of a folder's collections as options of the group `dataset`."""

    @staticmethod
    def scheme() -> str:
        """Return the scheme of entries in Hydra's search path."""
        return "collections"

    def _collection(self, config_path: str) -> Collection | None:
        """Return the collection of ``dataset/NAME`` or ``dataset/NAME/MEMBER``."""
        parts = Path(config_path.removesuffix(".yaml")).parts
        if len(parts) not in (2, 3) or parts[0] != "dataset":
            return None
        file = Path(self.path) / "dataset" / f"{parts[1]}.yaml"
        try:
            return read_collection(file) if file.is_file() else None
        except DataError as error:
            raise HydraException(str(error)) from error

    def load_config(self, config_path: str) -> ConfigResult:
        """Return a member's definition."""
        collection = self._collection(config_path)
        member = Path(config_path).name.removesuffix(".yaml")
        if collection is None:
            raise ConfigLoadError(f"Config not found : {config_path}")
        if member not in collection.members:
            near = suggestion(member, collection.members) or "."
            raise HydraException(
                f"the collection {collection.name} has no data set {member!r}{near} It has "
                f"{', '.join(collection.members)}"
            )
        return ConfigResult(
            provider=self.provider,
            path=f"{self.scheme()}://{self.path}",
            config=OmegaConf.create(dict(collection.members[member])),
            # Without it, the group's sub-folder would be part of where the definition goes.
            header={"package": "dataset"},
        )

    def available(self) -> bool:
        """Tell whether the folder has data sets."""
        return (Path(self.path) / "dataset").is_dir()

    def is_group(self, config_path: str) -> bool:
        """Tell whether a path is a collection."""
        return len(Path(config_path).parts) == 2 and self._collection(config_path) is not None

    def is_config(self, config_path: str) -> bool:
        """Tell whether a path is inside a collection; whether it is a member, loading tells."""
        return config_path.count("/") == 2 and self._collection(config_path) is not None

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the members of a collection."""
        collection = self._collection(config_path) if self.is_group(config_path) else None
        if collection is None or results_filter == ObjectType.GROUP:
            return []
        return sorted(collection.members)


class _Collections(SearchPathPlugin):
    """Puts collections on every search path."""

    folders: Sequence[Path] = ()

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        for folder in (CONF, *self.folders):
            search_path.append("collections", f"{CollectionSource.scheme()}://{folder}")


def register(folders: Sequence[Path] = ()) -> None:
    """Make Hydra know collections; to be called before it composes anything.

    Parameters
    ----------
    folders : sequence of Path
        The user's folders, laid out like `conf`, whose collections count beside the project's.
    """
    plugins = Plugins.instance()
    plugins.register(CollectionSource)
    plugins.register(_Collections)
    _Collections.folders = tuple(f.resolve() for f in folders if (f / "dataset").is_dir())
