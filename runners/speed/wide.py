"""Wide data: many more features than rows, all of a tree's searched in every node."""

from __future__ import annotations

from collections.abc import Sequence

from runners.speed.paired import Timing, time_pairs
from runners.speed.synthetic import clustered

WIDE = (2000, 5000)

_N_SCORED = 500


def time_wide(
    algorithms: Sequence[str], n_jobs: int, n_pairs: int, seed: int, shape: tuple[int, int] = WIDE
) -> list[Timing]:
    """Time all contestants on wide clustered data in turn."""
    X = clustered(*shape, seed)
    name = " x ".join(map(str, shape))
    return time_pairs(name, X, X[:_N_SCORED], algorithms, n_jobs, n_pairs)
