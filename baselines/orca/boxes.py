"""The same search with the training points grouped in boxes, most of which need no look."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from baselines.orca.scan import CHUNK, any_below, insert, keep_best, squared_distances


class Boxes(NamedTuple):
    """Training points in groups of neighbours.

    Attributes
    ----------
    points : ndarray of shape (n_features, n_train)
        The points, one row per feature, those of a box side by side.
    start : ndarray of shape (n_boxes + 1,)
        Where each box begins in `points`.
    lower, upper : ndarray of shape (n_features, n_boxes)
        The boxes' bounds.
    """

    points: NDArray[np.float64]
    start: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def group_in_boxes(points: NDArray[np.float64], box_size: int = CHUNK) -> Boxes:
    """Split the points at the median of the widest feature until a box holds few enough.

    Parameters
    ----------
    points : ndarray of shape (n_train, n_features)
        Training points.
    box_size : int
        Largest number of points in a box.

    Returns
    -------
    boxes : Boxes
        The grouped points.
    """
    finished = []
    unfinished = [np.arange(len(points))]
    while unfinished:
        members = unfinished.pop()
        if len(members) <= box_size:
            finished.append(members)
            continue
        inside = points[members]
        widest = np.argmax(inside.max(axis=0) - inside.min(axis=0))
        middle = len(members) // 2
        order = np.argpartition(inside[:, widest], middle)
        unfinished += [members[order[:middle]], members[order[middle:]]]
    start = np.concatenate(([0], np.cumsum([len(members) for members in finished])))
    grouped = points[np.concatenate(finished)]
    return Boxes(
        points=np.ascontiguousarray(grouped.T),
        start=start,
        lower=np.ascontiguousarray(np.minimum.reduceat(grouped, start[:-1]).T),
        upper=np.ascontiguousarray(np.maximum.reduceat(grouped, start[:-1]).T),
    )


@njit(cache=True, nogil=True)
def search_boxes(
    boxes: Boxes, test: NDArray[np.float64], n_neighbors: int, n_report: int
) -> NDArray[np.float64]:
    """Return what `baselines.orca.scan.scan` returns, sooner.

    A test point sees the training points of the nearest box first, which nearly settles its score,
    so that most points fall below the cutoff at once. Of the other boxes only those are opened that
    are nearer than the k-th nearest point so far.

    Parameters
    ----------
    boxes : Boxes
        Training points.
    test : ndarray of shape (n_test, n_features)
        Points to score.
    n_neighbors : int
        k, from 1 to n_train.
    n_report : int
        How many of the highest scores are wanted.

    Returns
    -------
    scores : ndarray of shape (n_test,)
        Sums of squared distances of the reported points, 0 for the others.
    """
    n_test = test.shape[0]
    scores = np.zeros(n_test)
    if n_report == 0:
        return scores
    best = np.empty(n_report)
    best_points = np.empty(n_report, dtype=np.int64)
    n_best = 0
    cutoff = -1.0

    n_boxes = boxes.start.size - 1
    to_box = np.empty(n_boxes)
    distances = np.empty((boxes.start[1:] - boxes.start[:-1]).max())
    nearest = np.empty(n_neighbors)
    for i in range(n_test):
        point = test[i]
        distances_to_boxes(boxes, point, to_box)
        nearest_box = int(np.argmin(to_box))
        nearest[:] = np.inf
        open_box(boxes, nearest_box, point, distances, nearest)
        score = nearest.sum()
        for box in range(n_boxes):
            # A score of 0 is final: no distance is below the k-th nearest, which is 0.
            if score <= cutoff:
                break
            if box != nearest_box and to_box[box] < nearest[n_neighbors - 1]:
                open_box(boxes, box, point, distances, nearest)
                score = nearest.sum()
        if score > cutoff:
            n_best = keep_best(best, best_points, n_best, score, i)
            if n_best == n_report:
                cutoff = best[0]
    for position in range(n_best):
        scores[best_points[position]] = best[position]
    return scores


@njit(cache=True, nogil=True)
def distances_to_boxes(
    boxes: Boxes, point: NDArray[np.float64], to_box: NDArray[np.float64]
) -> None:
    """Write the squared distance of `point` to every box, 0 inside of it.

    A bound must not exceed the distance to any point inside. It does not, rounding included: the
    difference to a point is at least the one to the bound, and rounded sums keep that order.
    """
    to_box[:] = 0.0
    for feature in range(point.size):
        value = point[feature]
        lower = boxes.lower[feature]
        upper = boxes.upper[feature]
        for box in range(to_box.size):
            outside = max(lower[box] - value, value - upper[box], 0.0)
            to_box[box] += outside * outside


@njit(cache=True, nogil=True)
def open_box(
    boxes: Boxes,
    box: int,
    point: NDArray[np.float64],
    distances: NDArray[np.float64],
    nearest: NDArray[np.float64],
) -> None:
    """Update the distances to the nearest points with the points of one box."""
    first = boxes.start[box]
    size = boxes.start[box + 1] - first
    squared_distances(boxes.points, first, size, point, distances)
    last = nearest.size - 1
    if any_below(distances, size, nearest[last]):
        for j in range(size):
            if distances[j] < nearest[last]:
                insert(nearest, distances[j])
