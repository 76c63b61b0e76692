"""A user's own file: CSV, gzipped CSV, Parquet or ARFF."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import TextIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from datasets.errors import DataError
from datasets.tables import from_frame

_SEPARATORS = ",;\t"


def read_file(path: str, name: str) -> pa.Table:
    """Read a table, its format told by the file's name.

    Parameters
    ----------
    path : str
        The file; ~ stands for the home folder.
    name : str
        The data set's name, for messages.

    Raises
    ------
    DataError
        If it does not exist, cannot be read, or names a column twice.
    """
    file = Path(path).expanduser()
    where = f"data set {name!r}"
    readers = {
        ".csv": _read_csv,
        ".csv.gz": _read_csv,
        ".parquet": _read_parquet,
        ".arff": _read_arff,
    }
    fitting = [suffix for suffix in readers if file.name.lower().endswith(suffix)]
    if not fitting:
        raise DataError(f"{where}: {file} is none of {', '.join(readers)}")
    try:
        return readers[fitting[0]](file, where)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{where}: there is no file {file}") from None
    # The parsers have many exceptions, all of which say that this file is not what its name says.
    except (OSError, EOFError, ValueError, pa.ArrowException) as error:
        raise DataError(
            f"{where}: {file} cannot be read: {' '.join(str(error).split())}"
        ) from error


def _open(file: Path) -> TextIO:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _read_csv(file: Path, where: str) -> pa.Table:
    with _open(file) as stream:
        first = stream.readline()
        if not first.strip():
            raise DataError(f"{where}: {file} has no header line")
        separator = max(_SEPARATORS, key=first.count)
        # pandas would rename a second column of the same name.
        refuse_duplicates(next(csv.reader([first], delimiter=separator)), where)
        stream.seek(0)
        frame = pd.read_csv(stream, sep=separator, low_memory=False, na_values=["?"])
    return from_frame(frame)


def _read_parquet(file: Path, where: str) -> pa.Table:
    refuse_duplicates(pq.read_schema(file).names, where)
    return pq.read_table(file, use_threads=False)


def _read_arff(file: Path, where: str) -> pa.Table:
    import arff

    try:
        with file.open(encoding="utf-8") as stream:
            content = arff.load(stream)
    except arff.ArffException as error:
        raise DataError(f"{where}: {file} cannot be read: {error}") from error
    names = [str(attribute[0]) for attribute in content["attributes"]]
    refuse_duplicates(names, where)
    return from_frame(pd.DataFrame(content["data"], columns=names))


def refuse_duplicates(names: list[str], where: str) -> None:
    """Raise DataError if a column name occurs more than once."""
    for name in names:
        if names.count(name) > 1:
            raise DataError(
                f"{where}: the column name {name!r} occurs {names.count(name)} times; "
                "column names must differ"
            )
