"""The forest again in plain Python, as slow and as plain as can be: what the kernels must equal.

Every node looks at every threshold of every drawn feature. Nothing is shared with the package but the
order in which floating-point operations are done, since trees are to be equal to the last bit.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise

import numpy as np

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
SAMPLES, FEATURES, GAMMA, NODES = 1, 2, 3, 4


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def derive(seed, stream):
    return mix((seed + GOLDEN * (stream + 1)) & MASK)


class Stream:
    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        while True:
            self.state = (self.state + GOLDEN) & MASK
            product = (mix(self.state) >> 32) * bound
            if (product & 0xFFFFFFFF) >= (1 << 32) % bound:
                return product >> 32


def choose(seed, total, wanted):
    """Floyd's draw without replacement."""
    if wanted == total:
        return list(range(total))
    stream, chosen = Stream(seed), set()
    for last in range(total - wanted, total):
        item = stream.below(last + 1)
        chosen.add(last if item in chosen else item)
    return sorted(chosen)


def gini_gain(a, n, share, n_outliers):
    b, excess = n - a, a - n * share
    return excess * excess / ((a + n_outliers * share) * (b + n_outliers * (1.0 - share)))


def entropy_gain(a, n, share, n_outliers):
    if n_outliers < 1e-8:
        return gini_gain(a, n, share, n_outliers)
    b, excess = n - a, n_outliers * (a - n * share) / n
    return a * math.log1p(excess / (a + n_outliers * share)) + b * math.log1p(
        -excess / (b + n_outliers * (1.0 - share))
    )


GAINS = {"gini": gini_gain, "entropy": entropy_gain}


def candidates(column):
    """Yield every threshold between consecutive distinct values and the points below it."""
    ascending = sorted(column)
    distinct = sorted(set(column))
    for low, high in pairwise(distinct):
        threshold = 0.5 * low + 0.5 * high
        if threshold == low:
            threshold = high
        yield threshold, bisect_left(ascending, threshold)


def grow(X, seed, forest, gamma):
    """Return the root of a tree: a dict with n, depth, log_volume and, if split, children."""
    X = np.asarray(X, dtype=np.float64)
    seed = int(seed)
    rows = choose(derive(seed, SAMPLES), X.shape[0], forest.max_samples_)
    columns = choose(derive(seed, FEATURES), X.shape[1], forest.max_features_tree_)
    points = [[float(X[i, j]) for j in columns] for i in rows]
    m, d = len(points), len(columns)
    gain_of = GAINS[forest.criterion]
    low = -math.inf if forest.min_log_density is None else forest.min_log_density
    high = math.inf if forest.max_log_density is None else forest.max_log_density

    def node(points, lower, upper, log_volume, depth, key):
        n = len(points)
        here = {"n": n, "depth": depth, "log_volume": log_volume, "split": None}
        log_density = math.log(n) - math.log(m) - log_volume
        if (
            depth >= forest.max_depth_
            or n < forest.min_samples_split
            or log_density <= low
            or log_density >= high
        ):
            return here
        n_outliers = (
            gamma * n if forest.adversary == "adaptive" else gamma * m * math.exp(log_volume)
        )
        stream, urn, searched, best = Stream(key), list(range(d)), 0, (-1.0, None, None)
        for k in range(d):
            pick = k + stream.below(d - k)
            urn[k], urn[pick] = urn[pick], urn[k]
            j = urn[k]
            column = [point[j] for point in points]
            if min(column) == max(column):
                continue
            per_unit = 1.0 / (upper[j] - lower[j])
            for threshold, a in candidates(column):
                share = (threshold - lower[j]) * per_unit
                gain = gain_of(float(a), float(n), share, n_outliers)
                if gain > best[0]:
                    best = (gain, j, threshold)
            searched += 1
            if searched == forest.max_features_node_:
                break
        _, j, threshold = best
        if j is None:
            return here
        here["split"] = (columns[j], threshold)
        width = upper[j] - lower[j]
        left_upper, right_lower = list(upper), list(lower)
        left_upper[j] = right_lower[j] = threshold
        here["left"] = node(
            [point for point in points if point[j] < threshold],
            lower,
            left_upper,
            log_volume + math.log((threshold - lower[j]) / width),
            depth + 1,
            derive(key, 0),
        )
        here["right"] = node(
            [point for point in points if point[j] >= threshold],
            right_lower,
            upper,
            log_volume + math.log((upper[j] - threshold) / width),
            depth + 1,
            derive(key, 1),
        )
        return here

    lower = [min(point[j] for point in points) for j in range(d)]
    upper = [max(point[j] for point in points) for j in range(d)]
    log_volume = 0.0
    for j in range(d):
        if lower[j] < upper[j]:
            data = X[:, columns[j]]
            log_volume += math.log((upper[j] - lower[j]) / float(data.max() - data.min()))
    return node(points, lower, upper, log_volume, 0, derive(seed, NODES))


def assert_same(tree, root):
    """Compare a fitted tree with a twin's, node by node."""
    pending, seen = [(0, root)], 0
    while pending:
        k, expected = pending.pop()
        seen += 1
        assert tree.n_node_samples[k] == expected["n"]
        assert tree.depth[k] == expected["depth"]
        np.testing.assert_allclose(
            tree.log_volume[k], expected["log_volume"], rtol=1e-12, atol=1e-12
        )
        if expected["split"] is None:
            assert tree.children_left[k] == tree.children_right[k] == tree.feature[k] == -1
        else:
            assert (tree.feature[k], tree.threshold[k]) == expected["split"]
            pending.append((tree.children_left[k], expected["left"]))
            pending.append((tree.children_right[k], expected["right"]))
    assert seen == tree.node_count
