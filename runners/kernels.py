"""Remove compiled kernels that are older than their sources."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import platformdirs

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (ROOT / "ocrf", ROOT / "baselines")


def drop_stale_kernels(packages: Iterable[Path] = PACKAGES) -> int:
    """Delete compiled kernels that are older than any module of the packages.

    numba compiles a function anew when the function's own file changes, but not when a function
    that it calls does, in another module or package: after an edit, or a `git pull`, it would go on
    running the old code.

    Parameters
    ----------
    packages : iterable of Path
        Folders of packages with kernels, which may call one another's.

    Returns
    -------
    int
        How many files were deleted.
    """
    dropped = 0
    packages = list(packages)
    sources = [path for package in packages for path in package.rglob("*.py")]
    newest = max((path.stat().st_mtime_ns for path in sources), default=0)
    for package in packages:
        for place in _places(package):
            compiled = [*place.glob("*.nbi"), *place.glob("*.nbc")]
            # Another run may have deleted them; from a folder that cannot be written to numba takes
            # nothing.
            with contextlib.suppress(OSError):
                if all(path.stat().st_mtime_ns >= newest for path in compiled):
                    continue
                for path in compiled:
                    path.unlink(missing_ok=True)
                    dropped += 1
    return dropped


def _places(package: Path) -> Iterator[Path]:
    """Yield the folders in which numba may keep the kernels of a package."""
    folders = sorted({path.parent.resolve() for path in package.rglob("*.py")})
    yield from (folder / "__pycache__" for folder in folders)
    elsewhere = [
        Path(platformdirs.user_cache_dir("numba", appauthor=False)),
        Path(tempfile.gettempdir()) / f"ocrf-kernels-{os.getuid()}",
    ]
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        elsewhere.append(Path(chosen))
    for folder in folders:
        # As numba names them.
        name = f"{folder.name}_{hashlib.sha1(str(folder).encode()).hexdigest()}"
        yield from (place / name for place in elsewhere)
