"""The effect of each departure of the published protocol from its text or from good practice.

Every departure compares two sets of experiments on the splits that both have, data set by data set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from results.aggregate import CELL, in_order
from results.metrics import EXACT_METRICS, METRICS, PAPER_METRICS

_SPLIT = ["setting", "dataset", "label", "seed", "split"]


@dataclass(frozen=True)
class Departure:
    """Two ways of doing one thing.

    Attributes
    ----------
    name : str
        What differs.
    first, second : str
        Names of the two ways.
    """

    name: str
    first: str
    second: str


#: Two algorithms of ``conf/algorithm`` that differ in one respect: as run, and otherwise.
_ALGORITHMS = {
    Departure("OneClassRF", "as run", "as the text has it"): ("oneclassrf", "oneclassrf_text"),
    Departure("Orca", "as run", "clean"): ("orca", "orca_clean"),
    Departure("training labels for OCRFsampling", "with", "without"): (
        "ocrfsampling_supervised",
        "ocrfsampling",
    ),
    Departure("neighbours of LOF", "20", "5 (the text)"): ("lof", "lof_text"),
    Departure("OCRFsampling's optimize", "1", "0 (the text)"): (
        "ocrfsampling",
        "ocrfsampling_text",
    ),
    Departure("trees per forest of RFC", "100", "3000 (the text)"): ("rfc", "rfc_text"),
}
#: Departures by one overridden parameter (as a pattern) of an algorithm.
_PARAMETERS = {
    Departure("features searched per node", "all of the tree's", "5 (the text)"): (
        "oneclassrf",
        r"max_features_node=5",
    ),
    Departure("points outside the training box", "maximal score", "own score"): (
        "oneclassrf",
        r"out_of_bounds=(null|None|none)",
    ),
    Departure("a leaf of one point", "c(1) = 0 (the text)", "c(1) = 1 (as run)"): (
        "oneclassrf",
        r"scoring=published_depth",
    ),
    Departure("ranges that rescale Orca's test points", "their own", "the training points'"): (
        "orca",
        r"scaling=train",
    ),
    Departure("scores that Orca reports", "the highest n / 8 (the text)", "all"): (
        "orca",
        r"report=(null|None|none)",
    ),
}
_DUPLICATES = Departure("repeated rows of shuttle", "with", "without")
_DISTINCT = Departure("repeated rows of all data sets, clean protocol", "with", "without")
_SUBSET = Departure("subset of anomalies", "drawn per split", "one for all splits")
_CAP = Departure("anomalies in novelty detection", "a tenth of the normal points", "all (the text)")
_PROTOCOL = Departure("protocol (exact metrics of both)", "paper", "clean")
#: The options of the paper's protocol that are varied, as it has them.
_AS_PUBLISHED = {
    "cap.drawn": "per_split",
    "cap.ratio": "0.1",
    "repeats": "published",
}
_METRIC = Departure("area", "of the interpolated curves", "exact")


@dataclass(frozen=True)
class Effect:
    """What one departure does to one algorithm in one setting, on one metric.

    Attributes
    ----------
    departure : Departure
    setting, algorithm, metric : str
        ``metric`` is ``roc`` or ``pr``.
    first, second : float
        Means over the data sets that both ways have, of the splits that both have.
    datasets : tuple of str
    farthest : str
        The data set that changes most.
    farthest_change : float
    uses_labels : bool
        Whether the algorithm was given training labels, in either way.
    """

    departure: Departure
    setting: str
    algorithm: str
    metric: str
    first: float
    second: float
    datasets: tuple[str, ...]
    farthest: str
    farthest_change: float
    uses_labels: bool

    @property
    def change(self) -> float:
        """Second less first."""
        return self.second - self.first


def effects(frame: pd.DataFrame, cells: pd.DataFrame) -> list[Effect]:
    """Return every effect that the experiments allow to measure.

    Parameters
    ----------
    frame : DataFrame
        All experiments, as :attr:`results.records.frame.Experiments.frame`. Only the splits
        that both ways have are compared: they share their training and test points.
    cells : DataFrame
        As :func:`results.aggregate.make_cells`; a cell that is NA is not compared.
    """
    has_value = cells.index[cells["mark"] == ""]
    finished = frame[
        (frame["status"] == "ok") & pd.MultiIndex.from_frame(frame[CELL]).isin(has_value)
    ]
    rows = finished.set_index(["protocol", *_SPLIT])[[*METRICS, "uses_labels"]]
    found = [*_between_protocols(rows), *_between_metrics(rows), *_between_algorithms(rows)]
    return [*found, *_by_parameter(rows), *_by_protocol_option(rows)]


def missing(found: list[Effect]) -> list[str]:
    """Name the departures that the records do not allow to measure."""
    everything = [
        _PROTOCOL,
        _METRIC,
        *_ALGORITHMS,
        *_PARAMETERS,
        _DUPLICATES,
        _DISTINCT,
        _SUBSET,
        _CAP,
    ]
    measured = {effect.departure for effect in found}
    return [f"{d.name}: {d.first} against {d.second}" for d in everything if d not in measured]


def _experiments_of(cells: pd.DataFrame, protocol: str, label: str | None = None) -> pd.DataFrame:
    """Return the experiments of a protocol (and algorithm), indexed by what a split is."""
    if protocol not in cells.index.get_level_values("protocol"):
        return cells.iloc[:0].droplevel("protocol")
    part = cells.loc[[protocol]].droplevel("protocol")
    if label is not None:
        part = part[part.index.get_level_values("label") == label]
    return part


def _pair(
    departure: Departure,
    first: pd.DataFrame,
    second: pd.DataFrame,
    metrics: tuple[tuple[str, str], tuple[str, str]],
    name: str | None = None,
) -> Iterator[Effect]:
    """Compare two sets of experiments split by split, per setting and algorithm.

    `metrics` holds the (ROC, PR) metrics of the first and of the second set.
    """
    if first.empty or second.empty:
        return
    for i, metric in enumerate(("roc", "pr")):
        both = pd.DataFrame(
            {
                "first": first[metrics[0][i]],
                "second": second[metrics[1][i]],
                "uses_labels": first["uses_labels"].astype(float),
            }
        ).dropna()
        both = both.groupby(level=["setting", "dataset", "label"]).mean()
        for (setting, label), part in _by_setting_and_label(both):
            change = part["second"] - part["first"]
            far = change.idxmax() if change.max() >= -change.min() else change.idxmin()
            yield Effect(
                departure,
                setting,
                name or label,
                metric,
                float(part["first"].mean()),
                float(part["second"].mean()),
                tuple(sorted(map(str, part.index))),
                str(far),
                float(change.max() if change.max() >= -change.min() else change.min()),
                bool(part["uses_labels"].any()),
            )


def _by_setting_and_label(
    both: pd.DataFrame,
) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    settings = sorted({str(s) for s in both.index.get_level_values("setting")})
    labels = in_order(str(name) for name in both.index.get_level_values("label"))
    for label in labels:
        for setting in settings:
            level = both.index.get_level_values
            part = both[(level("setting") == setting) & (level("label") == label)]
            if len(part):
                yield (setting, label), part.droplevel(["setting", "label"])


def _renamed(part: pd.DataFrame, label: str) -> pd.DataFrame:
    """Give all experiments one label, so that two algorithms can be put side by side."""
    index = part.index.to_frame(index=False).assign(label=label)
    return part.set_axis(pd.MultiIndex.from_frame(index))


def _between_protocols(rows: pd.DataFrame) -> Iterator[Effect]:
    yield from _pair(
        _PROTOCOL,
        _experiments_of(rows, "paper"),
        _experiments_of(rows, "clean"),
        (EXACT_METRICS, EXACT_METRICS),
    )
    # Without the repeated rows the tables are shorter: the splits pair by number, not by rows.
    yield from _pair(
        _DISTINCT,
        _experiments_of(rows, "clean"),
        _experiments_of(rows, "clean_distinct"),
        (EXACT_METRICS, EXACT_METRICS),
    )


def _between_metrics(rows: pd.DataFrame) -> Iterator[Effect]:
    paper = _experiments_of(rows, "paper")
    yield from _pair(_METRIC, paper, paper, (PAPER_METRICS, EXACT_METRICS))


def _between_algorithms(rows: pd.DataFrame) -> Iterator[Effect]:
    for protocol, metrics in (("paper", PAPER_METRICS), ("clean", EXACT_METRICS)):
        for departure, (as_run, other) in _ALGORITHMS.items():
            first = _renamed(_experiments_of(rows, protocol, as_run), as_run)
            second = _renamed(_experiments_of(rows, protocol, other), as_run)
            if protocol != "paper":
                departure = replace(departure, name=f"{departure.name}, {protocol} protocol")
            yield from _pair(departure, first, second, (metrics, metrics))


def _by_parameter(rows: pd.DataFrame) -> Iterator[Effect]:
    labels = sorted({str(label) for label in rows.index.get_level_values("label")})
    for departure, (algorithm, pattern) in _PARAMETERS.items():
        for label in labels:
            if re.fullmatch(rf"{algorithm}\({pattern}\)", label):
                first = _experiments_of(rows, "paper", algorithm)
                second = _renamed(_experiments_of(rows, "paper", label), algorithm)
                yield from _pair(departure, first, second, (PAPER_METRICS, PAPER_METRICS))


def _by_protocol_option(rows: pd.DataFrame) -> Iterator[Effect]:
    for departure, option, datasets in (
        (_DUPLICATES, ("repeats", "source"), ("shuttle",)),
        (_SUBSET, ("cap.drawn", "once"), None),
        (_CAP, ("cap.ratio", "null"), None),
    ):
        first = _experiments_of(rows, "paper")
        for protocol in sorted(set(map(str, rows.index.get_level_values("protocol")))):
            if not _differs_in(protocol, *option):
                continue
            second = _experiments_of(rows, protocol)
            if datasets is not None:
                first, second = (
                    part[part.index.get_level_values("dataset").isin(datasets)]
                    for part in (first, second)
                )
            yield from _pair(departure, first, second, (PAPER_METRICS, PAPER_METRICS))


def is_fixed_subset(protocol: str) -> bool:
    """Tell whether a protocol is the paper's, with one subset of the anomalies for all splits."""
    return _differs_in(protocol, "cap.drawn", "once")


def _differs_in(protocol: str, option: str, value: str) -> bool:
    """Tell whether a protocol is the paper's but for one option.

    Where several options vary among the records, the name of every such protocol gives all of them.
    """
    match = re.fullmatch(r"paper\((.*)\)", protocol)
    if match is None:
        return False
    given = dict(part.split("=", 1) for part in match[1].split(",") if "=" in part)
    return given.pop(option, None) == value and all(
        _AS_PUBLISHED.get(name) == other for name, other in given.items()
    )
