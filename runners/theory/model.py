"""The models behind the criteria: impurity proxies of two classes and of one, and section 5.

Everything here is written as the paper prints it, for clarity; the estimator's kernels use other
forms of the same functions, and the tests compare the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OneClassModel:
    """One-Class-Model(n, alpha): n observations, a share alpha of which are hidden outliers."""

    n: float
    alpha: float

    @property
    def n_inliers(self) -> float:
        """Expected number of inliers, (1 - alpha) n."""
        return (1.0 - self.alpha) * self.n

    @property
    def n_outliers(self) -> float:
        """Expected number of outliers, alpha n."""
        return self.alpha * self.n

    def class_ratio(self, n_t: float, volume: float) -> float:
        """gamma_t: expected outliers per inlier of a node with n_t inliers and volume L_t."""
        return self.n_outliers * volume / n_t

    def adapted(self, n_t: float, volume: float, gamma: float) -> OneClassModel:
        """Return One-Class-Model(n(L_t), alpha(L_t)), the model of a node in the adaptive approach.

        Parameters
        ----------
        n_t : float
            Inliers in the node.
        volume : float
            L_t, the node's share of the volume of the whole space, in (0, 1].
        gamma : float
            Expected outliers per inlier.

        Notes
        -----
        The solution of the section's two constraints: the expected number of inliers stays,
        (1 - alpha(L_t)) n(L_t) = (1 - alpha) n, and the class ratio is gamma,
        alpha(L_t) n(L_t) L_t = gamma n_t.
        """
        outliers = gamma * n_t
        total = self.n_inliers * volume + outliers
        return OneClassModel(n=total / volume, alpha=outliers / total)


def two_class_gini_proxy(
    inliers_left: ArrayLike, outliers_left: ArrayLike, n: float, n_outliers: ArrayLike
) -> Floats:
    """I_G(t_L, t_R) of a split that sends that many of each class to the left."""
    a, u = np.asarray(inliers_left, float), np.asarray(outliers_left, float)
    b, w = n - a, n_outliers - u
    return a * u / (a + u) + b * w / (b + w)


def two_class_entropy_proxy(
    inliers_left: ArrayLike, outliers_left: ArrayLike, n: float, n_outliers: ArrayLike
) -> Floats:
    """Entropy in bits of each child times its size, both classes counted."""
    a, u = np.asarray(inliers_left, float), np.asarray(outliers_left, float)
    b, w = n - a, n_outliers - u
    inliers = inlier_entropy_proxy(inliers_left, outliers_left, n, n_outliers)
    return inliers + (xlogy(u, a + u) - xlogy(u, u) + xlogy(w, b + w) - xlogy(w, w)) / np.log(2.0)


def inlier_entropy_proxy(
    inliers_left: ArrayLike, outliers_left: ArrayLike, n: float, n_outliers: ArrayLike
) -> Floats:
    """Return the terms of the entropy proxy that belong to the inliers: those the paper keeps."""
    a, u = np.asarray(inliers_left, float), np.asarray(outliers_left, float)
    b, w = n - a, n_outliers - u
    return (xlogy(a, a + u) - xlogy(a, a) + xlogy(b, b + w) - xlogy(b, b)) / np.log(2.0)


def one_class_gini_proxy(
    inliers_left: ArrayLike, share: ArrayLike, n: float, n_outliers: float
) -> Floats:
    """I_G^OC: the two-class proxy with the expected numbers of outliers n' lambda."""
    return two_class_gini_proxy(inliers_left, n_outliers * np.asarray(share), n, n_outliers)


def one_class_entropy_proxy(
    inliers_left: ArrayLike, share: ArrayLike, n: float, n_outliers: float
) -> Floats:
    """I_S^OC, as the paper's remark on other impurities prints it."""
    return inlier_entropy_proxy(inliers_left, n_outliers * np.asarray(share), n, n_outliers)


def semi_empirical_gini(n_t: ArrayLike, volume: ArrayLike, model: OneClassModel) -> Floats:
    """i_G^OC(t): observed inliers, and outliers by their probability."""
    inliers, outliers = np.asarray(n_t, float), model.n_outliers * np.asarray(volume)
    return inliers * outliers / (inliers + outliers) ** 2


def semi_empirical_impurity(
    n_left: ArrayLike, volume_left: ArrayLike, n_t: float, volume: float, model: OneClassModel
) -> Floats:
    """p_n(t_L | t) i_G^OC(t_L) + p_n(t_R | t) i_G^OC(t_R), what a split should minimise."""
    total = n_t + model.n_outliers * volume
    result = np.zeros(np.broadcast(np.asarray(n_left), np.asarray(volume_left)).shape)
    for inliers, part in (
        (np.asarray(n_left, float), np.asarray(volume_left, float)),
        (n_t - np.asarray(n_left, float), volume - np.asarray(volume_left, float)),
    ):
        share = (inliers + model.n_outliers * part) / total
        result = result + share * semi_empirical_gini(inliers, part, model)
    return result


def best_population_split(
    distribution: Floats, positions: Floats, gamma: float
) -> tuple[int, Floats]:
    """Split an interval on which the inliers' distribution function is known.

    Parameters
    ----------
    distribution : float64 array of shape (m,)
        The distribution function at `positions`, ascending.
    positions : float64 array of shape (m,)
        From one end of the interval to the other.
    gamma : float
        Outliers per inlier.

    Returns
    -------
    best : int
        Index of the position that minimises the Gini proxy.
    proxy : float64 array of shape (m - 2,)
        The proxy per inlier at ``positions[1:-1]``.
    """
    inliers = (distribution[1:-1] - distribution[0]) / (distribution[-1] - distribution[0])
    share = (positions[1:-1] - positions[0]) / (positions[-1] - positions[0])
    proxy = one_class_gini_proxy(inliers, share, 1.0, gamma)
    return 1 + int(proxy.argmin()), proxy
