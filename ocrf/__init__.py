"""One-class random forests (Goix, Drougard, Brault and Chiapino, 2016)."""

from ._forest import OneClassRF
from ._tree import OneClassTree
from ._warm_up import warm_up

__all__ = ["OneClassRF", "OneClassTree", "warm_up"]
