"""What growing works with: the parameters that trees share, and arrays that are used again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.arrays import scratch, scratch_together
from .boxes import Box
from .features import Features
from .points import Points, sorts_node_by_node
from .ranking import RankedData
from .sorting import N_COUNTS, SortSpace
from .splitter import Search, most_runs, most_together

# Pending nodes of a depth-first walk that takes the smaller child first: at most log2 of the
# points.
MAX_PENDING = 66

# Picking the points takes as long as sorting them where there are so many rows per point; and where
# there are so many rows that their bits and points, which are read at random, do not fit the cache.
_ROWS_PER_POINT, _MOST_PICKED_FROM = 8, 2**18


class TreeParameters(NamedTuple):
    """What all trees of a forest share, as kernels take it: no text, nothing optional."""

    n_subsample: int
    n_features_tree: int
    n_features_node: int
    criterion: int  # of CRITERIA
    adversary: int  # of ADVERSARIES
    gamma_low: float  # equal to gamma_high for a fixed gamma
    gamma_high: float
    max_depth: int
    min_samples_split: int
    min_log_density: float  # a node at or beyond either is a leaf; infinite for no bound
    max_log_density: float
    missing_rule: int  # of MISSING_RULES


class Stack(NamedTuple):
    """The nodes that wait to be split."""

    nodes: np.ndarray  # intp, (MAX_PENDING, 5): node, start, end, depth, side
    keys: np.ndarray  # uint64, (MAX_PENDING,): seeds of their streams


class WorkSpace(NamedTuple):
    """Arrays for trees of m points and d features, grown one at a time.

    Kernels take ``members`` and ``weights`` as arguments of their own: where an argument is None,
    numba leaves out the branches for arrays, and compiles no function that only these call.
    """

    bitmap: np.ndarray  # uint64: a bit per row, or per feature if they are more; zero between uses
    points: Points
    # uint32, (m,): the points of each node where nodes are sorted one by one (`partitioner`), or
    # None where the tree's points are kept in order.
    members: np.ndarray | None
    # float64, (m,): where points have weights or lack values (`weighted`), or None.
    weights: np.ndarray | None
    box: Box
    features: Features
    stack: Stack
    search: Search
    slot_lower: np.ndarray  # float64, (n_slots,): the box along the features in the slots
    slot_upper: np.ndarray


def most_nodes(parameters: TreeParameters) -> int:
    """Return how many nodes a tree may have."""
    most = 2 * parameters.n_subsample - 1
    if parameters.max_depth < 31:
        most = min(most, (2 << parameters.max_depth) - 1)
    return most


def picks_points(n_samples: int, parameters: TreeParameters, is_weighted: bool) -> bool:
    """Tell whether trees may pick their points from the orders of all rows (`partitioner`).

    Nodes that are sorted one by one need ranks. Where points have weights, the order of equal ones
    decides how sums are rounded.
    """
    d, d_node = parameters.n_features_tree, parameters.n_features_node
    most = min(_ROWS_PER_POINT * parameters.n_subsample, _MOST_PICKED_FROM)
    return n_samples < most and not is_weighted and not sorts_node_by_node(d, d_node)


def new_work_space(data: RankedData, parameters: TreeParameters, is_weighted: bool) -> WorkSpace:
    """Allocate work space for the trees of a forest."""
    m, d, depth = parameters.n_subsample, parameters.n_features_tree, parameters.max_depth
    node_by_node = sorts_node_by_node(d, parameters.n_features_node)
    n_slots = min(parameters.n_features_node, d) if node_by_node else d
    items = (m, np.uint64)
    n_picked, n_of_row = (m + 1, len(data.X)) if data.keeps_orders else (0, 0)
    work = WorkSpace(
        bitmap=scratch((max(data.X.shape) + 63) // 64, np.uint64),
        points=Points(
            **_arrays(
                dense=True,
                values=((n_slots, m), np.float64),
                orders=((2, n_slots, m), np.uint32),
                rows=(m + 1, np.uint32),
                columns=(d + 1, np.uint32),
                marked=(m, np.uint8),
                picked=(n_picked, np.uint32),
            ),
            of_row=scratch(n_of_row, np.uint32),
            sorting=SortSpace(
                **_arrays(items=items, spare=items, counts=((2, N_COUNTS), np.uint32))
            ),
        ),
        members=scratch(m, np.uint32) if node_by_node else None,
        weights=scratch(m, np.float64) if is_weighted else None,
        box=Box(
            **_arrays(
                lower=(d, np.float64),
                upper=(d, np.float64),
                path=((depth, 2), np.intp),
                path_bounds=((depth, 2), np.float64),
            )
        ),
        features=Features(
            **_arrays(
                candidates=(d, np.intp),
                swaps=(d, np.intp),
                constant=(d, np.bool_),
                constants=((d, 2), np.intp),
                slots=(d, np.intp),
                of_slot=(d, np.intp),
            )
        ),
        stack=Stack(**_arrays(nodes=((MAX_PENDING, 5), np.intp), keys=(MAX_PENDING, np.uint64))),
        search=Search(
            **_arrays(
                edges=(most_runs(m) + 1, np.float64),
                bounds=((n_slots, most_runs(m)), np.float64),
                slots=(most_together(m), np.intp),
                n_left=(most_together(m), np.float64),
                shares=(most_together(m), np.float64),
                gains=(most_together(m), np.float64),
                tied=((n_slots, 2), np.intp),
            )
        ),
        **_arrays(slot_lower=(n_slots, np.float64), slot_upper=(n_slots, np.float64)),
    )
    work.features.candidates[:] = np.arange(d)
    return work


def _arrays(
    dense: bool = False, **arrays: tuple[int | tuple[int, ...], Any]
) -> dict[str, np.ndarray]:
    """Allocate arrays of zeros, given by their names, shapes and types."""
    return dict(zip(arrays, scratch_together(*arrays.values(), dense=dense), strict=True))
