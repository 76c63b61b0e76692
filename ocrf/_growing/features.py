"""The features that a node searches, and the order in which they are drawn.

Of splits that gain the same, the one on the feature that was drawn first wins. A node that searches
all of its features takes them as they come, without drawing, and its stream of random numbers is
read only where features tie: the split is the one that drawing would have found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels import inner_kernel, kernel
from .points import sort_members
from .ranking import RankedData
from .sampling import next_below
from .weighted import differ_where_present

if TYPE_CHECKING:
    from .work_space import TreeParameters, WorkSpace

# The reciprocal of a narrower box's width is infinite: it counts as constant along that feature.
_NARROWEST = 6e-309


class Features(NamedTuple):
    """The features of a tree while nodes draw from them."""

    candidates: np.ndarray  # intp, (d,): 0, 1, 2, ... between uses
    swaps: np.ndarray  # intp, (d,): places of `candidates` that a node has changed
    constant: np.ndarray  # bool, (d,): marks of constant features; false between uses
    constants: np.ndarray  # intp, (d, 2): the marked features, and the depths of their nodes
    slots: np.ndarray  # intp, (d,): the slots of the features that a node searches
    of_slot: np.ndarray  # intp, (d,): the feature in a slot


@kernel(inline="always")
def _draw(features: Features, state: np.uint64, n_drawn: int) -> tuple[np.uint64, int]:
    """Draw a feature that is not among the first ``n_drawn`` candidates, and put it after them."""
    candidates = features.candidates
    state, place = next_below(state, candidates.shape[0] - n_drawn)
    place += n_drawn
    feature = candidates[place]
    candidates[place] = candidates[n_drawn]
    features.swaps[n_drawn] = place
    return state, feature


@kernel(inline="always")
def _put_back(features: Features, n_drawn: int) -> None:
    """Put the candidates in order again: swaps have changed no other places."""
    for k in range(n_drawn):
        place = features.swaps[k]
        features.candidates[place] = place


@kernel(inline="always")
def find_searched(
    parameters: TreeParameters,
    data: RankedData,
    work: WorkSpace,
    members: np.ndarray | None,
    weights: np.ndarray | None,
    start: int,
    end: int,
    depth: int,
    key: np.uint64,
    n_constants: int,
) -> tuple[np.intp, bool, int]:
    """Find features that are not constant in the node, until they are enough or all are known.

    Returns
    -------
    n_searched, are_drawn, n_constants
        How many features are in ``work.features.slots``, whether as they were drawn or in ascending
        order, and how many are marked as constant.
    """
    points, box, features = work.points, work.box, work.features
    constant, lower, upper = features.constant, box.lower, box.upper
    values, orders = points.values, points.orders
    d, buffer = lower.shape[0], depth & 1
    are_drawn = (
        members is not None or weights is not None or d - n_constants > parameters.n_features_node
    )
    n_searched, n_seen = np.intp(0), 0
    state = key
    while n_seen < d and n_searched < parameters.n_features_node:
        j = features.candidates[n_seen]
        if are_drawn:
            state, j = _draw(features, state, n_seen)
        n_seen += 1
        if constant[j]:
            continue
        slot, differ = j, upper[j] - lower[j] >= _NARROWEST
        if members is not None:
            slot, buffer = n_searched, 0
            if differ:
                differ = sort_members(data, points, members[start:end], j, slot, start)
                work.slot_lower[slot], work.slot_upper[slot] = lower[j], upper[j]
        if weights is not None:
            differ = differ and differ_where_present(values[slot], orders[buffer, slot, start:end])
        elif members is None:
            order = orders[buffer, j]
            differ = differ and values[j, order[start]] != values[j, order[end - 1]]
        if differ:
            features.slots[n_searched], features.of_slot[slot] = slot, j
            n_searched += 1
        else:
            constant[j] = True
            features.constants[n_constants, 0] = j
            features.constants[n_constants, 1] = depth
            n_constants += 1
    if are_drawn:
        _put_back(features, n_seen)
    return n_searched, are_drawn, n_constants


@inner_kernel(is_apart=True)
def first_drawn(features: Features, key: np.uint64, tied: np.ndarray, n_tied: int) -> int:
    """Return which of the features ``tied[:n_tied, 0]`` the node would have drawn first."""
    state, n_drawn, first = key, 0, -1
    while first < 0:
        state, feature = _draw(features, state, n_drawn)
        n_drawn += 1
        for k in range(n_tied):
            if tied[k, 0] == feature:
                first = k
    _put_back(features, n_drawn)
    return first
