"""A file at an address, held to its sha256."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pooch

from datasets.errors import SourceFailed
from datasets.sources.failures import STALL_SECONDS


def fetch(
    source: Mapping[str, Any], target: str | None, access: Mapping[str, Any], folder: Path
) -> None:
    """Download a file into the folder.

    Parameters
    ----------
    source : mapping
        `url`, one address; `sha256`; `name`, what the file is to be called.
    target, access
        Not used.
    folder : Path
        Where the file goes.

    Raises
    ------
    SourceFailed
        If what was served has another sha256.
    """
    downloader = pooch.HTTPDownloader(progressbar=False, timeout=STALL_SECONDS)
    path = Path(
        pooch.retrieve(
            source["url"], None, fname=source["name"], path=folder, downloader=downloader
        )
    )
    served = pooch.file_hash(str(path), alg="sha256")
    if served != source["sha256"]:
        raise SourceFailed(
            f"it served a file whose sha256 is {served}, {source['sha256']} expected", passing=True
        )
