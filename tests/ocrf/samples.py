"""Kinds of data that have broken, or could break, a split search."""

import numpy as np


def sample(kind, n, d, seed):
    """Draw data of a kind that has broken, or could break, a split search."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "ties":
        X = rng.integers(0, 6, size=(n, d)).astype(float)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(n // 4, 1), size=n)]
    elif kind == "constant columns":
        X[:, ::2] = 3.0
    elif kind == "symmetric":
        # Mirrored points make exact ties between different splits.
        X = np.round(np.concatenate([X, -X])[:n], 1)
    elif kind == "heavy tails":
        X = rng.standard_cauchy(size=(n, d)) ** 3
    elif kind == "identical":
        X[:] = 1.0
    elif kind == "spikes":
        X = np.where(rng.random((n, d)) < 0.8, 0.0, X)
    return X


KINDS = [
    "normal",
    "ties",
    "duplicates",
    "constant columns",
    "symmetric",
    "heavy tails",
    "identical",
    "spikes",
]
