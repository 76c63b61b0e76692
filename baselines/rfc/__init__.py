"""RFC: random forest clustering as an anomaly score (Shi and Horvath 2006)."""

from baselines.rfc.clustering import RandomForestClustering

__all__ = ["RandomForestClustering"]
