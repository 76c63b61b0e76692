"""A data set's YAML as a checked object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from datasets.errors import DataError
from datasets.format import Format
from datasets.strict import suggestion
from datasets.values import Expected, convert, format_of, integer_of, text_of

# The keys of a YAML that make its `Format`.
_LAYOUT = tuple(f.name for f in fields(Format))


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
        if self.own:
            return None
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
            given["sources"] = [{"kind": "file", "path": text_of(path, name, "path")}]
        if openml is not None:
            identity = integer_of(openml, name, "openml")
            given["sources"] = [{"kind": "home"}, {"kind": "openml", "id": identity}]
        converted = {key: convert(key, value, name) for key, value in given.items()}
        return cls(**converted, format=format_of(layout, name))._checked()

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
        for source in self.sources:
            self._check_names(source, where)
        for name in _SETS:
            given = getattr(self, name) or ()
            if twice := [item for item in given if given.count(item) > 1]:
                raise DataError(f"{where}: {name} holds {twice[0]!r} twice")
        return self

    def _check_names(self, source: Mapping[str, Any], where: str) -> None:
        """Refuse names that are not among the columns of a source that says which it has."""
        if (columns := source.get("columns")) is None:
            return
        left = [column for column in columns if column not in (source.get("drop") or ())]
        named = {"target": [self.target] if self.target is not None else []}
        named |= {key: list(getattr(self, key) or ()) for key in ("keep_columns", "drop_columns")}
        for key, names in named.items():
            for name in names:
                if isinstance(name, str) and name not in left and not name.isdigit():
                    raise DataError(
                        f"{where}: {key} names {name!r}, and source {source['kind']} has "
                        f"{', '.join(left)}{suggestion(name, left)}"
                    )


# Columns are held to this where their names are known: a name and a position may mean one column.
_SETS = (
    "anomalies",
    "normal",
    "keep_classes",
    "drop_classes",
    "missing_labels",
)
