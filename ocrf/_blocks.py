"""Growing the trees of a forest in blocks, in parallel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._growing import Settings, grow_trees, most_nodes
from ._nodes import Nodes, room_for_nodes
from ._planting import RankedData
from ._scratch import scratch, settled
from ._threads import map_in_threads
from ._trees import Trees, join_trees
from ._workspace import WorkSpace, new_work_space

# More blocks than threads even out the load.
_BLOCKS_PER_THREAD = 4

# Room for nodes: so many, or a tree's and a quarter if those are more.
_ROOM = 2**16

# Importances that are filled in together, unless those of a single tree are more.
_IMPORTANCES = 2**17


class Block(NamedTuple):
    """Some of a forest's trees."""

    parts: list[Nodes]  # the trees one after the other
    n_nodes: np.ndarray  # int64, (n_trees,)
    gammas: np.ndarray  # float64, (n_trees,)
    # Features and importances of each part's trees in turn: with very many features, nearly all
    # importances are zero.
    importances: list[tuple[np.ndarray, np.ndarray]]


def _grow_block(data: RankedData, seeds: np.ndarray, settings: Settings, work: WorkSpace) -> Block:
    """Grow one tree per seed."""
    n_trees, n_features = len(seeds), data.X.shape[1]
    most = most_nodes(settings)
    importances = scratch((min(n_trees, max(_IMPORTANCES // n_features, 1)), n_features), float)
    block = Block([], np.zeros(n_trees, np.int64), np.empty(n_trees), [])
    grown = 0
    while grown < n_trees:
        # Nearly all trees stay far below what they may have; what is not touched takes no memory.
        room = min((n_trees - grown) * most, max(most + most // 4, _ROOM))
        nodes = room_for_nodes(room)
        some = slice(grown, grown + len(importances))
        n_grown = grow_trees(
            data,
            seeds[some],
            settings,
            work,
            nodes,
            nodes.packed.view(np.float64),
            block.n_nodes[some],
            block.gammas[some],
            importances,
        )
        used = block.n_nodes[grown : grown + n_grown].sum()
        # But it may be counted: a large room is not held on to for the sake of a few nodes.
        keep = settled if room > _ROOM else np.asarray
        block.parts.append(Nodes(*(keep(field[:used]) for field in nodes)))
        tree, feature = np.nonzero(importances[:n_grown])
        block.importances.append((feature, importances[tree, feature]))
        importances[tree, feature] = 0.0
        grown += n_grown
    return block


def grow_blocks(
    data: RankedData, seeds: np.ndarray, settings: Settings, n_jobs: int
) -> list[Block]:
    """Grow one tree per seed, in threads: the kernels hold no GIL and share the data.

    Parameters
    ----------
    data : RankedData
    seeds : uint64 array of shape (n_trees,)
    settings : Settings
    n_jobs : int

    Returns
    -------
    blocks : list of Block
    """
    n_blocks = 1 if n_jobs == 1 else min(_BLOCKS_PER_THREAD * n_jobs, len(seeds))
    waiting = iter(list(enumerate(np.array_split(seeds, n_blocks))))
    d = settings.n_features_tree
    n_slots = min(settings.n_features_node, d) if settings.sort_node_by_node else d

    def grow_some(_: int) -> list[tuple[int, Block]]:
        """Take blocks as long as there are any, in work space of this thread's own."""
        work = new_work_space(data.X.shape, settings.n_subsample, d, n_slots, settings.max_depth)
        # The iterator of a list is advanced under the interpreter's lock.
        return [(i, _grow_block(data, some, settings, work)) for i, some in waiting]

    n_threads = min(n_jobs, n_blocks)
    shares = map_in_threads(grow_some, range(n_threads), n_threads)
    grown = sorted((pair for share in shares for pair in share), key=lambda pair: pair[0])
    return [block for _, block in grown]


def join_blocks(blocks: list[Block], n_features: int) -> tuple[Trees, np.ndarray, np.ndarray]:
    """Return the trees of all blocks, which are emptied, and what is told of them.

    Returns
    -------
    trees : Trees
    gammas : float64 array of shape (n_trees,)
    importances : float64 array of shape (n_features,)
        Means over the trees, scaled to sum to 1, or all zero.
    """
    parts = [part for block in blocks for part in block.parts]
    n_nodes = np.concatenate([block.n_nodes for block in blocks])
    gammas = np.concatenate([block.gammas for block in blocks])
    importances = _mean_importances(blocks, n_features)
    total = importances.sum()
    blocks.clear()
    return join_trees(parts, n_nodes), gammas, importances / total if total > 0 else importances


def _mean_importances(blocks: list[Block], n_features: int) -> np.ndarray:
    """Return the importances of all features, averaged over the trees."""
    total = np.zeros(n_features)
    for block in blocks:
        for feature, importance in block.importances:
            # One after the other: the same sum whatever the blocks.
            np.add.at(total, feature, importance)
    return total / sum(len(block.n_nodes) for block in blocks)
