"""ARFF files, in the spellings that liac-arff does not take."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from datasets.errors import DataError
from datasets.format import reads

# @attribute NAME TYPE, the name bare or quoted; a bare name may touch the brace of its values.
_ATTRIBUTE = re.compile(
    r"""^\s*@attribute\s+(?P<name>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{'"]+)\s*(?P<type>.*)$""",
    re.IGNORECASE,
)
_RELATION = re.compile(r"^\s*@relation\s+(?P<name>.*)$", re.IGNORECASE)
_NUMERIC = re.compile(r"(numeric|real|integer)\b", re.IGNORECASE)


def read_arff(file: Path, where: str, encoding: str = "utf-8") -> pd.DataFrame:
    """Read an ARFF file.

    A byte order mark, comments after an attribute, ranges of numbers (``real [0, 1]``), values
    without a space before their brace and dates, which become texts, are read.

    Raises
    ------
    DataError
        If it is not one, is in another encoding, or an attribute lists no values.
    """
    import arff

    try:
        text = file.read_text(encoding=encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{where}: {file} is not in the encoding {encoding} ({error.reason}); "
            f"{reads('encoding', 'latin-1')} reads it"
        ) from error
    head, marker, data = _split(text)
    lines = [_plain(line, file, where) for line in head.splitlines()]
    try:
        content = arff.loads("\n".join(lines) + marker + data)
    except arff.ArffException as error:
        raise DataError(f"{where}: {file} cannot be read: {error}") from error
    names = [str(attribute[0]) for attribute in content["attributes"]]
    return pd.DataFrame(content["data"], columns=pd.Index(names))


def _split(text: str) -> tuple[str, str, str]:
    """Return a file's head, the line that ends it, and its data."""
    found = re.search(r"^\s*@data[^\n]*", text, re.IGNORECASE | re.MULTILINE)
    if found is None:
        return text, "", ""
    return text[: found.start()], "\n@DATA", text[found.end() :]


def _plain(line: str, file: Path, where: str) -> str:
    """Return a line of the head as liac-arff takes it."""
    if relation := _RELATION.match(line):
        return f"@RELATION {relation['name']}"
    attribute = _ATTRIBUTE.match(line)
    if attribute is None:
        return line
    name, kind = attribute["name"], _without_comment(attribute["type"]).strip()
    if re.fullmatch(r"\{\s*\}", kind):
        raise DataError(f"{where}: the attribute {name} of {file} lists no values ({{}})")
    if _NUMERIC.match(kind):
        kind = "numeric"  # liac-arff cuts the fractions off what an attribute calls integer
    elif kind.lower().startswith("date"):
        kind = "string"
    return f"@ATTRIBUTE {name} {kind}"


def _without_comment(text: str) -> str:
    """Cut a text at the first % outside quotes."""
    quote = ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "%":
            return text[:position]
    return text
