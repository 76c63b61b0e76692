"""The criteria of the kernels against the equations of the paper, section by section."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, cauchy, poisson

from ocrf import OneClassRF
from ocrf._growing.criterion import (
    ENTROPY,
    GINI,
    entropy_gain,
    gini_gain,
    n_hidden_outliers,
    proxy_decrease,
    split_gain,
    with_missing,
)
from runners.theory.model import (
    inlier_entropy_proxy,
    one_class_entropy_proxy,
    one_class_gini_proxy,
    two_class_gini_proxy,
)
from tests.ocrf.section5 import (
    OneClassModel,
    semi_empirical_gini,
    semi_empirical_impurity,
    two_class_entropy_proxy,
)


@st.composite
def splits(draw):
    """Return (a, n, share, n_outliers): inliers left and in the node, lambda_L, n'."""
    n = draw(st.integers(2, 5000))
    a = draw(st.integers(1, n - 1))
    share = draw(st.floats(1e-6, 1 - 1e-6))
    n_outliers = draw(st.floats(-3, 6).map(lambda exponent: 10.0**exponent))
    return float(a), float(n), share, n_outliers


def kernel_decrease(criterion, a, n, share, n_outliers):
    gain = {GINI: gini_gain, ENTROPY: entropy_gain}[criterion](a, n, share, n_outliers)
    return proxy_decrease(criterion, gain, n, n_outliers)


@given(splits())
@settings(max_examples=300, deadline=None)
def test_one_class_gini_is_the_two_class_proxy_with_expected_outliers(split):
    """I_G^OC-ad(t_L, t_R) = I_G(t_L, t_R) where n'_t lambda outliers go to each side."""
    a, n, share, n_outliers = split
    expected = two_class_gini_proxy(a, n_outliers * share, n, n_outliers)
    before = n * n_outliers / (n + n_outliers)
    np.testing.assert_allclose(
        before - kernel_decrease(GINI, a, n, share, n_outliers), expected, rtol=1e-8
    )


@given(splits())
@settings(max_examples=300, deadline=None)
def test_one_class_entropy_is_the_inliers_part_of_the_two_class_proxy(split):
    a, n, share, n_outliers = split
    expected = inlier_entropy_proxy(a, n_outliers * share, n, n_outliers)
    before = n * np.log2((n + n_outliers) / n)
    np.testing.assert_allclose(
        before - kernel_decrease(ENTROPY, a, n, share, n_outliers), expected, rtol=1e-8, atol=1e-9
    )


@given(splits())
@settings(max_examples=100, deadline=None)
def test_two_class_proxies_are_sizes_times_impurities(split):
    """The equations of section 2: I = sum of (n + n') i(t) with Gini's and Shannon's i."""
    a, n, share, n_outliers = split
    gini = entropy = 0.0
    for inliers, outliers in ((a, n_outliers * share), (n - a, n_outliers * (1 - share))):
        total = inliers + outliers
        p, q = inliers / total, outliers / total
        gini += total * 2 * p * q
        entropy += total * (p * np.log2(1 / p) + q * np.log2(1 / q))
    counts = (a, n_outliers * share, n, n_outliers)
    # The paper's proxy drops the constant factor 2.
    np.testing.assert_allclose(2 * two_class_gini_proxy(*counts), gini, rtol=1e-9)
    np.testing.assert_allclose(two_class_entropy_proxy(*counts), entropy, rtol=1e-7, atol=1e-7)


def modes(x):
    """Distribution function of the paper's two modes, on [0, 6.5]."""
    cdf = 0.6 * cauchy.cdf(x, 0.8, 0.1) + 0.4 * cauchy.cdf(x, 2.9, 0.2)
    return (cdf - cdf[0]) / (cdf[-1] - cdf[0])


@pytest.mark.parametrize("gamma", [0.1, 0.3, 1.0])
def test_the_papers_entropy_is_not_the_two_class_entropy(gamma):
    """Its remark keeps the inliers' terms only; the outliers' terms would choose another split.

    For Gini both halves are equal and nothing is lost; for the entropy they are not. The estimator
    follows the paper.
    """
    x = np.linspace(0.0, 6.5, 6501)
    a, share = modes(x)[1:-1], x[1:-1] / 6.5
    printed = one_class_entropy_proxy(a, share, 1.0, gamma)
    whole = two_class_entropy_proxy(a, gamma * share, 1.0, gamma)
    outliers = whole - printed
    assert np.ptp(outliers) > 0.01 * np.ptp(whole)
    assert abs(x[1 + printed.argmin()] - x[1 + whole.argmin()]) > 0.05
    halves = two_class_gini_proxy(a, gamma * share, 1.0, gamma)
    swapped = two_class_gini_proxy(gamma * share, a, gamma, 1.0)
    np.testing.assert_allclose(halves, swapped)


def inner_nodes(tree, X):
    """Yield (node, rows, lower, upper) of each node that is split."""
    pending = [(0, np.arange(len(X)), X.min(axis=0), X.max(axis=0))]
    while pending:
        k, rows, lower, upper = pending.pop()
        if tree.is_leaf[k]:
            continue
        yield k, rows, lower, upper
        j, threshold = tree.feature[k], tree.threshold[k]
        left_upper, right_lower = upper.copy(), lower.copy()
        left_upper[j] = right_lower[j] = threshold
        goes_left = X[rows, j] < threshold
        pending.append((tree.children_left[k], rows[goes_left], lower, left_upper))
        pending.append((tree.children_right[k], rows[~goes_left], right_lower, upper))


def candidates(X, rows, lower, upper):
    """Return feature, threshold, inliers left and lambda_L of every split of a node."""
    parts = []
    for j in range(X.shape[1]):
        values = np.unique(X[rows, j])
        thresholds = (values[:-1] + values[1:]) / 2
        inliers = np.searchsorted(np.sort(X[rows, j]), thresholds)
        share = (thresholds - lower[j]) / (upper[j] - lower[j])
        parts.append(np.stack([np.full_like(share, j), thresholds, inliers, share]))
    return np.concatenate(parts, axis=1)


def one_tree(X, seed, **parameters):
    forest = OneClassRF(
        n_estimators=1, max_samples=1.0, max_features_node=None, random_state=seed, **parameters
    ).fit(X)
    return forest.estimators_[0]


def two_clusters(seed, n=400):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(size=(n - n // 4, 2)), rng.normal([4.0, 1.0], 0.3, size=(n // 4, 2))]
    )


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 5.0])
def test_naive_trees_minimise_the_semi_empirical_impurity(gamma, seed):
    """Section 5.1: p_n(t_L|t) i^OC(t_L) + p_n(t_R|t) i^OC(t_R) has the naive proxy's minimum.

    One-Class-Model(n, alpha) with alpha n = gamma N outliers and (1 - alpha) n = N inliers.
    """
    X = two_clusters(seed)
    model = OneClassModel(n=(1 + gamma) * len(X), alpha=gamma / (1 + gamma))
    assert model.n_inliers == pytest.approx(len(X))
    tree = one_tree(X, seed, gamma=gamma, adversary="naive", max_depth=5)
    whole = np.prod(np.ptp(X, axis=0))
    seen = 0
    for k, rows, lower, upper in inner_nodes(tree, X):
        volume = np.prod(upper - lower) / whole
        feature, threshold, a, share = candidates(X, rows, lower, upper)
        impurity = semi_empirical_impurity(a, share * volume, len(rows), volume, model)
        chosen = (feature == tree.feature[k]) & (threshold == tree.threshold[k])
        assert chosen.sum() == 1
        assert impurity[chosen][0] <= impurity.min() * (1 + 1e-9)
        # The equation itself: the impurity is the naive proxy over n_t + alpha n L_t.
        n_outliers = model.n_outliers * volume
        proxy = one_class_gini_proxy(a, share, len(rows), n_outliers)
        np.testing.assert_allclose(impurity * (len(rows) + n_outliers), proxy, rtol=1e-9)
        seen += 1
    assert seen > 5


@pytest.mark.parametrize("gamma", [0.3, 1.0])
def test_semi_empirical_gini_is_half_the_gini_index(gamma):
    """i_G^OC(t) = p (1 - p): the population index without its factor 2."""
    model = OneClassModel(n=1000.0, alpha=gamma / (1 + gamma))
    n_t, volume = 37.0, 0.02
    outliers = model.n_outliers * volume
    p = n_t / (n_t + outliers)
    assert semi_empirical_gini(n_t, volume, model) == pytest.approx(p * (1 - p))
    assert model.class_ratio(n_t, volume) == pytest.approx(outliers / n_t)


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 5.0])
def test_adapted_models_satisfy_both_constraints_at_every_node(gamma, seed):
    """alpha(L_t), n(L_t) as printed; with them the naive proxy is the adaptive one."""
    X = two_clusters(seed)
    tree = one_tree(X, seed, gamma=gamma, max_depth=6)
    model = OneClassModel(n=3.0 * len(X), alpha=2.0 / 3.0)
    seen = 0
    for k, rows, lower, upper in inner_nodes(tree, X):
        volume, n_t = float(np.exp(tree.log_volume[k])), int(tree.n_node_samples[k])
        adapted = model.adapted(n_t, volume, gamma)
        assert 0 < adapted.alpha < 1
        assert adapted.n_inliers == pytest.approx(model.n_inliers, rel=1e-12)
        assert adapted.n_outliers * volume == pytest.approx(gamma * n_t, rel=1e-12)
        assert adapted.class_ratio(n_t, volume) == pytest.approx(gamma, rel=1e-12)
        feature, threshold, a, share = candidates(X, rows, lower, upper)
        proxy = one_class_gini_proxy(a, share, n_t, adapted.n_outliers * volume)
        chosen = (feature == tree.feature[k]) & (threshold == tree.threshold[k])
        assert proxy[chosen][0] <= proxy.min() * (1 + 1e-9)
        kernel = kernel_decrease(GINI, a[chosen][0], float(n_t), share[chosen][0], gamma * n_t)
        whole = n_t * gamma * n_t / (n_t + gamma * n_t)
        np.testing.assert_allclose(whole - kernel, proxy[chosen][0], rtol=1e-9)
        seen += 1
    assert seen > 10


@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_adapted_models_tend_to_infinitely_many_outliers(gamma):
    """As L_t -> 0: alpha(L_t) -> 1, n(L_t) -> infinity, and N(L_t) -> a Poisson variable."""
    model = OneClassModel(n=100.0, alpha=0.5)
    distances = []
    for volume in (1e-1, 1e-3, 1e-5):
        adapted = model.adapted(3, volume, gamma)
        counts = np.arange(200)
        binomial = binom.pmf(counts, round(adapted.n), 1.0 - adapted.alpha)
        limit = poisson.pmf(counts, model.n_inliers)
        distances.append((0.5 * np.abs(binomial - limit).sum(), 1.0 - adapted.alpha, adapted.n))
    distance, inlier_share, n = np.array(distances).T
    assert (np.diff(distance) < 0).all()
    assert distance[-1] < 1e-3
    np.testing.assert_allclose(inlier_share[-1], model.n_inliers * 1e-5 / (3 * gamma), rtol=1e-2)
    np.testing.assert_allclose(n[-1], 3 * gamma / 1e-5, rtol=1e-2)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("criterion", "gamma", "statistic"),
    [
        # Few outliers: Neyman's chi-squared for both, Gini and entropy.
        ("gini", 1e-7, lambda a, n, q: (a - n * q) ** 2 / (a * (n - a))),
        ("entropy", 1e-7, lambda a, n, q: (a - n * q) ** 2 / (a * (n - a))),
        # Many outliers: Pearson's chi-squared for Gini, the likelihood ratio for entropy.
        ("gini", 1e9, lambda a, n, q: (a - n * q) ** 2 / (n * q * (1 - q))),
        (
            "entropy",
            1e9,
            lambda a, n, q: a * np.log(a / (n * q)) + (n - a) * np.log((n - a) / (n * (1 - q))),
        ),
    ],
)
def test_limits_of_gamma_are_tests_of_uniformity(criterion, gamma, statistic, seed):
    """In the limits a split maximises a classical distance between (a, n - a) and n (q, 1 - q)."""
    X = two_clusters(seed, 200)
    tree = one_tree(X, seed, gamma=gamma, criterion=criterion, max_depth=3)
    seen = 0
    for k, rows, lower, upper in inner_nodes(tree, X):
        feature, threshold, a, share = candidates(X, rows, lower, upper)
        value = statistic(a, len(rows), share)
        chosen = (feature == tree.feature[k]) & (threshold == tree.threshold[k])
        assert value[chosen][0] >= value.max() * (1 - 1e-5)
        seen += 1
    assert seen > 2


def test_only_gini_separates_the_papers_two_modes():
    """The supplementary: one split separates two modes if gamma is large. Entropy never does here."""
    x = np.linspace(0.0, 6.5, 6501)
    a, share = modes(x)[1:-1], x[1:-1] / 6.5

    def between_the_modes(proxy, gamma):
        return 0.8 < x[1 + proxy(a, share, 1.0, gamma).argmin()] < 2.9

    assert [between_the_modes(one_class_gini_proxy, gamma) for gamma in (0.1, 1, 3, 10, 100)] == [
        False,
        False,
        False,
        True,
        True,
    ]
    assert not any(
        between_the_modes(one_class_entropy_proxy, gamma) for gamma in (0.1, 1, 10, 100, 1e4)
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("criterion", "even"), [("gini", True), ("entropy", False)])
def test_few_outliers_keep_nearly_all_points_on_one_side(criterion, even, seed):
    """The supplementary on gamma: small puts the inliers on one side, large (Gini) divides them."""
    rng = np.random.default_rng(seed)
    centre = np.where(rng.random(2000) < 0.6, 0.8, 2.9)
    x = centre + np.where(centre < 1, 0.1, 0.2) * rng.standard_cauchy(2000)
    X = x[(x > 0) & (x < 6.5), None]
    larger = []
    for gamma in (1e-3, 0.1, 1.0, 30.0):
        tree = one_tree(X, seed, gamma=gamma, criterion=criterion, max_depth=1)
        larger.append(tree.n_node_samples[1:].max() / len(X))
    assert larger[0] > 0.98
    assert (larger[-1] < 0.7) == even
    assert larger[-1] < larger[0] - 0.02
    # Of the splits in between, none is less even than that of a smaller gamma.
    assert (np.diff(larger) <= 0.005).all()


def test_an_unknown_criterion_or_adversary_is_an_error():
    with pytest.raises(ValueError, match="unknown criterion"):
        proxy_decrease(2, 0.1, 10.0, 10.0)
    with pytest.raises(ValueError, match="unknown criterion"):
        split_gain(2, 1.0, 3.0, 0.5, 3.0)
    with pytest.raises(ValueError, match="unknown criterion"):
        with_missing(2, 0.1, 0.5)
    with pytest.raises(ValueError, match="unknown adversary"):
        n_hidden_outliers(2, 1.0, 10.0, 20.0, 0.0)
