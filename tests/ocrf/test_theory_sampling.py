"""Outliers that are really drawn, node by node: the remark on consistency with two classes."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

from ocrf import OneClassRF
from runners.theory.model import (
    inlier_entropy_proxy,
    one_class_entropy_proxy,
    one_class_gini_proxy,
    two_class_gini_proxy,
)
from tests.ocrf.test_theory_criteria import candidates, inner_nodes, two_clusters

PROXIES = {
    "gini": (two_class_gini_proxy, one_class_gini_proxy),
    # The terms that the paper keeps; test_theory_criteria shows what it leaves out.
    "entropy": (inlier_entropy_proxy, one_class_entropy_proxy),
}


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("gamma", [0.5, 1.0, 4.0])
@pytest.mark.parametrize(("inliers", "share"), [(0.5, 0.1), (0.9, 0.3), (0.97, 0.8)])
def test_expectation_over_outliers_tends_to_the_one_class_proxy(inliers, share, gamma, criterion):
    """Exact expectation over Bin(gamma n, lambda): the gap stays bounded while the proxy grows as n.

    So the two are equivalent asymptotically, not for every n: the proxies are concave in the number
    of outliers on the left, and the expectation lies below (Jensen).
    """
    sampled, expected = PROXIES[criterion]
    gaps = []
    for n in (200, 400, 4000):
        n_outliers = int(gamma * n)
        left = np.arange(n_outliers + 1)
        weights = binom.pmf(left, n_outliers, share)
        a = inliers * n
        values = sampled(a, left, n, n_outliers)
        one_class = expected(a, share, n, n_outliers)
        gap = one_class - weights @ values
        # Rounding of sums of about n terms.
        assert gap > -1e-9 * n
        gaps.append((gap, gap / one_class))
    gap, relative = np.array(gaps).T
    np.testing.assert_allclose(gap[2], gap[1], rtol=0.1)
    np.testing.assert_allclose(relative[1] / relative[2], 10.0, rtol=0.15)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_sampled_outliers_choose_the_same_splits(gamma, criterion, seed):
    """At every node of a tree: draw gamma n_t outliers uniformly on its box, R times over.

    The mean number of outliers of the R draws replaces lambda; with R the two-class proxies of all
    candidate splits converge to the one-class proxies (at rate 1 / sqrt(R)), and so does what
    the sampled choice loses.
    """
    rng = np.random.default_rng(seed)
    X = two_clusters(seed)
    forest = OneClassRF(
        n_estimators=1,
        max_samples=1.0,
        max_features_node=None,
        gamma=gamma,
        criterion=criterion,
        max_depth=4,
        random_state=seed,
    ).fit(X)
    (tree,) = forest.estimators_
    sampled, expected = PROXIES[criterion]
    errors = {4: [], 400: []}
    losses = {4: [], 400: []}
    for k, rows, lower, upper in inner_nodes(tree, X):
        n_t = len(rows)
        n_outliers = gamma * n_t
        feature, threshold, a, share = candidates(X, rows, lower, upper)
        one_class = expected(a, share, n_t, n_outliers)
        chosen = (feature == tree.feature[k]) & (threshold == tree.threshold[k])
        for repeats in errors:
            total = int(repeats * n_outliers)
            outliers = np.sort(rng.uniform(lower, upper, size=(total, 2)), axis=0)
            left = np.empty_like(a)
            for j in range(2):
                here = feature == j
                left[here] = np.searchsorted(outliers[:, j], threshold[here])
            two_class = sampled(a, left * n_outliers / total, n_t, n_outliers)
            errors[repeats].append(np.abs(two_class - one_class).mean() / n_t)
            losses[repeats].append(
                (one_class[two_class.argmin()] - one_class[chosen][0]) / one_class[chosen][0]
            )
    assert len(errors[4]) > 8
    # sqrt(100) = 10, but for chance: the candidates of a node share its outliers.
    assert 3 < np.mean(errors[4]) / np.mean(errors[400]) < 40
    # Nothing is better than the tree's own choice, and the sampled choice comes close to it.
    assert min(losses[400]) >= -1e-9
    assert np.mean(losses[400]) < 2e-3
    assert np.mean(losses[400]) < np.mean(losses[4])


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
def test_a_two_class_tree_on_many_outliers_splits_alike(gamma, seed):
    """Another implementation: scikit-learn's stump on the points and weighted uniform outliers.

    It may cut anywhere, we cut at midpoints between points; between two points the proxy is concave in
    the threshold, so the best cut lies at an end of the gap and gains a little more.
    """
    rng = np.random.default_rng(seed)
    X = two_clusters(seed)
    n_outliers = 100_000
    outliers = rng.uniform(X.min(axis=0), X.max(axis=0), size=(n_outliers, 2))
    stump = DecisionTreeClassifier(max_depth=1, random_state=seed).fit(
        np.concatenate([X, outliers]),
        np.repeat([0, 1], [len(X), n_outliers]),
        sample_weight=np.repeat([1.0, gamma * len(X) / n_outliers], [len(X), n_outliers]),
    )
    forest = OneClassRF(
        n_estimators=1,
        max_samples=1.0,
        max_features_node=None,
        gamma=gamma,
        max_depth=1,
        random_state=seed,
    ).fit(X)
    (tree,) = forest.estimators_
    width = np.ptp(X, axis=0)

    def proxy(feature, threshold):
        share = (threshold - X[:, feature].min()) / width[feature]
        return one_class_gini_proxy(
            (X[:, feature] < threshold).sum(), share, len(X), gamma * len(X)
        )

    ours = proxy(tree.feature[0], tree.threshold[0])
    theirs = proxy(stump.tree_.feature[0], stump.tree_.threshold[0])
    whole = gamma * len(X) / (1 + gamma)
    # The decreases agree within the outliers' noise and the half gap between points.
    assert (whole - theirs) == pytest.approx(whole - ours, rel=0.05)
    assert stump.tree_.feature[0] == tree.feature[0]
    assert abs(stump.tree_.threshold[0] - tree.threshold[0]) < 0.1 * width[tree.feature[0]]
