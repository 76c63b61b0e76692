"""Isolation forest and OneClassRF as they were grown in 2016, tree by tree.

They exist for the replay of the published tables alone: given the stream of that time they repeat
its forests. For anything else use `sklearn.ensemble.IsolationForest` and `ocrf.OneClassRF`.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from baselines.detector import Detector
from baselines.legacy.arithmetic import SEED_BOUND, sample_by_rejection, single_precision
from baselines.legacy.trees import Tree, grow, path_lengths


class _Forest2016(Detector):
    """What both forests share: seeds of trees, rows and features of a tree, the score by depth.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Share of anomalies among the training points, which sets `offset_`.
    random_state : int, RandomState instance or None, default=None
        The stream of random numbers; each class says what it takes from it.

    Attributes
    ----------
    trees_ : list of (Tree, ndarray)
        Each tree with its features.
    n_rows_ : int
        Rows of a tree.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Detector._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    #: What is added to a depth that counts the root as 0.
    _root_depth: ClassVar[float]

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        contamination: float | str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.contamination = contamination
        self.random_state = random_state

    @abstractmethod
    def _sizes(self, n: int, n_features: int) -> tuple[int, int]:
        """Return how many rows and features a tree has."""

    @abstractmethod
    def _targets(self, rng: np.random.RandomState, n: int) -> NDArray[np.float64]:
        """Take the targets of the trees from the stream; empty if they have none."""

    def _fit(self, X: NDArray[np.float64]) -> None:
        rng = check_random_state(self.random_state)
        n, n_features = X.shape
        n_rows, n_chosen = self._sizes(n, n_features)
        targets = self._targets(rng, n)
        max_depth = int(np.ceil(np.log2(max(n_rows, 2))))
        single = single_precision(X)
        self.n_rows_ = n_rows
        self.trees_: list[tuple[Tree, NDArray[np.int64]]] = []
        for seed in rng.randint(SEED_BOUND, size=self.n_estimators):
            of_tree = np.random.RandomState(seed)
            state = np.random.RandomState(of_tree.randint(SEED_BOUND)).randint(SEED_BOUND)
            features = np.arange(n_features)
            if n_chosen < n_features:
                features = sample_by_rejection(of_tree, n_features, n_chosen)
            inside = np.ones(n, dtype=bool)
            inside[sample_by_rejection(of_tree, n, n - n_rows)] = False
            rows = np.flatnonzero(inside)
            chosen = np.ascontiguousarray(single[np.ix_(rows, features)])
            tree = grow(chosen, targets[rows] if len(targets) else targets, max_depth, int(state))
            self.trees_.append((tree, features))

    def _score_samples(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        single = single_precision(X)
        lengths = average_path_lengths(self.n_rows_)
        total = np.zeros(len(X))
        for tree, features in self.trees_:
            total += path_lengths(tree, np.ascontiguousarray(single[:, features]), lengths)
        mean = total / len(self.trees_) + self._root_depth
        return -np.exp2(-mean / lengths[-1])


class IsolationForest2016(_Forest2016):
    """Isolation forest (Liu, Ting and Zhou 2008) with the libraries of 2016.

    Its trees are extremely randomised regression trees on up to 256 rows, whose targets are random:
    n_samples uniform numbers and a seed for each tree are taken from `random_state`. All parameters
    and attributes are those of `_Forest2016`.
    """

    _root_depth = 0.0

    def _sizes(self, n: int, n_features: int) -> tuple[int, int]:
        return min(256, n), n_features

    def _targets(self, rng: np.random.RandomState, n: int) -> NDArray[np.float64]:
        return rng.uniform(size=n)


class OneClassRF2016(_Forest2016):
    """OneClassRF as the published tables were made with it.

    A tree has 20 % of the rows, at least 100, and half of the features, at least 5, all of which
    are searched at each node; gamma is 1. Boxes and thresholds are in single precision, volumes in
    double. A point outside the training points' bounding box gets the highest anomaly score of its
    batch. A seed for each tree is taken from `random_state`. Parameters are those of `_Forest2016`.

    Attributes
    ----------
    lower_, upper_ : ndarrays of shape (n_features,)
        The training points' bounding box.
    """

    _root_depth = 1.0

    def _sizes(self, n: int, n_features: int) -> tuple[int, int]:
        return min(max(int(0.2 * n), 100), n), min(max(int(0.5 * n_features), 5), n_features)

    def _targets(self, rng: np.random.RandomState, n: int) -> NDArray[np.float64]:
        return np.empty(0)

    def _fit(self, X: NDArray[np.float64]) -> None:
        self.lower_, self.upper_ = X.min(axis=0), X.max(axis=0)
        super()._fit(X)

    def _score_samples(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = super()._score_samples(X)
        outside = ((self.lower_ > X) | (self.upper_ < X)).any(axis=1)
        scores[outside] = scores.min()
        return scores


def average_path_lengths(n: int) -> NDArray[np.float64]:
    """Return c(0) ... c(n), with c(k) = 2 (ln k + 0.5772156649) - 2 (k - 1) / k, and 1 up to k = 1.

    >>> average_path_lengths(2).round(4).tolist()
    [1.0, 1.0, 1.5407]
    """
    k = np.maximum(np.arange(n + 1), 1.0)
    return np.where(k > 1.0, 2.0 * (np.log(k) + 0.5772156649) - 2.0 * (k - 1.0) / k, 1.0)
