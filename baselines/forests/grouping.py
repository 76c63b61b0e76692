"""Gather a node's points by the rank of one feature, with the class counts of every rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.forests.ranking import ONES, ZEROS_MASK
from baselines.forests.sorting import sort_keys
from ocrf.kernels import kernel, njit

#: Ranks are counted rather than sorted while they span at most this many per point: passing over a
#: rank that no point has is cheaper than moving a point by that factor.
SPAN_PER_POINT = 8


class Workspace(NamedTuple):
    """Work space and output of `group_by_rank`, allocated once per tree.

    Attributes
    ----------
    found : ndarray of shape (n_points,)
        Ranks of the node's points.
    tally : ndarray of shape (n_ranks,)
        Class counts by rank, as in `weigh`; all 0 between calls.
    keys, scratch : ndarray of shape (n_points,)
    counts : ndarray of shape (256,)
        For sorting.
    rank : ndarray of shape (n_points + 1,)
        Output: the distinct ranks, ascending.
    zeros, ones : ndarray of shape (n_points + 1,)
        Output: how many points of class 0 and 1 have the rank.
    """

    found: NDArray[np.int32]
    tally: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    scratch: NDArray[np.uint64]
    counts: NDArray[np.int64]
    rank: NDArray[np.int32]
    zeros: NDArray[np.int32]
    ones: NDArray[np.int32]


@njit(cache=True, nogil=True)
def make_workspace(n_points: int, n_ranks: int) -> Workspace:
    """Return a workspace for nodes of up to `n_points` points with up to `n_ranks` ranks."""
    return Workspace(
        np.empty(n_points, dtype=np.int32),
        np.zeros(n_ranks, dtype=np.uint64),
        np.empty(n_points, dtype=np.uint64),
        np.empty(n_points, dtype=np.uint64),
        np.empty(256, dtype=np.int64),
        np.empty(n_points + 1, dtype=np.int32),
        np.empty(n_points + 1, dtype=np.int32),
        np.empty(n_points + 1, dtype=np.int32),
    )


@kernel
def group_by_rank(
    rank: NDArray[np.int32],
    points: NDArray[np.int32],
    weights: NDArray[np.uint64],
    space: Workspace,
) -> int:
    """Write the distinct ranks of `points` and their class counts to `space`.

    Parameters
    ----------
    rank : ndarray of shape (n_points,)
        Ranks of all points in one feature.
    points : ndarray of shape (size,)
        The points of the node.
    weights : ndarray of shape (size,)
        How often each of them is in the sample, as `weigh` counts it.
    space : Workspace
        Work space and output.

    Returns
    -------
    n_groups : int
        Number of distinct ranks.
    """
    size = points.size
    low = rank[points[0]]
    high = low
    # Unsigned indices: signed ones would be compared with 0 first.
    for i in range(size):
        r = rank[np.uint32(points[i])]
        space.found[i] = r
        low = min(low, r)
        high = max(high, r)
    if low == high:
        return 1  # the counts of a constant feature are not used

    n_groups = 0
    if high - low <= SPAN_PER_POINT * size:
        for i in range(size):
            space.tally[np.uint32(space.found[i] - low)] += weights[i]
        for offset in range(high - low + 1):
            # Without a branch, as whether a rank occurs cannot be predicted: the next one that does
            # overwrites what is written for one that does not.
            both = space.tally[offset]
            space.tally[offset] = 0
            space.rank[n_groups] = low + offset
            space.zeros[n_groups] = both & ZEROS_MASK
            space.ones[n_groups] = both >> ONES
            n_groups += both != 0
        return n_groups

    for i in range(size):
        space.keys[i] = (np.uint64(space.found[i]) << np.uint64(32)) | np.uint64(i)
    sort_keys(space.keys, space.scratch, space.counts, size, low, high)
    current = -1
    for i in range(size):
        key = space.keys[i]
        r = int(key >> np.uint64(32))
        if r != current:
            space.rank[n_groups] = r
            space.zeros[n_groups] = 0
            space.ones[n_groups] = 0
            n_groups += 1
            current = r
        both = weights[key & np.uint64(0xFFFFFFFF)]
        space.zeros[n_groups - 1] += both & ZEROS_MASK
        space.ones[n_groups - 1] += both >> ONES
    return n_groups
