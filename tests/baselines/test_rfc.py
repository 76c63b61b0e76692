"""Random forest clustering: proximities against a plain twin, memory, and the score."""

from __future__ import annotations

import numpy as np
import pytest

from baselines import RandomForestClustering
from baselines.rfc.clustering import _in_words, _synthetic_rows, forest_bytes
from baselines.rfc.proximity import IN_BAG, count_bits, group_by_leaf, proximity_sums


def brute_force_sums(leaves: np.ndarray) -> np.ndarray:
    n_rows = leaves.shape[1]
    out_of_bag = leaves != IN_BAG
    sums = np.zeros(n_rows)
    for i in range(n_rows):
        for j in range(n_rows):
            both = out_of_bag[:, i] & out_of_bag[:, j]
            if i == j:
                sums[i] += 1.0
            elif both.any():
                sums[i] += (leaves[both, i] == leaves[both, j]).mean()
    return sums


@pytest.mark.parametrize("n_trees", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("in_bag", [0.0, 0.6, 1.0])
def test_proximity_sums(n_trees: int, in_bag: float) -> None:
    rng = np.random.default_rng(n_trees)
    leaves = rng.integers(0, 4, size=(n_trees, 30)).astype(np.int32)
    leaves[rng.random(leaves.shape) < in_bag] = IN_BAG
    groups = group_by_leaf(leaves, rng.permutation(30))
    expected = brute_force_sums(leaves)
    for rows in (np.arange(30), np.array([22, 3, 29])):
        np.testing.assert_allclose(proximity_sums(groups, rows), expected[rows], rtol=1e-12)


def test_members_of_a_leaf_are_in_the_order_asked_for() -> None:
    leaves = np.array([[4, 4, IN_BAG, 1, 4]], dtype=np.int32)
    groups = group_by_leaf(leaves, np.array([2, 0, 1, 3, 4]))
    assert groups.members[0, groups.start[0, 0] : groups.stop[0, 0]].tolist() == [1, 0, 4]
    assert groups.members[0, groups.start[0, 3] : groups.stop[0, 3]].tolist() == [3]


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF])
def test_count_bits(word: int) -> None:
    assert count_bits(np.uint64(word)) == word.bit_count()


def test_addcl1_keeps_columns_and_breaks_their_dependence() -> None:
    x = np.random.default_rng(0).standard_normal(2000)
    rows = np.column_stack([x, x])
    synthetic = _synthetic_rows(rows, "addcl1", np.random.default_rng(1))
    assert np.isin(synthetic, rows).all()
    assert abs(np.corrcoef(synthetic.T)[0, 1]) < 0.1
    # Resampled with replacement: a share of 1 - 1/e of the values occurs.
    share = len(np.unique(synthetic[:, 0])) / len(rows)
    assert share == pytest.approx(1 - np.exp(-1), abs=0.03)


def test_addcl2_is_uniform_in_the_box() -> None:
    rows = np.random.default_rng(0).standard_normal((2000, 2))
    synthetic = _synthetic_rows(rows, "addcl2", np.random.default_rng(1))
    position = (synthetic - rows.min(axis=0)) / (rows.max(axis=0) - rows.min(axis=0))
    np.testing.assert_allclose(position.mean(axis=0), 0.5, atol=0.03)
    np.testing.assert_allclose(position.var(axis=0), 1 / 12, atol=0.01)


@pytest.mark.parametrize("synthetic", ["addcl1", "addcl2"])
@pytest.mark.parametrize("seed", range(2))
def test_points_that_break_the_dependence_are_abnormal(synthetic: str, seed: int) -> None:
    rng = np.random.default_rng(seed)

    def on_the_diagonal(n: int) -> np.ndarray:
        x = rng.standard_normal(n)
        return np.column_stack([x, x + 0.05 * rng.standard_normal(n)])

    off = on_the_diagonal(10) * [1, -1] + [1.0, -1.0]
    detector = RandomForestClustering(2, 50, synthetic=synthetic, random_state=seed)
    scores = detector.fit(on_the_diagonal(200)).score_samples(
        np.vstack([on_the_diagonal(100), off])
    )
    assert scores[100:].mean() < scores[:100].mean()
    assert scores.min() > -1.0
    assert scores.max() <= 0.0


def test_results_do_not_depend_on_n_jobs() -> None:
    X = np.random.default_rng(0).standard_normal((60, 3))
    one = RandomForestClustering(3, 10, random_state=0).fit(X).score_samples(X)
    two = RandomForestClustering(3, 10, n_jobs=2, random_state=0).fit(X).score_samples(X)
    np.testing.assert_array_equal(one, two)


def test_refuses_what_does_not_fit() -> None:
    X = np.random.default_rng(0).standard_normal((100, 3))
    detector = RandomForestClustering(1, 3000, max_memory_gb=0.005, random_state=0).fit(X)
    gigabytes = forest_bytes(200, 3, 3000) / 2**30
    with pytest.raises(MemoryError, match=f"need {gigabytes:.3g} GB, and 0.005 GB may be used"):
        detector.score_samples(X)


@pytest.mark.parametrize(
    ("gigabytes", "words"),
    [(0.00894321, "0.00894 GB"), (1e-7, "0.0000001 GB"), (16.04, "16 GB"), (12345.6, "12300 GB")],
)
def test_amounts_of_memory_are_never_rounded_to_nothing(gigabytes: float, words: str) -> None:
    assert _in_words(gigabytes) == words


@pytest.mark.parametrize(("n_forests", "at_a_time"), [(2, 2), (9, 4)])
def test_no_more_forests_need_memory_than_there_are(n_forests: int, at_a_time: int) -> None:
    X = np.random.default_rng(0).standard_normal((50, 3))
    needed = at_a_time * forest_bytes(100, 3, 10) / 2**30
    detector = RandomForestClustering(n_forests, 10, n_jobs=4, random_state=0).fit(X)
    detector.set_params(max_memory_gb=1.001 * needed).score_samples(X)
    with pytest.raises(MemoryError):
        detector.set_params(max_memory_gb=0.999 * needed).score_samples(X)


def test_memory_estimate_covers_the_arrays() -> None:
    leaves = np.zeros((100, 2000), dtype=np.int32)
    groups = group_by_leaf(leaves, np.arange(2000))
    held = leaves.nbytes + sum(array.nbytes for array in groups)
    assert held <= forest_bytes(2000, 1, 100) < 2 * held + 2000 * 1000
