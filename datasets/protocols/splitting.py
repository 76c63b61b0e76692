"""From a data set to one of its splits: the steps of a protocol, in order."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.dataset import Dataset, Split
from datasets.errors import DataError
from datasets.protocols.given import from_file, from_splitter
from datasets.protocols.protocol import Protocol, protocol_from
from datasets.protocols.replay import ReplayedSplit, replay
from datasets.protocols.scaling import scaler_of
from datasets.protocols.schema import Scaling, Splitter
from datasets.protocols.steps import Rows, capped, cut_rows, distinct, resized
from datasets.protocols.streams import SeedSequenceStreams, Streams, streams_of


def make_split(
    dataset: Dataset,
    *,
    setting: Mapping[str, Any],
    protocol: Mapping[str, Any],
    seed: int,
    split: int,
) -> Split:
    """Make one of a data set's splits.

    Both settings of one (seed, data set, split) share the cut: novelty detection drops the
    anomalies from the training part.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    setting : mapping
        `anomalies_in_train`: false for novelty detection, true for outlier detection.
    protocol : mapping
        As `datasets.protocols.protocol.Protocol` says.
    seed : int
        The root seed, at least 0.
    split : int
        The number of the split, at least 0.

    Raises
    ------
    ValueError
        If the protocol is not valid, contradicts the setting or has no such split, if a part would
        be empty, or if the test part would hold a single class.
    """
    for name, value in (("seed", seed), ("split", split)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(f"{name} must be a non-negative integer; got {value!r}")
    steps = protocol_from(protocol)
    if steps.depends_on_row_order:
        dataset.require_order()
    if steps.generator.kind == "replayed":
        return _replayed(dataset, steps, setting, seed, split)
    streams = streams_of(steps, dataset.name, seed, split)
    keep = steps.keeps_anomalies(bool(setting["anomalies_in_train"]))
    if steps.indices is not None:
        cut, rest = from_file(steps.indices, dataset, split)
        rows = np.union1d(cut, rest)
    else:
        rows = _table(dataset, steps)
        rows, cut, rest = _drawn(dataset, steps, rows, streams, seed, split)
    train = cut if keep else cut[dataset.y[cut] == 0]
    test = {"rest": rest, "rest_and_anomalies": _and_anomalies(dataset, cut, rest), "all": rows}[
        steps.test_rows
    ]
    y_test = dataset.y[test]
    _refuse_degenerate(dataset, train, y_test, split)
    X_train, X_test = _scaled(dataset.X, rows, train, test, steps.scaling)
    return Split(
        X_train=X_train,
        X_test=X_test,
        y_test=y_test,
        y_train=dataset.y[train],
        test_rows=test if dataset.rows is None else dataset.rows[test],
        random_state=streams.detector_seed,
    )


def anticipate(
    dataset: Dataset, *, setting: Mapping[str, Any], protocol: Mapping[str, Any], split: int
) -> None:
    """Compute what a split shares with others of its data set, once for all.

    The data set keeps it, so that `make_split` finds it, in processes forked later as well.
    Parameters and errors are those of `make_split`, which does the same where this was not called.
    """
    steps = protocol_from(protocol)
    if steps.uses_sklearn:
        importlib.import_module("sklearn.model_selection")
        importlib.import_module("sklearn.preprocessing")
    if steps.depends_on_row_order:
        dataset.require_order()
    elif steps.indices is None:
        _ = dataset.order_of_its_own
    if steps.generator.kind == "replayed":
        _scaled_at_once(dataset, replay(dataset, steps, setting, split), steps.scaling)


def _replayed(
    dataset: Dataset, protocol: Protocol, setting: Mapping[str, Any], seed: int, split: int
) -> Split:
    """Make a split of the stream that the published tables were made with."""
    replayed = replay(dataset, protocol, setting, split)
    keep = protocol.keeps_anomalies(bool(setting["anomalies_in_train"]))
    train = replayed.train if keep else replayed.train[dataset.y[replayed.train] == 0]
    y_test = dataset.y[replayed.test]
    _refuse_degenerate(dataset, train, y_test, split)
    scaling = protocol.scaling
    X = _scaled_at_once(dataset, replayed, scaling)
    if X is not dataset.X:
        scaling = Scaling(kind="none")
    X_train, X_test = _scaled(X, replayed.rows, train, replayed.test, scaling)
    return Split(
        X_train=X_train,
        X_test=X_test,
        y_test=y_test,
        y_train=dataset.y[train],
        test_rows=replayed.test if dataset.rows is None else dataset.rows[replayed.test],
        random_state=SeedSequenceStreams(dataset.name, seed, split).detector_seed,
        stream=replayed.stream if protocol.generator.handed_over else None,
    )


def _table(dataset: Dataset, protocol: Protocol) -> Rows:
    """Return the rows that the steps begin with, in the order in which they do."""
    # Otherwise an order of their own: the split is the same whichever source served the table.
    in_file: Rows = np.arange(len(dataset.y))
    order = in_file if protocol.depends_on_row_order else dataset.order_of_its_own
    return distinct(dataset, order) if protocol.repeats == "drop" else order


def _drawn(
    dataset: Dataset, protocol: Protocol, rows: Rows, streams: Streams, seed: int, split: int
) -> tuple[Rows, Rows, Rows]:
    """Draw what a split draws.

    Returns
    -------
    rows, cut, rest : ndarray
        All rows after resizing and cap, those cut off for training, and the others.
    """
    y = dataset.y
    resize, cap = protocol.resize, protocol.cap
    if resize.drawn == "once":
        rows = resized(rows, resize, streams)
    if cap.drawn == "once":
        rows = capped(rows, y, cap, streams)
    # A stream that goes on from split to split is drawn from for each of them in turn.
    earlier = split if protocol.generator.seeded == "per_dataset" else 0
    for _ in range(earlier + 1):
        table = rows
        if resize.drawn == "per_split":
            table = resized(table, resize, streams)
        if cap.drawn == "per_split":
            table = capped(table, y, cap, streams)
        if isinstance(protocol.cut, Splitter):
            X = dataset.X[table]
            first, second = from_splitter(protocol.cut, X, y[table], seed, split, protocol.seeds)
            if protocol.test_rows != "all" and len(both := np.intersect1d(first, second)):
                raise DataError(
                    f"protocol.cut: {protocol.cut.target} has {len(both)} rows in both parts of "
                    f"split {split}; if this is meant: a file of indices may say so, and "
                    "test_rows: all tests on all rows"
                )
        else:
            first, second = cut_rows(y[table], protocol.cut, streams)
    return table, table[first], table[second]


def _and_anomalies(dataset: Dataset, cut: Rows, rest: Rows) -> Rows:
    return np.concatenate([rest, np.unique(cut[dataset.y[cut] == 1])])


def _scaled_at_once(dataset: Dataset, replayed: ReplayedSplit, scaling: Scaling) -> Any:
    """Return the table as all splits of a replayed one have it; as it is if each scales its own."""
    if scaling.kind == "none" or scaling.fitted_on != "all":
        return dataset.X
    if scaling.kind not in replayed.scaled:
        scaler = scaler_of(scaling.kind).fit(_taken(dataset.X, replayed.rows))
        replayed.scaled[scaling.kind] = scaler.transform(dataset.X.copy())
    return replayed.scaled[scaling.kind]


def _scaled(
    X: NDArray[np.float64], rows: Rows, train: Rows, test: Rows, scaling: Scaling
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the parts scaled, C-contiguous."""
    X_train, X_test = _taken(X, train), _taken(X, test)
    if scaling.kind != "none":
        fitted_on = _taken(X, rows) if scaling.fitted_on == "all" else X_train
        scaler = scaler_of(scaling.kind).fit(fitted_on)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return np.ascontiguousarray(X_train), np.ascontiguousarray(X_test)


def _taken(X: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
    """Return ``X[rows]``, several times as fast."""
    return np.take(X, rows, axis=0)


def _refuse_degenerate(dataset: Dataset, train: Rows, y_test: NDArray[np.int8], split: int) -> None:
    where = f"split {split} of data set {dataset.name!r}"
    if len(train) < 1:
        raise ValueError(f"{where}: no training point is left")
    n_anomalies = int(np.count_nonzero(y_test))
    if n_anomalies in (0, len(y_test)):
        raise ValueError(
            f"{where}: of its {len(y_test)} test points {n_anomalies} are anomalies, and both "
            f"classes are needed (before the cap the data set has {dataset.n_anomalies} anomalies "
            f"in {len(dataset.y)} rows)"
        )
