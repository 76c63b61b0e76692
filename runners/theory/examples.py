"""The distributions that the paper draws, from the source of its figures."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import cauchy

Floats = NDArray[np.float64]

# Figure 1: a steep normal flank, and a Cauchy tail from where the two curves meet.
FLANK_ENDS: Final = 2.868
#: What its panels show, in units of the density's own variable.
OUTLIER_DENSITY_RANGE: Final = (9 / 3.8 - 0.2 / 3.8, 15.05 / 3.8)
#: Where its splits are drawn: the first one, then one in each child.
OUTLIER_DENSITY_SPLITS: Final = (12.7 / 3.8, 9.7 / 3.8, 13.7 / 3.8)
#: How high G is drawn before, after one and after three splits, on the scale of F as drawn.
OUTLIER_DENSITY_HEIGHTS: Final = (
    (0.5 / 5.7,),
    (1.0 / 5.7, 0.17 / 5.7),
    (0.1 / 5.7, 1.3 / 5.7, 0.28 / 5.7, 0.12 / 5.7),
)

# The two modes: weights, centres, scales.
MODES: Final = ((0.6, 0.8, 0.1), (0.4, 2.9, 0.2))
#: The rectangle X of the two modes' figures.
MODES_BOX: Final = ((0.0, 6.5), (3.4, 6.7))
#: Where the supplementary figure draws the split of each gamma.
MODES_SPLITS: Final = {10.0: 1.0, 1.0: 4.0, 0.1: 5.7}


def skewed_density(x: Floats) -> Floats:
    """Return Figure 1's F, as drawn (not normalised)."""
    flank = 0.4 * np.exp(-((x - 2.9) ** 2) / 0.05)
    tail = 0.633 * 0.4 * 0.2 / (np.pi * (0.2**2 + (x - 2.9) ** 2))
    return np.where(x < FLANK_ENDS, flank, tail)


def skewed_distribution(n_points: int = 100_001) -> tuple[Floats, Floats, Floats]:
    """Return positions, and F's density and distribution function, normalised on the figure."""
    x = np.linspace(*OUTLIER_DENSITY_RANGE, n_points)
    density = skewed_density(x)
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(x)
    cumulated = np.concatenate([[0.0], np.cumsum(steps)])
    return x, density / cumulated[-1], cumulated / cumulated[-1]


def modes_density(x: Floats) -> Floats:
    """Return the density of the two modes along the first feature."""
    return sum(
        (weight * cauchy.pdf(x, centre, scale) for weight, centre, scale in MODES),
        start=np.zeros_like(x),
    )


def modes_distribution(n_points: int = 65_001) -> tuple[Floats, Floats]:
    """Return positions and the two modes' distribution function, cut to the figure's rectangle."""
    x = np.linspace(*MODES_BOX[0], n_points)
    cdf = sum(
        (weight * cauchy.cdf(x, centre, scale) for weight, centre, scale in MODES),
        start=np.zeros_like(x),
    )
    return x, (cdf - cdf[0]) / (cdf[-1] - cdf[0])


def sample_modes(rng: np.random.Generator, n: int = 350) -> Floats:
    """Draw the figures' points: n of the two modes, less those outside the rectangle.

    Returns
    -------
    X : float64 array of shape (<= n, 2)
    """
    first = rng.random(n) <= MODES[0][0]
    centre, scale = (np.where(first, MODES[0][k], MODES[1][k]) for k in (1, 2))
    x = centre + scale * rng.standard_cauchy(n)
    y = 5.0 + np.where(first, 1.5, 0.4) * rng.uniform(-1.0, 1.0, n)
    inside = (x >= MODES_BOX[0][0]) & (x <= MODES_BOX[0][1])
    return np.stack([x, y], axis=1)[inside]


def sample_clusters(rng: np.random.Generator, n: int = 1000) -> Floats:
    """Draw two normal clusters of unlike size, spread and direction, shape (n, 2)."""
    small = n // 4
    wide = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.7], [0.7, 1.0]], n - small)
    return np.concatenate([wide, rng.normal([4.0, -1.0], 0.4, (small, 2))])
