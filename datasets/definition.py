"""A data set's YAML as a checked object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from datasets.errors import DataError

# The spellings that are read as booleans in a CSV file: a text in YAML or ARFF means the same.
_BOOLEANS = frozenset({"True", "TRUE", "true", "False", "FALSE", "false"})


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
    """How a data set is had and preprocessed: the keys of its YAML file.

    Attributes
    ----------
    name : str
        Names its file in the data home, its records and its row in the tables.
    sources : tuple of mappings
        Tried in this order; each has a `kind` and what that kind needs.
    target : str or None
        The label column; None for the last one.
    anomalies, normal : tuple of str or None
        The labels that are anomalies, or those that are not. Exactly one is given.
    keep_classes, drop_classes : tuple of str or None
        Rows to keep or drop, by label.
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
        given = {key: value for key, value in mapping.items() if value is not None}
        name = given.get("name")
        if not isinstance(name, str) or not name:
            raise DataError(f"a data set needs a name, a text; got {name!r}")
        path, openml = given.pop("path", None), given.pop("openml", None)
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(given) - known):
            raise DataError(
                f"data set {name!r}: unknown key {unknown[0]!r}; "
                f"valid keys are {', '.join(sorted(known | {'path', 'openml'}))}"
            )
        if path is not None and openml is not None:
            raise DataError(f"data set {name!r}: give a path or an OpenML id, not both")
        if path is not None:
            given["sources"] = [{"kind": "file", "path": str(path)}]
        if openml is not None:
            identity = _integer(openml, name, "openml")
            given["sources"] = [{"kind": "home"}, {"kind": "openml", "id": identity}]
        return cls(**{key: _convert(key, value, name) for key, value in given.items()})._checked()

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
        return self


def label_key(value: Any) -> str:
    """Spell a label the same way whatever type a source gives it.

    >>> [label_key(v) for v in (1, 1.0, "1", b" 1 ", True, "True", "TRUE", "g")]
    ['1', '1', '1', '1', 'true', 'true', 'true', 'g']
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    text = str(value).strip()
    return text.lower() if text in _BOOLEANS else text


def _convert(key: str, value: Any, name: str) -> Any:
    """Convert the value of one key, or say why it is not valid."""
    if key in ("anomalies", "normal", "keep_classes", "drop_classes"):
        return tuple(label_key(item) for item in _sequence(value, name, key))
    if key in ("keep_columns", "drop_columns"):
        return tuple(
            item if isinstance(item, int) else str(item) for item in _sequence(value, name, key)
        )
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
        samples, features, percent = _sequence(value, name, key)
        return int(samples), int(features), float(percent)
    if key == "sources":
        return tuple(_source(item, name) for item in _sequence(value, name, key))
    return str(value)


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


def _expected(value: Any, name: str, key: str) -> Expected:
    names = [field.name for field in fields(Expected)]
    optional = {"ordered_digest"}
    if not isinstance(value, Mapping) or set(value) | optional != set(names):
        raise DataError(f"data set {name!r}: {key} has the keys {', '.join(names)}; got {value!r}")
    return Expected(**value)


def _source(value: Any, name: str) -> Mapping[str, Any]:
    """Return a source as a mapping; a bare word is a kind that needs nothing else."""
    if isinstance(value, str):
        return {"kind": value}
    if not isinstance(value, Mapping) or "kind" not in value:
        raise DataError(f"data set {name!r}: a source is a mapping with a kind; got {value!r}")
    return value
