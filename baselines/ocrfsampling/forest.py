"""A forest that tells target points from generated outliers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options

from baselines.detector import Detector
from baselines.forests.growing import grow_tree
from baselines.forests.random_stream import bootstrap_counts
from baselines.forests.ranking import RankedPoints, rank_points, weigh
from baselines.forests.splitting import entropy_table
from baselines.forests.tree import Tree, add_votes
from baselines.ocrfsampling.outliers import generate_outliers


class SamplingOneClassForest(Detector):
    """One-class random forest trained against generated outliers (Desir et al. 2013).

    The defaults are those of the program that the published tables were made with.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees (``n_tree``).
    method : {0, 1}, default=1
        1 generates the outliers once, in all dimensions, and bags targets and outliers together. 0
        generates them anew for every tree, in the tree's own subspace, and bags the targets only.
    optimize : {0, 1}, default=1
        0 generates outliers uniformly, 1 where the targets' marginal histograms are low. The
        paper's text says 0.
    alpha : float, default=1.2
        Factor on the sides of the box that outliers are generated in.
    beta : float, default=10
        Outliers per target.
    krsm : int, default=-1
        Dimensions of a tree's random subspace; -1 is min(10, n_features) for method 0 and all
        features for method 1.
    krfs : int, default=-1
        Features tried at a node at most; -1 is the root of the number of the tree's features,
        rounded down.
    reject_out_of_bounds : bool, default=False
        Whether a point outside the targets' bounding box gets the score of a certain outlier.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Share of anomalies among the training points, which sets `offset_`. "auto" calls a point an
        anomaly when more than half of the trees do.
    n_jobs : int, default=None
        Trees grown at a time, in threads. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of outliers, bootstraps and drawn features.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`.
    lower_, upper_ : ndarray of shape (n_features,)
        Bounding box of the targets.

    Notes
    -----
    A node draws features one at a time and is split on the first with a positive entropy gain, so
    nearly every split is on one random feature. Leaves vote for their majority, ties for outlier;
    ``-score_samples`` is the fraction of trees that vote outlier.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Detector._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "method": [Options(Integral, {0, 1})],
        "optimize": [Options(Integral, {0, 1})],
        "alpha": [Interval(Real, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "krsm": [Options(Integral, {-1}), Interval(Integral, 1, None, closed="left")],
        "krfs": [Options(Integral, {-1}), Interval(Integral, 1, None, closed="left")],
        "reject_out_of_bounds": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        method: int = 1,
        optimize: int = 1,
        alpha: float = 1.2,
        beta: float = 10,
        krsm: int = -1,
        krfs: int = -1,
        reject_out_of_bounds: bool = False,
        contamination: float | str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.method = method
        self.optimize = optimize
        self.alpha = alpha
        self.beta = beta
        self.krsm = krsm
        self.krfs = krfs
        self.reject_out_of_bounds = reject_out_of_bounds
        self.contamination = contamination
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: NDArray[np.float64]) -> None:
        self._fit_targets(X, np.empty((0, X.shape[1])))

    def _fit_targets(self, targets: NDArray[np.float64], known: NDArray[np.float64]) -> None:
        """Grow the forest on targets against generated and, where there are any, known outliers."""
        self.lower_ = targets.min(axis=0)
        self.upper_ = targets.max(axis=0)
        n_features = targets.shape[1]
        subspace = self.krsm
        if subspace == -1:
            subspace = min(10, n_features) if self.method == 0 else n_features
        self._refuse_width(n_features)
        random_state = check_random_state(self.random_state)
        seeds = random_state.randint(np.iinfo(np.int32).max, size=self.n_estimators + 1)
        sample = _FixedSample if self.method == 1 else _SamplePerTree
        grower = sample(self, targets, known, subspace, int(seeds[-1]))
        self.trees_: list[Tree] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(grower.grow)(int(seed)) for seed in seeds[:-1]
        )

    def _refuse_width(self, n_features: int) -> None:
        if self.krsm > n_features:
            raise ValueError(
                f"{type(self).__name__}: krsm={self.krsm} is more than the {n_features} features "
                "of the data"
            )

    def _score_samples(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros(len(X), dtype=np.int32)
        for tree in self.trees_:
            add_votes(tree, X, votes)
        abnormality = votes / len(self.trees_)
        if self._at_fit.reject_out_of_bounds:
            outside = (X.clip(self.lower_, self.upper_) != X).any(axis=1)
            abnormality[outside] = 1.0
        return -abnormality

    def _draw_outliers(
        self, targets: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        n_outliers = max(1, round(self.beta * len(targets)))
        return generate_outliers(
            targets, n_outliers, alpha=self.alpha, optimize=self.optimize, rng=rng
        )

    def _tries(self, subspace: int) -> int:
        """Return how many features a node tries at most."""
        return int(np.sqrt(subspace)) if self.krfs == -1 else min(self.krfs, subspace)


class _FixedSample:
    """Method 1: one set of outliers for all trees, bagged together with the targets."""

    def __init__(
        self,
        forest: SamplingOneClassForest,
        targets: NDArray[np.float64],
        known: NDArray[np.float64],
        subspace: int,
        seed: int,
    ) -> None:
        outliers = forest._draw_outliers(targets, np.random.default_rng(seed))
        self.labels = np.zeros(len(targets) + len(known) + len(outliers), dtype=np.uint8)
        self.labels[len(targets) :] = 1
        self.points = rank_points(np.vstack([targets, known, outliers]).T)
        self.table = entropy_table(self.labels.size)
        self.subspace = subspace
        self.tries = forest._tries(subspace)

    def grow(self, seed: int) -> Tree:
        state = np.array([seed], dtype=np.uint64)
        counts = bootstrap_counts(state, self.labels.size)
        points, features = self.points, None
        n_features = len(points.ranks)
        if self.subspace < n_features:
            rng = np.random.default_rng(seed)
            features = rng.choice(n_features, self.subspace, replace=False)
            points = points.select(features)
        tree = _grow(points, counts, self.labels, self.tries, self.table, state)
        return _in_all_dimensions(tree, features)


class _SamplePerTree:
    """Method 0: every tree has a subspace, bagged targets and unbagged outliers of its own."""

    def __init__(
        self,
        forest: SamplingOneClassForest,
        targets: NDArray[np.float64],
        known: NDArray[np.float64],
        subspace: int,
        seed: int,
    ) -> None:
        del seed  # nothing is drawn for all trees at once
        self.forest = forest
        self.targets = targets
        self.known = known
        self.subspace = subspace
        self.tries = forest._tries(subspace)

    def grow(self, seed: int) -> Tree:
        state = np.array([seed], dtype=np.uint64)
        rng = np.random.default_rng(seed)
        features = rng.choice(self.targets.shape[1], self.subspace, replace=False)
        targets = self.targets[:, features]
        outliers = self.forest._draw_outliers(targets, rng)
        values = np.vstack([targets, self.known[:, features], outliers])
        labels = np.ones(len(values), dtype=np.uint8)
        labels[: len(targets)] = 0
        counts = np.ones(len(values), dtype=np.int32)
        counts[: len(targets)] = bootstrap_counts(state, len(targets))
        table = entropy_table(labels.size)
        tree = _grow(rank_points(values.T), counts, labels, self.tries, table, state)
        return _in_all_dimensions(tree, features)


def _grow(
    points: RankedPoints,
    counts: NDArray[np.int32],
    labels: NDArray[np.uint8],
    tries: int,
    table: NDArray[np.float64],
    state: NDArray[np.uint64],
) -> Tree:
    """Grow a tree on a sample of the points."""
    n_points = points.ranks.shape[1]
    weights = weigh(points.point_of, n_points, counts, labels)
    nobody = np.zeros(n_points, dtype=np.bool_)
    tree: Tree = grow_tree(points, weights, nobody, tries, True, table, state)[0]
    return tree


def _in_all_dimensions(tree: Tree, features: NDArray[np.int64] | None) -> Tree:
    """Rename the features of a tree that was grown on a selection of them."""
    if features is None:
        return tree
    inner = tree.feature >= 0
    renamed = tree.feature.copy()
    renamed[inner] = features[tree.feature[inner]]
    return tree._replace(feature=renamed)
