"""Load the compiled kernels before they are needed."""

from __future__ import annotations

import numpy as np

from baselines.lsad import LeastSquaresAnomalyDetection
from baselines.ocrfsampling import SamplingOneClassForest
from baselines.orca import Orca
from baselines.rfc import RandomForestClustering


def warm_up() -> None:
    """Compile every kernel, or load it from numba's cache, by running each detector once.

    A process that has done this can fork children in which the first fit is as fast as the next.
    """
    X = np.random.default_rng(0).random((64, 3))
    for detector in (
        SamplingOneClassForest(n_estimators=1, random_state=0),
        RandomForestClustering(n_forests=1, n_trees=2, random_state=0),
        Orca(random_state=0),
        LeastSquaresAnomalyDetection(random_state=0),
    ):
        detector.fit(X).score_samples(X)
