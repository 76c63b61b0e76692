"""Compiling before the first call, or before processes are forked."""

from __future__ import annotations

import numpy as np

from ._forest import OneClassRF

# Enough for `find_repeats` to look at.
_ROWS = 256


def warm_up() -> None:
    """Compile every kernel, or load it from the cache on disk.

    A fit, a scoring or a call of `feature_contributions` compiles only what it needs: weights,
    missing values and nodes that are sorted one by one need kernels of their own. After this
    call none of them waits for the compiler, nor do the calls of children that a process forks.
    """
    X = np.random.default_rng(0).normal(size=(_ROWS, 10))
    incomplete = np.where(X > 2.0, np.nan, X)
    for data in (X, incomplete):
        for max_features_node in (None, 1):
            forest = OneClassRF(
                n_estimators=2,
                max_features_tree=1.0,
                max_features_node=max_features_node,
                random_state=0,
            ).fit(data)
        forest.score_samples(data)
        forest.feature_contributions(data)
        forest.estimators_[0].apply(data)
        forest.set_params(scoring="density", out_of_bounds="maximal").fit(data).score_samples(data)
    forest.estimators_samples_[0], forest.estimators_features_[0]
