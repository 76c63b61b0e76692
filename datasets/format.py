"""How a text file of data is laid out."""

from __future__ import annotations

import io
import re
import shlex
from dataclasses import dataclass, fields

from datasets.errors import DataError


def reads(key: str, value: str | None) -> str:
    """Return a key and its value as advice, in YAML and on the command line.

    >>> reads("header", None)
    'header: null (dataset.header=null on the command line)'
    """
    text = "null" if value is None else value if re.fullmatch(r"[\w-]+", value) else f'"{value}"'
    override = shlex.quote(f"dataset.{key}={text}")
    return f"{key}: {text} ({override} on the command line)"


@dataclass(frozen=True)
class Format:
    """How a CSV file is laid out: keys of a data set's YAML. ARFF files take the encoding alone.

    Attributes
    ----------
    header : bool or None
        Whether the first line names the columns; None if it does, and a first line that looks like
        data is to be refused.
    separator : str or None
        One character; None for the one that the first line has most often outside quotes.
    decimal : {".", ","}
        The decimal mark.
    encoding : str
        The file's encoding, as Python names it.
    comment : str or None
        The character that begins a comment.
    """

    header: bool | None = None
    separator: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    comment: str | None = None

    def given(self) -> list[str]:
        """Return the keys that differ from the defaults."""
        return [f.name for f in fields(self) if getattr(self, f.name) != f.default]

    def check(self, where: str) -> None:
        """Raise DataError for a value that no file can have."""
        for key in ("separator", "comment"):
            value = getattr(self, key)
            if value is not None and len(value) != 1:
                raise DataError(f"{where}: {key} is one character; got {value!r}")
        if self.decimal not in (".", ","):
            raise DataError(f"{where}: decimal is '.' or ','; got {self.decimal!r}")
        try:
            # Refuses codecs that are not of text as well, such as rot13.
            io.TextIOWrapper(io.BytesIO(), encoding=self.encoding)
        except LookupError:
            raise DataError(
                f"{where}: there is no encoding {self.encoding!r}; latin-1 and utf-16 are some"
            ) from None
