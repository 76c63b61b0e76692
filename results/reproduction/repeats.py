"""How many test rows stand in the training part as well, as `python -m runners.repeats` counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from results.tables.text import markdown
from results.vocabulary import SETTINGS, format_number

FILE = Path(__file__).parents[1] / "runs" / "repeated_rows.csv"
_PARTS = {"normal": "normal test rows", "anomalies": "test anomalies"}
_NOTHING = "Nothing to show: the repeated rows were not counted."


def repeated_rows(file: Path = FILE) -> pd.DataFrame:
    """Return the shares, indexed by data set and setting; columns splits, normal, anomalies."""
    return pd.read_csv(file).set_index(["dataset", "setting"])


def repeats_block(file: Path = FILE) -> str:
    """Return the table of shares in per cent, the data sets with most repeated rows first."""
    if not file.exists():
        return _NOTHING
    table = repeated_rows(file)
    shares: dict[Any, dict[Any, Any]] = table.to_dict("index")
    largest = table[list(_PARTS)].max(axis=1).groupby(level="dataset").max()
    order = largest.sort_values(ascending=False, kind="stable").index
    heading, columns = ["data set"], []
    for setting, title in SETTINGS.items():
        for part, name in _PARTS.items():
            # Without anomalies in train there is nothing that a test anomaly could repeat.
            if (setting, part) != ("novelty", "anomalies"):
                heading.append(f"{name}, {title.removesuffix(' detection')}")
                columns.append((setting, part))
    rows = [
        [str(dataset), *(f"{format_number(100 * shares[dataset, s][p], 1)} %" for s, p in columns)]
        for dataset in order
    ]
    splits = ", ".join(str(n) for n in sorted(table["splits"].unique()))
    return "\n".join(
        [
            markdown(heading, rows),
            "",
            f"Means over {splits} splits of the protocol clean (`python -m runners.repeats`).",
        ]
    )
