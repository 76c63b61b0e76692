"""The archive of UCI: zip files of delimited text, through pooch."""

from __future__ import annotations

import io
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pooch
import pyarrow as pa

from datasets.errors import SourceFailed, listed
from datasets.sources.failures import STALL_SECONDS
from datasets.tables import from_frame


def fetch(
    source: Mapping[str, Any], target: str | None, access: Mapping[str, Any], folder: Path
) -> pa.Table:
    """Fetch a zip file and read its members one after the other into one table.

    Parameters
    ----------
    source : mapping
        `archive` (path below the archive's URL) and `members` (file names). How they are read:
        `separator` ("," or whitespace), `header` (true if the first line names the columns),
        `columns` (names; by default V1, V2, ... and the label last), `positions` (the columns to
        read), `comment`, `strip` (what labels may end in), `keep` (column to values: the rows to
        keep), `drop` (columns to drop then), `log` (x: features become log(feature + x)).
    target : str or None
        The name of the label column.
    access : mapping
        `uci_url`.
    folder : Path
        Where the zip file goes.
    """
    url = f"{str(access['uci_url']).rstrip('/')}/{source['archive']}"
    downloader = pooch.HTTPDownloader(progressbar=False, timeout=STALL_SECONDS)
    # No known hash: UCI repacks its files. The content is held to its digest instead.
    path = pooch.retrieve(
        url, known_hash=None, fname="archive.zip", path=folder, downloader=downloader
    )
    with zipfile.ZipFile(path) as archive:
        parts = [_read(archive, member, source, target) for member in source["members"]]
    return from_frame(_chosen(pd.concat(parts, ignore_index=True), source, target))


def _read(
    archive: zipfile.ZipFile, member: str, source: Mapping[str, Any], target: str | None
) -> pd.DataFrame:
    with _open(archive, member) as file:
        positions = source.get("positions")
        frame = pd.read_csv(
            file,
            sep=r"\s+" if source.get("separator") == "whitespace" else ",",
            header=0 if source.get("header") else None,
            usecols=positions,
            comment=source.get("comment"),
            na_values=["?"],
            compression="gzip" if member.endswith(".gz") else None,
            skipinitialspace=True,
        )
    if not source.get("header"):
        frame.columns = pd.Index(_names(source.get("columns"), frame.shape[1], target))
    keep, drop = source.get("keep") or {}, source.get("drop") or ()
    label = target or frame.columns[-1]
    for name in (label, *keep, *drop):
        if name not in frame.columns:
            columns = listed(list(map(str, frame.columns)))
            raise SourceFailed(
                f"{member} has no column {name!r}; the columns are {columns}", misfit=True
            )
    if source.get("strip"):
        frame[label] = frame[label].str.strip().str.rstrip(source["strip"])
    return frame


def _chosen(frame: pd.DataFrame, source: Mapping[str, Any], target: str | None) -> pd.DataFrame:
    """Keep the rows and drop the columns that a source says, and take logarithms."""
    label = target or frame.columns[-1]
    for name, values in (source.get("keep") or {}).items():
        kept = frame[name].isin(list(values))
        found = set(frame.loc[kept, name])
        if unknown := [value for value in values if value not in found]:
            raise SourceFailed(f"keep: {unknown[0]!r} is no value of {name!r}", misfit=True)
        frame = frame[kept]
    frame = frame.drop(columns=list(source.get("drop") or []))
    if source.get("log") is not None:
        features = [name for name in frame.columns if name != label]
        frame = frame.assign(**{name: np.log(frame[name] + source["log"]) for name in features})
    return frame


def _names(columns: Sequence[str] | None, n_columns: int, target: str | None) -> list[str]:
    names = list(columns or [f"V{j}" for j in range(1, n_columns)] + [target or "class"])
    if len(names) != n_columns:
        raise SourceFailed(f"the file has {n_columns} columns, {len(names)} expected", misfit=True)
    return names


def _open(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    """Open a member by its file name, in whatever folder of the archive; decompress a .Z."""
    found = [name for name in archive.namelist() if name.rsplit("/", 1)[-1] == member]
    if not found:
        raise SourceFailed(
            f"the zip file has no {member}; it has {', '.join(archive.namelist())}", misfit=True
        )
    if member.endswith(".Z"):
        return io.BytesIO(_decompress(archive.read(found[0]), member))
    return archive.open(found[0])


def _decompress(content: bytes, member: str) -> bytes:
    """Decompress what Unix's `compress` wrote (.Z): gzip reads it, no library of Python's does."""
    try:
        done = subprocess.run(["gzip", "-dc"], input=content, capture_output=True, check=True)
    except FileNotFoundError:
        raise SourceFailed(f"{member} needs the program gzip, which is not installed") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise SourceFailed(f"{member} is damaged: {said}", passing=True) from error
    return done.stdout
