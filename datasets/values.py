"""The values of the keys of a data set's YAML: what each may be, and how labels are spelled."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from datasets.errors import DataError
from datasets.format import Format
from datasets.sources.kinds import check_source
from datasets.strict import Invalid
from datasets.tables import is_number

# Spellings of booleans: tables and YAML files write them in different ways.
_BOOLEANS = frozenset({"True", "TRUE", "true", "False", "FALSE", "false"})
_CODE = re.compile(r"[+-]?0[0-9]")


@dataclass(frozen=True)
class Expected:
    """What the preprocessed table of a published data set must look like.

    Attributes
    ----------
    samples, features, anomalies : int
        Its counts.
    digest : str
        `datasets.digest.table_digest` of it.
    ordered_digest : str or None
        `datasets.digest.ordered_digest` of it, for protocols that depend on the order of the rows.
    """

    samples: int
    features: int
    anomalies: int
    digest: str
    ordered_digest: str | None = None


def label_key(value: Any) -> str:
    """Spell a label the same way whatever type a source gives it.

    A number that begins with a zero is a code: 01 and 1 are two labels. So is one that a float does
    not hold, such as 12e456.

    >>> [label_key(v) for v in (1, 1.0, "1", b" 1 ", "1.00", True, "True", "TRUE", "g", "NA")]
    ['1', '1', '1', '1', '1', 'true', 'true', 'true', 'g', 'NA']
    >>> [label_key(v) for v in ("01", "1", "-0.50", "00")]
    ['01', '1', '-0.5', '00']
    >>> [label_key(v) for v in ("12e456", "1e-400", "9007199254740993.0", "1e3")]
    ['12e456', '1e-400', '9007199254740993.0', '1000']
    >>> [label_key(v) for v in ("1e-99999999999999999999", "0e-99999999999999999999", "3e-324")]
    ['1e-99999999999999999999', '0', '3e-324']
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    text = str(value).strip()
    if text in _BOOLEANS:
        return text.lower()
    if not is_number(text) or _CODE.match(text):
        return text
    if text.lstrip("+-").isdecimal():
        return str(int(text))  # exact, where a float has 53 bits
    number = float(text)
    # Zero is told from what a float takes for it by the digits: exponents may exceed Decimal's.
    if number == 0:
        return text if re.search("[1-9]", re.split("[eE]", text)[0]) else "0"
    if math.isinf(number) or abs(number) < sys.float_info.min:
        return text
    if number.is_integer() and Decimal(text) != number:
        return text
    return str(int(number)) if number.is_integer() else repr(number)


def convert(key: str, value: Any, name: str) -> Any:
    """Convert the value of one key, or say why it is not valid."""
    if key in ("anomalies", "normal", "keep_classes", "drop_classes", "missing_labels"):
        return tuple(_label(item, name, key) for item in _sequence(value, name, key))
    if key in ("keep_columns", "drop_columns"):
        return tuple(_column(item, name, key) for item in _sequence(value, name, key))
    if key in ("min_distinct", "repeat_first"):
        return integer_of(value, name, key)
    if key == "repeat":
        if value not in ("published", "source", "drop"):
            raise DataError(
                f"data set {name!r}: repeat is published, source or drop; got {value!r}"
            )
        return value
    if key == "drop_missing_columns":
        if not isinstance(value, bool):
            raise DataError(f"data set {name!r}: {key} is true or false; got {value!r}")
        return value
    if key in ("expected", "expected_repeated"):
        return _expected(value, name, key)
    if key == "published":
        return _published(value, name)
    if key == "sources":
        return tuple(_source(item, name) for item in _sequence(value, name, key))
    return text_of(value, name, key)


def text_of(value: Any, name: str, key: str) -> str:
    """Return a text, or say what the key of a data set is; a number is one, too."""
    # A column may be called 5, but no name is a list.
    if isinstance(value, bool | Mapping) or not isinstance(value, str | int | float):
        hint = "; quote a name that YAML takes for true or false" * isinstance(value, bool)
        raise DataError(f"data set {name!r}: {key} is a text; got {value!r}{hint}")
    return str(value)


def _column(value: Any, name: str, key: str) -> str | int:
    """Return a name, a position, or a boolean: a name that YAML reads as one."""
    if value is None or isinstance(value, Mapping | list | tuple):
        hint = "; quote a name that is spelled null" if value is None else ""
        raise DataError(f"data set {name!r}: {key} lists columns; got {value!r}{hint}")
    return value if isinstance(value, int) else str(value)


def _label(value: Any, name: str, key: str) -> str:
    if value is None or isinstance(value, Mapping | list | tuple):
        hint = "; quote a label that is spelled null" if value is None else ""
        raise DataError(f"data set {name!r}: {key} lists labels; got {value!r}{hint}")
    return label_key(value)


def _sequence(value: Any, name: str, key: str) -> Sequence[Any]:
    """Return a list's items; a single label or column stands for a list of one."""
    if isinstance(value, Mapping):
        raise DataError(f"data set {name!r}: {key} is a list; got {dict(value)!r}")
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return list(value)
    return [value]


def integer_of(value: Any, name: str, key: str) -> int:
    """Return a non-negative integer, or say that the key of a data set is one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(f"data set {name!r}: {key} is a non-negative integer; got {value!r}")
    return value


def format_of(layout: Mapping[str, Any], name: str) -> Format:
    """Return how the file of a data set is laid out, or say which key is wrong."""
    where = f"data set {name!r}"
    for key, value in layout.items():
        if key == "header":
            if not isinstance(value, bool) and value != "auto":
                raise DataError(f"{where}: header is true, null or auto; got {value!r}")
        elif not isinstance(value, str):
            raise DataError(f"{where}: {key} is a text; got {value!r}")
    header = layout.get("header", "auto")
    read = Format(**{**layout, "header": None if header == "auto" else header})
    read.check(where)
    return read


def _published(value: Any, name: str) -> tuple[int, int, float]:
    given = _sequence(value, name, "published")
    if len(given) != 3 or any(isinstance(v, bool) or not isinstance(v, int | float) for v in given):
        raise DataError(
            f"data set {name!r}: published lists rows, features and per cent of anomalies; "
            f"got {value!r}"
        )
    return int(given[0]), int(given[1]), float(given[2])


def _expected(value: Any, name: str, key: str) -> Expected:
    names = [f.name for f in fields(Expected)]
    optional = {"ordered_digest"}
    if not isinstance(value, Mapping) or set(value) | optional != set(names):
        raise DataError(f"data set {name!r}: {key} has the keys {', '.join(names)}; got {value!r}")
    for part in ("samples", "features", "anomalies"):
        integer_of(value[part], name, f"{key}.{part}")
    return Expected(**value)


def _source(value: Any, name: str) -> Mapping[str, Any]:
    """Return a source as a mapping; a bare word is a kind that needs nothing else."""
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping) or "kind" not in value:
        raise DataError(f"data set {name!r}: a source is a mapping with a kind; got {value!r}")
    try:
        check_source(value)
    except Invalid as error:
        lines = (f"data set {name!r}: {line}" for line in str(error).splitlines())
        raise DataError("\n".join(lines)) from None
    return _address(value) if value["kind"] == "url" else value


def _address(source: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write out a source at an address: a list of mirrors, and where the file is kept.

    By default the file is kept in the data home under the last part of the first address.
    """
    urls = [source["url"]] if isinstance(source["url"], str) else list(source["url"])
    file = source.get("file") or urlsplit(urls[0]).path.rpartition("/")[2]
    return {"kind": "url", "url": urls, "sha256": source["sha256"], "file": file}
