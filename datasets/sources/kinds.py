"""The kinds of sources, and the keys of each: other modules know them from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from datasets.strict import Invalid, Strict, check, suggestion

Count = Annotated[int, Field(ge=0)]
Scalar = str | int | float | bool


class Bundled(Strict):
    """The copy that ships with the project."""

    kind: Literal["bundled"]


class Home(Strict):
    """A table in the data home; with `origin`, one that came from that kind of source."""

    kind: Literal["home"]
    origin: str | None = None


class Served(Strict):
    """What a server has; the module of the kind's name fetches it (`datasets.sources`)."""


class OpenML(Served):
    """A data set of OpenML's; see `datasets.sources.openml`."""

    kind: Literal["openml"]
    id: Annotated[int, Field(ge=1)]
    name: str | None = None
    version: Annotated[int, Field(ge=1)] | None = None
    shape: list[Count] | None = None
    recode: dict[Scalar, Scalar] | None = None


class SKLearn(Served):
    """What one of scikit-learn's fetchers gives; see `datasets.sources.sklearn`."""

    kind: Literal["sklearn"]
    fetcher: Literal["covtype", "kddcup99"]
    subset: str | None = None


class UCI(Served):
    """Delimited text in a zip file of UCI's archive; see `datasets.sources.uci`."""

    kind: Literal["uci"]
    archive: str
    members: Annotated[list[str], Field(min_length=1)]
    separator: Literal[",", "whitespace"] = ","
    header: bool = False
    columns: list[str] | None = None
    positions: list[Count] | None = None
    comment: str | None = None
    strip: str | None = None
    keep: dict[str, list[Scalar]] | None = None
    drop: list[str] | None = None
    log: float | None = None

    @model_validator(mode="after")
    def _names_columns(self) -> UCI:
        for key in ("keep", "drop"):
            for name in getattr(self, key) or ():
                if self.columns is not None and name not in self.columns:
                    near = suggestion(name, self.columns) or "."
                    raise ValueError(
                        f"{key} names {name!r}, which is not among its columns{near} "
                        f"They are {', '.join(self.columns)}"
                    )
        return self


class File(Strict):
    """A file of the user's own; see `datasets.sources.file`."""

    kind: Literal["file"]
    path: Annotated[str, Field(min_length=1)]


def _is_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not an http or https address")
    return url


def _is_below(file: str) -> str:
    if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts or not file:
        raise ValueError(f"{file!r} is not a path below the data home")
    return file


def _is_sha256(digest: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise ValueError(f"{digest!r} is not a sha256: 64 hexadecimal digits")
    return digest


Address = Annotated[str, AfterValidator(_is_address)]


class URL(Served):
    """A file at an address, or at several mirrors; see `datasets.sources.url`."""

    kind: Literal["url"]
    url: Address | list[Address]
    sha256: Annotated[str, AfterValidator(_is_sha256)]
    file: Annotated[str, AfterValidator(_is_below)] | None = None

    @model_validator(mode="after")
    def _has_address(self) -> URL:
        if not self.url:
            raise ValueError("a source of the kind url needs an address")
        return self


KINDS: dict[str, type[Strict]] = {
    "bundled": Bundled,
    "home": Home,
    "openml": OpenML,
    "sklearn": SKLearn,
    "uci": UCI,
    "url": URL,
    "file": File,
}
#: The kinds of sources; those that a server serves.
SOURCES = tuple(KINDS)
NETWORK = tuple(kind for kind, keys in KINDS.items() if issubclass(keys, Served))


def check_source(source: Mapping[str, Any]) -> None:
    """Check the keys of a source, a mapping with a `kind`.

    Raises
    ------
    datasets.strict.Invalid
        With one line per mistake.
    """
    kind = source["kind"]
    if kind not in SOURCES:
        near = suggestion(str(kind), SOURCES) or "."
        raise Invalid(
            f"there is no kind of source {kind!r}{near} The kinds are {', '.join(SOURCES)}"
        )
    check(KINDS[kind], source, f"source {kind}")
