"""The steps of a protocol, each from row numbers to row numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from datasets.dataset import Dataset
from datasets.protocols.schema import Cap, Cut, Resize
from datasets.protocols.streams import Drawer, Streams

Rows = NDArray[np.intp]


def distinct(dataset: Dataset, order: Rows) -> Rows:
    """Return the rows without repetitions: of rows with equal values and label, the first stays."""
    X, y = dataset.X[order], dataset.y[order]
    # Adding 0 turns -0 into 0. The last key counts most; the sort is stable.
    by_value = np.lexsort([*(X + 0.0).T, y])
    repeated = np.ones(len(order), dtype=bool)
    repeated[0] = False
    one, other = by_value[:-1], by_value[1:]
    repeated[1:] = (X[one] == X[other]).all(axis=1) & (y[one] == y[other])
    stays = np.empty(len(order), dtype=bool)
    stays[by_value] = ~repeated
    return order[stays]


def resized(rows: Rows, resize: Resize, streams: Streams) -> Rows:
    """Return a bootstrap sample of too few rows, a sample of too many."""
    n = len(rows)
    if resize.least is not None and n < resize.least:
        return rows[streams.drawer("resize").choice(n, size=resize.least, replace=True)]
    if resize.most is not None and n > resize.most:
        return rows[streams.drawer("resize").choice(n, size=resize.most, replace=False)]
    return rows


def capped(rows: Rows, y: NDArray[np.int8], cap: Cap, streams: Streams) -> Rows:
    """Return the rows that stay when the anomalies are capped.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
    y : ndarray of shape (n_samples,)
        Labels of the data set.
    cap : Cap
    streams : SeedSequenceStreams or LegacyStream
    """
    if cap.ratio is None:
        return rows
    anomalous = np.flatnonzero(y[rows])
    limit = floor_of(cap.ratio, len(rows) - len(anomalous))
    if len(anomalous) <= limit:
        return rows
    drawer = streams.drawer("subset", once=cap.drawn == "once")
    stays = y[rows] == 0
    stays[drawer.choice(anomalous, size=limit, replace=False)] = True
    return rows[stays]


def cut_rows(y: NDArray[np.int8], cut: Cut, streams: Streams) -> tuple[Rows, Rows]:
    """Return the positions of the train part, anomalies included, and of the rest.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Labels of the rows that are cut.
    cut : Cut
    streams : SeedSequenceStreams or LegacyStream

    Returns
    -------
    train, rest : ndarray
        A position may stand in `train` several times (bootstrap); `rest` is what is not in it.
    """
    everything = np.arange(len(y))
    if cut.kind == "none":
        return everything, everything[:0]
    pool = everything if cut.of == "all" else np.flatnonzero(y == 0)
    train, rest = _cut_pool(pool, y, cut, streams)
    return train, rest if cut.of == "all" else np.concatenate([rest, np.flatnonzero(y == 1)])


def _cut_pool(pool: Rows, y: NDArray[np.int8], cut: Cut, streams: Streams) -> tuple[Rows, Rows]:
    if cut.by == "train_test_split":
        return _train_test_split(pool, y, cut, streams.drawer("shuffle"))
    size = part_size(cut, len(pool))
    if cut.kind == "in_order":
        return pool[:size], pool[size:]
    drawer = streams.drawer("shuffle")
    if cut.kind == "bootstrap":
        drawn = drawer.choice(len(pool), size=size, replace=True)
        out = np.ones(len(pool), dtype=bool)
        out[drawn] = False
        return pool[drawn], pool[out]
    shuffled: Rows = drawer.permutation(pool)
    if cut.kind == "stratified":
        first = _by_class(y[shuffled], size)
        return shuffled[first], shuffled[~first]
    return shuffled[:size], shuffled[size:]


def _by_class(y: NDArray[np.int8], size: int) -> NDArray[np.bool_]:
    """Return a mask of the first `size` rows that holds its share of each class."""
    anomalous = y == 1
    # To the nearest; the normal rows take what rounding leaves.
    share = Fraction(size * int(np.count_nonzero(anomalous)), len(y))
    n_anomalies = math.floor(share + Fraction(1, 2))
    return np.where(
        anomalous, np.cumsum(anomalous) <= n_anomalies, np.cumsum(~anomalous) <= size - n_anomalies
    )


def _train_test_split(
    pool: Rows, y: NDArray[np.int8], cut: Cut, drawer: Drawer
) -> tuple[Rows, Rows]:
    # Here, not at the top: processes that only fetch would wait a second for scikit-learn.
    from sklearn.model_selection import train_test_split

    if cut.test_size is not None:
        # As it is: the function rounds the size of the test part in its own way.
        sizes: dict[str, float] = {"test_size": cut.test_size}
    else:
        n_train = part_size(cut, len(pool))
        sizes = {"train_size": n_train, "test_size": len(pool) - n_train}
    stratify = y[pool] if cut.kind == "stratified" else None
    train, test = train_test_split(pool, **sizes, random_state=drawer, stratify=stratify)
    return train, test


def part_size(cut: Cut, n: int) -> int:
    """Return how many of `n` rows are cut off for training."""
    if isinstance(cut.train_size, int):
        return min(cut.train_size, n) if cut.kind != "bootstrap" else cut.train_size
    exact = Fraction(str(cut.train_size)) * n
    if cut.rounding == "half_even":
        return round(exact)
    return math.floor(exact) if cut.rounding == "down" else math.ceil(exact)


def floor_of(ratio: float, n: int) -> int:
    """Return ``floor(ratio * n)`` of the decimal that was written.

    The product of floats falls short of some whole numbers.

    >>> floor_of(0.29, 100), int(0.29 * 100)
    (29, 28)
    """
    return math.floor(Fraction(str(ratio)) * n)
