"""Blocks of rows on their way down a tree end in the leaves that each row alone ends in."""

import numpy as np
import pytest

from ocrf import OneClassRF
from ocrf._scoring import predictor
from ocrf._trees.row_block import MOST_SPLITS, block_rows, new_block
from ocrf._trees.traversal import leaves_of_tree
from ocrf._trees.tree import pack_nodes
from ocrf.kernels.arrays import read_only


def leaves_of_rows(left, feature, threshold, X):
    """Take one step after the other with every row, as a definition of a tree would."""
    node = np.zeros(len(X), int)
    while (left[node] >= 0).any():
        goes_right = X[np.arange(len(X)), feature[node]] >= threshold[node]
        node = np.where(left[node] >= 0, left[node] + goes_right, node)
    return node


def leaves_of_blocks(left, feature, threshold, X, size):
    nodes = read_only(pack_nodes(left, feature, threshold))
    leaves = np.empty(len(X), np.int64)
    block = new_block(X.shape[1], size)
    # What earlier rows leave in the work space must not matter, whatever it is.
    block.columns[:], block.marks[:], block.lists[:] = np.nan, 255, 2**16 - 1
    leaves_of_tree(read_only(X), nodes.view(np.float64), nodes, block, None, leaves)
    return leaves


class Growing:
    """A tree by hand, node by node."""

    def __init__(self):
        self.left, self.feature, self.threshold = [-1], [-1], [0.0]

    def split(self, node, feature, threshold):
        """Split a leaf; return its left child, which the right one follows."""
        self.left[node], self.feature[node] = len(self.left), feature
        self.threshold[node] = threshold
        self.left += [-1, -1]
        self.feature += [-1, -1]
        self.threshold += [0.0, 0.0]
        return self.left[node]

    def arrays(self):
        return (
            np.array(self.left, np.int32),
            np.array(self.feature, np.int32),
            np.array(self.threshold),
        )


def random_tree(rng, X, n_splits, share):
    """Split again and again, off the node with most rows at first, ``share`` of the time."""
    tree, rows = Growing(), {0: np.arange(len(X))}
    for _ in range(n_splits):
        nodes = list(rows)
        largest = max(nodes, key=lambda node: len(rows[node]))
        node = largest if rng.random() < share else rng.choice(nodes)
        some, j = rows.pop(node), rng.integers(X.shape[1])
        inside = X[some, j] if len(some) else np.zeros(1)
        quantile = rng.choice([0.0, 0.01, 0.1, 0.5, 0.97, 1.0])
        threshold = np.quantile(inside, quantile) + rng.choice([0.0, -1e9], p=[0.95, 0.05])
        left = tree.split(node, j, threshold)
        goes_right = X[some, j] >= threshold
        rows[left], rows[left + 1] = some[~goes_right], some[goes_right]
    return tree.arrays()


@pytest.mark.parametrize("order", ["drawn", "sorted", "repeated"])
@pytest.mark.parametrize(
    ("n_rows", "size"),
    [(511, 511), (512, 512), (513, 600), (1500, 1501), (5000, 4001), (20_000, block_rows(3))],
)
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_random_trees(n_rows, size, share, order):
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 3))
    if order == "sorted":
        X = X[np.argsort(X[:, 0])]
    elif order == "repeated":
        X = X.round(0)[np.arange(n_rows) // 3]
    tree = random_tree(rng, X, 150, share)
    np.testing.assert_array_equal(leaves_of_blocks(*tree, X, size), leaves_of_rows(*tree, X))


@pytest.mark.parametrize("n_cut", [0, 1, 7])
@pytest.mark.parametrize("from_the_right", [False, True])
@pytest.mark.parametrize("n_rows", [512, 3001])
def test_more_splits_than_are_followed_at_a_time(n_rows, from_the_right, n_cut):
    """They cut off a few rows each, or none, and leave many in the last leaf."""
    X = np.random.default_rng(0).permutation(n_rows)[:, None].astype(float)
    tree, node = Growing(), 0
    for k in range(1, 3 * MOST_SPLITS + 2):
        left = tree.split(node, 0, n_rows - n_cut * k if from_the_right else n_cut * k)
        node = left if from_the_right else left + 1
    tree = tree.arrays()
    np.testing.assert_array_equal(leaves_of_blocks(*tree, X, n_rows), leaves_of_rows(*tree, X))


@pytest.mark.parametrize("in_order", [True, False])
def test_there_is_room_for_what_is_pending(in_order):
    """Most lists wait where each half follows as many splits as are followed at a time."""
    n_rows = block_rows(1)
    X = np.arange(n_rows)[:, None].astype(float)
    if not in_order:
        X = np.random.default_rng(0).permutation(X)
    tree, nodes = Growing(), [(0, 0, n_rows)]
    while nodes:
        node, start, end = nodes.pop()
        for _ in range(MOST_SPLITS - 1):
            if end - start > 1:
                start += 1
                node = tree.split(node, 0, start) + 1
        if end - start > 1:
            middle = (start + end) // 2
            left = tree.split(node, 0, middle)
            nodes += [(left, start, middle), (left + 1, middle, end)]
    tree = tree.arrays()
    assert len(tree[0]) == 2 * n_rows - 1
    nodes = read_only(pack_nodes(*tree))
    leaves, block = np.empty(n_rows, np.int64), new_block(1, n_rows)
    block.pending[:] = -1
    leaves_of_tree(read_only(X), nodes.view(np.float64), nodes, block, None, leaves)
    np.testing.assert_array_equal(leaves, leaves_of_rows(*tree, X))
    n_used = (block.pending[:, 0] >= 0).sum()
    assert 2 * MOST_SPLITS < n_used < len(block.pending)


@pytest.mark.parametrize("n_features", [1, 3, 1000])
def test_grown_trees(n_features):
    X = np.random.default_rng(0).normal(size=(700, n_features))
    forest = OneClassRF(n_estimators=3, random_state=0).fit(X)
    for tree in forest.estimators_:
        expected = leaves_of_rows(tree.children_left, tree.feature, tree.threshold, X)
        np.testing.assert_array_equal(tree.apply(X), expected)


@pytest.mark.parametrize("scoring", ["depth", "published_depth", "density", "typical_cell"])
@pytest.mark.parametrize("out_of_bounds", [None, "maximal"])
@pytest.mark.parametrize("rows_of_block", [2, 7])
def test_tiny_blocks_and_chunks_score_the_same(monkeypatch, scoring, out_of_bounds, rows_of_block):
    rng = np.random.default_rng(0)
    X, far = rng.normal(size=(300, 4)), rng.normal(scale=3, size=(101, 4))
    forest = OneClassRF(
        n_estimators=10, scoring=scoring, out_of_bounds=out_of_bounds, random_state=0
    ).fit(X)
    expected = forest.score_samples(far)
    # Chunks of five rows: several blocks, whose rows are sorted by leaf, or a single one.
    monkeypatch.setattr(predictor, "block_rows", lambda n_features: rows_of_block)
    monkeypatch.setattr(predictor, "_CHUNK_BYTES", 8 * 4 * 10)
    for n_jobs in (1, 2):
        forest.set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(forest.score_samples(far), expected)
    monkeypatch.undo()
    if out_of_bounds is None:
        single = np.concatenate([forest.score_samples(row[None]) for row in far])
        np.testing.assert_array_equal(single, expected)


@pytest.mark.parametrize("n_features", [1, 10, 1000, 20_000, 10**6, 10**8])
def test_blocks_take_little_memory_whatever_the_width(n_features):
    size = block_rows(n_features)
    assert 1 <= size <= 16384
    assert size == 1 or 8 * n_features * size <= 16 * 2**20
    if n_features <= 10**6:
        assert new_block(n_features, size).columns.nbytes <= 16 * 2**20 + 8 * 7 * n_features
        assert new_block(n_features, min(size, 3)).columns.shape == (n_features, min(size, 3))
