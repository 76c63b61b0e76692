"""The scan: test points in blocks, training points in random order, a cutoff that only rises."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ocrf.kernels import njit

#: Training points whose distances to a test point are computed in one go, in vector registers.
CHUNK = 128


@njit(cache=True, nogil=True)
def scan(
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    n_neighbors: int,
    n_report: int,
    block_size: int,
) -> NDArray[np.float64]:
    """Find the `n_report` test points that are farthest from their nearest training points.

    Parameters
    ----------
    train : ndarray of shape (n_features, n_train)
        Training points, one row per feature, in random order.
    test : ndarray of shape (n_test, n_features)
        Points to score.
    n_neighbors : int
        k, from 1 to n_train.
    n_report : int
        Number of highest scores to report.
    block_size : int
        Test points scanned at a time.

    Returns
    -------
    scores : ndarray of shape (n_test,)
        Exact sums of the squared distances to the k nearest training points for the reported
        points, and 0 for the others.

    Notes
    -----
    Each further training point can only lower a score. A test point is dropped as soon as its score
    does not exceed the cutoff, the lowest of the `n_report` highest scores found before: it cannot
    be reported any more.
    """
    n_test = test.shape[0]
    n_train = train.shape[1]
    scores = np.zeros(n_test)
    if n_report == 0:
        return scores
    best = np.empty(n_report)
    best_points = np.empty(n_report, dtype=np.int64)
    n_best = 0
    cutoff = -1.0

    nearest = np.empty((block_size, n_neighbors))
    score = np.empty(block_size)
    alive = np.empty(block_size, dtype=np.int64)
    distances = np.empty(CHUNK)
    for first in range(0, n_test, block_size):
        n_block = min(block_size, n_test - first)
        nearest[:] = np.inf
        score[:] = np.inf
        n_alive = n_block
        for i in range(n_block):
            alive[i] = i
        for chunk in range(0, n_train, CHUNK):
            size = min(CHUNK, n_train - chunk)
            n_left = 0
            for position in range(n_alive):
                i = alive[position]
                squared_distances(train, chunk, size, test[first + i], distances)
                keep = True
                if any_below(distances, size, nearest[i, n_neighbors - 1]):
                    for j in range(size):
                        if distances[j] < nearest[i, n_neighbors - 1]:
                            insert(nearest[i], distances[j])
                            score[i] = nearest[i].sum()
                            if score[i] <= cutoff:
                                keep = False
                                break
                # A score of 0 is final: it can neither fall nor change.
                if score[i] == 0.0:
                    keep = False
                if keep:
                    alive[n_left] = i
                    n_left += 1
            n_alive = n_left
            if n_alive == 0:
                break
        for i in range(n_block):
            if score[i] > cutoff:
                n_best = keep_best(best, best_points, n_best, score[i], first + i)
                if n_best == n_report:
                    cutoff = best[0]
    for position in range(n_best):
        scores[best_points[position]] = best[position]
    return scores


@njit(cache=True, nogil=True)
def squared_distances(
    train: NDArray[np.float64],
    first: int,
    size: int,
    point: NDArray[np.float64],
    distances: NDArray[np.float64],
) -> None:
    """Write the squared distances of `point` to ``train[:, first : first + size]``."""
    column = train[0]
    value = point[0]
    for j in range(size):
        difference = column[first + j] - value
        distances[j] = difference * difference
    for feature in range(1, train.shape[0]):
        column = train[feature]
        value = point[feature]
        for j in range(size):
            difference = column[first + j] - value
            distances[j] += difference * difference


@njit(cache=True, nogil=True)
def any_below(distances: NDArray[np.float64], size: int, bound: float) -> bool:
    """Tell whether a distance is below `bound`, without a branch, so that it vectorises."""
    found = 0
    for j in range(size):
        found |= distances[j] < bound
    return found != 0


@njit(cache=True, nogil=True)
def insert(nearest: NDArray[np.float64], distance: float) -> None:
    """Insert `distance`, which is below the last, into the ascending `nearest`."""
    position = nearest.size - 1
    while position > 0 and nearest[position - 1] > distance:
        nearest[position] = nearest[position - 1]
        position -= 1
    nearest[position] = distance


@njit(cache=True, nogil=True)
def keep_best(
    best: NDArray[np.float64],
    points: NDArray[np.int64],
    n_best: int,
    score: float,
    point: int,
) -> int:
    """Add a score to the heap of the best, in place of the lowest when it is full.

    Parameters
    ----------
    best, points : ndarray of shape (n_report,)
        Scores, as a heap with the lowest first, and their points.
    n_best : int
        How many there are so far.
    score, point : float, int
        What to add.

    Returns
    -------
    n_best : int
        How many there are now.
    """
    if n_best < best.size:
        position = n_best
        n_best += 1
        while position > 0:
            parent = (position - 1) // 2
            if best[parent] <= score:
                break
            best[position] = best[parent]
            points[position] = points[parent]
            position = parent
    elif score > best[0]:
        position = 0
        while True:
            child = 2 * position + 1
            if child >= n_best:
                break
            if child + 1 < n_best and best[child + 1] < best[child]:
                child += 1
            if best[child] >= score:
                break
            best[position] = best[child]
            points[position] = points[child]
            position = child
    else:
        return n_best
    best[position] = score
    points[position] = point
    return n_best
