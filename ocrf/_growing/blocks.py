"""Growing the trees of a forest in blocks, in parallel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._trees.tree import Nodes, Trees, join_trees, room_for_nodes
from ..kernels.arrays import compact_copy, scratch
from ..kernels.threads import map_in_threads
from .builder import grow_trees
from .ranking import RankedData
from .work_space import TreeParameters, WorkSpace, most_nodes, new_work_space

# More blocks than threads balance the load.
_BLOCKS_PER_THREAD = 4

# Nodes that are allocated together, unless a tree and a quarter may need more.
_ROOM = 2**16

# Importances that are filled in together, unless those of a single tree are more.
_IMPORTANCES = 2**17


class Block(NamedTuple):
    """Some of a forest's trees."""

    parts: list[Nodes]  # the trees one after the other
    n_nodes: np.ndarray  # int64, (n_trees,)
    gammas: np.ndarray  # float64, (n_trees,)
    # The features and the importances of each part's trees in turn, without the zeros: with very
    # many features, nearly all importances are zero.
    importances: list[tuple[np.ndarray, np.ndarray]]


def _grow_block(
    data: RankedData,
    seeds: np.ndarray,
    parameters: TreeParameters,
    work: WorkSpace,
    stop: np.ndarray,
) -> Block:
    """Grow one tree per seed, unless ``stop`` is set meanwhile."""
    n_trees, n_features = len(seeds), data.X.shape[1]
    most = most_nodes(parameters)
    importances = scratch((min(n_trees, max(_IMPORTANCES // n_features, 1)), n_features), float)
    block = Block([], np.zeros(n_trees, np.int64), np.empty(n_trees), [])
    grown = 0
    while grown < n_trees and not stop[0]:
        # Nearly all trees have far fewer nodes than they may have; nodes that are not written to
        # take no memory.
        room = min((n_trees - grown) * most, max(most + most // 4, _ROOM))
        nodes = room_for_nodes(room, work.weights is not None)
        some = slice(grown, grown + len(importances))
        n_grown = grow_trees(
            data,
            seeds[some],
            parameters,
            work,
            work.members,
            work.weights,
            most,
            nodes,
            nodes.packed.view(np.float64),
            block.n_nodes[some],
            block.gammas[some],
            importances,
            stop,
        )
        used = block.n_nodes[grown : grown + n_grown].sum()
        # Where the system counts what is allocated, a few nodes must not keep a large room.
        keep = compact_copy if room > _ROOM else np.asarray
        block.parts.append(Nodes(*(keep(field[:used]) for field in nodes)))
        tree, feature = np.nonzero(importances[:n_grown])
        block.importances.append((feature, importances[tree, feature]))
        importances[tree, feature] = 0.0
        grown += n_grown
    return block


def grow_blocks(
    data: RankedData,
    seeds: np.ndarray,
    parameters: TreeParameters,
    is_weighted: bool,
    n_jobs: int,
) -> list[Block]:
    """Grow one tree per seed, in threads: the kernels hold no GIL and share the data.

    Parameters
    ----------
    data : RankedData
    seeds : uint64 array of shape (n_trees,)
    parameters : TreeParameters
    is_weighted : bool
        Whether points have weights or lack values.
    n_jobs : int

    Returns
    -------
    blocks : list of Block
    """
    n_blocks = 1 if n_jobs == 1 else min(_BLOCKS_PER_THREAD * n_jobs, len(seeds))
    waiting = iter(list(enumerate(np.array_split(seeds, n_blocks))))
    stop = np.zeros(1, np.uint8)

    def grow_some(_: int) -> list[tuple[int, Block]]:
        """Take blocks as long as there are any, in work space of this thread's own."""
        work = new_work_space(data, parameters, is_weighted)
        # The iterator of a list is advanced under the interpreter's lock.
        return [(i, _grow_block(data, some, parameters, work, stop)) for i, some in waiting]

    n_workers = min(n_jobs, n_blocks)
    shares = map_in_threads(grow_some, range(n_workers), n_workers, lambda: stop.fill(1))
    grown = sorted((pair for share in shares for pair in share), key=lambda pair: pair[0])
    return [block for _, block in grown]


def join_blocks(
    blocks: list[Block], total_importances: np.ndarray, has_directions: bool = False
) -> tuple[Trees, np.ndarray]:
    """Join the trees of all blocks, and empty the list.

    Parameters
    ----------
    blocks : list of Block
    total_importances : float64 array of shape (n_features,)
        The importances of all trees are added to it.
    has_directions : bool, default=False
        As for `join_trees`.

    Returns
    -------
    trees : Trees
    gammas : float64 array of shape (n_trees,)
    """
    parts = []
    for block in blocks:
        parts += block.parts
        # This loop's variable holds the last block: its parts would live until all are joined.
        block.parts.clear()
    n_nodes = np.concatenate([block.n_nodes for block in blocks])
    gammas = np.concatenate([block.gammas for block in blocks])
    for block in blocks:
        for feature, importance in block.importances:
            # One after the other: the same sum whatever the blocks.
            np.add.at(total_importances, feature, importance)
    blocks.clear()
    return join_trees(parts, n_nodes, has_directions), gammas


def scaled_importances(total_importances: np.ndarray, n_trees: int) -> np.ndarray:
    """Return the means over the trees, scaled to sum to 1, or all zero."""
    importances = total_importances / n_trees
    total = importances.sum()
    return importances / total if total > 0 else importances
