"""Cells: the experiments of one (protocol, setting, data set, algorithm) taken together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count

import numpy as np
import pandas as pd

from results.metrics import METRICS
from results.records.statuses import MARK_MEANINGS, NA, STATUSES
from results.vocabulary import algorithm_order, na_meaning

CELL = ["protocol", "setting", "dataset", "label"]
SECONDS = ("fit_seconds", "score_seconds", "fit_cpu_seconds", "score_cpu_seconds")


def make_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Average the experiments of each cell.

    A cell in which any experiment exceeded its time limit has no value: it is the paper's NA. Other
    failures leave the mean of the experiments that finished, marked as partial. A metric that some
    of those do not hold has none.

    Parameters
    ----------
    frame : DataFrame
        As :attr:`results.records.frame.Experiments.frame`.

    Returns
    -------
    DataFrame
        Indexed by protocol, setting, dataset, label, sorted as the tables are. Columns: ``mark``
        (empty where there is a value), ``n_ok``, ``n_expected`` (the splits of the protocol, or
        those of the run where it has more, for each seed), ``n_seeds``, ``splits`` and ``tried``
        (in words, those that have finished and those that have a record), ``partial``, ``mixed``
        (splits of several versions of a package), ``uses_labels``, ``n_experiments``,
        ``n_<status>``, ``time_limits`` (tuple, of the experiments that exceeded theirs), each
        metric's mean and ``<metric>_std`` (ddof 1), mean seconds, largest ``peak_memory_mb``, mean
        counts.
    """
    ok = frame["status"] == "ok"
    groups = frame.groupby(CELL, sort=False)
    counts = frame.groupby([*CELL, "status"], sort=False).size().unstack(fill_value=0)
    table = pd.DataFrame(index=counts.index)
    for status in STATUSES:
        table[f"n_{status}"] = counts.get(status, 0)
    table["n_experiments"] = groups.size()
    table["n_seeds"] = groups["seed"].nunique()
    table["splits"] = _splits(frame[ok], table.index)
    table["tried"] = _splits(frame, table.index)
    # A run may have been asked for fewer splits than its protocol has, which makes no whole cell.
    planned = groups[["n_splits", "protocol_splits"]].max().astype("float64").max(axis=1)
    seen = groups["split"].max() + 1
    table["n_expected"] = (table["n_seeds"] * planned.fillna(seen).clip(lower=seen)).astype(int)
    table["mixed"] = groups["versions"].nunique() > 1
    table["uses_labels"] = groups["uses_labels"].any()
    table["mark"] = _marks(table)
    table["time_limits"] = _time_limits(frame, table.index)
    table["partial"] = (table["mark"] == "") & (table["n_ok"] < table["n_expected"])

    finished = frame[ok].groupby(CELL, sort=False)
    has_value = table["mark"] == ""
    for metric in METRICS:
        table[metric] = finished[metric].mean().astype("float64").reindex(table.index)
        table[f"{metric}_std"] = finished[metric].std().astype("float64").reindex(table.index)
        # Not over some of the splits, where runs have measured different things.
        of_all = finished[metric].count().reindex(table.index, fill_value=0) == table["n_ok"]
        table.loc[~(has_value & of_all), [metric, f"{metric}_std"]] = np.nan
    for name in SECONDS:
        table[name] = finished[name].mean().astype("float64").reindex(table.index)
        table.loc[~has_value, name] = np.nan
    table["peak_memory_mb"] = finished["peak_memory_mb"].max().astype("float64")
    for name in ("n_train", "n_test", "n_features", "n_anomalies_train", "n_anomalies_test"):
        table[name] = groups[name].mean().astype("float64")
    return table.loc[sorted(table.index, key=_cell_order)]


def _marks(table: pd.DataFrame) -> pd.Series:
    marks = pd.Series("", index=table.index, dtype="object")
    nothing = table["n_ok"] == 0
    for name, status in reversed(STATUSES.items()):
        if status.mark:
            marks[nothing & (table[f"n_{name}"] > 0)] = status.mark
    marks[table["n_timeout"] > 0] = NA
    return marks


def _time_limits(frame: pd.DataFrame, cells: pd.Index) -> list[tuple[float, ...]]:
    slow = frame[(frame["status"] == "timeout") & frame["timeout"].notna()]
    limits = {
        key: tuple(sorted(set(part.astype(float))))
        for key, part in slow.groupby(CELL, sort=False)["timeout"]
    }
    return [limits.get(cell, ()) for cell in cells]


def _splits(frame: pd.DataFrame, cells: pd.Index) -> list[str]:
    """Return the splits of each cell in words, which are the same for the same splits alone.

    For example ``0-3, 5 of seed 0; 0-9 of seed 1``.
    """
    found: dict[tuple[str, ...], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for *cell, seed, split in frame[[*CELL, "seed", "split"]].itertuples(index=False, name=None):
        found[tuple(cell)][seed].add(split)
    return [
        "; ".join(f"{_ranges(own)} of seed {seed}" for seed, own in sorted(found[cell].items()))
        for cell in cells
    ]


def _ranges(numbers: set[int]) -> str:
    texts: list[str] = []
    for first in sorted(n for n in numbers if n - 1 not in numbers):
        last = next(n for n in count(first) if n + 1 not in numbers)
        texts.append(f"{first}-{last}" if last > first else f"{first}")
    return ", ".join(texts)


def of_fewer_splits(cells: pd.DataFrame) -> pd.Series:
    """Tell which cells have a value from fewer of their splits than another of their data set."""
    return _behind((cells["n_ok"] / cells["n_expected"]).where(cells["mark"] == ""))


def usual_splits(cells: pd.DataFrame) -> pd.Series:
    """Return the splits of which values are compared, in words, for the data set of each cell.

    They are those of most cells with the largest share of their splits.
    """
    usable = (cells["mark"] == "") & ~of_fewer_splits(cells)
    return _most(cells["splits"].where(usable))


def of_other_splits(cells: pd.DataFrame) -> pd.Series:
    """Tell which cells have a value from other splits than the usual ones of their data set.

    Such a mean is not to be ranked among the others.
    """
    return (cells["mark"] == "") & (cells["splits"] != usual_splits(cells))


def _behind(share: pd.Series) -> pd.Series:
    return share < share.groupby(level=_line(share)).transform("max") - 1e-9


def _most(splits: pd.Series) -> pd.Series:
    """Return the splits that most cells of a line have, for each; of equals the first count."""

    def most(own: pd.Series) -> str:
        counts = own.value_counts(sort=False)  # without NaN
        return str(counts.idxmax()) if len(counts) else ""

    return splits if splits.empty else splits.groupby(level=_line(splits)).transform(most)


def _line(cells: pd.Series) -> list[str]:
    return [name for name in CELL[:-1] if name in cells.index.names]


def mark_meanings(cells: pd.DataFrame) -> dict[str, str]:
    """Return what each mark of a table of these cells means, NA with its time limit."""
    limits = {limit for own in cells["time_limits"] for limit in own}
    return MARK_MEANINGS | {NA: na_meaning(limits)}


def _cell_order(key: tuple[str, str, str, str]) -> tuple[object, ...]:
    protocol, setting, dataset, label = key
    return (protocol != "paper", protocol, setting, dataset, algorithm_order(label))


def fully_run(grid: pd.DataFrame) -> list[str]:
    """Return the algorithms that were run on every data set and its splits, whatever came of it.

    Averages and ranks over common data sets are for these: that a variant was tried on one data
    set or split only must not take the others out of the comparison. All, if none was run on every
    one.

    Parameters
    ----------
    grid : DataFrame
        Cells of one protocol and setting, indexed by dataset and label.
    """
    # Where a split exceeds the time limit the others are not tried.
    share = (grid["n_experiments"] / grid["n_expected"]).where(grid["mark"] == "", 1.0)
    usual = _most(grid["tried"].where((grid["mark"] == "") & ~_behind(share)))
    whole = (grid["mark"] != "") | (grid["tried"] == usual)
    counts = whole.groupby(level="label").sum()
    everywhere = counts[counts == len(grid.index.unique("dataset"))]
    return [str(label) for label in (everywhere if len(everywhere) else counts).index]


def labelled_in(cells: pd.DataFrame) -> frozenset[str]:
    """Return the algorithms that were given the labels of the training points."""
    used = cells.index.get_level_values("label")[cells["uses_labels"].to_numpy(dtype=bool)]
    return frozenset(map(str, used))


def in_order(labels: Iterable[str], wanted: tuple[str, ...] = ()) -> list[str]:
    """Return distinct labels in the order asked for, the others in the paper's order after them."""

    def key(label: str) -> tuple[int, tuple[int, list[str | float]]]:
        base = label.partition("(")[0]
        for position, name in enumerate(wanted):
            if name.removesuffix("()") == label or name == base:
                return position, algorithm_order(label)
        return len(wanted), algorithm_order(label)

    return sorted(set(labels), key=key)
