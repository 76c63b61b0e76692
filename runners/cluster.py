"""What a machine of a Dask cluster lacks: a function that is sent there as a whole.

A worker that lacks the code cannot import a function of it. So this module imports the standard
library only, and `runners.dask` has it pickled by value.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass


def python() -> str:
    """Return the version of this interpreter, such as ``"3.12"``."""
    return ".".join(map(str, sys.version_info[:2]))


@dataclass(frozen=True)
class Needs:
    """What a machine must have.

    Attributes
    ----------
    root : str
        Folder of the checkout.
    python : str
        See `python`.
    versions : mapping
        Versions of packages, by name.
    home : str or None
        Folder of the data sets.
    probe : str or None
        A file in the record store.
    """

    root: str
    python: str
    versions: Mapping[str, str]
    home: str | None = None
    probe: str | None = None

    def problems(self) -> list[str]:
        """Return what this machine lacks, in words."""
        found = []
        if python() != self.python:
            found.append(f"Python {python()} instead of {self.python}")
        for name, version in self.versions.items():
            try:
                here = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                found.append(f"{name} is not installed")
                continue
            if here != version:
                found.append(f"{name} {here} instead of {version}")
        found += self._code()
        if self.home and not os.path.isdir(self.home):
            found.append(f"the data home {self.home} does not exist")
        if self.probe is not None:
            store = os.path.dirname(self.probe)
            if not os.path.exists(self.probe):
                found.append(f"the record store {store} is not shared")
            elif not os.access(store, os.W_OK):
                found.append(f"the record store {store} is read-only")
        return found

    def _code(self) -> list[str]:
        if not os.path.isfile(os.path.join(self.root, "runners", "supervise.py")):
            return [f"the code is not in {self.root}"]
        if self.root not in sys.path:
            sys.path.insert(0, self.root)
        try:
            import runners.supervise  # noqa: F401
        except ImportError as error:
            return [f"the code in {self.root} cannot be imported: {error}"]
        return []
