"""What a thread needs to grow trees, made once for many of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._planting import Points
from ._runs import most_runs
from ._scratch import scratch
from ._splitter import work_size


class WorkSpace(NamedTuple):
    """What a thread needs to grow trees, one at a time."""

    bitmap: np.ndarray  # uint64: a bit per row, or per feature if they are more; zero between uses
    rows: np.ndarray  # uint32, (m + 1,): of a tree, and a place for scratch
    columns: np.ndarray  # uint32, (d + 1,)
    points: Points
    sub_ranks: np.ndarray  # uint32, (m,)
    sort_work: np.ndarray  # uint32, (2, m)
    marked: np.ndarray  # uint8, (m,): zero between uses
    search: np.ndarray  # float64, (2, work_size(m))
    bounds: np.ndarray  # float64, (d, most_runs(m))


def new_work_space(m: int, d: int, n_samples: int, n_features: int) -> WorkSpace:
    """Return work space for trees of m points and d features, of data of that shape."""
    return WorkSpace(
        bitmap=scratch((max(n_samples, n_features) + 63) // 64, np.uint64),
        rows=scratch(m + 1, np.uint32),
        columns=scratch(d + 1, np.uint32),
        points=Points(
            values=scratch((d, m), np.float64),
            orders=scratch((2, d, m), np.uint32),
            lower=scratch(d, np.float64),
            upper=scratch(d, np.float64),
        ),
        sub_ranks=scratch(m, np.uint32),
        sort_work=scratch((2, m), np.uint32),
        marked=scratch(m, np.uint8),
        search=scratch((2, work_size(m)), np.float64),
        bounds=scratch((d, most_runs(m)), np.float64),
    )
