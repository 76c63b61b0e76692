"""Growing trees, one after the other.

A tree keeps, for each of its features, its points in ascending order. The orders are made once,
at the root, from the ranks that were sorted once per forest; a split partitions them stably. Two
buffers take turns (a node reads the one of its depth's parity, and its children find their points
in the other), so that a partition never copies back. Where few of many features are searched, the
points of each node are sorted instead, along those features (`_ordering`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ._cells import enter_cell, forget_constants
from ._criteria import proxy_decrease
from ._nodes import SHIFT, Nodes, log_ratio
from ._ordering import sort_members
from ._partition import partition_orders
from ._planting import RankedData, enclose, plant, root_log_volume
from ._random import STREAM_NODES, derive, next_below
from ._sampling import draw_features, draw_gamma, draw_samples
from ._splitter import best_split
from ._workspace import WorkSpace

ADAPTIVE, NAIVE = 0, 1
ADVERSARIES = {"adaptive": ADAPTIVE, "naive": NAIVE}

# Pending nodes of a depth-first walk that takes the smaller child first: at most log2 of the
# points.
_MAX_PENDING = 66

_NODE_LEFT, _NODE_RIGHT = np.uint64(0), np.uint64(1)

# The reciprocal of a narrower cell's width is infinite: it counts as constant along that feature.
_NARROWEST = 6e-309


class Settings(NamedTuple):
    """What all trees of a forest share, as the kernels want it: no strings, nothing optional."""

    n_subsample: int
    n_features_tree: int
    n_features_node: int
    criterion: int  # of CRITERIA
    adversary: int  # of ADVERSARIES
    gamma_low: float  # equal to gamma_high for a fixed gamma
    gamma_high: float
    max_depth: int
    min_samples_split: int
    min_log_density: float  # a node at or beyond either is a leaf; infinite for no bound
    max_log_density: float
    sort_node_by_node: bool  # `_ordering`


@njit(cache=True, nogil=True)
def most_nodes(settings: Settings) -> int:
    """Return how many nodes a tree may have."""
    most = 2 * settings.n_subsample - 1
    if settings.max_depth < 31:
        most = min(most, (2 << settings.max_depth) - 1)
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def _grow_tree(
    settings: Settings,
    data: RankedData,
    seed: np.uint64,
    gamma: float,
    work: WorkSpace,
    nodes: Nodes,
    thresholds: np.ndarray,
    importances: np.ndarray,
) -> int:
    """Split the root and what follows from it; return the number of nodes.

    ``work.points`` holds the root's orders in its first buffer, unless nodes are sorted one by one,
    and its cell. ``thresholds`` is ``nodes.packed`` as floats. ``importances`` (n_features,)
    receives the decreases of the proxy per point of the sub-sample.
    """
    points, columns, path, path_bounds = work.points, work.columns, work.path, work.path_bounds
    values, orders, lower, upper = points.values, points.orders, points.lower, points.upper
    urn, picks, members, marked = work.urn, work.picks, work.members, work.marked
    constant, constants = work.constant, work.constants
    search, bounds = work.search, work.bounds
    ranks, rows, sub_ranks, sort_work = data.ranks, work.rows, work.sub_ranks, work.sort_work
    links = nodes.packed
    m, d, n_slots = settings.n_subsample, lower.shape[0], values.shape[0]
    max_depth, criterion = settings.max_depth, settings.criterion
    node_by_node = settings.sort_node_by_node
    log_m = np.log(float(m))

    slots, features = np.empty(d, np.intp), np.empty(d, np.intp)
    # The cell along the features in the slots.
    slot_lower, slot_upper = lower, upper
    if node_by_node:
        slot_lower, slot_upper = np.empty(n_slots), np.empty(n_slots)
        for i in range(m):
            members[i] = i
    pending = np.empty((_MAX_PENDING, 5), np.intp)  # node, start, end, depth, side
    pending_key = np.empty(_MAX_PENDING, np.uint64)

    nodes.n_samples[0], nodes.depth[0] = m, 0
    nodes.log_volume[0] = root_log_volume(data, columns, points)
    pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3], pending[0, 4] = 0, 0, m, 0, 0
    pending_key[0] = derive(seed, STREAM_NODES)
    n_pending, n_nodes, level, n_constants = 1, 1, 0, 0

    while n_pending > 0:
        n_pending -= 1
        node, start = pending[n_pending, 0], pending[n_pending, 1]
        end, depth = pending[n_pending, 2], pending[n_pending, 3]
        side, key = pending[n_pending, 4], pending_key[n_pending]
        n = end - start
        node_log_volume = nodes.log_volume[node]
        # A leaf, until it is split.
        thresholds[node, 0], links[node, 1] = 0.0, np.uint64(node)
        if depth >= max_depth or n < settings.min_samples_split:
            continue
        log_density = np.log(float(n)) - log_m - node_log_volume
        if log_density <= settings.min_log_density or log_density >= settings.max_log_density:
            continue
        enter_cell(path, path_bounds, level, depth, side, lower, upper)
        level = depth
        if n_constants > 0:
            n_constants = forget_constants(constants, n_constants, depth, constant)

        turn = 0 if node_by_node else depth & 1
        # Features are drawn until as many are found as are searched that are not constant here.
        n_searched, n_drawn = 0, 0
        state = key
        while n_drawn < d and n_searched < settings.n_features_node:
            state, pick = next_below(state, d - n_drawn)
            pick += n_drawn
            j = urn[pick]
            urn[pick] = urn[n_drawn]
            picks[n_drawn] = pick
            n_drawn += 1
            if constant[j]:
                continue
            slot = n_searched if node_by_node else j
            differ = upper[j] - lower[j] >= _NARROWEST
            if differ and node_by_node:
                differ = sort_members(
                    ranks[columns[j]], rows, members, start, end, sub_ranks, sort_work, orders, slot
                )
                for i in range(start, end):
                    values[slot, members[i]] = data.X[rows[members[i]], columns[j]]
                slot_lower[slot], slot_upper[slot] = lower[j], upper[j]
            elif differ:
                differ = values[j, orders[turn, j, start]] != values[j, orders[turn, j, end - 1]]
            if differ:
                slots[n_searched], features[slot] = slot, j
                n_searched += 1
            else:
                constant[j] = True
                constants[n_constants, 0], constants[n_constants, 1] = j, depth
                n_constants += 1
        # The next node finds the urn as this one did.
        for k in range(n_drawn):
            urn[picks[k]] = picks[k]

        n_outliers = gamma * n
        if settings.adversary == NAIVE:
            n_outliers = gamma * m * np.exp(node_log_volume)
        slot, threshold, n_left, gain = best_split(
            criterion,
            values,
            orders,
            turn,
            start,
            end,
            slots,
            n_searched,
            slot_lower,
            slot_upper,
            n_outliers,
            search,
            bounds,
        )
        if slot < 0:
            continue
        best = features[slot]
        if node_by_node:
            members[start:end] = orders[0, slot, start:end]
        elif depth + 1 < max_depth:
            # The children may be split in turn: hand them their points, in order.
            partition_orders(orders, turn, start, end, best, n_left, constant, marked)

        child = n_nodes
        n_nodes += 2
        thresholds[node, 0] = threshold
        links[node, 1] = (np.uint64(columns[best]) << SHIFT) | np.uint64(child)
        path[depth, 0], path_bounds[depth, 0] = best, threshold
        importances[columns[best]] += proxy_decrease(criterion, gain, float(n), n_outliers) / m
        width = upper[best] - lower[best]
        left_width, right_width = threshold - lower[best], upper[best] - threshold
        if right_width == 0.0:
            # The threshold between neighbouring floats is the upper of them (`midpoint`), here the
            # cell's end. The middle that it stands for leaves the right child half the gap.
            last_left = values[slot, orders[turn, slot, start + n_left - 1]]
            right_width = 0.5 * (upper[best] - last_left)
            left_width = width - right_width
        # The smaller child goes on top.
        left_is_smaller = 2 * n_left <= n
        for k in range(2):
            is_left = (k == 1) == left_is_smaller
            at = child if is_left else child + 1
            part = left_width if is_left else right_width
            nodes.n_samples[at] = n_left if is_left else n - n_left
            nodes.depth[at] = depth + 1
            nodes.log_volume[at] = node_log_volume + log_ratio(part, width)
            pending[n_pending, 0] = at
            pending[n_pending, 1] = start if is_left else start + n_left
            pending[n_pending, 2] = start + n_left if is_left else end
            pending[n_pending, 3] = depth + 1
            pending[n_pending, 4] = 0 if is_left else 1
            pending_key[n_pending] = derive(key, _NODE_LEFT if is_left else _NODE_RIGHT)
            n_pending += 1
    forget_constants(constants, n_constants, 0, constant)
    return n_nodes


@njit(cache=True, nogil=True)
def grow_trees(
    data: RankedData,
    seeds: np.ndarray,
    settings: Settings,
    work: WorkSpace,
    nodes: Nodes,
    thresholds: np.ndarray,
    n_nodes: np.ndarray,
    gammas: np.ndarray,
    importances: np.ndarray,
) -> int:
    """Grow a tree per seed, as far as there is room for the nodes.

    Parameters
    ----------
    data : RankedData
    seeds : uint64 array of shape (n_trees,)
    settings : Settings
    work : WorkSpace
    nodes : Nodes
        Receives the trees, one after the other. As long as there is room for `most_nodes`, there
        is room for another tree.
    thresholds : float64 array of shape (size, 2)
        The memory of ``nodes.packed``.
    n_nodes : int64 array of shape (n_trees,)
        Receives the nodes of each tree.
    gammas : float64 array of shape (n_trees,)
    importances : float64 array of shape (n_trees, n_features)
        Receives the decreases of the proxy per feature, per point of the sub-sample; zeros before.

    Returns
    -------
    n_grown : int
        Trees grown, fewer than asked for where there was no room for more.
    """
    n_samples, n_features = data.X.shape
    most = most_nodes(settings)
    used = 0
    for t in range(seeds.shape[0]):
        if used + most > nodes.depth.shape[0]:
            return t
        draw_samples(seeds[t], n_samples, work.bitmap, work.rows)
        draw_features(seeds[t], n_features, work.bitmap, work.columns)
        gammas[t] = draw_gamma(seeds[t], settings.gamma_low, settings.gamma_high)
        if settings.sort_node_by_node:
            enclose(data, work.rows, work.columns, work.points)
        else:
            plant(data, work.rows, work.columns, work.points, work.sub_ranks, work.sort_work)
        end = used + most
        tree = Nodes(
            nodes.packed[used:end],
            nodes.n_samples[used:end],
            nodes.depth[used:end],
            nodes.log_volume[used:end],
        )
        n_nodes[t] = _grow_tree(
            settings,
            data,
            seeds[t],
            gammas[t],
            work,
            tree,
            thresholds[used:end],
            importances[t],
        )
        used += n_nodes[t]
    return seeds.shape[0]
