"""Figure 1: the density G of the hidden outliers, naive and adaptive, as a tree grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ocrf import OneClassRF, OneClassTree
from runners.theory.examples import (
    OUTLIER_DENSITY_HEIGHTS,
    OUTLIER_DENSITY_SPLITS,
    skewed_density,
    skewed_distribution,
)
from runners.theory.illustration import BLUE, GREY, LIGHT, ORANGE, Illustration
from runners.theory.model import best_population_split

Floats = NDArray[np.float64]

CLAIM = (
    "In the naive approach, G does not depend on the tree and is constant on the input space. In "
    "the adaptive approach it depends on the inlier distribution F through the tree: it is "
    "constant and equal to the average of F on each node before splitting it."
)
#: Depth of the leaves after 0, 1 and 3 splits.
DEPTHS = (0, 1, 2)


class _Level(NamedTuple):
    """The density G of the outliers after some of a tree's splits."""

    edges: Floats  # of the leaves, from left to right
    heights: Floats  # of G in each leaf
    class_ratios: Floats  # gamma_t of each leaf: expected outliers per inlier
    distance: float  # total variation distance between G and F


def illustrate(seed: int = 0, n: int = 20_000) -> Illustration:
    """Grow a tree of three splits on a sample of F, once per approach; draw G after each level."""
    x, density, cdf = skewed_distribution()
    sample = np.interp(np.random.default_rng(seed).random(n), cdf, x)[:, None]
    trees = {adversary: _grow(sample, adversary, seed) for adversary in ("naive", "adaptive")}
    levels = {
        (adversary, depth): _level(tree, depth, adversary, sample)
        for adversary, tree in trees.items()
        for depth in DEPTHS
    }
    adaptive = [levels["adaptive", depth] for depth in DEPTHS]
    distances = {key: level.distance for key, level in levels.items()}
    error, standard_error = np.max([_errors(level, x, cdf, n) for level in adaptive], axis=0)
    ours = adaptive[-1].edges[1:-1]
    population = _population_splits(x, cdf)
    drawn = np.sort(OUTLIER_DENSITY_SPLITS)
    off = _drawn_averages_off()
    naive_ratios = levels["naive", 2].class_ratios
    numbers = {
        **{f"distance_{name}_{depth}": value for (name, depth), value in distances.items()},
        "largest_relative_error": float(error),
        "largest_error_in_standard_errors": float(standard_error),
        "naive_ratio_smallest": float(naive_ratios.min()),
        "naive_ratio_largest": float(naive_ratios.max()),
        "adaptive_ratio_largest_deviation": float(np.abs(adaptive[-1].class_ratios - 1.0).max()),
        "split_distance_to_population": float(np.abs(ours - population).max()),
        "split_distance_to_drawn": float(np.abs(ours - drawn).max()),
        "drawn_heights_largest_factor": off,
    }
    holds = (
        numbers["largest_error_in_standard_errors"] < 5.0
        and np.ptp([distances["naive", depth] for depth in DEPTHS]) < 1e-3
        and distances["adaptive", 2] < distances["adaptive", 1] < distances["adaptive", 0]
    )
    finding = (
        f"{n} points of F, one tree, gamma = 1. The adaptive G is the average of F on every node "
        f"(largest relative deviation {error:.1%}, {standard_error:.1f} standard "
        f"errors), and its total variation distance to F falls from "
        f"{distances['adaptive', 0]:.2f} to "
        f"{distances['adaptive', 1]:.2f} after one split and {distances['adaptive', 2]:.2f} after "
        f"three; the naive G stays at {distances['naive', 2]:.2f}, and its class ratio gamma_t in "
        f"the four leaves ranges from {naive_ratios.min():.2f} to {naive_ratios.max():.2f} "
        f"(adaptive: 1 everywhere). Splits at {_list(ours)}; exact optima for F "
        f"{_list(population)}; drawn {_list(drawn)} (dotted). The heights of the drawn G are off "
        f"the averages of the drawn F by factors of up to {off:.1f}: a sketch."
    )
    return Illustration(
        "theory_outlier_density",
        _draw(levels, x, density),
        "Figure 1, section 3.1.",
        CLAIM,
        finding,
        bool(holds),
        "The claims hold." if holds else "The claims do not hold here.",
        numbers,
    )


def _grow(sample: Floats, adversary: str, seed: int) -> OneClassTree:
    forest = OneClassRF(
        n_estimators=1, max_samples=1.0, max_depth=2, adversary=adversary, random_state=seed
    ).fit(sample)
    return forest.estimators_[0]


def _leaves(
    tree: OneClassTree, depth: int, ends: tuple[float, float]
) -> tuple[NDArray[np.int64], Floats]:
    """Return the leaves of the tree cut at a depth, from left to right, and their edges."""
    nodes: list[int] = []
    edges = [ends[0]]

    def visit(k: int, upper: float) -> None:
        if tree.depth[k] == depth or tree.children_left[k] < 0:
            nodes.append(k)
            edges.append(upper)
            return
        visit(int(tree.children_left[k]), float(tree.threshold[k]))
        visit(int(tree.children_right[k]), upper)

    visit(0, ends[1])
    return np.array(nodes), np.array(edges)


def _outlier_density(
    tree: OneClassTree, nodes: NDArray[np.int64], edges: Floats, adversary: str
) -> Floats:
    if adversary == "naive":
        return np.full(len(nodes), 1.0 / (edges[-1] - edges[0]))
    return tree.n_node_samples[nodes] / tree.n_node_samples[0] / np.diff(edges)


def _level(tree: OneClassTree, depth: int, adversary: str, sample: Floats) -> _Level:
    ends = (float(sample.min()), float(sample.max()))
    nodes, edges = _leaves(tree, depth, ends)
    heights = _outlier_density(tree, nodes, edges, adversary)
    n_t = tree.n_node_samples[nodes]
    shares = np.diff(edges) / (ends[1] - ends[0])
    outliers = len(sample) * shares if adversary == "naive" else n_t
    x, density, _ = skewed_distribution()
    return _Level(edges, heights, outliers / n_t, _total_variation(x, density, edges, heights))


def _errors(level: _Level, x: Floats, cdf: Floats, n: int) -> tuple[float, float]:
    """Return G's largest relative distance to F's averages, and the same in standard errors."""
    mass = np.diff(np.interp(level.edges, x, cdf))
    error = np.abs(level.heights * np.diff(level.edges) / mass - 1.0)
    # Of a share of n points, relative to the share.
    standard_error = np.sqrt((1.0 - mass + 1.0 / n) / (n * mass))
    return float(error.max()), float((error / standard_error).max())


def _draw(levels: dict[tuple[str, int], _Level], x: Floats, density: Floats) -> Figure:
    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, ((adversary, depth), level) in zip(panels.flat, levels.items(), strict=True):
        _draw_panel(axes, x, density, level.edges, level.heights)
        splits = {0: "no split", 1: "1 split", 2: "3 splits"}[depth]
        axes.set_title(f"{adversary}, {splits}: distance {level.distance:.2f}")
    for axes, drawn_here in zip(
        panels[1, 1:], (OUTLIER_DENSITY_SPLITS[:1], OUTLIER_DENSITY_SPLITS), strict=True
    ):
        for k, edge in enumerate(drawn_here):
            axes.axvline(
                edge,
                color=GREY,
                linestyle=":",
                linewidth=1,
                label="drawn in the paper" if k == 0 else None,
            )
    dotted = panels[1, 1].get_legend_handles_labels()[0][-1:]
    # In the panel without splits, where no line crosses the label.
    panels[1, 0].legend(handles=dotted, loc="upper right")
    panels[0, 0].legend(loc="upper right")
    for axes in panels[:, 0]:
        axes.set_ylabel("density")
    return figure


def _draw_panel(axes: Axes, x: Floats, density: Floats, edges: Floats, heights: Floats) -> None:
    # A curve of a few hundred points looks the same, and is quickly drawn.
    step = max(len(x) // 500, 1)
    axes.fill_between(x[::step], density[::step], color=LIGHT)
    axes.plot(x[::step], density[::step], color=BLUE, linewidth=1, label="F, inliers")
    axes.stairs(heights, edges, color=ORANGE, linewidth=1.8, baseline=None, label="G, outliers")
    for edge in edges[1:-1]:
        axes.axvline(edge, color="black", linewidth=0.8)
    axes.set_ylim(bottom=0)


def _total_variation(x: Floats, density: Floats, edges: Floats, heights: Floats) -> float:
    position = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(heights) - 1)
    return float(0.5 * np.trapezoid(np.abs(density - heights[position]), x))


def _population_splits(x: Floats, cdf: Floats) -> Floats:
    """Return the three optimal splits for F itself, ascending."""
    root, _ = best_population_split(cdf, x, 1.0)
    left, _ = best_population_split(cdf[: root + 1], x[: root + 1], 1.0)
    right, _ = best_population_split(cdf[root:], x[root:], 1.0)
    return np.sort([x[root], x[left], x[root + right]])


def _drawn_averages_off() -> float:
    """Return the largest factor between the paper's drawn heights of G and F's averages."""
    x, _, _ = skewed_distribution()
    density = skewed_density(x)
    first, lower, upper = OUTLIER_DENSITY_SPLITS
    factors = []
    for splits, heights in zip(
        ((), (first,), (lower, first, upper)), OUTLIER_DENSITY_HEIGHTS, strict=True
    ):
        edges = np.array([x[0], *splits, x[-1]])
        for start, stop, height in zip(edges[:-1], edges[1:], heights, strict=True):
            here = (x >= start) & (x <= stop)
            average = np.trapezoid(density[here], x[here]) / np.ptp(x[here])
            factors.append(max(height / average, average / height))
    return float(max(factors))


def _list(values: Floats) -> str:
    return ", ".join(f"{value:.2f}" for value in values)
