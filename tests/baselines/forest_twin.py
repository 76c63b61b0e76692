"""Two-class trees and random forest clustering, row by row in plain Python.

The twin draws the same random numbers in the same order and adds in the same order, so that what is
compiled must agree with it to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from baselines.forests.splitting import SMALLEST_GAIN, entropy_table
from baselines.rfc.clustering import _synthetic_rows

MASK = 2**64 - 1

#: Feature, threshold, left child, vote.
Node = tuple[int, float, int, int]


class Stream:
    """The splitmix64 generator of Steele, Lea and Flood (2014)."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def integer(self, high: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return int(float((z ^ (z >> 31)) >> 11) * (high * 2.0**-53))

    def bootstrap(self, n: int) -> list[int]:
        counts = [0] * n
        for _ in range(n):
            counts[self.integer(n)] += 1
        return counts


def grow_twin(
    rows: np.ndarray,
    counts: Iterable[int],
    labels: Iterable[int],
    max_features: int,
    first_gain: bool,
    stream: Stream,
) -> list[Node]:
    """Grow a tree on lists of rows, none of them merged; return its nodes."""
    counts, labels = list(counts), list(labels)
    table = entropy_table(sum(counts))
    features = list(range(rows.shape[1]))
    nodes: list[Node | None] = [None]
    stack = [(0, [i for i, count in enumerate(counts) if count > 0])]
    while stack:
        node, inside = stack.pop()
        sizes = [sum(counts[i] for i in inside if labels[i] == c) for c in (0, 1)]
        vote = int(sizes[1] >= sizes[0])
        best: tuple[int, float, float] | None = None
        if min(sizes) > 0:
            best_score, n_ties = -np.inf, 0
            for drawn in range(max_features):
                other = drawn + stream.integer(len(features) - drawn)
                features[drawn], features[other] = features[other], features[drawn]
                column = rows[:, features[drawn]]
                levels = sorted({float(column[i]) for i in inside})
                for low, high in pairwise(levels):
                    left = [
                        sum(counts[i] for i in inside if column[i] <= low and labels[i] == c)
                        for c in (0, 1)
                    ]
                    score = _score(sizes, left, table if first_gain else None)
                    if score > best_score:
                        n_ties = 1
                    elif score == best_score and not first_gain:
                        n_ties += 1
                        if stream.integer(n_ties) > 0:
                            continue
                    else:
                        continue
                    best_score, best = score, (features[drawn], low, high)
                if first_gain:
                    if best_score > SMALLEST_GAIN:
                        break
                    best_score, best = -np.inf, None
        if best is None:
            nodes[node] = (-1, 0.0, -1, vote)
            continue
        feature, low, high = best
        middle = 0.5 * low + 0.5 * high
        child = len(nodes)
        nodes[node] = (feature, middle if low <= middle < high else low, child, vote)
        nodes += [None, None]
        stack.append((child + 1, [i for i in inside if rows[i, feature] > low]))
        stack.append((child, [i for i in inside if rows[i, feature] <= low]))
    return [node for node in nodes if node is not None]


def _score(sizes: list[int], left: list[int], table: np.ndarray | None) -> float:
    right = [size - inside for size, inside in zip(sizes, left, strict=True)]
    if table is None:
        parts = [(float(a) * a + float(b) * b) / (a + b) for a, b in (left, right)]
        return parts[0] + parts[1]
    parts = [table[a + b] - table[a] - table[b] for a, b in (sizes, left, right)]
    return float(parts[0] - (parts[1] + parts[2]))


def leaf_of(nodes: list[Node], row: np.ndarray) -> int:
    node = 0
    while nodes[node][0] >= 0:
        feature, threshold, left, _ = nodes[node]
        node = left + int(row[feature] > threshold)
    return node


def proximity_sums_twin(leaves: list[list[int | None]], first_row: int) -> list[float]:
    """Sum proximities; `leaves` are those of a tree's rows, None where a row is in the bag."""
    n_rows = len(leaves[0])
    sums = []
    for row in range(first_row, n_rows):
        # In the order in which the trees bring the rows together.
        met: dict[int, int] = {}
        for tree in leaves:
            if tree[row] is not None:
                for other in range(n_rows):
                    if tree[other] == tree[row]:
                        met[other] = met.get(other, 0) + 1
        total = 1.0
        for other, common in met.items():
            if other != row:
                both = sum(t[row] is not None and t[other] is not None for t in leaves)
                total += common / both
        sums.append(total)
    return sums


def clustering_twin(
    train: np.ndarray, X: np.ndarray, seeds: Iterable[int], n_trees: int, mtry: int, synthetic: str
) -> np.ndarray:
    """Return the scores of `X`, as `RandomForestClustering` with these seeds of forests."""
    rows = np.vstack([train, X])
    seeds = list(seeds)
    sums = np.zeros(len(X))
    for seed in seeds:
        stacked = np.vstack([rows, _synthetic_rows(rows, synthetic, np.random.default_rng(seed))])
        labels = [0] * len(rows) + [1] * len(rows)
        stream = Stream(seed)
        leaves: list[list[int | None]] = []
        for _ in range(n_trees):
            counts = stream.bootstrap(len(stacked))
            tree = grow_twin(stacked, counts, labels, min(mtry, rows.shape[1]), False, stream)
            leaves.append([None if counts[i] else leaf_of(tree, r) for i, r in enumerate(rows)])
        sums = sums + proximity_sums_twin(leaves, len(train))
    return sums / (len(seeds) * len(rows)) - 1.0
