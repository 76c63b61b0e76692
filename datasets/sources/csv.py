"""Delimited text: what the first lines say of the layout, and what they cannot say."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import warnings
from pathlib import Path
from typing import TextIO

import pandas as pd
import pyarrow as pa

from datasets.errors import DataError
from datasets.format import Format, reads
from datasets.tables import from_frame, is_number, refuse_duplicates

_SEPARATORS = ",;\t|"
_COMMENTS = ("#", "%", "//")
# Texts that stand for a missing feature: what pandas takes for one, and UCI's question mark.
_MISSING = (
    "",
    "?",
    *("NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "<NA>", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
# Values that pandas reads as numbers or as missing ones, and that are not names.
_NOT_A_NAME = re.compile(r"[+-]?(inf|infinity|nan)|\?|[+-]?\d+,\d+", re.IGNORECASE | re.ASCII)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def read_csv(file: Path, where: str, layout: Format, target: str | None) -> pa.Table:
    """Read delimited text.

    Parameters
    ----------
    file : Path
        The file, gzipped if its name ends in .gz.
    where : str
        Names the data set in messages.
    layout : Format
        The keys of the YAML.
    target : str or None
        The label column, whose texts are kept as they stand; None for the last one.

    Raises
    ------
    DataError
        If the text is in another encoding, or its layout cannot be told, with the key that tells.
    """
    try:
        with _open(file, layout.encoding) as stream:
            return _parse(stream, file, where, layout, target)
    except UnicodeError as error:
        hint = "utf-16" if _begins_as_utf16(file) else "latin-1"
        raise DataError(
            f"{where}: {file} is not in the encoding {layout.encoding} ({error.reason}); "
            f"{reads('encoding', hint)} reads it"
            if isinstance(error, UnicodeDecodeError)
            else f"{where}: {file} cannot be read: {error}"
        ) from error


def _parse(stream: TextIO, file: Path, where: str, layout: Format, target: str | None) -> pa.Table:
    first = next((line for line in stream if not _is_skipped(line, layout.comment)), "")
    if not first:
        raise DataError(f"{where}: {file} has no header line")
    if layout.comment is None and layout.header is None and first.startswith(_COMMENTS):
        raise DataError(
            f"{where}: {file} begins with a comment ({first.strip()[:40]!r}); "
            f"{reads('comment', first[0])} skips such lines (header: true if this one names the "
            "columns)"
        )
    separator = layout.separator or _separator(first, file, layout.decimal, where)
    if layout.comment is not None:
        first = first.split(layout.comment)[0]
    fields = next(csv.reader([first], delimiter=separator, skipinitialspace=True))
    names = [field.strip() for field in fields]
    if layout.header is None:
        bare = [field.strip() for field in _QUOTED.sub("text", first).split(separator)]
        _refuse_data_as_header(names, bare, file, where)
    if layout.header is False:
        names = _made_up(len(names), target, file, where)
    # pandas would rename a second column of the same name.
    refuse_duplicates([name for name in names if name], where)
    names = _named(names)
    label = target if target in names else names[-1]
    stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(
                stream,
                sep=separator,
                header=None if layout.header is False else 0,
                names=names,
                # Otherwise the first column becomes an index where lines have a field too many.
                index_col=False,
                dtype={label: str},
                na_values={name: list(_MISSING) for name in names if name != label},
                keep_default_na=False,
                skipinitialspace=True,
                decimal=layout.decimal,
                comment=layout.comment,
                low_memory=False,
            )
        except pd.errors.ParserWarning:
            raise DataError(
                f"{where}: a line of {file} has more fields than the first one, which has "
                f"{len(names)} (separated by {separator!r})"
            ) from None
    return from_frame(frame)


def _open(file: Path, encoding: str) -> TextIO:
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"  # skips a byte order mark
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding=encoding, newline="")
    return file.open(encoding=encoding, newline="")


def _begins_as_utf16(file: Path) -> bool:
    with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as stream:
        return stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _is_skipped(line: str, comment: str | None) -> bool:
    return not line.strip() or (comment is not None and line.startswith(comment))


def _separator(line: str, file: Path, decimal: str, where: str) -> str:
    """Return the character that separates most fields of a line, quoted texts left out."""
    if file.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    bare = _QUOTED.sub("", line)
    found = [character for character in _SEPARATORS if character in bare]
    if not found and len(line.split()) > 1 and " " in bare.strip():
        raise DataError(
            f"{where}: the first line of {file} has none of the separators "
            f"{', '.join(map(repr, _SEPARATORS))}; "
            f"{reads('separator', ' ')} reads fields between spaces"
        )
    # A decimal comma outside quotes leaves the comma no other meaning.
    others = [character for character in found if character != decimal]
    return max(others or found or _SEPARATORS, key=bare.count)


def _made_up(n: int, target: str | None, file: Path, where: str) -> list[str]:
    """Name the columns of a file that does not: V1, V2, ..., and the last one class by default.

    The target may be one of these names, or a position counted from 0, which becomes the name.
    """
    names = [f"V{j + 1}" for j in range(n)]
    if target is None or target == "class":
        names[-1] = "class"
    elif target.isdecimal() and int(target) < n:
        names[int(target)] = target
    elif target not in names:
        raise DataError(
            f"{where}: there is no label column {target!r}: {file} is read without a header, and "
            f"its columns are V1 to V{n} (positions 0 to {n - 1})"
        )
    return names


def _named(names: list[str]) -> list[str]:
    """Give the columns without a name the one that pandas would give them."""
    named = list(names)
    for j, name in enumerate(names):
        new = name or f"Unnamed: {j}"
        while not name and new in names:
            new += ".1"
        named[j] = new
    return named


def _refuse_data_as_header(names: list[str], bare: list[str], file: Path, where: str) -> None:
    """Refuse a first line that holds data: its row would be lost.

    A number outside quotes is data, and so is one with a fraction, infinity, NaN and a line most
    of whose fields are numbers. The names of a frame that was saved with none of its own are not:
    0, 1, 2, ... and that of the label.
    """
    numbers = [name for name in names if is_number(name)]
    counted = len(numbers) < len(names) and numbers == [str(j) for j in range(len(numbers))]
    data = [name for name in names if _NOT_A_NAME.fullmatch(name)]
    data += [name for name in numbers if not name.isdecimal()]
    if not counted:
        data += [field for field in bare if is_number(field)]
        data += numbers if 2 * len(numbers) > len(names) else []
    if data:
        raise DataError(
            f"{where}: the first line of {file} holds numbers ({', '.join(names[:3])}, ...), not "
            f"names of columns; {reads('header', None)} reads it as data (header: true takes it as "
            "names)"
        )
