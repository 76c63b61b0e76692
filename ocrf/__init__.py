"""One-class random forests (Goix, Drougard, Brault and Chiapino, 2016)."""

from ._contributions_plot import plot_contributions
from ._forest import OneClassRF
from ._persistence import VersionWarning
from ._plotting import plot_level_sets
from ._trees.tree import OneClassTree
from ._warming import warm_up

__version__ = "0.1.0"

__all__ = [
    "OneClassRF",
    "OneClassTree",
    "VersionWarning",
    "__version__",
    "plot_contributions",
    "plot_level_sets",
    "warm_up",
]
