"""Generate outliers around the target points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Bins of the histogram that steers outliers away from the targets.
N_BINS = 50


# What overflows is at an end of the box, or rounds beyond it, and is clipped.
@np.errstate(over="ignore")
def generate_outliers(
    targets: NDArray[np.float64],
    n_outliers: int,
    *,
    alpha: float,
    optimize: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw outliers, each feature on its own, over the targets' range widened by `alpha`.

    The widened range ends where float64 does.

    Parameters
    ----------
    targets : ndarray of shape (n_targets, n_features)
        Target points.
    n_outliers : int
        Number of outliers.
    alpha : float
        Factor on the length of every side of the targets' bounding box. (The paper's text says
        volume; the program scales the sides.)
    optimize : {0, 1}
        0 draws uniformly. 1 draws where targets are rare: the widened range is cut into 50 equal
        bins, a bin weighs the largest bin's count less its own, and outliers are uniform within a
        bin that is drawn by weight.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    outliers : ndarray of shape (n_outliers, n_features)
        A feature that is constant among the targets keeps its value.
    """
    limits = np.finfo(np.float64)
    outliers = np.empty((n_outliers, targets.shape[1]))
    for feature, column in enumerate(targets.T):
        low, high = column.min(), column.max()
        margin = 0.5 * (alpha - 1.0) * (high - low)
        low, high = max(low - margin, limits.min), min(high + margin, limits.max)
        position = rng.random(n_outliers)
        if optimize == 1 and high > low:
            bins = _fraction(column, low, high)
            counts = np.bincount((bins * N_BINS).astype(int).clip(0, N_BINS - 1), minlength=N_BINS)
            weights = counts.max() - counts
            if weights.any():
                drawn = rng.choice(N_BINS, size=n_outliers, p=weights / weights.sum())
                position = (drawn + position) / N_BINS
        # A weighted mean of the ends: the width between them may overflow. Clipped because the mean
        # can round outwards.
        outliers[:, feature] = (low * (1.0 - position) + high * position).clip(low, high)
    return outliers


def _fraction(column: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return the position of every value between `low` (0) and `high` (1)."""
    # Halved: the widened range may overflow where the range itself does not.
    return (0.5 * column - 0.5 * low) / (0.5 * high - 0.5 * low)
