"""Files that are there whole or not at all, under names that any file system takes."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

#: The folder beside the records for the locks of those who write.
LOCKS = ".locks"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the name of a temporary file that becomes `path` when its writer is done.

    `path` holds either what it held before or all that was written.

    Raises
    ------
    OSError
        As the operating system says (no space, read-only, no permission), with the name of `path`;
        the temporary file is removed.
    """
    temporary = path.parent / f".{_cut(path.name)}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
        # The new name itself must survive a power cut too.
        _sync(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            # A disk that is full says so when bytes are written, and does not name the file.
            error.filename, error.filename2 = str(path), None
        raise


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path`, all of it or nothing; raises as :func:`replacing`."""
    with replacing(path) as temporary, open(temporary, "xb") as handle:
        handle.write(data)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def safe_name(text: str) -> str:
    """Return `text` as a file name that LaTeX can include too.

    What is not a word character or one of ``=.+-`` becomes ``_``. Names longer than 100 bytes are
    cut, so that two fit into one name with room to spare.

    Examples
    --------
    >>> safe_name("paper(cap.drawn=once)")
    'paper_cap.drawn=once'
    """
    return _cut(re.sub(r"[^\w=.+-]+", "_", text).strip("_").lstrip(".")) or "_"


def _cut(name: str) -> str:
    """Return the start of a name, whole characters only: file systems count bytes."""
    return name.encode()[:100].decode(errors="ignore")
