"""Compiled trees and proximities against their twin in plain Python: equal to the last bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import check_random_state

from baselines import RandomForestClustering, SupervisedSamplingOneClassForest
from tests.baselines.forest_twin import Stream, clustering_twin, grow_twin


@st.composite
def tied_rows(draw: st.DrawFn) -> np.ndarray:
    """Rows with many equal values and equal rows; here and there none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(4, 40)), draw(st.integers(1, 5)))
    n_levels = draw(st.sampled_from([1, 2, 3, 12, 10_000]))
    return np.round(rng.standard_normal(shape) * n_levels) / 8


@settings(max_examples=25)
@given(
    rows=tied_rows(),
    n_train=st.integers(2, 39),
    mtry=st.integers(1, 5),
    synthetic=st.sampled_from(["addcl1", "addcl2"]),
    seed=st.integers(0, 2**31 - 1),
)
def test_clustering_is_its_twin(
    rows: np.ndarray, n_train: int, mtry: int, synthetic: str, seed: int
) -> None:
    n_train = min(n_train, len(rows) - 1)
    train, X = rows[:n_train], rows[n_train:]
    detector = RandomForestClustering(2, 3, mtry=mtry, synthetic=synthetic, random_state=seed)
    detector.fit(train)
    expected = clustering_twin(train, X, detector.seeds_.tolist(), 3, mtry, synthetic)
    np.testing.assert_array_equal(detector.score_samples(X), expected)


@settings(max_examples=50)
@given(
    rows=tied_rows(),
    n_known=st.integers(0, 38),
    krsm=st.integers(1, 5),
    krfs=st.integers(1, 5),
    beta=st.sampled_from([0.5, 2.0]),
    seed=st.integers(0, 2**31 - 1),
)
def test_trees_with_outliers_are_their_twins(
    rows: np.ndarray, n_known: int, krsm: int, krfs: int, beta: float, seed: int
) -> None:
    """One sample for all trees, each in a subspace of its own."""
    known = np.arange(len(rows)) < min(n_known, len(rows) - 2)
    n_features = rows.shape[1]
    krsm = min(krsm, n_features)
    detector = SupervisedSamplingOneClassForest(
        2, beta=beta, krsm=krsm, krfs=krfs, random_state=seed
    ).fit(rows, known.astype(int))

    *seeds, seed_of_outliers = check_random_state(seed).randint(np.iinfo(np.int32).max, size=3)
    outliers = detector._draw_outliers(rows[~known], np.random.default_rng(seed_of_outliers))
    stacked = np.vstack([rows[~known], rows[known], outliers])
    labels = [int(i >= (~known).sum()) for i in range(len(stacked))]
    for tree, tree_seed in zip(detector.trees_, seeds, strict=True):
        stream = Stream(int(tree_seed))
        counts = stream.bootstrap(len(stacked))
        features = np.arange(n_features)
        if krsm < n_features:
            features = np.random.default_rng(tree_seed).choice(n_features, krsm, replace=False)
        nodes = grow_twin(stacked[:, features], counts, labels, min(krfs, krsm), True, stream)
        expected = [(f if f < 0 else features[f], *rest) for f, *rest in nodes]
        found = zip(tree.feature, tree.threshold, tree.left, tree.vote, strict=True)
        assert list(found) == expected
