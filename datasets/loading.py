"""Load a data set from the first of its sources that has it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zipfile import BadZipFile

import pyarrow as pa

from datasets.access import Access
from datasets.bundled import FOLDER as BUNDLED
from datasets.checks import check_content
from datasets.dataset import Dataset
from datasets.definition import Definition
from datasets.errors import DataError, DataUnavailable, SourceFailed, WrongContent
from datasets.home import DataHome, read_parquet
from datasets.preprocessing import preprocess
from datasets.sources.archive import extracted
from datasets.sources.kinds import NETWORK
from datasets.sources.remote import asked, fetch_remote

logger = logging.getLogger("datasets")

Progress = Callable[[str], None]


def load(definition: Mapping[str, Any], data: Mapping[str, Any] | None = None) -> Dataset:
    """Load and preprocess a data set.

    Parameters
    ----------
    definition : mapping
        The resolved configuration group `dataset`.
    data : mapping, optional
        The resolved configuration group `data`.

    Returns
    -------
    Dataset
        Held to the definition's expected counts and digest.

    Raises
    ------
    DataUnavailable
        With every source's reason.
    DataError
        When the definition, or a user's own data, is wrong.
    """
    parsed = Definition.from_mapping(definition)
    return Loader(parsed, Access.from_mapping(data)).load()


def check_definition(
    definition: Mapping[str, Any], data: Mapping[str, Any] | None = None
) -> Dataset:
    """Load a data set to find out what is wrong with its definition: a label, a column, a count.

    Servers are asked only if nothing is at hand.

    Parameters
    ----------
    definition, data : mapping
        As for `load`.

    Returns
    -------
    Dataset
        As of `load`.

    Raises
    ------
    DataError
        If sources have the data, and the definition fits none of them.
    DataUnavailable
        If no source has the data.
    """
    parsed, access = Definition.from_mapping(definition), Access.from_mapping(data)
    for allowed in (access.asking_no_server(), access):
        # What is checked is no definition of the project's as it is.
        loader = Loader(parsed, allowed, notes=True)
        try:
            return loader.load()
        except DataUnavailable as error:
            if isinstance(loader.refused, WrongContent):
                raise WrongContent(
                    f"{loader.refused}; if the definition was changed on purpose, "
                    "dataset.expected=null runs it"
                ) from error
            if loader.refused is not None:
                raise loader.refused from error
            unavailable = error
    raise unavailable


class Loader:
    """Asks the sources of one data set, in order.

    Parameters
    ----------
    definition : Definition
        The data set.
    access : Access
        Where data comes from.
    progress : callable, optional
        Told which server is asked.
    check : bool
        Whether the table is held to what the definition expects.
    notes : bool, optional
        As for `datasets.preprocessing.preprocess`.
    """

    def __init__(
        self,
        definition: Definition,
        access: Access,
        progress: Progress | None = None,
        *,
        check: bool = True,
        notes: bool | None = None,
    ) -> None:
        self.definition = definition
        self.access = access
        self.progress = progress
        self.check = check
        self.notes = notes
        self.home = DataHome(access.home)
        self.reasons: list[tuple[str, str]] = []
        # Why the first source that has the data set did not serve it.
        self.refused: DataError | None = None

    def load(self) -> Dataset:
        """Return the data set from the first source that has it."""
        for source in self._sources():
            kind = str(source["kind"])
            try:
                dataset = self._from(kind, source)
            except SourceFailed as failure:
                self.reasons.append((kind, failure.reason))
                if failure.misfit and self.refused is None:
                    self.refused = DataError(f"data set {self.definition.name!r}: {failure.reason}")
            except DataError as error:
                if self.definition.own:
                    raise
                logger.warning("refused: %s", error)
                self.reasons.append((kind, str(error)))
                self.refused = self.refused or error
            else:
                return dataset
        raise DataUnavailable(self.definition.name, self.reasons, self._hint())

    def _sources(self) -> list[Mapping[str, Any]]:
        """Return the sources to ask: all, or those of the kind that is forced.

        The data home serves a forced source too, if what it has came from there.
        """
        sources = list(self.definition.sources)
        forced = self.access.source
        if forced is None:
            return sources
        chosen = [source for source in sources if source["kind"] == forced]
        if not chosen:
            kinds = ", ".join(str(source["kind"]) for source in sources)
            self.reasons.append((forced, f"not among its sources, which are {kinds}"))
        elif forced in NETWORK and forced != "url":
            chosen.insert(0, {"kind": "home", "origin": forced})
        return chosen

    def _from(self, kind: str, source: Mapping[str, Any]) -> Dataset:
        definition = self.definition
        if kind == "bundled":
            path = BUNDLED / f"{definition.name}.parquet"
            if not path.is_file():
                raise SourceFailed(f"no {path.name} ships with the project")
            return self._checked(read_parquet(path, definition.target), kind)
        if kind == "home":
            return self._from_home(source.get("origin"))
        if kind == "file":
            path = Path(str(source["path"])).expanduser()
            return self._checked(self._read(path), kind)
        if kind == "url":
            return self._from_url(source)
        if kind in NETWORK:
            if self.progress is not None:
                self.progress(f"asking {kind}")
            table = fetch_remote(source, definition.target, self.access)
            # Checked before it is stored: a wrong table must not get into the data home.
            dataset = self._checked(table, kind)
            described = {key: value for key, value in source.items() if key != "kind"}
            self.home.store(definition.stored_as, table, kind, str(described))
            return dataset
        raise DataError(f"data set {definition.name!r}: {kind!r} is not a kind of source")

    def _read(self, path: Path) -> pa.Table:
        """Read a file as the definition says."""
        from datasets.sources.file import (
            Request,
            read_file,
        )  # with pandas, which nothing else needs

        definition = self.definition
        kept = [str(column) for column in definition.keep_columns or ()]
        where = f"data set {definition.name!r}"
        try:
            with extracted(path) as file:
                return read_file(Request(file, where, definition.format, definition.target, kept))
        except (FileNotFoundError, BadZipFile) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise DataError(f"{where}: {path} cannot be read: {reason}") from error

    def _from_url(self, source: Mapping[str, Any]) -> Dataset:
        """Return the data set in a file of the data home, or from one of the file's addresses."""
        urls, name = source["url"], str(source["file"])
        stored = self.home.file(name, source["sha256"])
        if stored is not None:
            return self._checked(self._read(stored), "home (url)")
        reasons = []
        for url in urls:
            if self.progress is not None:
                self.progress(f"asking {urlsplit(url).netloc}")
            request = {**source, "url": url, "name": Path(name).name}
            try:
                with asked(request, None, self.access) as folder:
                    download = folder / request["name"]
                    # Checked before it is stored, as every table is.
                    dataset = self._checked(self._read(download), "url")
                    self.home.keep(name, download)
                    return dataset
            except SourceFailed as failure:
                reasons.append(f"{url}: {failure.reason}")
        raise SourceFailed("; ".join(dict.fromkeys(reasons)))

    def _from_home(self, wanted: str | None) -> Dataset:
        stored = self.home.read(self.definition.stored_as, self.definition.target)
        if wanted is not None and stored.origin != wanted:
            raise SourceFailed(f"what it has did not come from {wanted}")
        origin = "home" if stored.origin is None else f"home ({stored.origin})"
        return self._checked(stored.table, origin)

    def _checked(self, table: pa.Table, origin: str) -> Dataset:
        dataset = preprocess(table, self.definition, origin, notes=self.notes)
        if self.check:
            check_content(dataset, self.definition)
        return dataset

    def _hint(self) -> str:
        return (
            "Fetch what is missing with `make data` (`python -m datasets fetch`) on a machine "
            f"with a network, or put it into {self.home.folder} as NAME.parquet "
            "(OCRF_DATA_HOME names another folder)."
        )
