"""Loading the compiled kernels before they are needed."""

from __future__ import annotations

import numpy as np

from ._forest import OneClassRF


def warm_up() -> None:
    """Compile the kernels, or load them from the cache on disk.

    Called once in a parent process, its forked children start at once.
    """
    X = np.random.default_rng(0).normal(size=(64, 2))
    for scoring in ("depth", "density"):
        forest = OneClassRF(
            n_estimators=2, scoring=scoring, out_of_bounds="maximal", random_state=0
        ).fit(X)
        forest.score_samples(X)
    forest.estimators_[0].apply(X)
