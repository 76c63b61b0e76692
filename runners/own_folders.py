"""Folders of a user's own groups, beside the project's `conf`."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from hydra.core.override_parser.types import Override

from runners.mistakes import GROUPS
from runners.summary import UsageError

CONF = Path(__file__).resolve().parents[1] / "conf"


def own_folders(flags: Sequence[str], overrides: Sequence[Override]) -> list[Path]:
    """Return the folders that ``--config-dir`` and ``hydra.searchpath`` name.

    Raises
    ------
    UsageError
        If one does not exist.
    """
    found = []
    for where, text in _named(flags, overrides):
        folder = _folder(text)
        if folder is None or not folder.is_dir():
            raise UsageError(f"{where}: there is no folder {text}")
        found.append(folder)
    return found


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


def check_names(folders: Sequence[Path]) -> None:
    """Check that no file in the user's folders has the name of another one in the same group.

    Hydra takes the first that it finds, the project's before a user's, and would say nothing.

    Raises
    ------
    UsageError
        Naming both files.
    """
    known: dict[tuple[str, str], Path] = {}
    for folder in dict.fromkeys(path.resolve() for path in (CONF, *folders)):
        for group in GROUPS:
            for path in sorted((folder / group).rglob("*.yaml")):
                name = path.relative_to(folder / group).with_suffix("").as_posix()
                first = known.setdefault((group, name), path)
                if first != path:
                    raise UsageError(
                        f"two files are {group}={name}, {first} and {path}; only the first would "
                        "be used: rename the second"
                    )


def unreadable(folders: Sequence[Path]) -> Iterator[str]:
    """Yield which YAML files of the user's folders cannot be read as text, and why."""
    for folder in folders:
        for group in GROUPS:
            for path in sorted((folder / group).rglob("*.yaml")):
                try:
                    path.read_text(encoding="utf-8")
                except UnicodeDecodeError as error:
                    yield f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
                except OSError as error:
                    yield f"{path}: {error.strerror}"
