"""Growing trees, one after the other: drawing, searching, splitting, node by node."""

from __future__ import annotations

import numpy as np

from .._trees.row_block import MISSING_RIGHT, SHIFT
from .._trees.tree import Nodes
from ..kernels import inner_kernel, kernel
from .boxes import enter_box, find_root_box, forget_constants, log_ratio, root_log_volume
from .criterion import n_hidden_outliers, proxy_decrease
from .features import find_searched, first_drawn
from .partitioner import copy_points, partition_orders
from .points import sort_root
from .ranking import RankedData
from .sampling import STREAM_NODES, derive, draw_features, draw_gamma, draw_samples
from .splitter import Sorted, best_split, threshold_above
from .weighted import (
    best_weighted_split,
    distribute_marked,
    gather_weights,
    mark_left,
)
from .work_space import TreeParameters, WorkSpace

_NODE_LEFT, _NODE_RIGHT = np.uint64(0), np.uint64(1)


@kernel(inline="always")
def _is_leaf(
    parameters: TreeParameters, depth: int, n: float, log_m: float, log_volume: float
) -> bool:
    """Tell whether a rule keeps a node of n points from being split."""
    if depth >= parameters.max_depth or n < parameters.min_samples_split:
        return True
    log_density = np.log(n) - log_m - log_volume
    return log_density <= parameters.min_log_density or log_density >= parameters.max_log_density


@kernel(inline="always")
def _child_widths(node: Sorted, slot: int, threshold: float, n_left: int) -> tuple[float, float]:
    """Return the widths of the children's boxes along the feature of the split."""
    width = node.upper[slot] - node.lower[slot]
    left, right = threshold - node.lower[slot], node.upper[slot] - threshold
    if right == 0.0:
        # The threshold between neighbouring floats is the upper of them (`midpoint`), here the
        # box's end. The middle that it stands for leaves the right child half the gap.
        last_left = node.orders[node.buffer, slot, node.start + n_left - 1]
        right = 0.5 * (node.upper[slot] - node.values[slot, last_left])
        left = width - right
    return left, right


@inner_kernel
def _grow_tree(
    parameters: TreeParameters,
    data: RankedData,
    seed: np.uint64,
    gamma: float,
    work: WorkSpace,
    members: np.ndarray | None,
    weights: np.ndarray | None,
    nodes: Nodes,
    thresholds: np.ndarray,
    importances: np.ndarray,
) -> int:
    """Split the root and the nodes below it; return the number of nodes.

    Before, ``work.points`` holds the root's orders in its first buffer, unless nodes are sorted one
    by one, and ``work.box`` its box. ``thresholds`` is ``nodes.packed`` as floats. ``importances``
    (n_features,) receives the decreases of the proxy per point of the sub-sample.
    """
    points, box, features, search = work.points, work.box, work.features, work.search
    columns, links = points.columns, nodes.packed
    m, criterion, max_depth = parameters.n_subsample, parameters.criterion, parameters.max_depth
    total = float(m)
    if weights is not None:
        total = gather_weights(data, points.rows, weights)
    log_total = np.log(total)

    # Where nodes are sorted one by one, a slot holds whichever feature the node has drawn.
    slot_lower, slot_upper = box.lower, box.upper
    if members is not None:
        slot_lower, slot_upper = work.slot_lower, work.slot_upper
        for i in range(m):
            members[i] = i
    pending, pending_key = work.stack.nodes, work.stack.keys

    nodes.n_samples[0], nodes.depth[0] = m, 0
    if weights is not None:
        nodes.weight[0] = total
    nodes.log_volume[0] = root_log_volume(data.lower, data.upper, columns, box)
    pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3], pending[0, 4] = 0, 0, m, 0, 0
    pending_key[0] = derive(seed, STREAM_NODES)
    n_pending, n_nodes, level, n_constants = 1, 1, np.intp(0), np.intp(0)

    while n_pending > 0:
        n_pending -= 1
        node, start = pending[n_pending, 0], pending[n_pending, 1]
        end, depth = pending[n_pending, 2], pending[n_pending, 3]
        side, key = pending[n_pending, 4], pending_key[n_pending]
        n, log_volume = float(end - start), nodes.log_volume[node]
        if weights is not None:
            n = nodes.weight[node]
        # A leaf, until it is split.
        thresholds[node, 0], links[node, 1] = 0.0, np.uint64(node)
        if _is_leaf(parameters, depth, n, log_total, log_volume):
            continue
        enter_box(box, level, depth, side)
        level = depth
        if n_constants > 0:
            n_constants = forget_constants(
                features.constants, n_constants, depth, features.constant
            )
        n_searched, are_drawn, n_constants = find_searched(
            parameters, data, work, members, weights, start, end, depth, key, n_constants
        )
        n_outliers = n_hidden_outliers(parameters.adversary, gamma, n, total, log_volume)
        buffer = depth & 1
        if members is not None:
            buffer = 0
        at_hand = Sorted(
            points.values, points.orders, buffer, start, end, slot_lower, slot_upper, n_outliers
        )
        missing_right = False
        if weights is not None:
            slot, threshold, n_below, gain, missing_right = best_weighted_split(
                criterion,
                parameters.missing_rule,
                at_hand,
                weights,
                features.slots,
                n_searched,
            )
        else:
            n_tied, gain = best_split(criterion, at_hand, features.slots, n_searched, search)
            slot = -1
            if n_tied > 0:
                at = 0
                if n_tied > 1 and not are_drawn:
                    at = first_drawn(features, key, search.tied, n_tied)
                slot, n_below = search.tied[at, 0], search.tied[at, 1]
                threshold = threshold_above(at_hand, slot, n_below)
        if slot < 0:
            continue
        best = features.of_slot[slot]
        child = n_nodes
        n_nodes += 2
        thresholds[node, 0] = threshold
        links[node, 1] = (np.uint64(columns[best]) << SHIFT) | np.uint64(child)
        left_width, right_width = _child_widths(at_hand, slot, threshold, n_below)
        n_left = n_below
        if weights is not None:
            links[node, 1] |= MISSING_RIGHT if missing_right else np.uint64(0)
            rule, marked = parameters.missing_rule, points.marked
            mark_left(at_hand, slot, n_below, weights, marked, rule, missing_right, key)
            n_left, nodes.weight[child], nodes.weight[child + 1] = distribute_marked(
                at_hand, slot, members, weights, marked, features.constant
            )
        elif members is not None:
            copy_points(points.orders[0, slot, start:end], members[start:end])
        elif depth + 1 < max_depth:
            # The children may be split in turn: hand them their points, in order.
            node_orders = points.orders, buffer, start, end, best, n_left, features.constant
            partition_orders(*node_orders, points.marked, work.bitmap)

        box.path[depth, 0], box.path_bounds[depth, 0] = best, threshold
        importances[columns[best]] += proxy_decrease(criterion, gain, n, n_outliers) / total
        width = box.upper[best] - box.lower[best]
        # The smaller child goes on top.
        left_is_smaller = 2 * n_left <= end - start
        for k in range(2):
            is_left = (k == 1) == left_is_smaller
            at = child if is_left else child + 1
            nodes.n_samples[at] = n_left if is_left else end - start - n_left
            nodes.depth[at] = depth + 1
            nodes.log_volume[at] = log_volume + log_ratio(
                left_width if is_left else right_width, width
            )
            pending[n_pending, 0] = at
            pending[n_pending, 1] = start if is_left else start + n_left
            pending[n_pending, 2] = start + n_left if is_left else end
            pending[n_pending, 3] = depth + 1
            pending[n_pending, 4] = 0 if is_left else 1
            pending_key[n_pending] = derive(key, _NODE_LEFT if is_left else _NODE_RIGHT)
            n_pending += 1
    forget_constants(features.constants, n_constants, np.intp(0), features.constant)
    return n_nodes


@kernel
def grow_trees(
    data: RankedData,
    seeds: np.ndarray,
    parameters: TreeParameters,
    work: WorkSpace,
    members: np.ndarray | None,
    weights: np.ndarray | None,
    most: int,
    nodes: Nodes,
    thresholds: np.ndarray,
    n_nodes: np.ndarray,
    gammas: np.ndarray,
    importances: np.ndarray,
    stop: np.ndarray,
) -> int:
    """Grow a tree per seed, as long as there is room for the nodes of another one.

    Parameters
    ----------
    data : RankedData
    seeds : uint64 array of shape (n_trees,)
    parameters : TreeParameters
    work : WorkSpace
    members, weights : arrays of shape (m,), or None
        Those of the work space.
    most : int
        `most_nodes` of a tree.
    nodes : Nodes
        Receives the trees, one after the other.
    thresholds : float64 array of shape (size, 2)
        The memory of ``nodes.packed``.
    n_nodes : int64 array of shape (n_trees,)
        Receives the nodes of each tree.
    gammas : float64 array of shape (n_trees,)
        Receives the gamma of each tree.
    importances : float64 array of shape (n_trees, n_features)
        Receives the decreases of the proxy per feature, per point of the sub-sample; zeros before.
    stop : uint8 array of shape (1,)
        Another thread sets it to make this one return before the next tree.

    Returns
    -------
    n_grown : int
        Trees grown, fewer than ``n_trees`` if the room ended or ``stop`` was set.
    """
    n_samples, n_features = data.X.shape
    points = work.points
    used = 0
    for t in range(seeds.shape[0]):
        if stop[0] or used + most > nodes.depth.shape[0]:
            return t
        draw_samples(seeds[t], n_samples, work.bitmap, points.rows)
        draw_features(seeds[t], n_features, work.bitmap, points.columns)
        gammas[t] = draw_gamma(seeds[t], parameters.gamma_low, parameters.gamma_high)
        if members is not None:
            find_root_box(data.X, points.rows, points.columns, work.box)
        else:
            sort_root(data, points, work.bitmap, work.box.lower, work.box.upper)
        end = used + most
        tree = Nodes(
            nodes.packed[used:end],
            nodes.n_samples[used:end],
            nodes.depth[used:end],
            nodes.log_volume[used:end],
            nodes.weight[used:end],
        )
        n_nodes[t] = _grow_tree(
            parameters,
            data,
            seeds[t],
            gammas[t],
            work,
            members,
            weights,
            tree,
            thresholds[used:end],
            importances[t],
        )
        used += n_nodes[t]
    return seeds.shape[0]
