"""Files that are there whole or not at all, under names that any file system takes."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` so that `path` holds either what it held before or all of it.

    Raises
    ------
    OSError
        As the operating system says (no space, read-only, no permission); the temporary file is
        removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    start = _cut(path.name)
    temporary = path.parent / f".{start}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(temporary, "xb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    # The new name itself must survive a power cut too.
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def safe_name(text: str) -> str:
    """Return `text` as a file name: other characters than word characters, ``=,.+-`` become ``_``.

    Names longer than 100 bytes are cut, so that two fit into one name with room to spare; files
    stay apart by their key.
    """
    return _cut(re.sub(r"[^\w=,.+-]", "_", text).lstrip(".")) or "_"


def _cut(name: str) -> str:
    """Return the start of a name, whole characters only: file systems count bytes."""
    return name.encode()[:100].decode(errors="ignore")
