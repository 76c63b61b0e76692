"""What tells one version of a user's own table from the next."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from datasets.definition import Definition
from datasets.errors import DataError


def content_key(definition: Mapping[str, Any]) -> str | None:
    """Digest the file of a data set that is had from one.

    A published data set is held to the digest in its YAML; a user's file may change under the same
    name, and results on the old one must not pass for results on the new one.

    Parameters
    ----------
    definition : mapping
        The resolved configuration group `dataset`.

    Returns
    -------
    str or None
        The file's sha256; None for a data set with no file of its own.

    Raises
    ------
    DataError
        If the definition is not valid or the file cannot be read.
    """
    parsed = Definition.from_mapping(definition)
    for source in parsed.sources:
        if source["kind"] == "file":
            path = Path(str(source["path"])).expanduser()
            try:
                with path.open("rb") as file:
                    return hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise DataError(f"data set {parsed.name!r}: {path}: {error.strerror}") from error
    return None
