"""The model of the paper's section 5, and the impurities that it averages, as the paper has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from runners.theory.model import Floats, inlier_entropy_proxy


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


def two_class_entropy_proxy(
    inliers_left: ArrayLike, outliers_left: ArrayLike, n: float, n_outliers: ArrayLike
) -> Floats:
    """Entropy in bits of each child times its size, both classes counted."""
    a, u = np.asarray(inliers_left, float), np.asarray(outliers_left, float)
    b, w = n - a, n_outliers - u
    inliers = inlier_entropy_proxy(inliers_left, outliers_left, n, n_outliers)
    return inliers + (xlogy(u, a + u) - xlogy(u, u) + xlogy(w, b + w) - xlogy(w, w)) / np.log(2.0)


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
