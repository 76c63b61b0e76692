"""What tells one version of a user's own table from the next."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from datasets.access import Access
from datasets.definition import Definition
from datasets.errors import DataError
from datasets.home import DataHome
from datasets.loading import load
from datasets.own_folders import shipped
from datasets.sources.archive import extracted


def content_key(definition: Mapping[str, Any], data: Mapping[str, Any] | None = None) -> str | None:
    """Digest the file that a user's data set comes from, after a look at what is in it.

    A published data set is held to the digest in its YAML; a user's file may change under the same
    name, and results on the old one must not pass for results on the new one. The file is read as
    it will be for an experiment, so that whatever is wrong with it is said before one is started.

    Parameters
    ----------
    definition : mapping
        The resolved configuration group `dataset`.
    data : mapping, optional
        The resolved configuration group `data`.

    Returns
    -------
    str or None
        The sha256 of the file, or of the file at an address; of other sources, that of the table
        that they are held to, or else of their list. None for the project's own sources, and for
        an OpenML id alone, unless somebody has put its table into the data home by hand: then the
        sha256 of that file.

    Raises
    ------
    DataError
        If the definition is not valid, or the file cannot be read or does not fit it.
    """
    digest = content_digest(definition, data)
    if any(source["kind"] == "file" for source in Definition.from_mapping(definition).sources):
        load(definition)
    return digest


def content_digest(
    definition: Mapping[str, Any], data: Mapping[str, Any] | None = None
) -> str | None:
    """Return what `content_key` does, without a look at what is in the file.

    Raises
    ------
    DataError
        If the definition is not valid, or the file cannot be read.
    """
    parsed = Definition.from_mapping(definition)
    for source in parsed.sources:
        if source["kind"] == "url":
            return str(source["sha256"])
        if source["kind"] == "file":
            path = Path(str(source["path"])).expanduser()
            try:
                with extracted(path) as file, file.open("rb") as content:
                    digest = hashlib.file_digest(content, "sha256").hexdigest()
            except (OSError, BadZipFile) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                raise DataError(f"data set {parsed.name!r}: {path}: {reason}") from error
            if parsed.format.header is False:
                # A key that is null is not part of an experiment's key.
                digest = hashlib.sha256(f"{digest} without header".encode()).hexdigest()
            return digest
    put_there = None
    if parsed.own and any(source["kind"] == "home" for source in parsed.sources):
        put_there = DataHome(Access.from_mapping(data).home).put_by_hand(parsed.stored_as)
    return put_there or _of_sources(definition, parsed)


def _of_sources(definition: Mapping[str, Any], parsed: Definition) -> str | None:
    """Digest what a table is held to, or else its sources, which are no part of a key themselves.

    The project's own table is one, whichever of its sources serves it, and the id of a key `openml`
    is part of the key.
    """
    sources, ours = definition.get("sources"), shipped(parsed.name) or {}
    if sources is None or sources == ours.get("sources"):
        return None
    if parsed.expected is not None and parsed.expected.digest:
        digest = parsed.expected.digest
        return None if digest == (ours.get("expected") or {}).get("digest") else digest
    return hashlib.sha256(json.dumps(sources, sort_keys=True).encode()).hexdigest()
