"""Hold a table to what the definition expects of it."""

from __future__ import annotations

from datasets.dataset import Dataset
from datasets.definition import Definition
from datasets.digest import table_digest
from datasets.errors import WrongContent


def check_content(dataset: Dataset, definition: Definition) -> None:
    """Refuse a table that is not the expected one.

    Raises
    ------
    WrongContent
        Naming what was served and what is expected.
    """
    expected = definition.expectation
    if expected is None:
        return
    n_samples, n_features = dataset.X.shape
    for what, served, wanted in (
        ("rows", n_samples, expected.samples),
        ("features", n_features, expected.features),
        ("anomalies", dataset.n_anomalies, expected.anomalies),
    ):
        if served != wanted:
            raise WrongContent(
                f"{dataset.origin} served another table for {dataset.name!r}: "
                f"{served} {what}, {wanted} expected"
            )
    digest = table_digest(dataset.X, dataset.y)
    if digest != expected.digest:
        raise WrongContent(
            f"{dataset.origin} served another table for {dataset.name!r}: the counts are right, "
            f"but its digest is {digest}, {expected.digest} expected"
        )
