"""A grown forest: everything that scoring needs, and nothing that a parameter set later changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._arrays import read_only
from ._scoring import leaf_values, score_rows
from ._threads import map_in_threads
from ._traversal import block_rows, outside_box
from ._trees import Trees

# Rows that are scored at a time: what has to be copied or kept per row is bounded by it.
_CHUNK_BYTES = 16 * 2**20

# Fewer rows than these are not worth a thread.
_FEWEST_ROWS = 512


class GrownForest(NamedTuple):
    """Trees, and how they score."""

    trees: Trees
    scoring: str
    leaf_value: np.ndarray  # float64, (n_nodes,): `_scoring.leaf_values`
    n_subsample: int
    lower: np.ndarray  # float64, (n_features,): the training data's bounding box
    upper: np.ndarray
    out_of_bounds: str | None

    def score(self, X: np.ndarray, n_jobs: int) -> np.ndarray:
        """Score rows, in as many threads.

        Parameters
        ----------
        X : float array of shape (n_samples, n_features)
            Finite numbers.
        n_jobs : int
            It does not show in the result.

        Returns
        -------
        scores : float64 array of shape (n_samples,)
        """
        n_samples, n_features = X.shape
        scores = np.empty(n_samples)
        outside = np.zeros(n_samples if self.out_of_bounds else 0, bool)
        # Enough chunks to keep the threads busy, none so large that its copy would count.
        chunk = max(_CHUNK_BYTES // (8 * n_features), 1)
        if n_jobs > 1:
            chunk = min(chunk, max(-(-n_samples // (4 * n_jobs)), _FEWEST_ROWS))
        size = min(block_rows(n_features), chunk)

        def score_chunk(start: int) -> None:
            part = slice(start, min(start + chunk, n_samples))
            rows = read_only(np.ascontiguousarray(X[part], dtype=np.float64))
            scores[part] = score_rows(
                self.scoring, self.trees, self.leaf_value, self.n_subsample, rows, size
            )
            if self.out_of_bounds:
                outside_box(rows, read_only(self.lower), read_only(self.upper), outside[part])

        map_in_threads(score_chunk, range(0, n_samples, chunk), n_jobs)
        if self.out_of_bounds and outside.any():
            scores[outside] = scores.min()
        return scores


def grown_forest(
    trees: Trees,
    scoring: str,
    n_subsample: int,
    box: tuple[np.ndarray, np.ndarray],
    out_of_bounds: str | None,
) -> GrownForest:
    """Prepare the scoring; `box` is the lower and the upper corner."""
    return GrownForest(
        trees=trees,
        scoring=scoring,
        leaf_value=leaf_values(scoring, trees, n_subsample),
        n_subsample=n_subsample,
        lower=box[0],
        upper=box[1],
        out_of_bounds=out_of_bounds,
    )
