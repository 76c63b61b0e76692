"""LSAD: least-squares anomaly detection (Quinn and Sugiyama 2014)."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval

from baselines.detector import Detector
from ocrf.kernels import njit

#: Below this the inverse of sigma would overflow.
SMALLEST_SIGMA = 1e-307


class LeastSquaresAnomalyDetection(Detector):
    """Least-squares probabilistic classifier with one class (Quinn and Sugiyama 2014).

    A point's probability of being normal is modelled as phi(x)^T theta, where phi holds Gaussian
    kernels at some of the training points, and theta = (Phi^T Phi + rho I)^-1 Phi^T 1 minimises the
    regularised squared difference from 1 over the training points.

    Parameters
    ----------
    n_kernels_max : int, default=500
        Number of kernel centres, drawn from the training points without replacement; all of them
        if there are fewer.
    sigma : float or None, default=None
        Length scale of the kernel exp(-||x - c||^2 / sigma^2). None takes the median distance to
        the `n_neighbors`-th nearest point within a random subset of the training points.
    rho : float, default=0.1
        Regularisation; 0 gives the least-squares solution of smallest norm.
    n_neighbors : int, default=5
        Which neighbour sets sigma. As in the original, a point counts as its own first neighbour.
    n_subset : int, default=2000
        Size of the subset that sigma is taken from.
    batch_size : int, default=512
        Rows whose kernels are held in memory at a time.
    contamination : "auto" or float in (0, 0.5], default=0.1
        Share of anomalies among the training points, which sets `offset_`. "auto" calls a point an
        anomaly when its probability of being normal is below one half.
    random_state : int, RandomState instance or None, default=None
        Seed of the subset and the centres.

    Attributes
    ----------
    centres_ : ndarray of shape (n_kernels, n_features)
        Kernel centres.
    sigma_ : float
        Length scale, in the units of the data.
    theta_ : ndarray of shape (n_kernels,)
        Weights of the kernels.
    offset_ : float
        Threshold on `score_samples`, which is clip(phi^T theta, 0, 1) - 1.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Detector._parameter_constraints,
        "n_kernels_max": [Interval(Integral, 1, None, closed="left")],
        "sigma": [Interval(Real, 0, None, closed="neither"), None],
        "rho": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_subset": [Interval(Integral, 2, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_kernels_max: int = 500,
        *,
        sigma: float | None = None,
        rho: float = 0.1,
        n_neighbors: int = 5,
        n_subset: int = 2000,
        batch_size: int = 512,
        contamination: float | str = 0.1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_kernels_max = n_kernels_max
        self.sigma = sigma
        self.rho = rho
        self.n_neighbors = n_neighbors
        self.n_subset = n_subset
        self.batch_size = batch_size
        self.contamination = contamination
        self.random_state = random_state

    def _fit(self, X: NDArray[np.float64]) -> None:
        random_state = check_random_state(self.random_state)
        subset = random_state.permutation(len(X))[: self.n_subset]
        centres = random_state.permutation(len(X))[: self.n_kernels_max]
        sigma = self.sigma
        if sigma is None:
            sigma = median_neighbor_distance(X[subset], self.n_neighbors)
        self.sigma_ = max(float(sigma), SMALLEST_SIGMA)
        self.centres_ = X[centres]
        n_kernels = len(self.centres_)
        gram = np.zeros((n_kernels, n_kernels))
        sums = np.zeros(n_kernels)
        for phi in self._kernels(X):
            gram += phi.T @ phi
            sums += phi.sum(axis=0)
        self.theta_ = solve_regularised(gram, sums, self.rho)

    def _score_samples(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        normal = np.concatenate([phi @ self.theta_ for phi in self._kernels(X)])
        return np.clip(normal, 0.0, 1.0) - 1.0

    def _kernels(self, X: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield the kernel values, of shape (batch_size, n_kernels), batch after batch."""
        centres = np.ascontiguousarray(self.centres_.T)
        for batch in gen_batches(len(X), self._at_fit.batch_size):
            phi = scaled_squared_distances(X[batch], centres, 1.0 / self.sigma_)
            np.negative(phi, out=phi)
            yield np.exp(phi, out=phi)


def median_neighbor_distance(X: NDArray[np.float64], n_neighbors: int) -> float:
    """Return the median distance of the points to their k-th nearest, themselves counted.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points.
    n_neighbors : int
        k, at most n_samples.

    Returns
    -------
    distance : float
        The median, in the units of `X`. Where most points have duplicates it is 0; then it is the
        median of the positive distances, and 1 if there is none.
    """
    # A power of two near the largest value: squares neither overflow nor underflow, and since
    # the scaling is exact, nothing changes where they would not.
    _, exponent = np.frexp(np.abs(X).max())
    scaled = np.ldexp(X, -exponent)
    k = min(n_neighbors, len(X))
    # A tree computes differences, where brute force would lose close points to cancellation.
    neighbors = NearestNeighbors(n_neighbors=k, algorithm="kd_tree").fit(scaled)
    distances = neighbors.kneighbors(scaled)[0][:, -1]
    median = np.median(distances)
    if median == 0.0:
        positive = distances[distances > 0.0]
        if not positive.size:
            return 1.0
        median = np.median(positive)
    return float(np.ldexp(median, exponent))


@njit(cache=True, nogil=True)
def scaled_squared_distances(
    X: NDArray[np.float64], centres: NDArray[np.float64], scale: float
) -> NDArray[np.float64]:
    """Return squared distances of `scale` times the points.

    Differences are taken before anything is squared, unlike in the expansion into dot products, so
    that close points far from the origin keep their distance, and a batch's result does not depend
    on its size.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points.
    centres : ndarray of shape (n_features, n_centres)
        Centres, one row per feature.
    scale : float
        Factor on the differences.

    Returns
    -------
    distances : ndarray of shape (n_samples, n_centres)
        Squared distances; infinite where they overflow.
    """
    n_samples, n_features = X.shape
    n_centres = centres.shape[1]
    distances = np.zeros((n_samples, n_centres))
    for i in range(n_samples):
        row = distances[i]
        for feature in range(n_features):
            value = X[i, feature]
            column = centres[feature]
            for j in range(n_centres):
                difference = (value - column[j]) * scale
                row[j] += difference * difference
    return distances


def solve_regularised(
    gram: NDArray[np.float64], target: NDArray[np.float64], rho: float
) -> NDArray[np.float64]:
    """Solve (gram + rho I) theta = target for a positive semi-definite matrix.

    Duplicated centres make `gram` singular and rounding can make its smallest eigenvalues negative.
    They are set to 0, and directions that neither the data nor `rho` determine are left out.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Symmetric positive semi-definite matrix.
    target : ndarray of shape (n,)
        Right-hand side.
    rho : float
        Non-negative regularisation.

    Returns
    -------
    theta : ndarray of shape (n,)
        The solution of smallest norm.
    """
    eigenvalues, eigenvectors = eigh(gram)
    regularised = np.maximum(eigenvalues, 0.0) + rho
    negligible = len(gram) * np.finfo(np.float64).eps * regularised.max()
    kept = regularised > negligible
    projected = eigenvectors[:, kept].T @ target
    return eigenvectors[:, kept] @ (projected / regularised[kept])
