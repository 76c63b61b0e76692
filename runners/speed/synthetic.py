"""Clustered data of any size."""

from __future__ import annotations

import numpy as np

_CLUSTERS = 8
_CHUNK = 100_000


def clustered(n_rows: int, n_features: int, seed: int) -> np.ndarray:
    """Draw rows from eight normal clusters of different spreads.

    Returns
    -------
    X : float64 array of shape (n_rows, n_features)
    """
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-10, 10, size=(_CLUSTERS, n_features))
    spreads = rng.uniform(0.3, 2.0, size=_CLUSTERS)
    X = np.empty((n_rows, n_features))
    # In chunks, so that making the data takes no more memory than they do.
    for start in range(0, n_rows, _CHUNK):
        part = X[start : start + _CHUNK]
        cluster = rng.integers(_CLUSTERS, size=len(part))
        part[:] = rng.normal(size=part.shape) * spreads[cluster, None] + centres[cluster]
    return X
