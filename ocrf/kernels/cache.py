"""Where compiled code is kept, and for which sources it is good.

numba keeps the code of a function beside its module, together with a digest of that one file. What
the function calls is part of its code, though, wherever that is written: after an edit elsewhere, a
`git pull` or an upgrade, numba would go on running the old code, or a mixture of old and new. Here
the files are therefore named after all sources that may have become part of them.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile

# What other packages' kernels may call.
_OCRF = Path(__file__).parents[1]

_ADVICE = "set the environment variable NUMBA_CACHE_DIR to a folder that can be written to"


def cached(function: Callable, **options: Any) -> Any:
    """Decorate a function with ``numba.njit``, and keep its compiled code where that is possible.

    Parameters
    ----------
    function : callable
    **options
        Options of ``numba.njit``, with ``cache=True``.
    """
    dispatcher = _placed(function, **options)
    kept = dispatcher._cache  # numba has no other name for it
    if isinstance(kept, FunctionCache):
        sources = sources_digest(function.__module__.partition(".")[0])
        kept._cache_file = _FilesOfSources(kept, sources)
    return dispatcher


class _FilesOfSources(IndexDataCacheFile):
    """The files of a function's compiled code, which have a digest of the sources in their names.

    A new name, instead of a new content under the old one: a process that reads while another one
    writes finds either nothing or what belongs together.
    """

    def __init__(self, kept: FunctionCache, sources: str) -> None:
        self._sources = sources
        name = f"{kept._impl.filename_base}.{sources}"
        super().__init__(kept.cache_path, name, kept._impl.locator.get_source_stamp())

    def save(self, key: Any, data: Any) -> None:
        """Write compiled code, and remove that of other sources, which nobody will read."""
        super().save(key, data)
        for path in Path(self._cache_path).glob("*.nb[ci]"):
            if f".{self._sources}." not in path.name:
                # Another process may have removed it; where files are somebody else's, they stay.
                with suppress(OSError):
                    path.unlink()


@cache
def sources_digest(package: str) -> str:
    """Return a digest of the sources whose code may be part of a package's kernels.

    Those of the package itself and of ocrf, whose kernels others call.

    Parameters
    ----------
    package : str
        Its name; that of a module which is in no package adds nothing.
    """
    folders = [_OCRF, *map(Path, getattr(sys.modules.get(package), "__path__", ()))]
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            source = path.read_bytes()
            digest.update(f"{path.relative_to(folder).as_posix()} {len(source)}\n".encode())
            digest.update(source)
    return digest.hexdigest()[:16]


def _placed(function: Callable, **options: Any) -> Any:
    """Decorate a function with ``numba.njit``, and choose the place of its cache."""
    try:
        return numba.njit(function, **options)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
    folder = _fallback_folder()
    if folder is None:
        return numba.njit(function, **(options | {"cache": False}))
    with _cache_folder(folder):
        return numba.njit(function, **options)


@contextmanager
def _cache_folder(folder: str) -> Iterator[None]:
    """Make numba place the cache of the functions decorated meanwhile in a folder."""
    before: str = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = folder  # type: ignore[attr-defined]
    try:
        yield
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


@cache
def _fallback_folder() -> str | None:
    """Return the user's folder below the temporary one, or None; warn about either, once."""
    problem = "numba can write neither to the package's folder nor to the user's cache folder"
    folder = Path(tempfile.gettempdir()) / f"ocrf-kernels-{_user()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        # Whoever can write there could make this process run other code.
        with tempfile.TemporaryFile(dir=folder):
            is_ours = _belongs_to_user_alone(folder)
    except OSError:
        is_ours = False
    if is_ours:
        remedy = f"compiled code is kept in {folder}; to choose another place, {_ADVICE}"
    else:
        remedy = f"the first call of every process will take long; {_ADVICE}"
    warnings.warn(f"{problem}: {remedy}.", RuntimeWarning, stacklevel=6)
    return str(folder) if is_ours else None


def _user() -> str:
    """Return what tells users apart, without a look at files that a container may lack."""
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def _belongs_to_user_alone(folder: Path) -> bool:
    """Tell whether a folder is the user's and nobody else can write to it."""
    if not hasattr(os, "getuid"):
        return True  # Windows: the temporary folder is the user's own
    found = folder.lstat()
    others_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not others_write
