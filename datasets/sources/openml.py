"""OpenML, through its own package."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import requests

from datasets.errors import SourceFailed, listed
from datasets.tables import from_frame


def fetch(
    source: Mapping[str, Any], target: str | None, access: Mapping[str, Any], folder: Path
) -> pa.Table:
    """Fetch a data set by its id.

    Parameters
    ----------
    source : mapping
        `id`, and optionally what the data set with this id must be: `name`, `version` and `shape`
        (rows, columns with the label). `recode` replaces labels.
    target : str or None
        The label column; None for the one that OpenML names.
    access : mapping
        `openml_server`, and `attempt`, the number of this attempt.
    folder : Path
        Holds the package's cache, which a partial download breaks.

    Raises
    ------
    SourceFailed
        If the id is of another data set than expected.
    """
    if access["attempt"]:
        # OpenML serves Parquet from another server and without a checksum. The package falls back
        # on ARFF, which has one, only for some of the ways in which that can fail.
        os.environ["OPENML_SKIP_PARQUET"] = "true"
    import openml

    openml.config.server = str(access["openml_server"])
    openml.config.set_root_cache_directory(str(folder))
    # The caller repeats and pauses: the package does not repeat after a 5xx response.
    openml.config.set_retry_policy("human", n_retries=1)
    identity = int(source["id"])
    with _http_errors():
        described = openml.datasets.get_dataset(identity, download_data=True)
    for key in ("name", "version"):
        served, expected = getattr(described, key), source.get(key)
        if expected is not None and str(served) != str(expected):
            raise SourceFailed(
                f"OpenML's data set {identity} has the {key} {served!r}, {expected!r} expected",
                misfit=True,
            )
    frame = described.get_data()[0]
    if not isinstance(frame, pd.DataFrame):
        raise SourceFailed(f"OpenML's data set {identity} is sparse, which is not supported")
    shape = source.get("shape")
    if shape is not None and frame.shape != tuple(shape):
        raise SourceFailed(
            f"OpenML's data set {identity} has {frame.shape[0]} rows and {frame.shape[1]} columns, "
            f"{shape[0]} and {shape[1]} expected",
            misfit=True,
        )
    label = target if target is not None else described.default_target_attribute
    if label not in frame.columns:
        reason = (
            f"OpenML's data set {identity} names no label column"
            if label is None
            else f"OpenML's data set {identity} has no column {str(label)!r} for the labels"
        )
        columns = listed(list(map(str, frame.columns)))
        raise SourceFailed(
            f"{reason}; name one with target (data.target on the command line); the columns are "
            f"{columns}",
            misfit=True,
        )
    labels = frame.pop(str(label)).astype(str)
    recode = {str(old): str(new) for old, new in (source.get("recode") or {}).items()}
    if unknown := sorted(set(recode) - set(labels)):
        raise SourceFailed(
            f"recode names the label {unknown[0]!r}, which OpenML's data set {identity} lacks; "
            f"its labels are {listed(sorted(set(labels)))}",
            misfit=True,
        )
    frame[label] = labels.replace(recode)
    return from_frame(frame)


@contextlib.contextmanager
def _http_errors() -> Iterator[None]:
    """Raise the HTTP status of a response that is not one of OpenML's messages.

    The package takes the body of every response other than 200 for its own XML, and loses the
    status in a KeyError when a proxy or a busy server answers with a page of HTML.
    """
    send = requests.Session.send
    last: list[requests.Response] = []

    def remembering(session: requests.Session, *args: Any, **kwargs: Any) -> requests.Response:
        response = send(session, *args, **kwargs)
        last[:] = [response]
        return response

    requests.Session.send = remembering  # type: ignore[method-assign, assignment]
    try:
        yield
    except (KeyError, TypeError, ValueError):
        for response in last:
            response.raise_for_status()
        raise
    finally:
        requests.Session.send = send  # type: ignore[method-assign]
