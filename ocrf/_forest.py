"""The estimator: one-class random forests behind scikit-learn's interface."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ._growing.blocks import grow_blocks, join_blocks, scaled_importances
from ._growing.criterion import ADVERSARIES, CRITERIA, MISSING_RULES
from ._growing.ranking import rank_columns
from ._growing.work_space import TreeParameters, picks_points
from ._input import (
    expected_size,
    quantile,
    refuse_overflowing_ranges,
    resolve_weights,
    validated,
)
from ._inspection import features_of_trees, samples_of_trees, trees
from ._params import (
    PARAMETER_CONSTRAINTS,
    resolve_gamma,
    resolve_log_densities,
    resolve_max_depth,
    resolve_max_features,
    resolve_max_features_tree,
    resolve_max_samples,
)
from ._persistence import from_plain, to_plain
from ._scoring.contributions import (
    Available,
    feature_contributions,
    mean_log2_score,
    refuse_unexplained,
)
from ._scoring.missing import has_missing
from ._scoring.predictor import grown_forest, is_depth
from ._trees.tree import OneClassTree
from ._warm_start import Earlier, append_trees, grown_with, n_more_trees, refuse_changes
from .kernels.arrays import read_only
from .kernels.threads import n_threads

# What a fit stores beside the public attributes, which end in an underscore.
_FITTED_PRIVATE = (
    "_grown",
    "_tree_seeds",
    "_total_importances",
    "_n_samples_fit",
    "_grown_with",
    "_rows",
)


def _check_explained(forest: OneClassRF) -> None:
    """Raise AttributeError if a forest has no contributions."""
    # Parameters that were set after a fit wait for the next one.
    fitted = vars(forest).get("_grown", forest)
    refuse_unexplained(fitted.scoring, fitted.out_of_bounds)


class OneClassRF(OutlierMixin, BaseEstimator):
    """One-class random forest.

    A forest whose splits separate the observations from hidden outliers, which are assumed to be
    uniform over each node's box, and `gamma` times as many as the observations in it. Outliers are
    never drawn: the splitting criteria use their expected numbers, that is, volumes.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_samples : "auto", int or float, default="auto"
        Size of each tree's sub-sample, drawn without replacement: a number, at least 2, or a share
        of the observations. "auto" is 20 % of them, at least 100 (at most all). A number above
        that of the observations stands for all of them, with a warning.
    max_features_tree : "auto", int or float, default="auto"
        Features of each tree, drawn without replacement: a number, at most all, or a share of the
        features. "auto" is half of them, at least 5 (at most all).
    max_features_node : int, float or None, default=5
        Features searched at each node, drawn from those of the tree's features that are not
        constant in the node: a number, a share of the tree's features, or None for all of them.
        A number above that of the tree's features stands for all of them, without a warning, as
        the default must on narrow data.
    gamma : float or (float, float), default=1.0
        Expected number of hidden outliers per observation, from 1e-100 to 1e100. From a range
        (low, high) each tree draws its own, uniformly on a logarithmic scale.
    max_depth : "auto", int or None, default="auto"
        Depth at which nodes become leaves, the root's being 0. "auto" is the logarithm of the
        sub-sample's size to base 2, rounded up, as in isolation forest and in the published
        experiments (the paper's text has the size of the whole training sample); None sets no
        bound.
    criterion : {"gini", "entropy"}, default="gini"
        The one-class proxy that a split minimises. The paper's entropy proxy is the inliers' part
        of the two-class one; it separates two modes of the data less readily than Gini does.
    min_samples_split : int, default=2
        A node with fewer observations is a leaf.
    out_of_bounds : None or "maximal", default=None
        "maximal" gives rows outside the bounding box of the training data the lowest score of the
        batch that they are scored in, as the published experiments did: the score and the label of
        such a row depend on the other rows of the batch.
    contamination : "auto" or float, default="auto"
        Share of anomalies in the training data, in (0, 0.5], which sets the threshold of `predict`:
        the quantile of the training scores at that share. As in scikit-learn's detectors, a row
        whose score equals the threshold is normal, so that with tied scores fewer training rows
        than this share are anomalies. With sample weights it is a share of their sum. "auto" sets
        the threshold from the score alone: at s(x) = 0.5 for the depth score as in isolation
        forest, and at the density of the uniform law on the training data's bounding box for the
        two densities.
    n_jobs : int or None, default=None
        Threads for fitting and scoring; None is 1, -1 stands for all processors that this process
        may use. Joblib's backends have no effect on it.
    random_state : int, RandomState instance or None, default=None
        Draws sub-samples, features and gammas. Results do not depend on `n_jobs`.
    warm_start : bool, default=False
        Whether `fit` keeps the trees of the fit before and adds those that `n_estimators` is larger
        by. With an integer as `random_state`, it is the forest of one fit. Other data, names of
        columns, weights, and parameters that trees depend on are refused; `n_estimators`,
        `contamination`, `scoring`, `out_of_bounds` and `n_jobs` may change. A fit that fails leaves
        the trees that there were.
    adversary : {"adaptive", "naive"}, default="adaptive"
        How many outliers hide in a node t: gamma n_t ("adaptive"), or gamma n Leb(X_t) / Leb(X)
        ("naive"), where n is the size of the sub-sample and X the bounding box of the training data
        along the tree's features.
    scoring : {"depth", "published_depth", "density", "typical_cell"}, default="depth"
        "depth" is the paper's score; "published_depth" is the same as the authors' program
        computed it, where a leaf of one point counts one level more. "density" is the logarithm of
        the mean over the trees of the leaf's density, "typical_cell" that of the sum of the leaves'
        observations over the sum of their volumes. Densities are relative to the uniform law on
        the training data's bounding box. "density" integrates to one over it with
        ``max_samples=1.0`` alone: with a sub-sample the outermost leaves reach beyond the box of
        their tree, whose volume they are divided by, so that the integral is larger. A point
        outside the box has the density of the leaf at the edge that it lies beyond, however far:
        the densities do not find it, unless ``out_of_bounds="maximal"`` and a batch with other rows
        do.
    min_log_density, max_log_density : float or None, default=None
        A node is a leaf as soon as the natural logarithm of its density, relative to the uniform
        law on the training data's bounding box, lies at or below the first or at or above the
        second.

    Attributes
    ----------
    estimators_ : sequence of OneClassTree
        The trees, for inspection; each is made from the forest's arrays when it is asked for.
    estimators_features_, estimators_samples_ : sequences of int64 arrays
        Columns and rows that each tree was grown on, ascending.
    feature_importances_ : float64 array of shape (n_features,)
        Decreases of the one-class proxy at the splits on each feature, averaged over the trees
        and scaled to sum to 1 (all zero if no tree has a split, or none whose decrease is a number
        above zero).
    gammas_ : float64 array of shape (n_estimators,)
        Each tree's gamma.
    max_samples_, max_features_tree_, max_features_node_, max_depth_ : int
        The parameters, resolved.
    offset_ : float
        `decision_function` is `score_samples` minus the offset.
    mean_log2_score_ : float
        What `feature_contributions` start from: the mean over the trees of the part of log2 s that
        a tree gives on average to the points of its sub-sample. A training row that lacks a value
        went one way in a tree, and is scored both ways: contributions of such rows are 0 on average
        only nearly. Only for scores by depth without ``out_of_bounds``.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only where `X` has column names.

    Notes
    -----
    NaN is a missing value. A split compares the points of its node that have a value, with as large
    a share of the hidden outliers; the others are sent to both children in proportion to these
    points, each at random while a tree grows. A row that lacks a value goes down both sides, and
    its score averages over the leaves that it may reach. Boxes and `out_of_bounds` ignore missing
    values, a feature without any value is never split, and a row without any value has the average
    score of each tree's sub-sample, which is mostly a normal row's.

    A row with one extreme coordinate may pass as normal, since few splits are on that coordinate:
    with a few features already, where isolation forest finds it more often.

    Constant columns, and those whose values all lie within 1e-308, are never split, and values
    there do not change the score by depth. But they take the place of others among the columns of a
    tree, and a tree that draws nothing else tells no rows apart: drop them where they are many.

    Sparse matrices are refused. They would take ranks of each column over its non-zeros, sorted
    from CSC, with the zeros as one more rank, and a traversal that reads CSR rows. Pass
    ``X.toarray()`` where it fits the memory.

    Scores, labels and contributions are NumPy arrays, one item or row per row of `X`, whatever the
    container of `X` and whatever ``sklearn.set_config(transform_output=...)`` says, which concerns
    transformers. After a fit on a data frame whose columns are named by texts, frames with other
    columns are refused; columns named by numbers go by their place, as in scikit-learn.

    A pickle states the version of ocrf that made it. Another version reads it with a
    `ocrf.VersionWarning`, or refuses it if it stores forests in another form. A fitted forest is
    only read: one that ``joblib.load(path, mmap_mode="r")`` maps from disk is used without a copy,
    and processes that map it share its pages.

    References
    ----------
    N. Goix, N. Drougard, R. Brault, M. Chiapino. One Class Splitting Criteria for Random
    Forests. 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from ocrf import OneClassRF
    >>> rng = np.random.default_rng(0)
    >>> forest = OneClassRF(random_state=0).fit(rng.normal(size=(500, 2)))
    >>> forest.predict([[0.0, 0.0], [4.0, 4.0]])
    array([ 1, -1])
    """

    _parameter_constraints = PARAMETER_CONSTRAINTS

    # Where a split sends rows that lack the value that it compares: chosen by measurement.
    _missing_rule = "proportion"

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: str | float = "auto",
        max_features_tree: str | float = "auto",
        max_features_node: float | None = 5,
        gamma: float | tuple[float, float] = 1.0,
        max_depth: str | int | None = "auto",
        criterion: str = "gini",
        min_samples_split: int = 2,
        out_of_bounds: str | None = None,
        contamination: str | float = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        adversary: str = "adaptive",
        scoring: str = "depth",
        min_log_density: float | None = None,
        max_log_density: float | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features_tree = max_features_tree
        self.max_features_node = max_features_node
        self.gamma = gamma
        self.max_depth = max_depth
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.out_of_bounds = out_of_bounds
        self.contamination = contamination
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.adversary = adversary
        self.scoring = scoring
        self.min_log_density = min_log_density
        self.max_log_density = max_log_density

    def fit(self, X: Any, y: None = None, sample_weight: Any = None) -> OneClassRF:
        """Grow the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows of finite numbers, or NaN where a value is missing.
        y : ignored
            Present for scikit-learn's interface: a second positional argument has no effect.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts, at least 0: in the criteria, in leaves and in path
            lengths. Without missing values, integer weights grow the trees of repeated rows if
            every tree takes all rows (``max_samples=1.0``). A row that lacks the value that a split
            compares goes to one child with its whole weight, where repeated rows are divided among
            both: then the forests differ, also on average. Weights of 0 grow the trees without the
            rows. Weights have no effect on which rows a sub-sample takes. Their scale matters: the
            larger, the deeper the trees. ``sample_weight / np.mean(sample_weight)`` count as many
            observations as there are rows.

        Returns
        -------
        self : OneClassRF

        Raises
        ------
        ValueError
            For a parameter outside its range (the message names it and what it may be); for data
            that are empty, of one row only, infinite, not two-dimensional, or with a column whose
            range overflows, and for dates, durations, masked arrays and integers beyond 2**53; for
            weights that are negative, sum to more than 2**53, or sum to less than 2 in a sub-sample
            on average; and
            for a warm start with other data, names of columns, weights or parameters than those of
            the trees.
        TypeError
            For sparse data.
        """
        fresh = type(self)(**self.get_params(deep=False))
        earlier = self._earlier() if self.warm_start else None
        try:
            fresh._fit(X, sample_weight, earlier)
        except BaseException:
            # Raised again: after a fit that fails, or that Ctrl-C or a timeout interrupts, the
            # estimator is not fitted; one that adds trees leaves those that there were.
            if earlier is None:
                self._replace_fitted({})
            raise
        self._replace_fitted(fresh.__dict__)
        return self

    def _earlier(self) -> Earlier | None:
        """Return what a warm start adds trees to, or None before the first fit."""
        fitted = self.__dict__.copy()
        if "_grown" not in fitted:
            return None
        grown = fitted["_grown"]
        return Earlier(
            grown=grown,
            seeds=fitted["_tree_seeds"],
            gammas=fitted["gammas_"],
            total_importances=fitted["_total_importances"],
            grown_with=fitted["_grown_with"],
            names=fitted.get("feature_names_in_"),
        )

    def _replace_fitted(self, fitted: dict[str, Any]) -> None:
        """Replace what fits have stored, in one step: other threads see all of it or nothing."""
        kept = {
            name: value
            for name, value in vars(self).items()
            if not (name.endswith("_") or name in _FITTED_PRIVATE)
        }
        # Parameters that were set meanwhile wait for the next fit.
        self.__dict__ = fitted | kept

    def _validate_params(self) -> None:
        super()._validate_params()
        resolve_gamma(self.gamma)

    def _refuse_width(self, n_features: int) -> None:
        """Raise the ValueError of a fit on so few features; who runs grids asks before a fit."""
        resolve_max_features_tree(self.max_features_tree, n_features)

    def _fit(self, X: Any, sample_weight: Any, earlier: Earlier | None) -> None:
        """Grow the forest in an estimator that no other thread sees."""
        self._validate_params()
        n_more = n_more_trees(self.n_estimators, earlier)
        gamma_low, gamma_high = resolve_gamma(self.gamma)
        X = validated(self, X, order="C", ensure_min_samples=2).astype(np.float64, copy=False)
        if earlier and earlier.names is not None and not hasattr(self, "feature_names_in_"):
            # The same data without names add trees, and do not take the names away.
            self.feature_names_in_ = earlier.names
        X, weights, self._rows = resolve_weights(sample_weight, X)
        missing = has_missing(X)
        if missing:
            # The sign of NaN, which sorting would see, has no meaning.
            X = np.where(np.isnan(X), np.nan, X)
        n_samples, n_features = X.shape
        self.max_samples_ = resolve_max_samples(self.max_samples, n_samples)
        size = expected_size(self.max_samples_, n_samples, weights)
        self.max_features_tree_ = resolve_max_features_tree(self.max_features_tree, n_features)
        self.max_features_node_ = resolve_max_features(
            self.max_features_node, self.max_features_tree_
        )
        self.max_depth_ = resolve_max_depth(self.max_depth, self.max_samples_, size)
        self._n_samples_fit = n_samples

        rng = check_random_state(self.random_state)
        # Those of earlier trees are drawn again: the new ones are the same as in one fit.
        self._tree_seeds = rng.randint(0, 2**32, size=(self.n_estimators, 2), dtype=np.uint64) @ (
            np.array([2**32, 1], dtype=np.uint64)
        )
        min_log_density, max_log_density = resolve_log_densities(
            self.min_log_density, self.max_log_density
        )
        most_points = self.max_samples_ if weights is None else math.ceil(weights.sum())
        parameters = TreeParameters(
            n_subsample=self.max_samples_,
            n_features_tree=self.max_features_tree_,
            n_features_node=self.max_features_node_,
            criterion=CRITERIA[self.criterion],
            adversary=ADVERSARIES[self.adversary],
            gamma_low=gamma_low,
            gamma_high=gamma_high,
            max_depth=self.max_depth_,
            # Larger numbers, which may not fit the kernels' integers, have the same effect.
            min_samples_split=min(int(self.min_samples_split), most_points + 1),
            min_log_density=min_log_density,
            max_log_density=max_log_density,
            missing_rule=MISSING_RULES[self._missing_rule],
        )
        n_jobs = n_threads(self.n_jobs)
        is_weighted = missing or weights is not None
        keeps_orders = picks_points(n_samples, parameters, is_weighted)
        data = rank_columns(read_only(X), n_jobs, weights, keeps_orders)
        box = data.lower, data.upper
        refuse_overflowing_ranges(*box, getattr(self, "feature_names_in_", None))
        self._grown_with = grown_with(self, X, weights, earlier)
        self._total_importances = np.zeros(n_features)
        if earlier is not None:
            refuse_changes(earlier.grown_with, self._grown_with)
            self._tree_seeds[: len(earlier.seeds)] = earlier.seeds
            self._total_importances += earlier.total_importances
        seeds = self._tree_seeds[self.n_estimators - n_more :]
        blocks = grow_blocks(data, seeds, parameters, is_weighted, n_jobs) if n_more else []
        # The ranks are freed before the trees are joined, which takes as much memory for a moment.
        del data
        if blocks:
            has_directions = self._missing_rule != "proportion"
            trees, gammas = join_blocks(blocks, self._total_importances, has_directions)
            if earlier is not None:
                trees = append_trees(earlier.grown.trees, trees)
                gammas = np.concatenate([earlier.gammas, gammas])
        elif earlier is not None:
            trees, gammas = earlier.grown.trees, earlier.gammas
        self.gammas_ = gammas
        self.feature_importances_ = scaled_importances(self._total_importances, self.n_estimators)
        self._grown = grown_forest(trees, self.scoring, size, box, self.out_of_bounds)

        if self.contamination == "auto":
            self.offset_ = -0.5 if is_depth(self.scoring) else 0.0
        else:
            scores = self._grown.score(X, n_jobs)
            self.offset_ = quantile(scores, float(self.contamination), weights)

    def _snapshot(self) -> OneClassRF:
        """Return a view of this estimator that does not change if another thread fits it.

        Raises
        ------
        NotFittedError
            If it is not fitted.
        """
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__.copy()
        check_is_fitted(view)
        return view

    def _validated(self, X: Any) -> np.ndarray:
        """Return rows to score, with a snapshot."""
        return validated(self, X, reset=False)

    def _score(self, X: Any) -> np.ndarray:
        """Score rows with a snapshot."""
        X = self._validated(X)
        return self._grown.score(X, n_threads(self.n_jobs))

    def score_samples(self, X: Any) -> np.ndarray:
        """Score rows: the higher, the more normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : float64 array of shape (n_samples,)
            By depth: -s(x), in [-1, 0), where log2 s(x) is minus the mean over the
            trees of the leaf's depth plus c(points in the leaf), over c(sub-sample size);
            c(n) = 2 H(n - 1) - 2 (n - 1) / n with the harmonic numbers H, and c(1) = 0. With sample
            weights the size is the sum of weights that a sub-sample has on average: rows that no
            tree tells apart then score near -0.5, on either side. Otherwise a log density.
        """
        return self._snapshot()._score(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Score rows relative to the threshold of `predict`: anomalies are negative.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : float64 array of shape (n_samples,)
            ``score_samples(X) - offset_``, and 0 where that is only the rounding error of a mean
            over the trees: a score that equals the threshold is a normal row's.
        """
        forest = self._snapshot()
        scores = forest._score(X) - forest.offset_
        rounding = forest.gammas_.size * np.finfo(np.float64).eps * max(1.0, abs(forest.offset_))
        return np.where(np.abs(scores) <= rounding, 0.0, scores)

    def predict(self, X: Any) -> np.ndarray:
        """Label normal rows as 1 and anomalies as -1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : int64 array of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @partial(Available, _check_explained)
    def feature_contributions(self, X: Any) -> np.ndarray:
        """Say which features make a row anomalous: parts of log2 s(x), one per feature.

        On the path of a row down a tree, each split changes the expected value of depth plus
        c(points in the leaf), that is, its mean over the points of the tree's sub-sample in the
        node. The change belongs to the feature of the split. Changes are divided by -c(sub-sample
        size), as depths are in the score, and averaged over the trees.

        Available where ``scoring`` is a depth and ``out_of_bounds`` is None: the logarithms of the
        densities are not sums over the trees, and with "maximal" the score of a row outside the
        bounding box is that of another row of its batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        contributions : float64 array of shape (n_samples, n_features)
            Above zero where the feature makes the row more anomalous than the rows that trees were
            grown on are on average, each in its own tree. Each row sums to
            ``log2(-score_samples(X)) - mean_log2_score_``.

        Examples
        --------
        >>> import numpy as np
        >>> from ocrf import OneClassRF
        >>> rng = np.random.default_rng(0)
        >>> forest = OneClassRF(random_state=0).fit(rng.normal(size=(500, 3)))
        >>> contributions = forest.feature_contributions([[0.0, 9.0, 0.0]])
        >>> int(contributions.argmax())
        1
        >>> total = contributions.sum() + forest.mean_log2_score_
        >>> bool(np.isclose(2**total, -forest.score_samples([[0.0, 9.0, 0.0]])[0], rtol=1e-12))
        True
        """
        forest = self._snapshot()
        X = forest._validated(X)
        return feature_contributions(forest._grown, X, n_threads(forest.n_jobs))

    @property
    def mean_log2_score_(self) -> float:
        """Mean of log2 s over the training data, in each tree over the points it grew on."""
        forest = self._snapshot()
        _check_explained(forest)
        return mean_log2_score(forest._grown)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return to_plain(super().__getstate__(), _version())

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Parameters that the version which pickled it did not have take their defaults.
        defaults = OneClassRF().get_params(deep=False)
        super().__setstate__(defaults | from_plain(state, _version(), type(self).__name__))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "offset_")

    @property
    def estimators_(self) -> Sequence[OneClassTree]:
        """The trees, for inspection."""
        return trees(self._snapshot())

    @property
    def estimators_features_(self) -> Sequence[np.ndarray]:
        """The columns of each tree, ascending."""
        return features_of_trees(self._snapshot())

    @property
    def estimators_samples_(self) -> Sequence[np.ndarray]:
        """The rows of each tree's sub-sample, ascending."""
        return samples_of_trees(self._snapshot())


def _version() -> str:
    from . import __version__

    return __version__
