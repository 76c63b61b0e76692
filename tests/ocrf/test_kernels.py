"""The kernels' own promises: sorting, drawing, bounding, caching."""

import os
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from ocrf import OneClassRF
from ocrf._growing import blocks, ranking
from ocrf._growing.blocks import Block, join_blocks
from ocrf._growing.criterion import entropy_gain, gini_gain
from ocrf._growing.partitioner import partition_orders
from ocrf._growing.ranking import _complete_order, rank_columns
from ocrf._growing.sampling import next_below, sample_rows
from ocrf._growing.sorting import (
    _MANY_ITEMS,
    N_COUNTS,
    PairSpace,
    SortSpace,
    bit_length,
    sort_items,
    sort_pairs,
)
from ocrf._growing.splitter import (
    _SEARCH_BY_RUNS,
    _TOGETHER,
    _in_lanes,
    _n_runs,
    _run_length,
    most_runs,
    most_together,
)
from ocrf._trees.tree import pack_nodes, room_for_nodes, unpack_nodes
from ocrf.kernels.arrays import read_only, scratch, scratch_together


@pytest.mark.parametrize("n_bits", [0, 1, 6, 11, 12, 22, 31, 32])
@pytest.mark.parametrize("n", [1, 2, 63, 5000, _MANY_ITEMS + 1])
def test_points_are_sorted_stably(n, n_bits):
    keys = np.random.default_rng(n).integers(0, 2**n_bits, size=n).astype(np.uint64)
    order, counts = np.empty(n, np.uint32), np.full((2, N_COUNTS), 7, np.uint32)
    items = keys << np.uint64(32) | np.arange(n, dtype=np.uint64)
    sort_items(n, n_bits, SortSpace(items, np.empty(n, np.uint64), counts), order)
    np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("n_bits", [32, 64])
@pytest.mark.parametrize("n", [1, 2, 63, 5000])
def test_keys_are_sorted_stably_by_their_upper_bits(n, n_bits):
    rng = np.random.default_rng(n)
    keys = rng.integers(0, 2**64, size=n, dtype=np.uint64)
    keys[: n // 2] &= np.uint64(0xF00000010000F)
    rows, counts = rng.permutation(n).astype(np.uint32), np.full((2, N_COUNTS), 7, np.uint32)
    spare = np.empty(n, np.uint64), np.empty(n, np.uint32)
    pairs = PairSpace(keys.copy(), rows.copy(), *spare, counts)
    sort_pairs(n_bits, pairs)
    order = np.argsort(keys >> np.uint64(64 - n_bits), kind="stable")
    np.testing.assert_array_equal(pairs.keys, keys[order])
    np.testing.assert_array_equal(pairs.rows, rows[order])


def test_bit_length():
    assert [bit_length(n) for n in (0, 1, 2, 3, 4, 1023, 1024)] == [0, 1, 2, 2, 3, 10, 11]


@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.0, np.nextafter(1.0, 2.0), 1e308]),
        ),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=200, deadline=None)
def test_ranks_number_the_distinct_values(column):
    X = np.array(column).reshape(-1, 1)
    data = rank_columns(read_only(X))
    distinct, expected = np.unique(X[:, 0], return_inverse=True)
    np.testing.assert_array_equal(data.ranks[0], expected.ravel())
    assert data.n_ranks.tolist() == [len(distinct)]
    assert (data.lower[0], data.upper[0]) == (X.min(), X.max())


def test_ranks_of_values_that_differ_in_their_last_bits():
    """The upper halves of these are all equal: the first sort must be found insufficient."""
    rng = np.random.default_rng(0)
    X = 1.0 + rng.permutation(500)[:, None] * 2.0**-52
    data = rank_columns(read_only(X))
    np.testing.assert_array_equal(data.ranks[0], np.argsort(np.argsort(X[:, 0])))
    assert data.n_ranks[0] == 500


@pytest.mark.parametrize("n_values", [1, 63, 64, 80])
def test_tables_hold_the_values_by_rank_where_they_fit(n_values):
    X = np.random.default_rng(n_values).integers(0, n_values, size=(512, 3)) * 0.1
    X[::7, 1], X[:, 2] = np.nan, np.nan
    data = rank_columns(read_only(X))
    assert data.distinct.shape == (3, 512 // 8)
    fits = data.n_ranks <= 64
    assert fits.tolist() == [n_values <= 64, n_values <= 63, True]
    for j in np.flatnonzero(fits):
        np.testing.assert_array_equal(data.distinct[j][data.ranks[j]], X[:, j])


@pytest.mark.parametrize("has_missing", [False, True])
def test_values_come_from_tables_or_from_rows(monkeypatch, has_missing):
    X = np.random.default_rng(0).normal(size=(2000, 6))
    X[:, :4] = X[:, :4].round(1)
    if has_missing:
        X[::5, ::2] = np.nan
    forest = OneClassRF(n_estimators=5, random_state=0).fit(X)
    monkeypatch.setattr(ranking, "_MOST_DISTINCT", 1)
    without = OneClassRF(n_estimators=5, random_state=0).fit(X)
    for ours, others in zip(forest.estimators_, without.estimators_, strict=True):
        np.testing.assert_array_equal(ours.threshold, others.threshold)
    np.testing.assert_array_equal(forest.score_samples(X), without.score_samples(X))


@pytest.mark.parametrize("seed", range(3))
def test_a_nearly_ascending_order_is_completed(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 300, size=1000) + rng.integers(0, 8, size=1000) * 2.0**-44
    order = np.argsort(values.astype(np.float32), kind="stable").astype(np.uint32)
    keys = values[order].view(np.uint64)
    assert (np.diff(values[order]) < 0).any()
    assert _complete_order(keys, order)
    np.testing.assert_array_equal(keys.view(float), np.sort(values))
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))


def test_completing_an_order_gives_up_before_it_takes_long():
    keys, rows = np.arange(1000, dtype=np.uint64)[::-1].copy(), np.arange(1000, dtype=np.uint32)
    assert not _complete_order(keys, rows)
    np.testing.assert_array_equal(np.sort(rows), np.arange(1000))


@njit
def split(*arguments):
    partition_orders(*arguments)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.2, 0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("n_points", [640, 2**18 + 1])
def test_orders_are_partitioned_stably(n_points, share):
    """With marks of bytes and of bits, of few points and of many, on the left and on the right."""
    rng = np.random.default_rng(0)
    start, end = 40, n_points - 100
    orders = np.zeros((2, 3, n_points), np.uint32)
    points = rng.permutation(n_points)[start:end]
    for j in range(3):
        orders[1, j, start:end] = rng.permutation(points)
    n_left = round(share * (end - start))
    before, constant = orders.copy(), np.array([False, False, True])
    marked, bitmap = np.zeros(n_points, np.uint8), np.zeros(n_points // 64 + 1, np.uint64)
    split(orders, 1, start, end, 1, n_left, constant, marked, bitmap)
    is_left = np.zeros(n_points, bool)
    is_left[before[1, 1, start : start + n_left]] = True
    for j in range(2):
        source = before[1, j, start:end]
        expected = np.concatenate([source[is_left[source]], source[~is_left[source]]])
        np.testing.assert_array_equal(orders[0, j, start:end], expected)
    orders[0, :2, start:end] = 0
    before[0, :2, start:end] = 0
    np.testing.assert_array_equal(orders, before)
    assert not marked.any()
    assert not bitmap.any()


def in_a_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.mark.parametrize("run", [lambda function: function(), in_a_thread])
@pytest.mark.parametrize("shape", [0, 1, 5000, (3, 0), (2, 3, 1000), (600, 1000)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.float64])
def test_scratch_is_arrays_of_zeros_to_write_to(shape, dtype, run):
    arrays = run(
        lambda: scratch_together((shape, dtype), (3, np.int32), (shape, dtype), dense=True)
    )
    for array in (arrays[0], arrays[2]):
        assert (array.shape, array.dtype) == (np.empty(shape).shape, dtype)
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.flags.aligned
        assert not array.any()
        array += np.ones((), dtype)
    assert arrays[0].all()
    assert not arrays[1].any()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_threads_scratch_takes_only_what_is_touched_and_gives_it_back():
    page = os.sysconf("SC_PAGE_SIZE")

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * page

    before = resident()
    array = in_a_thread(lambda: scratch(10**9, np.uint8))
    assert resident() - before < 10**7
    array[: 10**8] = 1
    assert resident() - before > 9 * 10**7
    del array
    assert resident() - before < 10**7


def test_memory_that_is_refused_is_a_memory_error():
    with pytest.raises(MemoryError, match=r"unable to allocate \d+ bytes"):
        in_a_thread(lambda: scratch(2**60, np.uint8))
    with pytest.raises(MemoryError):
        scratch(2**60, np.uint8)


def test_nodes_come_out_as_they_were_packed():
    left = np.array([1, -1, 3, -1, -1], np.int32)
    feature = np.array([2**20, -1, 0, -1, -1], np.int32)
    threshold = np.array([-0.5, 0.0, 1e308, 0.0, 0.0])
    for packed, found in zip(
        (left, feature, threshold), unpack_nodes(pack_nodes(left, feature, threshold)), strict=True
    ):
        np.testing.assert_array_equal(packed, found)


def test_the_parts_of_a_forest_go_while_they_are_joined(monkeypatch):
    """Else a forest of one block would be in memory twice."""

    def go(parts, *_):
        held = [weakref.ref(part.packed) for part in parts]
        parts.clear()
        assert [part() for part in held] == [None, None]

    parts = [room_for_nodes(3, is_weighted=False) for _ in range(2)]
    grown = [Block([part], np.array([3]), np.ones(1), []) for part in parts]
    del parts
    monkeypatch.setattr(blocks, "join_trees", go)
    join_blocks(grown, np.zeros(1))


@njit
def _next_below(state, bound):
    """Inlined functions type their arguments anew: the state must come back unsigned."""
    state, value = next_below(np.uint64(state), bound)
    return np.uint64(state), value


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 1000])
def test_integers_are_drawn_uniformly(bound):
    state, counts = np.uint64(bound), np.zeros(bound, int)
    n = 200 * bound
    for _ in range(n):
        state, value = _next_below(state, bound)
        counts[value] += 1
        state = np.uint64(state)
    # Binomial counts; six standard deviations.
    assert abs(counts - 200).max() <= 6 * np.sqrt(200)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (64, 1), (65, 64), (1000, 200), (1000, 1000)])
def test_sub_samples_are_ascending_and_distinct(n, k):
    rows = sample_rows(np.uint64(7), n, k).astype(int)
    assert len(rows) == k
    assert (np.diff(rows) > 0).all()
    assert 0 <= rows[0] <= rows[-1] < n


@given(
    n=st.integers(2, 10_000),
    points=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    inside=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    n_outliers=st.one_of(st.just(0.0), st.floats(1e-12, 1e6)),
    gain_of=st.sampled_from([gini_gain, entropy_gain]),
)
@settings(max_examples=500, deadline=None)
def test_two_corners_bound_the_gain_over_a_rectangle(
    n, points, shares, inside, n_outliers, gain_of
):
    """What the search passes runs over by: convexity in (a, lambda), to rounding."""
    a_min, a_max = sorted(1 + int(p * (n - 2)) for p in points)
    share_min, share_max = sorted(shares)
    a = a_min + round(inside[0] * (a_max - a_min))
    share = share_min + inside[1] * (share_max - share_min)
    share = min(max(share, share_min), share_max)
    gain = gain_of(float(a), float(n), share, n_outliers)
    bound = max(
        gain_of(float(a_max), float(n), share_min, n_outliers),
        gain_of(float(a_min), float(n), share_max, n_outliers),
    )
    # Next to a / n = lambda the gain vanishes and only absolute accuracy can be asked for.
    assert gain <= bound * (1 + 1e-6) + 1e-12


def test_there_is_room_for_the_runs_of_every_node():
    near = [
        size + step
        for size in (_SEARCH_BY_RUNS, 4096, 65536, 2**20, 2**24)
        for step in (-2, -1, 0, 1)
    ]
    for m in [2, 3, 63, 1000, 10_000, *near]:
        sizes = [n for n in [2, 3, 100, 2000, *near, m] if n <= m]
        in_lanes = _in_lanes.py_func
        assert in_lanes(max(_n_runs.py_func(n) for n in sizes)) <= most_runs(m)
        # As many thresholds as are tried together may be waiting, but one, when a run is added.
        longest = max(_run_length.py_func(n) if n >= _SEARCH_BY_RUNS else n for n in sizes)
        assert in_lanes(_TOGETHER + longest) <= most_together(m)
