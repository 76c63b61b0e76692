"""Files inside zip files, addressed as ``ARCHIVE.zip/PATH/INSIDE``."""

from __future__ import annotations

import contextlib
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path


def split_archive(path: Path) -> tuple[Path | None, str]:
    """Split a path at the zip file on it.

    Returns
    -------
    archive : Path or None
        None if no part of the path but the last is called like a zip file.
    inside : str
        The path inside, or the path itself.

    Examples
    --------
    >>> split_archive(Path("data/sets.zip/a/b.csv"))
    (PosixPath('data/sets.zip'), 'a/b.csv')
    >>> split_archive(Path("data/b.csv"))
    (None, 'data/b.csv')
    """
    for parent in path.parents:
        if parent.suffix.lower() == ".zip" and not parent.is_dir():
            return parent, str(path.relative_to(parent))
    return None, str(path)


@contextlib.contextmanager
def extracted(path: Path) -> Iterator[Path]:
    """Yield the path of a file; one inside a zip file is extracted for as long as it is used.

    Raises
    ------
    FileNotFoundError
        If the zip file, or the file in it, does not exist.
    """
    archive, inside = split_archive(path)
    if archive is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="ocrf-") as folder:
        file = Path(folder) / Path(inside).name
        try:
            with zipfile.ZipFile(archive) as content:
                file.write_bytes(content.read(inside))
        except KeyError:
            raise FileNotFoundError(2, f"no {inside} in {archive}", str(path)) from None
        yield file
