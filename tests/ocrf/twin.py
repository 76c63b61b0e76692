"""The forest again in plain Python, as slow and as plain as can be: what the kernels must equal.

Every node looks at every threshold of every drawn feature. Nothing is shared with the package but the
order in which floating-point operations are done, since trees are to be equal to the last bit.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import accumulate, pairwise

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


def uniform(seed):
    return (mix((seed + GOLDEN) & MASK) >> 11) * 2.0**-53


def splits(points, j, lower, upper, n_outliers, gain_of, criterion, rule):
    """Yield (gain, threshold, whether points without a value go right) of every threshold.

    A point is (index, values, weight).
    """
    ascending = sorted(
        (values[j], weight) for _, values, weight in points if values[j] == values[j]
    )
    present = sum(weight for _, weight in ascending)
    missing = sum(weight for _, values, weight in points if values[j] != values[j])
    total = present + missing
    known = present / total
    per_unit = 1.0 / (upper[j] - lower[j])
    ends = list(accumulate(weight for _, weight in ascending))
    for threshold, below in candidates([value for value, _ in ascending]):
        a, share = ends[below - 1], (threshold - lower[j]) * per_unit
        if rule == "better" and missing > 0.0:
            left = gain_of(a + missing, total, share, n_outliers)
            right = gain_of(a, total, share, n_outliers)
            yield max(left, right), threshold, right > left
        else:
            gain = gain_of(a, present, share, known * n_outliers)
            yield gain * (known if criterion == "gini" else 1.0), threshold, present - a > a


def grow(X, seed, forest, gamma, weights=None):
    """Return the root of a tree: a dict with n, depth, log_volume and, if split, children.

    NaN is a missing value. `weights` are positive.
    """
    X = np.asarray(X, dtype=np.float64)
    weights = np.ones(len(X)) if weights is None else weights
    seed = int(seed)
    rows = choose(derive(seed, SAMPLES), X.shape[0], forest.max_samples_)
    columns = choose(derive(seed, FEATURES), X.shape[1], forest.max_features_tree_)
    points = [(k, [float(X[i, j]) for j in columns], float(weights[i])) for k, i in enumerate(rows)]
    m, d = sum(weight for _, _, weight in points), len(columns)
    gain_of = GAINS[forest.criterion]
    low = -math.inf if forest.min_log_density is None else forest.min_log_density
    high = math.inf if forest.max_log_density is None else forest.max_log_density

    def side(point, j, threshold, missing_right, key, points):
        index, values, _ = point
        if values[j] == values[j]:
            return values[j] < threshold
        if forest._missing_rule != "proportion":
            return not missing_right
        present = sum(weight for _, other, weight in points if other[j] == other[j])
        below = sum(weight for _, other, weight in points if other[j] < threshold)
        return uniform(derive(key, index + 2**33)) * present < below

    def node(points, lower, upper, log_volume, depth, key):
        n = sum(weight for _, _, weight in points)
        here = {
            "n": len(points),
            "weight": n,
            "depth": depth,
            "log_volume": log_volume,
            "split": None,
        }
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
        stream, order, searched, best = Stream(key), list(range(d)), 0, (-1.0, None, None, None)
        for k in range(d):
            drawn = k + stream.below(d - k)
            order[k], order[drawn] = order[drawn], order[k]
            j = order[k]
            column = [values[j] for _, values, _ in points if values[j] == values[j]]
            if not column or min(column) == max(column):
                continue
            for gain, threshold, missing_right in splits(
                points,
                j,
                lower,
                upper,
                n_outliers,
                gain_of,
                forest.criterion,
                forest._missing_rule,
            ):
                if gain > best[0]:
                    best = (gain, j, threshold, missing_right)
            searched += 1
            if searched == forest.max_features_node_:
                break
        _, j, threshold, missing_right = best
        if j is None:
            return here
        here["split"] = (columns[j], threshold)
        here["missing_go_to_left"] = not missing_right
        width = upper[j] - lower[j]
        left_upper, right_lower = list(upper), list(lower)
        left_upper[j] = right_lower[j] = threshold
        goes_left = [side(point, j, threshold, missing_right, key, points) for point in points]
        here["left"] = node(
            [point for point, left in zip(points, goes_left, strict=True) if left],
            lower,
            left_upper,
            log_volume + math.log((threshold - lower[j]) / width),
            depth + 1,
            derive(key, 0),
        )
        here["right"] = node(
            [point for point, left in zip(points, goes_left, strict=True) if not left],
            right_lower,
            upper,
            log_volume + math.log((upper[j] - threshold) / width),
            depth + 1,
            derive(key, 1),
        )
        if forest._missing_rule == "proportion":
            # No direction is stored: `apply` takes the child with more points.
            heavier_right = here["right"]["weight"] > here["left"]["weight"]
            here["missing_go_to_left"] = not heavier_right
        return here

    def ends(values):
        present = [value for value in values if value == value]
        return (min(present), max(present)) if present else (math.nan, math.nan)

    box = [ends([values[j] for _, values, _ in points]) for j in range(d)]
    lower, upper = [low for low, _ in box], [high for _, high in box]
    log_volume = 0.0
    for j in range(d):
        if lower[j] < upper[j]:
            data = X[:, columns[j]]
            log_volume += math.log((upper[j] - lower[j]) / float(np.nanmax(data) - np.nanmin(data)))
    return node(points, lower, upper, log_volume, 0, derive(seed, NODES))


def assert_same(tree, root):
    """Compare a fitted tree with a twin's, node by node."""
    pending, seen = [(0, root)], 0
    while pending:
        k, expected = pending.pop()
        seen += 1
        assert tree.n_node_samples[k] == expected["n"]
        assert tree.weighted_n_node_samples[k] == expected["weight"]
        assert tree.depth[k] == expected["depth"]
        np.testing.assert_allclose(
            tree.log_volume[k], expected["log_volume"], rtol=1e-12, atol=1e-12
        )
        if expected["split"] is None:
            assert tree.children_left[k] == tree.children_right[k] == tree.feature[k] == -1
        else:
            assert (tree.feature[k], tree.threshold[k]) == expected["split"]
            assert tree.missing_go_to_left[k] == expected["missing_go_to_left"]
            pending.append((tree.children_left[k], expected["left"]))
            pending.append((tree.children_right[k], expected["right"]))
    assert seen == tree.node_count
