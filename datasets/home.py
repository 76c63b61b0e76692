"""The data home: a folder of Parquet files, one per data set."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from datasets.errors import SourceFailed


def read_parquet(path: Path, target: str | None) -> pa.Table:
    """Read a table; its label column comes dictionary-encoded, which spares a text per row.

    One thread: the caller may fork afterwards, and Arrow's thread pool does not survive that.
    """
    dictionary = [target] if target is not None else None
    return pq.read_table(path, read_dictionary=dictionary, use_threads=False, memory_map=True)


class DataHome:
    """A folder of tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Return where a data set's table is."""
        return self.folder / f"{name}.parquet"

    def read(self, name: str, target: str | None) -> pa.Table:
        """Return a stored table."""
        path = self.path(name)
        if not path.is_file():
            raise SourceFailed(f"no {path.name} in {self.folder}")
        try:
            return read_parquet(path, target)
        except (pa.ArrowException, OSError) as error:
            raise SourceFailed(f"{path} cannot be read: {error}") from error
