"""What distinguishes data sets: numbers that an algorithm's success may depend on."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from datasets.dataset import Dataset

#: Anomalies whose neighbours are looked up, at most: all of them in most data sets.
_MOST_ANOMALIES = 1000
#: A column with at most this share of distinct values is discrete.
_FEW_VALUES = 0.05


def traits(dataset: Dataset) -> dict[str, float]:
    """Describe a data set by numbers.

    Returns
    -------
    dict of str to float
        ``rows``; ``features``; ``anomaly_share``; ``discrete_share``: share of columns that are
        constant or have at most one distinct value per 20 rows, as counts, codes and ranks have,
        whatever the columns were scaled by; ``clustered_share``: share of the anomalies (of 1000
        drawn, if there are more) whose nearest other row, the columns standardised, is an anomaly.
    """
    X, y = dataset.X, dataset.y
    distinct = np.array([len(np.unique(column)) for column in X.T])
    return {
        "rows": len(X),
        "features": X.shape[1],
        "anomaly_share": dataset.anomaly_rate,
        "discrete_share": float(np.mean(distinct <= max(1, _FEW_VALUES * len(X)))),
        "clustered_share": _clustered_share(X, y),
    }


def _clustered_share(X: np.ndarray, y: np.ndarray) -> float:
    deviation = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    anomalies = np.flatnonzero(y)
    if len(anomalies) > _MOST_ANOMALIES:
        anomalies = np.random.default_rng(0).choice(anomalies, _MOST_ANOMALIES, replace=False)
    neighbours = NearestNeighbors(n_neighbors=2).fit(scaled)
    found = neighbours.kneighbors(scaled[anomalies], return_distance=False)
    # A row that occurs twice may come before itself.
    nearest = np.where(found[:, 0] == anomalies, found[:, 1], found[:, 0])
    return float(y[nearest].mean())
