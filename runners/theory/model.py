"""Impurity proxies of two classes and of one, and the best split by them of a known distribution.

The proxies are written as the paper prints them; the estimator's kernels use other forms of the
same functions, and the tests compare the two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]


def two_class_gini_proxy(
    inliers_left: ArrayLike, outliers_left: ArrayLike, n: float, n_outliers: ArrayLike
) -> Floats:
    """I_G(t_L, t_R) of a split that sends that many of each class to the left."""
    a, u = np.asarray(inliers_left, float), np.asarray(outliers_left, float)
    b, w = n - a, n_outliers - u
    return a * u / (a + u) + b * w / (b + w)


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
