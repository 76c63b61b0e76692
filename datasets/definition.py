"""A data set's YAML as a checked object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from datasets.errors import DataError
from datasets.format import Format
from datasets.sources.kinds import check_source
from datasets.strict import Invalid, suggestion
from datasets.tables import is_number

# The keys of a YAML that make its `Format`.
_LAYOUT = tuple(f.name for f in fields(Format))
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


@dataclass(frozen=True)
class Definition:
    """Where a data set comes from and how it is preprocessed: the keys of its YAML file.

    Attributes
    ----------
    name : str
        Names its file in the data home, its records and its row in the tables.
    sources : tuple of mappings
        Tried in this order; each has a `kind` and what that kind needs.
    target : str or None
        The label column; None for the last one. Without a header: V1, V2, ..., or a position.
    anomalies, normal : tuple of str or None
        The labels that are anomalies, or those that are not. Exactly one is given.
    keep_classes, drop_classes : tuple of str or None
        Rows to keep or drop, by label.
    missing_labels : tuple of str or None
        Labels that stand for a missing one, beside the empty text.
    format : Format
        How a CSV file is laid out: the keys header, separator, decimal, encoding and comment.
    keep_columns, drop_columns : tuple of (str or int) or None
        Features to keep or drop: names, or positions counted from 0 without the label column.
    drop_missing_columns : bool
        Drop the features in which a value is missing.
    min_distinct : int
        Drop the features with fewer distinct values than this.
    repeat_first : int
        How many of the table's first rows are repeated at its end...
    repeat : str
        ...if this is ``published`` (`protocol.repeats`).
    expected, expected_repeated : Expected or None
        Content checks, without and with the repeated rows.
    published : tuple (samples, features, anomaly percentage) or None
        The row of the paper's Table 1.
    description : str
        For people.
    """

    name: str
    sources: tuple[Mapping[str, Any], ...] = ()
    target: str | None = None
    anomalies: tuple[str, ...] | None = None
    normal: tuple[str, ...] | None = None
    keep_classes: tuple[str, ...] | None = None
    drop_classes: tuple[str, ...] | None = None
    missing_labels: tuple[str, ...] | None = None
    format: Format = field(default_factory=Format)
    keep_columns: tuple[str | int, ...] | None = None
    drop_columns: tuple[str | int, ...] | None = None
    drop_missing_columns: bool = False
    min_distinct: int = 0
    repeat_first: int = 0
    repeat: str = "source"
    expected: Expected | None = None
    expected_repeated: Expected | None = None
    published: tuple[int, int, float] | None = None
    description: str = ""

    @property
    def own(self) -> bool:
        """Whether this is a user's own data, to which no published table is the standard."""
        return self.expected is None

    @property
    def pinned(self) -> bool:
        """Whether its content is known in advance: by a digest, or by the sha256 of its file."""
        return not self.own or any(source["kind"] == "url" for source in self.sources)

    @property
    def stored_as(self) -> str:
        """The name of its table in the data home: a user's own name may mean anything."""
        if self.own:
            for source in self.sources:
                if source["kind"] == "openml":
                    return f"openml-{source['id']}"
        return self.name

    @property
    def repeats(self) -> bool:
        """Whether the table has repeated rows."""
        return self.repeat == "published" and self.repeat_first > 0

    @property
    def expectation(self) -> Expected | None:
        """The content check that applies."""
        return self.expected_repeated if self.repeats else self.expected

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Definition:
        """Check a YAML's content.

        Parameters
        ----------
        mapping : mapping
            The resolved configuration of the group `dataset`. Beside the attributes above, `path`
            and `openml` are short for a single source: a file, and an OpenML id.

        Raises
        ------
        DataError
            For a key that does not exist, a missing one, or a value of the wrong kind.
        """
        if "collection" in mapping:
            name = mapping.get("name")
            raise DataError(
                f"{name!r} is a collection; choose one of its data sets with dataset={name}/MEMBER "
                f"(python -m datasets dataset={name} lists them), or all with "
                f"'glob({name}/*)' in a sweep"
            )
        given = {key: value for key, value in mapping.items() if value is not None}
        name = given.get("name")
        if not isinstance(name, str) or not name:
            raise DataError(f"a data set needs a name, a text; got {name!r}")
        path, openml = given.pop("path", None), given.pop("openml", None)
        layout = {key: given.pop(key) for key in _LAYOUT if key in given}
        if "header" in mapping and mapping["header"] is None:
            layout["header"] = False
        known = {f.name for f in fields(cls)} - {"format"}
        if unknown := sorted(str(key) for key in set(given) - known):
            valid = sorted(known | {"path", "openml", *_LAYOUT})
            raise DataError(
                f"data set {name!r}: unknown key {unknown[0]!r}"
                f"{suggestion(unknown[0], valid) or '.'} Valid keys are {', '.join(valid)}"
            )
        if path is not None and openml is not None:
            raise DataError(f"data set {name!r}: give a path or an OpenML id, not both")
        if path is not None:
            given["sources"] = [{"kind": "file", "path": _text(path, name, "path")}]
        if openml is not None:
            identity = _integer(openml, name, "openml")
            given["sources"] = [{"kind": "home"}, {"kind": "openml", "id": identity}]
        converted = {key: _convert(key, value, name) for key, value in given.items()}
        return cls(**converted, format=_format(layout, name))._checked()

    def _checked(self) -> Definition:
        """Return itself if its keys make sense together."""
        where = f"data set {self.name!r}"
        if not self.sources:
            raise DataError(
                f"{where}: no source; give data.path=FILE (or data.openml=ID) on the command line, "
                "or one of path, openml and sources in its YAML"
            )
        if (self.anomalies is None) == (self.normal is None):
            raise DataError(
                f"{where}: say which labels are anomalies with exactly one of anomalies and normal "
                "(data.anomalies='[1]' on the command line)"
            )
        if not (self.anomalies or self.normal):
            raise DataError(f"{where}: the list of anomalies (or of normal labels) is empty")
        for one, other in (("keep_columns", "drop_columns"), ("keep_classes", "drop_classes")):
            if getattr(self, one) is not None and getattr(self, other) is not None:
                raise DataError(f"{where}: give {one} or {other}, not both")
        for name in _SETS:
            given = getattr(self, name) or ()
            if twice := [item for item in given if given.count(item) > 1]:
                raise DataError(f"{where}: {name} holds {twice[0]!r} twice")
        return self


# Columns are held to this where their names are known: a name and a position may mean one column.
_SETS = (
    "anomalies",
    "normal",
    "keep_classes",
    "drop_classes",
    "missing_labels",
)


def label_key(value: Any) -> str:
    """Spell a label the same way whatever type a source gives it.

    A number that begins with a zero is a code: 01 and 1 are two labels.

    >>> [label_key(v) for v in (1, 1.0, "1", b" 1 ", "1.00", True, "True", "TRUE", "g", "NA")]
    ['1', '1', '1', '1', '1', 'true', 'true', 'true', 'g', 'NA']
    >>> [label_key(v) for v in ("01", "1", "-0.50", "00")]
    ['01', '1', '-0.5', '00']
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
    return str(int(number)) if number.is_integer() else repr(number)


def _convert(key: str, value: Any, name: str) -> Any:
    """Convert the value of one key, or say why it is not valid."""
    if key in ("anomalies", "normal", "keep_classes", "drop_classes", "missing_labels"):
        return tuple(_label(item, name, key) for item in _sequence(value, name, key))
    if key in ("keep_columns", "drop_columns"):
        return tuple(_column(item, name, key) for item in _sequence(value, name, key))
    if key in ("min_distinct", "repeat_first"):
        return _integer(value, name, key)
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
    return _text(value, name, key)


def _text(value: Any, name: str, key: str) -> str:
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


def _integer(value: Any, name: str, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(f"data set {name!r}: {key} is a non-negative integer; got {value!r}")
    return value


def _format(layout: Mapping[str, Any], name: str) -> Format:
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
        _integer(value[part], name, f"{key}.{part}")
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
