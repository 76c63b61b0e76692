"""Bars that show which features make a row anomalous."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

    from ._forest import OneClassRF

# Told apart by colour-blind readers: more anomalous, less anomalous.
_COLOURS = ("#d55e00", "#0072b2")


def plot_contributions(
    forest: OneClassRF,
    row: Any,
    *,
    ax: Axes | None = None,
    max_display: int = 10,
    names: Sequence[str] | None = None,
    **bar: Any,
) -> BarContainer:
    """Draw what each feature contributes to the score of a row, largest contributions first.

    Bars to the right make the row more anomalous. Together they lead from the forest's
    ``mean_log2_score_`` to log2 s of the row; the axis says both.

    Parameters
    ----------
    forest : OneClassRF
        Fitted, with `OneClassRF.feature_contributions`.
    row : array-like of shape (n_features,) or (1, n_features)
        If the forest was fitted on a data frame, a row of one, as a frame or a series.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    max_display : int, default=10
        Largest number of bars. The last one sums what has no bar of its own.
    names : sequence of str, optional
        Names of the features. Default: those of the training data, or "feature 0" and so on.
    **bar
        Options of ``Axes.barh``.

    Returns
    -------
    bars : BarContainer
        From top to bottom.

    Raises
    ------
    ValueError
        For several rows, or names that are not as many as the features.
    AttributeError
        If the score of the forest has no contributions.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from ocrf import OneClassRF, plot_contributions
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> forest = OneClassRF(random_state=0).fit(X)
    >>> bars = plot_contributions(forest, [0.0, 9.0, 0.0], ax=Figure().subplots())
    >>> bars[0].axes.get_yticklabels()[0].get_text()
    'feature 1 = 9'
    """
    if not isinstance(max_display, Integral) or max_display < 1:
        raise ValueError(f"max_display must be a whole number from 1 on, got {max_display!r}.")
    if not hasattr(type(forest), "feature_contributions"):
        raise AttributeError(
            f"{type(forest).__name__} has no feature_contributions, which plot_contributions "
            "draws; of a pipeline pass the forest, pipe[-1], and pipe[:-1].transform(row)."
        )
    if hasattr(row, "to_frame") and hasattr(forest, "feature_names_in_"):
        # A row of a data frame has the names of its features, not the types of its columns.
        row = row.to_frame().T
        row = row.where(row.notna(), np.nan)
    X = row if np.ndim(row) == 2 else np.reshape(row, (1, -1))
    if len(X) != 1:
        raise ValueError(f"plot_contributions draws one row, got {len(X)}.")
    (contributions,) = forest.feature_contributions(X)
    (values,) = forest._validated(X)
    n_features = len(values)
    if names is None:
        names = getattr(forest, "feature_names_in_", [f"feature {j}" for j in range(n_features)])
    elif len(names) != n_features:
        raise ValueError(f"names has {len(names)} of the {n_features} features.")
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plot_contributions needs matplotlib: pip install matplotlib", name=error.name
        ) from error

    order = np.argsort(-np.abs(contributions), kind="stable")
    n_own = n_features if n_features <= max_display else max_display - 1
    widths = contributions[order[:n_own]].tolist()
    labels = [f"{names[j]} = {_in_digits(values[j])}" for j in order[:n_own]]
    if n_own < n_features:
        widths.append(float(contributions[order[n_own:]].sum()))
        labels.append(f"{n_features - n_own} other features")

    axes = plt.subplots()[1] if ax is None else ax
    style = {"color": [_COLOURS[width < 0] for width in widths]}
    places = range(len(widths))
    bars = axes.barh(places, widths, **(style | bar))
    # A name may hold dollar signs.
    axes.set_yticks(places, labels, parse_math=False)
    axes.bar_label(bars, fmt="%+.3f", padding=3)
    axes.margins(x=0.15)
    axes.axvline(0.0, color="black", linewidth=0.8)
    # The largest contribution on top.
    axes.set_ylim(len(widths) - 0.5, -0.5)
    base = forest.mean_log2_score_
    axes.set_xlabel(
        f"contribution to log2 s: {base:.3f} over the trees' rows, "
        f"{base + sum(widths):.3f} for this row"
    )
    return bars


def _in_digits(value: float) -> str:
    """Write a value in six digits, a larger one to the whole, so that time stamps differ."""
    return f"{value:.0f}" if 1e6 <= abs(value) < 1e16 else f"{value:.6g}"
