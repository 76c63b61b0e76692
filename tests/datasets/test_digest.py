"""The digest of a table: what it ignores and what it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from datasets import WrongContent
from datasets.dataset import Dataset
from datasets.digest import ordered_digest, row_hashes, table_digest

TABLES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 30), st.integers(1, 5)),
    elements=st.floats(-1e6, 1e6, width=32),
)


def labels(X, seed):
    return np.random.default_rng(seed).integers(0, 2, len(X)).astype(np.int8)


@settings(deadline=None)
@given(TABLES, st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_count(X, seed):
    y = labels(X, seed)
    order = np.random.default_rng(seed).permutation(len(X))
    assert table_digest(X, y) == table_digest(X[order], y[order])


@settings(deadline=None)
@given(TABLES, st.data())
def test_every_value_counts(X, data):
    y = labels(X, 0)
    i, j = data.draw(st.integers(0, len(X) - 1)), data.draw(st.integers(0, X.shape[1] - 1))
    changed = X.copy()
    changed[i, j] += max(1.0, abs(changed[i, j]))
    assert table_digest(X, y) != table_digest(changed, y)
    y_changed = y.copy()
    y_changed[i] ^= 1
    assert table_digest(X, y) != table_digest(X, y_changed)


@settings(deadline=None)
@given(TABLES)
def test_repeated_rows_count(X):
    y = labels(X, 0)
    assert table_digest(X, y) != table_digest(np.vstack([X, X[:1]]), np.append(y, y[:1]))


def test_the_order_of_columns_counts():
    X, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1], dtype=np.int8)
    assert table_digest(X, y) != table_digest(X[:, ::-1], y)


def test_the_last_bit_and_the_sign_of_zero_do_not_count():
    X, y = np.array([[np.log(3.1), 0.0], [np.log(0.1), 5.0]]), np.array([0, 1], dtype=np.int8)
    near = np.array([[np.nextafter(X[0, 0], 9), -0.0], [X[1, 0], 5.0]])
    assert table_digest(X, y) == table_digest(near, y)


def test_layout_does_not_count():
    X, y = np.arange(12.0).reshape(4, 3), np.zeros(4, dtype=np.int8)
    assert table_digest(X, y) == table_digest(np.asfortranarray(X), y)


def test_hashes_do_not_collide_on_a_large_grid():
    side = np.arange(1000.0)
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert len(np.unique(row_hashes(X, np.zeros(len(X), dtype=np.int8)))) == len(X)


@pytest.mark.parametrize("block", [1, 7])
def test_the_size_of_blocks_does_not_matter(block, monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(100, 3)), np.zeros(100, dtype=np.int8)
    whole = row_hashes(X, y)
    monkeypatch.setattr("datasets.digest._BLOCK", block)
    np.testing.assert_array_equal(row_hashes(X, y), whole)


def test_golden():
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0], dtype=np.int8)
    assert table_digest(X, y) == "c63ed92048607f053b1882d446b44b64"


@pytest.mark.parametrize("value", [1e300, -1e300])
def test_values_beyond_single_precision_are_no_error(value):
    assert table_digest(np.array([[value]]), np.zeros(1, dtype=np.int8))


@settings(deadline=None)
@given(TABLES, st.integers(0, 2**32 - 1))
def test_the_ordered_digest_changes_with_the_order_alone(X, seed):
    y = labels(X, seed)
    order = np.random.default_rng(seed).permutation(len(X))
    moved = (row_hashes(X, y)[order] != row_hashes(X, y)).any()
    assert (ordered_digest(X, y) != ordered_digest(X[order], y[order])) == moved


def test_another_order_is_refused_where_one_is_expected():
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1], dtype=np.int8)
    Dataset("d", X, y, ("a",), "made").require_order()
    Dataset("d", X, y, ("a",), "made", ordered_digest(X, y)).require_order()
    with pytest.raises(WrongContent, match="made served the rows of 'd' in another order"):
        Dataset("d", X[::-1], y[::-1], ("a",), "made", ordered_digest(X, y)).require_order()
