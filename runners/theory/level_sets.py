"""The figure of section 3.2: level sets of the score, of one tree and of a whole forest."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ocrf import OneClassRF, plot_level_sets
from results.metrics import evaluate
from runners.theory.examples import sample_clusters, sample_modes
from runners.theory.illustration import Illustration

Floats = NDArray[np.float64]

CLAIM = (
    "Level sets of the scoring function produced by OneClassRF with one tree of maximal depth 4, "
    "without sub-sampling, the Gini-based one-class criterion and gamma = 1. (The paper does not "
    "name the data; shown are its two modes and two normal clusters, and beside the single tree a "
    "forest with default parameters.)"
)


def one_tree(seed: int) -> OneClassRF:
    """Return the paper's forest of one tree, not fitted."""
    return OneClassRF(n_estimators=1, max_depth=4, max_samples=1.0, gamma=1.0, random_state=seed)


def illustrate(seed: int = 0) -> Illustration:
    """Draw both forests on both samples."""
    rng = np.random.default_rng(seed)
    samples = {"two modes": sample_modes(rng), "two clusters": sample_clusters(rng)}
    figure = Figure(figsize=(7.2, 5.6), layout="constrained")
    panels = figure.subplots(2, 2)
    numbers: dict[str, float] = {}
    for row, (title, X) in zip(panels, samples.items(), strict=True):
        for axes, (name, forest) in zip(
            row,
            {"one tree": one_tree(seed), "100 trees": OneClassRF(random_state=seed)}.items(),
            strict=True,
        ):
            forest.fit(X)
            mesh = plot_level_sets(forest, X, ax=axes, levels=12, rasterized=True)
            figure.colorbar(mesh, ax=axes, label="score", format="%.2f")
            area, separation = _concentration(forest, X, rng)
            axes.set_title(f"{title}, {name} (AUC {separation:.3f})")
            key = f"{title}, {name}"
            numbers[f"{key}: area"] = area
            numbers[f"{key}: auc"] = separation
            numbers[f"{key}: levels"] = float(np.unique(forest.score_samples(X)).size)
            if name == "one tree":
                (tree,) = forest.estimators_
                numbers[f"{key}: leaves"] = float(tree.is_leaf.sum())
                numbers[f"{key}: depth"] = float(tree.max_depth)
    trees = [f"{title}, one tree" for title in samples]
    holds = all(
        numbers[f"{key}: leaves"] <= 16
        and numbers[f"{key}: depth"] <= 4
        and numbers[f"{key}: levels"] <= numbers[f"{key}: leaves"]
        and numbers[f"{key}: auc"] > 0.75
        for key in trees
    )
    finding = " ".join(
        f"{title.capitalize()}: the tree has {numbers[f'{title}, one tree: leaves']:.0f} leaves "
        f"with {numbers[f'{title}, one tree: levels']:.0f} distinct scores; its smallest level set "
        f"with 90 % of the points covers "
        f"{numbers[f'{title}, one tree: area']:.0%} of their bounding box, "
        f"{numbers[f'{title}, 100 trees: area']:.0%} with the forest."
        for title in samples
    )
    finding += (
        " AUC: points against uniform ones. A tree's low levels are the boxes that are cut off "
        "first, at the edges; the forest's follow the points."
    )
    return Illustration(
        "theory_level_sets",
        figure,
        "Figure of section 3.2 on the scoring function.",
        CLAIM,
        finding,
        holds,
        "As the caption says: a single tree's level sets are unions of a few rectangles."
        if holds
        else "The single tree does not give nested level sets that hold the points.",
        numbers,
    )


def _concentration(forest: OneClassRF, X: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """Return the 90 % level set's share of the bounding box, and the AUC against uniform points."""
    uniform = rng.uniform(X.min(axis=0), X.max(axis=0), size=(20_000, 2))
    inside, anywhere = forest.score_samples(X), forest.score_samples(uniform)
    level = np.quantile(inside, 0.1, method="lower")
    labels = np.repeat([0, 1], [len(X), len(uniform)])
    metrics = evaluate(labels, -np.concatenate([inside, anywhere])).metrics
    return float((anywhere >= level).mean()), metrics["roc_auc"]
