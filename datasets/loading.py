"""Load a data set from the first of its sources that has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from datasets.checks import check_content
from datasets.dataset import Dataset
from datasets.definition import Definition
from datasets.errors import DataError, DataUnavailable, SourceFailed
from datasets.home import DataHome, read_parquet
from datasets.preprocessing import preprocess
from datasets.settings import Settings

BUNDLED = Path(__file__).parent / "bundled"


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
    settings = Settings.from_mapping(data)
    reasons: list[tuple[str, str]] = []
    for source in parsed.sources:
        kind = str(source["kind"])
        if settings.source not in (None, kind):
            continue
        try:
            dataset = preprocess(_table(kind, parsed, settings), parsed, kind)
            check_content(dataset, parsed)
        except SourceFailed as failure:
            reasons.append((kind, failure.reason))
        except DataError as error:
            if parsed.own:
                raise
            reasons.append((kind, str(error)))
        else:
            return dataset
    raise DataUnavailable(parsed.name, reasons, f"Put {parsed.name}.parquet into {settings.home}.")


def _table(kind: str, definition: Definition, settings: Settings) -> pa.Table:
    if kind == "bundled":
        path = BUNDLED / f"{definition.name}.parquet"
        if not path.is_file():
            raise SourceFailed(f"no {path.name} in {BUNDLED}")
        return read_parquet(path, definition.target)
    if kind == "home":
        return DataHome(settings.home).read(definition.name, definition.target)
    raise SourceFailed("not reachable")
