"""Growing the trees of a forest in blocks, in parallel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from ._growing import Settings, grow_trees, most_nodes
from ._nodes import Nodes, room_for_nodes
from ._planting import RankedData
from ._workspace import new_work_space

# More blocks than threads even out the load.
_BLOCKS_PER_THREAD = 4

# Room is made for as many nodes, or two trees' if those are more.
_ROOM = 2**16


class Block(NamedTuple):
    """Some of a forest's trees."""

    parts: list[Nodes]  # the trees one after the other
    n_nodes: np.ndarray  # int64, (n_trees,)
    gammas: np.ndarray  # float64, (n_trees,)
    importances: np.ndarray  # float64, (n_trees, n_features)


def _grow_block(data: RankedData, seeds: np.ndarray, settings: Settings) -> Block:
    """Grow one tree per seed."""
    n_trees, (n_samples, n_features) = len(seeds), data.X.shape
    work = new_work_space(settings.n_subsample, settings.n_features_tree, n_samples, n_features)
    block = Block(
        [], np.zeros(n_trees, np.int64), np.empty(n_trees), np.zeros((n_trees, n_features))
    )
    most = most_nodes(settings)
    grown = 0
    while grown < n_trees:
        # Nearly all trees stay far below what they may have, and room that is not used is free.
        nodes = room_for_nodes(min((n_trees - grown) * most, max(2 * most, _ROOM)))
        left = slice(grown, None)
        n_grown = grow_trees(
            data,
            seeds[left],
            settings,
            work,
            nodes,
            nodes.packed.view(np.float64),
            block.n_nodes[left],
            block.gammas[left],
            block.importances[left],
        )
        used = block.n_nodes[grown : grown + n_grown].sum()
        block.parts.append(Nodes(*(field[:used] for field in nodes)))
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
    blocks: list[Block] = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(_grow_block)(data, some, settings) for some in np.array_split(seeds, n_blocks)
    )
    return blocks
