"""A tree's points: its sub-sample of the training data, sorted along each of its features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ._nodes import log_ratio
from ._presort import bit_length, sort_by_key

# Rows of the training data that fit the cache while a tree's features are read from them.
_GATHER_ROWS = 1024


class RankedData(NamedTuple):
    """The training data and what `_presort.rank_columns` makes of them."""

    X: np.ndarray  # float64, (n_samples, n_features), C-contiguous
    ranks: np.ndarray  # uint32, (n_features, n_samples)
    n_ranks: np.ndarray  # int64, (n_features,)
    lower: np.ndarray  # float64, (n_features,)
    upper: np.ndarray


class Points(NamedTuple):
    """A tree's sub-sample, on the tree's features. Reused from tree to tree.

    There is a slot for each of the features, or for each that is searched in a node (`_ordering`).
    """

    values: np.ndarray  # float64, (n_slots, m): feature by feature
    orders: np.ndarray  # uint32, (2, n_slots, m): the points of each node in ascending order
    lower: np.ndarray  # float64, (d,): the cell of the node that is being looked at
    upper: np.ndarray


@njit(cache=True, nogil=True)
def plant(
    data: RankedData,
    rows: np.ndarray,
    columns: np.ndarray,
    points: Points,
    ranks: np.ndarray,
    work: np.ndarray,
) -> None:
    """Sort a tree's points along all its features, and find the root's cell."""
    d, m = points.values.shape
    X, values = data.X, points.values
    # A block of rows for all features, then the next: X comes from memory once, not d times.
    for start in range(0, m, _GATHER_ROWS):
        block = rows[start : min(start + _GATHER_ROWS, m)]
        for j in range(d):
            column, block_values = np.uintp(columns[j]), values[j, start:]
            for i in range(block.shape[0]):
                block_values[i] = X[block[i], column]
    for j in range(d):
        column, column_values = np.uintp(columns[j]), values[j]
        column_ranks = data.ranks[column]
        for i in range(m):
            ranks[i] = column_ranks[rows[i]]
        order = points.orders[0, j]
        sort_by_key(ranks, bit_length(data.n_ranks[column] - 1), order, work)
        points.lower[j], points.upper[j] = column_values[order[0]], column_values[order[m - 1]]


@njit(cache=True, nogil=True)
def enclose(data: RankedData, rows: np.ndarray, columns: np.ndarray, points: Points) -> None:
    """Find the root's cell, and sort nothing."""
    lower, upper = points.lower, points.upper
    d, m = lower.shape[0], rows.shape[0] - 1
    for j in range(d):
        lower[j] = upper[j] = data.X[rows[0], columns[j]]
    for i in range(1, m):
        row = data.X[rows[i]]
        for j in range(d):
            value = row[columns[j]]
            lower[j] = min(lower[j], value)
            upper[j] = max(upper[j], value)


@njit(cache=True, nogil=True, error_model="numpy")
def root_log_volume(data: RankedData, columns: np.ndarray, points: Points) -> float:
    """Return the log of the share that the root's cell has of the data's bounding box."""
    log_volume = 0.0
    for j in range(points.lower.shape[0]):
        low, high, column = points.lower[j], points.upper[j], columns[j]
        if low < high:
            log_volume += log_ratio(high - low, data.upper[column] - data.lower[column])
    return log_volume
