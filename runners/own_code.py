"""The user's own code that a configuration names, and a digest of it.

A class in `mine.py` may be edited between two runs. Its results before and after are results of two
algorithms, so what its ``_target_`` and its arguments name belongs to the key of an experiment, as
a user's data file does: the source of its module, and of what that imports, as far as it is neither
an installed package nor part of this project. Those are named by their versions and by the commit.
So do files that stand beside such a module and by their names in it, ``"weights.npy"``, and files
that are arguments of a target; other files that a user's code reads are not known here.

Modules are found and parsed, and never imported: a user's module may do anything when it is.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_PROJECT = frozenset({"ocrf", "baselines", "datasets", "runners", "results"})


@dataclass(frozen=True)
class OwnCode:
    """What the targets of a configuration consist of.

    Attributes
    ----------
    digest : str or None
        sha256 of all modules of the user's own, and of the files that they and their arguments
        name; None if there are no such modules.
    modules : tuple of str
        Their names, sorted.
    packages : tuple of str
        Top-level names of the installed packages that the targets lie in, or that the user's
        modules import; sorted.
    project : tuple of str
        The same of this project's packages.
    """

    digest: str | None = None
    modules: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    project: tuple[str, ...] = ()


def own_code(named: Iterable[str]) -> OwnCode:
    """Find the user's own code that targets consist of.

    Parameters
    ----------
    named : iterable of str
        Dotted names of classes and functions, and names of files, as from
        `results.records.record.targets`; one that is not found changes nothing.
    """
    search = _Search()
    for target in sorted(set(named)):
        if os.path.isfile(target):
            search.add_file(target, Path(target))
        elif "/" not in target:
            search.add_target(target)
    return search.found()


class _Search:
    """Modules found so far, and the ways to more of them."""

    def __init__(self) -> None:
        self.sources: dict[str, bytes] = {}
        self.files: dict[str, Path] = {}
        self.packages: set[str] = set()
        self.project: set[str] = set()
        self._seen: set[str] = set()
        self._specs: dict[str, ModuleSpec | None] = {}

    def found(self) -> OwnCode:
        imported = tuple(sorted(self.packages)), tuple(sorted(self.project))
        if not self.sources:
            return OwnCode(None, (), *imported)
        digest = hashlib.sha256()
        for name, source in sorted(self.sources.items()):
            digest.update(f"{name} {hashlib.sha256(source).hexdigest()}\n".encode())
        for name, path in sorted(self.files.items()):
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{name} {content}\n".encode("utf-8", "surrogateescape"))
        return OwnCode(digest.hexdigest(), tuple(sorted(self.sources)), *imported)

    def add_file(self, name: str, path: Path) -> None:
        """Add a file under the name that it was given; those of ``/proc`` have no size."""
        if path.stat().st_size:
            self.files[name] = path

    def add_target(self, target: str) -> None:
        """Add the module of a class or function, whose name follows the module's."""
        name, *rest = target.split(".")
        while rest and self._spec(f"{name}.{rest[0]}") is not None:
            name = f"{name}.{rest.pop(0)}"
        self._add(name)

    def _add(self, name: str) -> None:
        """Add a module, the packages that it lies in, and what they import."""
        if name in self._seen:
            return
        self._seen.add(name)
        if parent := name.rpartition(".")[0]:
            self._add(parent)
        spec = self._spec(name)
        if spec is None:
            return
        path = _path(spec)
        if not _is_own(path):
            top = name.partition(".")[0]
            if top in _PROJECT:
                self.project.add(top)
            elif top not in sys.stdlib_module_names:
                self.packages.add(top)
            return
        if path is None or not path.is_file():
            return  # a package without __init__.py
        self.sources[name] = source = path.read_bytes()
        if path.suffix != ".py":
            return
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return  # building the detector says so
        package = name if spec.submodule_search_locations is not None else parent
        for imported in _imports(tree, package):
            self._add(imported)
        for text in _names_of_files(tree):
            if os.path.isfile(path.parent / text):
                self.add_file(f"{name} {text}", path.parent / text)

    def _spec(self, name: str) -> ModuleSpec | None:
        """Find a module as an import would, without importing the packages that it lies in."""
        if name not in self._specs:
            path = None
            if parent := name.rpartition(".")[0]:
                spec = self._spec(parent)
                path = None if spec is None else spec.submodule_search_locations
                if path is None:
                    return None
            self._specs[name] = next(_candidates(name, path), None)
        return self._specs[name]


def _candidates(name: str, path: Any) -> Iterator[ModuleSpec]:
    for finder in sys.meta_path:
        if finder is PathFinder and path is not None:
            spec = _within(name, path)
        else:
            spec = finder.find_spec(name, path) if hasattr(finder, "find_spec") else None
        if spec is not None:
            yield spec


def _within(name: str, folders: Iterable[str]) -> ModuleSpec | None:
    """Find a module in the folders of its package.

    `PathFinder` does it too, but for a folder without ``__init__.py`` wants the package imported.
    """
    portions: list[str] = []
    for folder in folders:
        finder = pkgutil.get_importer(folder)
        spec = None if finder is None else finder.find_spec(name)
        if spec is not None and spec.loader is not None:
            return spec
        portions += (spec and spec.submodule_search_locations) or []
    if not portions:
        return None
    found = ModuleSpec(name, None, is_package=True)
    found.submodule_search_locations = portions
    return found


def _path(spec: ModuleSpec) -> Path | None:
    """Return a module's file, or the folder of a package without one; None for built-in ones."""
    if spec.has_location and spec.origin is not None:
        return Path(spec.origin).resolve()
    for folder in spec.submodule_search_locations or ():
        return Path(folder).resolve()
    return None


@functools.cache
def _installed() -> tuple[Path, ...]:
    """Return the folders of installed packages and of the standard library."""
    names = ("purelib", "platlib", "stdlib", "platstdlib")
    folders = [sysconfig.get_path(name) for name in names]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple({Path(folder).resolve() for folder in folders if folder})


@functools.cache
def _installed_elsewhere() -> frozenset[Path]:
    """Return what was installed into other folders of the path (``pip install --target``)."""
    found = set()
    for folder in {Path(entry).resolve() for entry in sys.path} - set(_installed()):
        for package in importlib.metadata.distributions(path=[str(folder)]):
            if package.read_text("RECORD") is not None:
                found |= {folder / file.parts[0] for file in package.files or ()}
    return frozenset(found)


def _is_own(path: Path | None) -> bool:
    if path is None or any(path.is_relative_to(folder) for folder in _installed()):
        return False
    if not _installed_elsewhere().isdisjoint((path, *path.parents)):
        return False
    return not any(path.is_relative_to(ROOT / package) for package in _PROJECT)


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Yield the names of modules that a source may import; some are names in modules instead."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names, level):
                base = _absolute("." * level + (module or ""), package)
                if base:
                    yield base
                    yield from (f"{base}.{alias.name}" for alias in names)
            case ast.Call(
                ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"),
                [ast.Constant(str() as name), *_],
            ):
                yield _absolute(name, package)


def _names_of_files(tree: ast.AST) -> Iterator[str]:
    """Yield the texts in a source that may name a file: with a suffix or a folder."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(str() as text) if len(text) < 256 and {".", "/"} & {*text}:
                yield text


def _absolute(name: str, package: str) -> str:
    try:
        return importlib.util.resolve_name(name, package) if name.startswith(".") else name
    except ImportError:
        return ""  # beyond the top-level package: the import itself fails
