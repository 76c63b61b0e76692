"""A user's file as a data set, and made-up data whose rows can be told apart."""

from __future__ import annotations

import numpy as np

from datasets import Dataset, load, make_split

NOVELTY = {"name": "novelty", "anomalies_in_train": False}
OUTLIER = {"name": "outlier", "anomalies_in_train": True}
PAPER = {
    "name": "paper",
    "repeats": "published",
    "cap": {"ratio": 0.1},
    "scaling": {"fitted_on": "all"},
    "metrics": ["roc_auc_curve"],
}
RAW = PAPER | {"scaling": {"kind": "none"}}


def own(path, **changes):
    """Load a file whose label 1 is the anomalies."""
    return load({"name": "mine", "path": str(path), "anomalies": [1]} | changes)


def dataset(n_normal, n_anomalies, seed=0, name="made", n_features=2):
    """A data set whose first column numbers its rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_normal + n_anomalies, n_features))
    X[:, 0] = np.arange(len(X))
    y = np.zeros(len(X), dtype=np.int8)
    y[rng.permutation(len(X))[:n_anomalies]] = 1
    return Dataset(name, X, y, tuple("abcdefgh"[:n_features]), "made")


def rows(X):
    return sorted(X[:, 0].astype(int).tolist())


def split_of(made, setting=OUTLIER, protocol=RAW, seed=0, split=0):
    return make_split(made, setting=setting, protocol=protocol, seed=seed, split=split)
