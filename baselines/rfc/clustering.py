"""Score points by their random forest proximities to all others."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import psutil
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from baselines.detector import TransductiveDetector
from baselines.forests.growing import grow_tree
from baselines.forests.random_stream import bootstrap_counts
from baselines.forests.ranking import rank_points, weigh
from baselines.forests.splitting import entropy_table
from baselines.rfc.proximity import IN_BAG, group_by_leaf, proximity_sums

GIGABYTE = 2.0**30


class RandomForestClustering(TransductiveDetector):
    """Random forest clustering (Shi and Horvath 2006); a point far from all others is abnormal.

    Transductive: training points and the points to be scored are stacked, forests learn to tell
    them from synthetic rows, and the score of a row is the mean of its out-of-bag proximities to
    all rows, averaged over the forests, less 1. (The sum over all rows of one minus the proximity
    gives the same ranking, reversed.)

    Parameters
    ----------
    n_forests : int, default=25
        Number of forests, each with synthetic rows of its own. (The R program grew one more and
        discarded it.)
    n_trees : int, default=100
        Trees of a forest. The paper's text says 3000; the tables were made with 100.
    mtry : int, default=3
        Features drawn at a node, at most n_features. A node where all drawn features are constant
        is a leaf, as in R's randomForest.
    synthetic : {"addcl1", "addcl2"}, default="addcl1"
        How to make synthetic rows: "addcl1" resamples every column on its own, "addcl2" draws
        uniformly from the rows' bounding box.
    max_memory_gb : float or None, default=None
        More than this is refused; None is what the machine has available.
    contamination : float in (0, 0.5], default=0.1
        Share of anomalies among the training points, which sets `offset_`.
    n_jobs : int, default=None
        Forests grown at a time, in threads. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the synthetic rows and the forests.

    Attributes
    ----------
    X_train_ : ndarray of shape (n_samples, n_features)
        The training points.
    offset_ : float
        Threshold on `score_samples`, computed when asked for.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TransductiveDetector._parameter_constraints,
        "n_forests": [Interval(Integral, 1, None, closed="left")],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "mtry": [Interval(Integral, 1, None, closed="left")],
        "synthetic": [StrOptions({"addcl1", "addcl2"})],
        "max_memory_gb": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_forests: int = 25,
        n_trees: int = 100,
        *,
        mtry: int = 3,
        synthetic: str = "addcl1",
        max_memory_gb: float | None = None,
        contamination: float = 0.1,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_forests = n_forests
        self.n_trees = n_trees
        self.mtry = mtry
        self.synthetic = synthetic
        self.max_memory_gb = max_memory_gb
        self.contamination = contamination
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: NDArray[np.float64]) -> None:
        super()._fit(X)
        # Drawn here, so that the same fitted detector scores the same points the same way.
        random_state = check_random_state(self.random_state)
        self.seeds_ = random_state.randint(np.iinfo(np.int32).max, size=self.n_forests)

    def _score_samples(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        rows = np.vstack([self.X_train_, X])
        self._refuse_too_large(rows)
        sums: NDArray[np.float64] = sum(
            Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
                delayed(self._one_forest)(rows, len(X), int(seed)) for seed in self.seeds_
            )
        )
        return sums / (len(self.seeds_) * len(rows)) - 1.0

    def _one_forest(
        self, rows: NDArray[np.float64], n_scored: int, seed: int
    ) -> NDArray[np.float64]:
        """Return the proximity sums of the last `n_scored` rows in one forest."""
        n_rows, n_features = rows.shape
        synthetic = _synthetic_rows(rows, self._at_fit.synthetic, np.random.default_rng(seed))
        points = rank_points(np.vstack([rows, synthetic]).T)
        labels = np.repeat(np.array([0, 1], dtype=np.uint8), n_rows)
        state = np.array([seed], dtype=np.uint64)
        mtry = min(self._at_fit.mtry, n_features)
        no_table = entropy_table(0)
        n_points = points.ranks.shape[1]
        real = np.zeros(n_points, dtype=np.bool_)
        real[points.point_of[:n_rows]] = True
        # Rows that are alike stand side by side and share leaves: what one of them needs from
        # memory, the next one finds in the cache.
        order = np.argsort(points.point_of[:n_rows], kind="stable")
        point_of = points.point_of[order]
        leaves = np.empty((self._at_fit.n_trees, n_rows), dtype=np.int32)
        for row_of_leaves in leaves:
            counts = bootstrap_counts(state, labels.size)
            weights = weigh(points.point_of, n_points, counts, labels)
            leaf_of = grow_tree(points, weights, real, mtry, False, no_table, state)[1]
            row_of_leaves[:] = np.where(counts[order] > 0, IN_BAG, leaf_of[point_of])
        groups = group_by_leaf(leaves, order)
        scored = np.flatnonzero(order >= n_rows - n_scored)
        sums = np.empty(n_scored)
        sums[order[scored] - (n_rows - n_scored)] = proximity_sums(groups, scored)
        return sums

    def _refuse_too_large(self, rows: NDArray[np.float64]) -> None:
        """Raise MemoryError before the machine runs out of memory."""
        n_rows, n_features = rows.shape
        n_trees = self._at_fit.n_trees
        at_a_time = min(effective_n_jobs(self.n_jobs), len(self.seeds_))
        needed = at_a_time * forest_bytes(n_rows, n_features, n_trees) / GIGABYTE
        limit = self.max_memory_gb
        if limit is None:
            limit = psutil.virtual_memory().available / GIGABYTE
        if needed > limit:
            raise MemoryError(
                f"RandomForestClustering: the leaves of {n_trees} trees for {n_rows} rows need "
                f"{_in_words(needed)}, and {_in_words(limit)} may be used; lower n_jobs, raise "
                "max_memory_gb, or fit with a lower n_trees"
            )


def forest_bytes(n_rows: int, n_features: int, n_trees: int) -> int:
    """Return the memory that one forest needs at its peak.

    The leaf of every row in every tree takes 16 bytes (the leaf, where its rows start and stop, a
    member) and a bit; values and ranks of real and synthetic rows take 16 bytes for a feature, the
    rows they are copied from 16 more; growing a tree takes less than 200 bytes for a row.
    """
    leaves = n_rows * n_trees * 16 + n_rows * n_trees // 8
    points = 2 * n_rows * (n_features * (16 + 16) + 200)
    return leaves + points


def _in_words(gigabytes: float) -> str:
    """Return an amount of memory in gigabytes with three significant digits."""
    return f"{np.format_float_positional(gigabytes, 3, fractional=False, trim='-')} GB"


def _synthetic_rows(
    rows: NDArray[np.float64], synthetic: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return as many synthetic rows as there are real ones."""
    if synthetic == "addcl1":
        return rows[rng.integers(len(rows), size=rows.shape), np.arange(rows.shape[1])]
    low, high = rows.min(axis=0), rows.max(axis=0)
    position = rng.random(rows.shape)
    return (low * (1.0 - position) + high * position).clip(low, high)
