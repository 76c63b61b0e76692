"""OCRFsampling and RFC, whose forests cannot be replayed: replayed splits, our own forests.

OCRFsampling's program had randomness of its own, and RFC's forests were grown by R. Their splits
can be replayed; on these, forests of several seeds tell where a printed value stands.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from results.metrics import METRICS
from results.published import paper
from results.reproduction.crossed import PREFIX
from results.reproduction.replay import REPLAYED, value_of
from results.tables.text import markdown
from results.vocabulary import display_name

#: Streams, by the column of the tables.
STREAMS: Final = {"OCRFsampling": "ocrfsampling", "RFC": "rfc"}
_NOTHING = "Nothing to show: no forests of several seeds were grown on replayed splits."


def seeds_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Set each printed value beside the values of forests that differ in their seed only.

    Parameters
    ----------
    cells : DataFrame
        As `results.aggregate.make_cells` returns them, one algorithm per seed.

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, setting, metric, published, n_seeds, mean, std (ddof 1),
        spreads (the printed value's distance from the mean, in std), n_below (seeds whose value is
        lower than the printed one). Only what two seeds at least have completed.
    """
    columns = paper.columns()
    as_run = columns[columns["as_run"]].set_index(["setting", "column"])["algorithm"]
    rows: list[dict[Any, Any]] = []
    for printed in paper.cells().to_dict("records"):
        setting, dataset, column = printed["setting"], printed["dataset"], printed["column"]
        if column not in STREAMS:
            continue
        algorithm, protocol = as_run[setting, column], PREFIX + STREAMS[column]
        labels = [
            label
            for at, where, name, label in cells.index
            if (at, where, name) == (protocol, setting, dataset)
            and label.startswith(f"{algorithm}(random_state=")
        ]
        for printed_metric, metric in REPLAYED.items():
            published = printed[printed_metric]
            keys = [(protocol, setting, dataset, label) for label in labels]
            values = np.array([value_of(cells, key, metric) for key in keys])
            values = values[~np.isnan(values)]
            if np.isnan(published) or len(values) < 2:
                continue
            mean, std = values.mean(), values.std(ddof=1)
            rows.append(
                {
                    "dataset": dataset,
                    "algorithm": algorithm,
                    "setting": setting,
                    "metric": metric,
                    "published": published,
                    "n_seeds": len(values),
                    "mean": mean,
                    "std": std,
                    "spreads": (published - mean) / std if std > 0 else np.nan,
                    "n_below": int((values < published).sum()),
                }
            )
    return pd.DataFrame(rows)


def seeds_block(cells: pd.DataFrame) -> str:
    """Return the generated block of REPRODUCTION.md."""
    table = seeds_table(cells)
    if table.empty:
        return _NOTHING
    rows = [
        [
            row["dataset"],
            display_name(row["algorithm"]),
            row["setting"],
            METRICS[row["metric"]].heading,
            f"{row['published']:.3f}",
            f"{row['mean']:.3f}",
            f"{row['std']:.3f}",
            f"{row['spreads']:+.1f}",
            f"{row['n_below']} of {row['n_seeds']}",
        ]
        for row in table.to_dict("records")
    ]
    head = ["data set", "algorithm", "setting", "area", "published", "mean", "spread"]
    within = int((table["spreads"].abs() <= 2).sum())
    return "\n".join(
        [
            f"Of {len(table)} printed values {within} lie within two spreads of the mean over "
            "forest seeds.",
            "",
            markdown([*head, "distance in spreads", "seeds below"], rows),
        ]
    )
