"""What a thread needs to grow trees, made once for many of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._planting import Points
from ._runs import most_runs
from ._scratch import scratch_together
from ._splitter import work_size


class WorkSpace(NamedTuple):
    """Arrays for trees of m points and d features, grown one at a time."""

    bitmap: np.ndarray  # uint64: a bit per row, or per feature if they are more; zero between uses
    rows: np.ndarray  # uint32, (m + 1,): of a tree, and a place for scratch
    columns: np.ndarray  # uint32, (d + 1,)
    points: Points
    members: np.ndarray  # uint32, (m,): the points of the nodes, where orders are not kept
    sub_ranks: np.ndarray  # uint32, (m,)
    sort_work: np.ndarray  # uint32, (2, m)
    marked: np.ndarray  # uint8, (m,): zero between uses
    search: np.ndarray  # float64, (2, work_size(m))
    bounds: np.ndarray  # float64, (n_slots, most_runs(m))
    urn: np.ndarray  # intp, (d,): 0, 1, 2, ... between uses
    picks: np.ndarray  # intp, (d,)
    constant: np.ndarray  # bool, (d,): false between uses
    constants: np.ndarray  # intp, (d, 2): the features marked, and the depth at which
    path: np.ndarray  # intp, (max_depth, 2): feature and side of the splits that lead to a node
    path_bounds: np.ndarray  # float64, (max_depth, 2): their thresholds, and the bounds before


def new_work_space(
    shape: tuple[int, int], m: int, d: int, n_slots: int, max_depth: int
) -> WorkSpace:
    """Return work space for trees on data of that shape."""
    points: dict[str, tuple[int | tuple[int, ...], Any]] = {
        "values": ((n_slots, m), np.float64),
        "orders": ((2, n_slots, m), np.uint32),
        "lower": (d, np.float64),
        "upper": (d, np.float64),
    }
    others: dict[str, tuple[int | tuple[int, ...], Any]] = {
        "bitmap": ((max(shape) + 63) // 64, np.uint64),
        "rows": (m + 1, np.uint32),
        "columns": (d + 1, np.uint32),
        "members": (m, np.uint32),
        "sub_ranks": (m, np.uint32),
        "sort_work": ((2, m), np.uint32),
        "marked": (m, np.uint8),
        "search": ((2, work_size(m)), np.float64),
        "bounds": ((n_slots, most_runs(m)), np.float64),
        "urn": (d, np.intp),
        "picks": (d, np.intp),
        "constant": (d, np.bool_),
        "constants": ((d, 2), np.intp),
        "path": ((max_depth, 2), np.intp),
        "path_bounds": ((max_depth, 2), np.float64),
    }
    work = WorkSpace(
        points=Points(
            **dict(zip(points, scratch_together(*points.values(), dense=True), strict=True))
        ),
        **dict(zip(others, scratch_together(*others.values()), strict=True)),
    )
    work.urn[:] = np.arange(d)
    return work
