"""Sources of tables, one module each.

A network source is a function of (source, target, access, folder) that returns a pyarrow table,
or leaves a file in `folder` and returns None:
`source` is the mapping of the data set's YAML, `target` the label column's name or None for the
last column, `access` the options of `data` that it needs, and `folder` an empty folder for
whatever the client wants to store. It runs in a process of its own (`datasets.sources.remote`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    Fetch = Callable[[Mapping[str, Any], str | None, Mapping[str, Any], Path], pa.Table | None]


def _openml() -> Fetch:
    from datasets.sources.openml import fetch

    return fetch


def _sklearn() -> Fetch:
    from datasets.sources.sklearn import fetch

    return fetch


def _uci() -> Fetch:
    from datasets.sources.uci import fetch

    return fetch


def _url() -> Fetch:
    from datasets.sources.url import fetch

    return fetch


# Each imports its client only when it is used: together they take seconds.
NETWORK: dict[str, Callable[[], Fetch]] = {
    "openml": _openml,
    "sklearn": _sklearn,
    "uci": _uci,
    "url": _url,
}
