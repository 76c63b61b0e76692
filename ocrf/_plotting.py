"""Level sets of a fitted forest's score, for two features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .kernels.threads import n_threads

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

    from ._forest import OneClassRF


def plot_level_sets(
    forest: OneClassRF,
    X: Any = None,
    *,
    ax: Axes | None = None,
    bounds: Any = None,
    levels: int | Any = 10,
    resolution: int = 400,
    cmap: Any = "viridis",
    points: dict[str, Any] | None = None,
    **mesh: Any,
) -> QuadMesh:
    """Draw the level sets of the score of a forest on two features.

    The score is constant on the rectangles between the forest's thresholds. Along a feature with
    fewer thresholds than `resolution` the picture has exactly these rectangles, so that the edges
    of a small forest's level sets lie where its splits are; otherwise it is a regular grid.

    Parameters
    ----------
    forest : OneClassRF
        Fitted on two features.
    X : array-like of shape (n_samples, 2), optional
        Points to draw on top. A data frame is held to the names of the features; rows that lack a
        value are not drawn.
    ax : matplotlib Axes, optional
        Default: those of a new figure. Without labels of their own they get the features' names.
    bounds : ((x_low, x_high), (y_low, y_high)), optional
        What to draw. Default: the bounding box of `X`, or that of the training data, with a margin
        of 5 % on each side.
    levels : int or array-like of float, default=10
        Number of level sets, of scores at equal distances between the lowest and the highest on
        the picture; or the ascending scores at which level sets begin.
    resolution : int, default=400
        Largest number of rectangles along a feature.
    cmap : str or Colormap, default="viridis"
        The default is told apart by colour-blind readers and in grey.
    points : dict, optional
        Options of ``Axes.scatter`` for `X`.
    **mesh
        Options of ``Axes.pcolormesh``.

    Returns
    -------
    mesh : QuadMesh
        To hand to ``figure.colorbar``; its axes are ``mesh.axes``.

    Raises
    ------
    ValueError
        If the forest was not fitted on two features, or an argument is out of range.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from ocrf import OneClassRF, plot_level_sets
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> forest = OneClassRF(random_state=0).fit(X)
    >>> mesh = plot_level_sets(forest, X, levels=6)
    >>> mesh.norm.Ncmap
    6
    """
    check_is_fitted(forest)
    if forest.n_features_in_ != 2:
        raise ValueError(
            f"plot_level_sets draws two features; the forest was fitted on {forest.n_features_in_}."
        )
    if resolution < 2:
        raise ValueError(f"resolution must be at least 2, got {resolution}.")
    try:
        import matplotlib.pyplot as plt
        from matplotlib.colors import BoundaryNorm
    except ImportError as error:
        raise ImportError(
            "plot_level_sets needs matplotlib: pip install matplotlib", name=error.name
        ) from error

    if X is not None:
        X = forest._validated(X) if hasattr(X, "columns") else np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != 2:
            raise ValueError(f"X must be of shape (n_samples, 2), got {X.shape}.")
        if np.isinf(X).any() or np.isnan(X).all(axis=0).any():
            raise ValueError("X must hold finite values, and one of each feature at least.")
    lower, upper = _bounds(forest, X, bounds)
    edges = [_edges(forest, j, lower[j], upper[j], resolution) for j in range(2)]
    centres = [0.5 * (part[:-1] + part[1:]) for part in edges]
    grid = np.stack(np.meshgrid(*centres), axis=-1)
    # Straight to the trees: the forest may have been fitted with column names.
    scores = forest._grown.score(grid.reshape(-1, 2), n_threads(forest.n_jobs))
    scores = scores.reshape(grid.shape[:2])

    if "norm" not in mesh:
        starts = _levels(levels, scores)
        if starts.size > 1:
            cmap = plt.get_cmap(cmap, starts.size - 1)
            mesh["norm"] = BoundaryNorm(starts, starts.size - 1, clip=True)
    axes = plt.subplots()[1] if ax is None else ax
    if hasattr(forest, "feature_names_in_") and not (axes.get_xlabel() or axes.get_ylabel()):
        # A name may hold dollar signs.
        axes.set_xlabel(str(forest.feature_names_in_[0]), parse_math=False)
        axes.set_ylabel(str(forest.feature_names_in_[1]), parse_math=False)
    drawn = axes.pcolormesh(*edges, scores, cmap=cmap, **mesh)
    if X is not None:
        style: dict[str, Any] = {"s": 4, "color": "white", "edgecolor": "black", "linewidth": 0.3}
        axes.scatter(X[:, 0], X[:, 1], **(style | (points or {})))
    axes.set_xlim(lower[0], upper[0])
    axes.set_ylim(lower[1], upper[1])
    return drawn


def _bounds(forest: OneClassRF, X: Any, bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper corner of the picture."""
    if bounds is not None:
        box = np.asarray(bounds, dtype=np.float64)
        if box.shape != (2, 2) or not (box[:, 0] < box[:, 1]).all():
            raise ValueError(
                "bounds must be ((x_low, x_high), (y_low, y_high)) with low < high, "
                f"got {bounds!r}."
            )
        return box[:, 0], box[:, 1]
    if X is not None:
        lower, upper = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    else:
        lower, upper = forest._grown.lower, forest._grown.upper
    width = upper - lower
    # A constant feature still takes room.
    margin = np.where(width > 0, 0.05 * width, 0.5)
    return lower - margin, upper + margin


def _edges(
    forest: OneClassRF, feature: int, low: float, high: float, resolution: int
) -> np.ndarray:
    """Return ascending edges from low to high: where scores change, or a regular grid."""
    jumps = [tree.threshold[tree.feature == feature] for tree in forest.estimators_]
    if forest._grown.out_of_bounds:
        # The bounding box is closed: beyond its end begins with the next float.
        end = np.nextafter(forest._grown.upper[feature], np.inf)
        jumps.append(np.array([forest._grown.lower[feature], end]))
    thresholds = np.unique(np.concatenate(jumps))
    inside = thresholds[(thresholds > low) & (thresholds < high)]
    if inside.size < resolution:
        return np.concatenate([[low], inside, [high]])
    return np.linspace(low, high, resolution + 1)


def _levels(levels: Any, scores: np.ndarray) -> np.ndarray:
    """Return the scores at which level sets begin, the end of the last one included."""
    if np.ndim(levels) == 0:
        if int(levels) != levels or levels < 1:
            raise ValueError(f"levels must be a positive number or ascending scores, got {levels}.")
        low, high = scores.min(), scores.max()
        if low == high:
            return np.array([low])
        return np.linspace(low, high, int(levels) + 1)
    starts = np.asarray(levels, dtype=np.float64)
    if starts.ndim != 1 or starts.size < 2 or not (np.diff(starts) > 0).all():
        raise ValueError(f"levels must be a positive number or ascending scores, got {levels!r}.")
    return starts
