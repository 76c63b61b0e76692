"""The one-class splitting criteria and the adversaries: what a split gains.

A node holds n inliers and n' hidden outliers, uniform over its box (`n_hidden_outliers`). A split
sends a of the inliers and the share lambda of the volume to the left.

The paper minimises the proxy I(t_L, t_R) (the equation for I_G^OC-ad, and the remark on entropy
for I_S^OC-ad). The kernels maximise the decrease I(t) - I(t_L, t_R) instead, which has the same
optimum because I(t) is constant, in forms that neither cancel nor divide by zero when n' is next
to nothing:

- Gini, with u = a + n' lambda and w = (n - a) + n' (1 - lambda)::

    n n' / (n + n') - a n' lambda / u - (n - a) n' (1 - lambda) / w
        = n'^2 (a - n lambda)^2 / ((n + n') u w)

- entropy: with e = n' (a - n lambda) / n::

    a log2(1 + e / u) + (n - a) log2(1 - e / w)

The gain is the decrease without the factor n'^2 / (n + n') (Gini) or in nats (entropy). Both are
convex functions of (a, lambda) for a fixed node, zero where a / n = lambda; the splitter's bounds
depend on that.
"""

from __future__ import annotations

import numpy as np

from ..kernels import kernel

GINI, ENTROPY = 0, 1
CRITERIA = {"gini": GINI, "entropy": ENTROPY}

ADAPTIVE, NAIVE = 0, 1
ADVERSARIES = {"adaptive": ADAPTIVE, "naive": NAIVE}

# Where a split sends the points that have no value of its feature.
MAJORITY, PROPORTION, BETTER = 0, 1, 2
MISSING_RULES = {"majority": MAJORITY, "proportion": PROPORTION, "better": BETTER}

# With fewer outliers than this the two logarithms of the entropy gain cancel to noise, and its
# second-order expansion (half the Gini gain, over n) is exact to the same number of digits.
_FEW_OUTLIERS = 1e-8


@kernel(inline="always")
def n_hidden_outliers(adversary: int, gamma: float, n: float, m: float, log_volume: float) -> float:
    """Return the expected number of hidden outliers of a node, n'.

    Parameters
    ----------
    adversary : {ADAPTIVE, NAIVE}
        gamma n for the adaptive adversary, gamma m Leb(X_t) / Leb(X) for the naive one.
    gamma : float
    n, m : float
        Inliers in the node, and in the tree's sub-sample.
    log_volume : float
        log(Leb(X_t) / Leb(X)).
    """
    if adversary == ADAPTIVE:
        return gamma * n
    if adversary == NAIVE:
        return gamma * m * np.exp(log_volume)
    raise ValueError("unknown adversary")


@kernel(inline="always")
def gini_gain(a: float, n: float, share: float, n_outliers: float) -> float:
    """Gain of a split, to be maximised: the Gini decrease without the node's constant factor.

    Parameters
    ----------
    a, n : float
        Inliers in the left child and in the node, 0 < a < n.
    share : float
        lambda, the left child's share of the node's volume, in [0, 1].
    n_outliers : float
        Expected number of hidden outliers in the node, n'.
    """
    b = n - a
    excess = a - n * share
    return excess * excess / ((a + n_outliers * share) * (b + n_outliers * (1.0 - share)))


@kernel(inline="always")
def entropy_gain(a: float, n: float, share: float, n_outliers: float) -> float:
    """Gain of a split, to be maximised: the decrease of the entropy proxy in nats.

    Parameters as in `gini_gain`.
    """
    if n_outliers < _FEW_OUTLIERS:
        return gini_gain(a, n, share, n_outliers)
    b = n - a
    excess = n_outliers * (a - n * share) / n
    return a * np.log1p(excess / (a + n_outliers * share)) + b * np.log1p(
        -excess / (b + n_outliers * (1.0 - share))
    )


@kernel(inline="always")
def split_gain(criterion: int, a: float, n: float, share: float, n_outliers: float) -> float:
    """Gain of a split under either criterion. Parameters as in `gini_gain`."""
    if criterion == GINI:
        return gini_gain(a, n, share, n_outliers)
    if criterion == ENTROPY:
        return entropy_gain(a, n, share, n_outliers)
    raise ValueError("unknown criterion")


@kernel(inline="always")
def with_missing(criterion: int, gain: float, known: float) -> float:
    """Return the gain of a split of a node for whose points with a value the gain was computed.

    The Gini gain lacks a factor that is proportional to the points.

    Parameters
    ----------
    criterion : {GINI, ENTROPY}
    gain : float
        That of the points with a value.
    known : float
        Their share of the node's points.
    """
    if criterion == GINI:
        return gain * known
    if criterion == ENTROPY:
        return gain
    raise ValueError("unknown criterion")


@kernel(inline="always")
def proxy_decrease(criterion: int, gain: float, n: float, n_outliers: float) -> float:
    """Return the decrease I(t) - I(t_L, t_R) of the paper's proxy from the gain of a split."""
    if criterion == GINI:
        return n_outliers * n_outliers / (n + n_outliers) * gain
    if criterion == ENTROPY:
        if n_outliers < _FEW_OUTLIERS:
            return n_outliers * n_outliers / (2.0 * n) * gain / np.log(2.0)
        return gain / np.log(2.0)
    raise ValueError("unknown criterion")
