"""Compiled kernels that are older than their sources, and how they are got rid of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (ROOT / "ocrf", ROOT / "baselines")
_COMPILED = ("*.nbi", "*.nbc")


def drop_stale_kernels(packages: Iterable[Path] = PACKAGES) -> int:
    """Delete a package's compiled kernels if any of its modules is newer than one of them.

    numba compiles a function anew when the function's own file changes, but not when a function
    that it calls does: after an edit, or a `git pull`, it would go on running the old code.

    Parameters
    ----------
    packages : iterable of Path
        Folders of packages with kernels.

    Returns
    -------
    int
        How many files were deleted.
    """
    dropped = 0
    for package in packages:
        sources = [path.stat().st_mtime_ns for path in package.rglob("*.py")]
        compiled = [path for pattern in _COMPILED for path in package.rglob(pattern)]
        if not sources or all(path.stat().st_mtime_ns >= max(sources) for path in compiled):
            continue
        for path in compiled:
            path.unlink(missing_ok=True)  # another run may have thought of it too
        dropped += len(compiled)
    return dropped
