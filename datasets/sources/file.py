"""A user's own file: CSV, Parquet, ARFF, NumPy's .npz or MATLAB's .mat."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import pyarrow as pa
import pyarrow.parquet as pq

from datasets.errors import DataError
from datasets.format import Format
from datasets.sources.arrays import read_mat, read_npz
from datasets.sources.csv import read_csv
from datasets.tables import drop_index, from_frame, refuse_duplicates

_NOT_THAT_FORMAT = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    BadZipFile,
    pa.ArrowException,
)


@dataclass(frozen=True)
class Request:
    """What to read.

    Attributes
    ----------
    file : Path
        The file.
    where : str
        Names the data set in messages.
    format : Format
        How the text of a CSV file is laid out.
    target : str or None
        The label column; None for the last one.
    kept : collection of str
        Columns that the data set's YAML names: an index among them is kept.
    """

    file: Path
    where: str
    format: Format = field(default_factory=Format)
    target: str | None = None
    kept: Collection[str] = ()


def read_file(request: Request) -> pa.Table:
    """Read a table, its format told by the file's name.

    Raises
    ------
    DataError
        If it does not exist, cannot be read, or names a column twice.
    """
    file, where = request.file, request.where
    fitting = [suffix for suffix in _READERS if file.name.lower().endswith(suffix)]
    if not fitting:
        raise DataError(f"{where}: {file} is not one of {', '.join(_READERS)}")
    outside = set(request.format.given())
    if _READERS[fitting[0]] is _read_arff:
        outside -= {"encoding"}
    if outside and _READERS[fitting[0]] is not _read_csv:
        given = ", ".join(key for key in request.format.given() if key in outside)
        raise DataError(f"{where}: {given} are for CSV files, and {file} is not one")
    try:
        return _READERS[fitting[0]](request)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{where}: there is no file {file}") from None
    # The parsers have many exceptions, all of which say that this file is not what its name says.
    except _NOT_THAT_FORMAT as error:
        raise DataError(
            f"{where}: {file} cannot be read: {' '.join(str(error).split())}"
        ) from error


def _read_csv(request: Request) -> pa.Table:
    return read_csv(request.file, request.where, request.format, request.target)


def _read_parquet(request: Request) -> pa.Table:
    refuse_duplicates(pq.read_schema(request.file).names, request.where)
    kept = {*request.kept, *filter(None, [request.target])}
    return drop_index(pq.read_table(request.file, use_threads=False), kept)


def _read_arff(request: Request) -> pa.Table:
    from datasets.sources.arff import read_arff

    frame = read_arff(request.file, request.where, request.format.encoding)
    refuse_duplicates([str(name) for name in frame.columns], request.where)
    return from_frame(frame)


def _read_npz(request: Request) -> pa.Table:
    return read_npz(request.file, request.where, request.target)


def _read_mat(request: Request) -> pa.Table:
    return read_mat(request.file, request.where, request.target)


_READERS: dict[str, Callable[[Request], pa.Table]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv": _read_csv,
    ".tsv.gz": _read_csv,
    ".txt": _read_csv,
    ".txt.gz": _read_csv,
    ".dat": _read_csv,
    ".dat.gz": _read_csv,
    ".parquet": _read_parquet,
    ".arff": _read_arff,
    ".npz": _read_npz,
    ".mat": _read_mat,
}
