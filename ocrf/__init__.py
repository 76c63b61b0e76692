"""One-class random forests (Goix, Drougard, Brault and Chiapino, 2016)."""

from ._forest import OneClassRF
from ._level_sets import plot_level_sets
from ._tree import OneClassTree
from ._warm_up import warm_up

__all__ = ["OneClassRF", "OneClassTree", "plot_level_sets", "warm_up"]
