"""Where data comes from: the configuration group `data` as a checked object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import platformdirs

from datasets.errors import DataError
from datasets.sources.kinds import SOURCES


@dataclass(frozen=True)
class Access:
    """Where data comes from and how long to wait for it.

    Attributes
    ----------
    home : Path
        The data home, a folder of Parquet files; by default the user's cache folder.
    source : str or None
        The only kind of source to use.
    offline : bool
        Ask no server.
    openml_server : str
        OpenML's API.
    uci_url : str
        Where UCI's archive has its files.
    sklearn_url : str or None
        A mirror of the files that scikit-learn's fetchers download; None for Figshare.
    retries : int
        How often a request that failed for a passing reason is repeated.
    backoff : float
        Seconds before the first repetition; doubled for each further one.
    timeout : float
        Seconds that a source may be waited for, over all attempts; computing does not count.
    """

    home: Path
    source: str | None = None
    offline: bool = False
    openml_server: str = "https://www.openml.org/api/v1/xml"
    uci_url: str = "https://archive.ics.uci.edu/static/public"
    sklearn_url: str | None = None
    retries: int = 2
    backoff: float = 1.0
    timeout: float = 60.0

    def asking_no_server(self) -> Access:
        """Return the same access without the servers."""
        return replace(self, offline=True)

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any] | None) -> Access:
        """Check the resolved configuration of the group `data`.

        The keys path, openml, target and anomalies are left to the definition, whose YAML
        (`dataset=custom`) refers to them.

        Raises
        ------
        DataError
            For a key or a source that does not exist.
        """
        given = {key: value for key, value in (data or {}).items() if value is not None}
        for key in ("path", "openml", "target", "anomalies"):
            given.pop(key, None)
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(given) - known):
            raise DataError(
                f"data: unknown key {unknown[0]!r}; valid keys are {', '.join(sorted(known))}"
            )
        source = given.get("source")
        if source is not None and source not in SOURCES:
            raise DataError(
                f"data.source must be one of {', '.join(SOURCES)}, or null; got {source!r}"
            )
        home = given.pop("home", None)
        return cls(home=Path(home).expanduser() if home else default_home(), **given)


def default_home() -> Path:
    """Return the data home that is used when none is given."""
    return Path(platformdirs.user_cache_dir("ocrf"))
