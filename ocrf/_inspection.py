"""The trees of a fitted forest one by one, with the rows and the columns that each has drawn.

Trees lie in memory as they are traversed, and what they drew is drawn again from their seeds: an
item is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np

from ._growing.sampling import sample_features, sample_rows
from ._trees.tree import OneClassTree, unpack_tree

if TYPE_CHECKING:
    from ._forest import OneClassRF

Item = TypeVar("Item")


class _PerTree(Sequence[Item]):
    """A sequence with an item per tree, made each time that it is asked for."""

    def __init__(self, make: Callable[[int], Item], n_trees: int) -> None:
        self._make = make
        self._trees = range(n_trees)

    def __len__(self) -> int:
        return len(self._trees)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self._make(t) for t in self._trees[index]]
        return self._make(self._trees[index])

    def __repr__(self) -> str:
        return f"<{len(self)} items, one per tree>"


def trees(forest: OneClassRF) -> Sequence[OneClassTree]:
    """Return the trees of a fitted forest that does not change any more."""
    features = features_of_trees(forest)

    def tree(t: int) -> OneClassTree:
        return unpack_tree(
            forest._grown.trees,
            t,
            features=features[t],
            n_features=forest.n_features_in_,
            gamma=float(forest.gammas_[t]),
        )

    return _PerTree(tree, len(features))


def features_of_trees(forest: OneClassRF) -> Sequence[np.ndarray]:
    """Return the columns of each tree, ascending."""

    def columns(t: int) -> np.ndarray:
        seed = forest._tree_seeds[t]
        drawn = sample_features(seed, forest.n_features_in_, forest.max_features_tree_)
        return drawn.astype(np.int64)

    return _PerTree(columns, len(forest._tree_seeds))


def samples_of_trees(forest: OneClassRF) -> Sequence[np.ndarray]:
    """Return the rows of each tree's sub-sample, ascending."""

    def rows(t: int) -> np.ndarray:
        drawn = sample_rows(forest._tree_seeds[t], forest._n_samples_fit, forest.max_samples_)
        return drawn.astype(np.int64) if forest._rows is None else forest._rows[drawn]

    return _PerTree(rows, len(forest._tree_seeds))
