"""Growing trees: one kernel call grows a block of them.

A tree keeps, for each of its features, its points in ascending order. The orders are made once, at the
root, from the ranks that were sorted once per forest; a split partitions them stably. Two buffers take
turns (a node reads the one of its depth's parity, and its children find their points in the other), so
that a partition never copies back.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ._criteria import proxy_decrease
from ._presort import sort_by_rank
from ._random import STREAM_NODES, derive, next_below
from ._sampling import draw_features, draw_gamma, draw_samples
from ._partition import mark_left, partition
from ._splitter import best_split, n_runs, work_size

ADAPTIVE, NAIVE = 0, 1
ADVERSARIES = {"adaptive": ADAPTIVE, "naive": NAIVE}

# Pending nodes of a depth-first walk that takes the smaller child first: at most log2 of the points.
_MAX_PENDING = 66

_NODE_LEFT, _NODE_RIGHT = np.uint64(0), np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def _enlarge(array, used, wanted):
    """Return ``array``, or a copy of its used part with room for ``wanted`` at least."""
    if wanted <= array.shape[0]:
        return array
    larger = np.empty(max(wanted, 2 * array.shape[0]), array.dtype)
    larger[:used] = array[:used]
    return larger


@njit(cache=True, nogil=True, error_model="numpy")
def grow_trees(
    X,
    ranks,
    n_ranks,
    data_lower,
    data_upper,
    seeds,
    n_subsample,
    n_features_tree,
    n_features_node,
    criterion,
    adversary,
    gamma_low,
    gamma_high,
    max_depth,
    min_samples_split,
    min_log_density,
    max_log_density,
):
    """Grow one tree per seed.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features), C-contiguous
    ranks, n_ranks, data_lower, data_upper
        What `_presort.rank_columns` makes of ``X``.
    seeds : uint64 array of shape (n_trees,)
    n_subsample, n_features_tree, n_features_node, max_depth, min_samples_split : int
    criterion, adversary : int
        Codes of `_criteria.CRITERIA` and `ADVERSARIES`.
    gamma_low, gamma_high : float
        Equal for a fixed gamma.
    min_log_density, max_log_density : float
        A node whose log density lies at or beyond either bound is a leaf; infinite for no bound.

    Returns
    -------
    n_nodes : int64 array of shape (n_trees,)
        Nodes of each tree; the node arrays hold the trees one after the other.
    left : int32 array
        Left child, counted from the tree's root, -1 in a leaf. The right child is the next node.
    feature : int32 array
        Column of ``X``, -1 in a leaf.
    threshold : float64 array
    n_node_samples, depth : int32 arrays
    log_volume : float64 array
        Logarithm of the cell's volume, the training data's bounding box being 1.
    gammas : float64 array of shape (n_trees,)
    importances : float64 array of shape (n_trees, n_features)
        Decreases of the proxy per feature, per point of the sub-sample.
    """
    n_trees = seeds.shape[0]
    n_samples, n_features = X.shape
    m, d = n_subsample, n_features_tree

    # Work space, shared by all the trees of the block.
    bitmap = np.zeros((max(n_samples, n_features) + 63) // 64, np.uint64)
    rows = np.empty(m + 1, np.int64)
    columns = np.empty(d + 1, np.int64)
    values = np.empty((d, m), np.float64)
    orders = np.empty((2, d, m), np.uint32)
    keys = np.empty((3, m), np.uint32)
    spare_order = np.empty(m, np.uint32)
    counts = np.empty(2048, np.int64)
    goes_left = np.empty(m, np.uint8)
    drawn = np.empty(d, np.int64)
    searched = np.empty(d, np.int64)
    work = np.empty((2, work_size(m)), np.float64)
    bounds = np.empty((d, n_runs(m)), np.float64)
    pending = np.empty((_MAX_PENDING, 4), np.int64)  # node, start, end, depth
    pending_key = np.empty(_MAX_PENDING, np.uint64)
    pending_cell = np.empty((_MAX_PENDING, 2, d), np.float64)
    pending_constant = np.empty((_MAX_PENDING, d), np.uint8)
    lower, upper = np.empty(d), np.empty(d)
    constant = np.empty(d, np.uint8)

    # Results.
    n_nodes = np.zeros(n_trees, np.int64)
    gammas = np.empty(n_trees)
    importances = np.zeros((n_trees, n_features))
    room = 64 * n_trees
    left = np.empty(room, np.int32)
    feature = np.empty(room, np.int32)
    threshold = np.empty(room, np.float64)
    n_node_samples = np.empty(room, np.int32)
    depths = np.empty(room, np.int32)
    log_volume = np.empty(room, np.float64)
    first = 0

    for t in range(n_trees):
        draw_samples(seeds[t], n_samples, bitmap, rows)
        draw_features(seeds[t], n_features, bitmap, columns)
        gamma = draw_gamma(seeds[t], gamma_low, gamma_high)
        gammas[t] = gamma
        log_n = np.log(float(m))

        root_log_volume = 0.0
        for j in range(d):
            column = columns[j]
            column_ranks = keys[2]
            for i in range(m):
                values[j, i] = X[rows[i], column]
                column_ranks[i] = ranks[column, rows[i]]
            sort_by_rank(
                column_ranks, n_ranks[column], orders[0, j], keys[0], spare_order, keys[1], counts
            )
            lower[j], upper[j] = values[j, orders[0, j, 0]], values[j, orders[0, j, m - 1]]
            constant[j] = lower[j] == upper[j]
            if not constant[j]:
                root_log_volume += np.log(
                    (upper[j] - lower[j]) / (data_upper[column] - data_lower[column])
                )

        left = _enlarge(left, first, first + 1)
        feature = _enlarge(feature, first, first + 1)
        threshold = _enlarge(threshold, first, first + 1)
        n_node_samples = _enlarge(n_node_samples, first, first + 1)
        depths = _enlarge(depths, first, first + 1)
        log_volume = _enlarge(log_volume, first, first + 1)
        n_nodes[t] = 1
        log_volume[first] = root_log_volume
        n_node_samples[first] = m
        depths[first] = 0
        pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3] = 0, 0, m, 0
        pending_key[0] = derive(seeds[t], STREAM_NODES)
        pending_cell[0, 0], pending_cell[0, 1] = lower, upper
        pending_constant[0] = constant
        n_pending = 1

        while n_pending > 0:
            n_pending -= 1
            node, start, end, depth = (
                pending[n_pending, 0],
                pending[n_pending, 1],
                pending[n_pending, 2],
                pending[n_pending, 3],
            )
            key = pending_key[n_pending]
            n = end - start
            here = orders[depth & 1]
            there = orders[1 - (depth & 1)]
            left[first + node] = -1
            feature[first + node] = -1
            threshold[first + node] = 0.0

            node_log_volume = log_volume[first + node]
            log_density = np.log(float(n)) - log_n - node_log_volume
            if (
                depth >= max_depth
                or n < min_samples_split
                or log_density <= min_log_density
                or log_density >= max_log_density
            ):
                continue
            lower[:] = pending_cell[n_pending, 0]
            upper[:] = pending_cell[n_pending, 1]
            constant[:] = pending_constant[n_pending]

            if adversary == ADAPTIVE:
                n_outliers = gamma * n
            else:
                n_outliers = gamma * m * np.exp(node_log_volume)

            # A random choice of features that are not constant in the node.
            for j in range(d):
                drawn[j] = j
            n_searched = 0
            state = key
            for k in range(d):
                state, pick = next_below(state, d - k)
                pick += k
                j = drawn[pick]
                drawn[pick] = drawn[k]
                if not constant[j]:
                    if values[j, here[j, start]] == values[j, here[j, end - 1]]:
                        constant[j] = 1
                    else:
                        # Never past k: the urn's drawn part makes room for the chosen.
                        searched[n_searched] = j
                        n_searched += 1
                        if n_searched == n_features_node:
                            break

            best, best_threshold, best_left, best_gain = best_split(
                criterion,
                values,
                here[:, start:end],
                searched[:n_searched],
                lower,
                upper,
                n_outliers,
                work,
                bounds,
            )
            if best < 0:
                continue

            middle = start + best_left
            if depth + 1 < max_depth:
                # The children may be split in turn: hand them their points, in order.
                mark_left(here[best, start:end], best_left, goes_left)
                there[best, start:end] = here[best, start:end]
                for j in range(d):
                    if j != best and not constant[j]:
                        partition(here[j, start:end], best_left, goes_left, there[j, start:end])

            child = n_nodes[t]
            n_nodes[t] += 2
            wanted = first + child + 2
            left = _enlarge(left, wanted - 2, wanted)
            feature = _enlarge(feature, wanted - 2, wanted)
            threshold = _enlarge(threshold, wanted - 2, wanted)
            n_node_samples = _enlarge(n_node_samples, wanted - 2, wanted)
            depths = _enlarge(depths, wanted - 2, wanted)
            log_volume = _enlarge(log_volume, wanted - 2, wanted)

            left[first + node] = child
            feature[first + node] = columns[best]
            threshold[first + node] = best_threshold
            importances[t, columns[best]] += (
                proxy_decrease(criterion, best_gain, float(n), n_outliers) / m
            )
            width = upper[best] - lower[best]
            for side in range(2):
                slot = first + child + side
                n_node_samples[slot] = best_left if side == 0 else n - best_left
                depths[slot] = depth + 1
                part = best_threshold - lower[best] if side == 0 else upper[best] - best_threshold
                log_volume[slot] = node_log_volume + np.log(part / width)

            # The smaller child goes on top.
            left_first = best_left <= n - best_left
            for turn in range(2):
                is_left = (turn == 1) == left_first
                pending[n_pending, 0] = child if is_left else child + 1
                pending[n_pending, 1] = start if is_left else middle
                pending[n_pending, 2] = middle if is_left else end
                pending[n_pending, 3] = depth + 1
                pending_key[n_pending] = derive(key, _NODE_LEFT if is_left else _NODE_RIGHT)
                pending_cell[n_pending, 0] = lower
                pending_cell[n_pending, 1] = upper
                if is_left:
                    pending_cell[n_pending, 1, best] = best_threshold
                else:
                    pending_cell[n_pending, 0, best] = best_threshold
                pending_constant[n_pending] = constant
                n_pending += 1
        first += n_nodes[t]

    return (
        n_nodes,
        left[:first].copy(),
        feature[:first].copy(),
        threshold[:first].copy(),
        n_node_samples[:first].copy(),
        depths[:first].copy(),
        log_volume[:first].copy(),
        gammas,
        importances,
    )
