"""OCRFsampling: its outliers, its variants and its one supervised relative."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import get_tags

from baselines import SamplingOneClassForest, SupervisedSamplingOneClassForest
from baselines.ocrfsampling.outliers import N_BINS, generate_outliers


@pytest.fixture(params=range(3))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


@pytest.mark.parametrize("optimize", [0, 1])
def test_outliers_fill_the_widened_box(rng: np.random.Generator, optimize: int) -> None:
    targets = np.column_stack([rng.uniform(2, 4, 500), np.full(500, 7.0), rng.random(500)])
    outliers = generate_outliers(targets, 20_000, alpha=1.2, optimize=optimize, rng=rng)
    low, high = targets.min(axis=0), targets.max(axis=0)
    margin = 0.1 * (high - low)
    assert (outliers >= low - margin).all()
    assert (outliers <= high + margin).all()
    assert (outliers[:, 1] == 7.0).all()
    np.testing.assert_allclose(outliers[:, 0].min(), low[0] - margin[0], atol=1e-2)
    np.testing.assert_allclose(outliers[:, 0].max(), high[0] + margin[0], atol=1e-2)
    assert abs(np.corrcoef(outliers[:, 0], outliers[:, 2])[0, 1]) < 0.03


def test_uniform_outliers_are_uniform(rng: np.random.Generator) -> None:
    outliers = generate_outliers(
        rng.standard_normal((500, 1)), 20_000, alpha=1.2, optimize=0, rng=rng
    )
    counts = np.histogram(outliers, bins=20)[0]
    assert counts.max() - counts.min() < 0.3 * counts.mean()


def test_optimised_outliers_follow_the_inverted_histogram(rng: np.random.Generator) -> None:
    targets = rng.standard_normal((2000, 1))
    outliers = generate_outliers(targets, 200_000, alpha=1.2, optimize=1, rng=rng)
    low, high = targets.min(), targets.max()
    margin = 0.1 * (high - low)
    edges = np.linspace(low - margin, high + margin, N_BINS + 1)
    counts = np.histogram(targets, edges)[0]
    expected = (counts.max() - counts) / (counts.max() - counts).sum()
    drawn = np.histogram(outliers, edges)[0] / 200_000
    np.testing.assert_allclose(drawn, expected, atol=2.5e-3)
    assert drawn[counts.argmax()] == 0


def test_outliers_of_a_range_near_overflow() -> None:
    targets = np.array([[-0.8e308], [0.1e308], [0.9e308]])
    for optimize in (0, 1):
        outliers = generate_outliers(
            targets, 1000, alpha=1.2, optimize=optimize, rng=np.random.default_rng(0)
        )
        assert np.isfinite(outliers).all()


@pytest.mark.parametrize("optimize", [0, 1])
@pytest.mark.parametrize("alpha", [1.2, 1e308])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_box_is_widened_to_the_largest_float_at_most(
    optimize: int, alpha: float, sign: int
) -> None:
    targets = np.linspace(0, sign * 1.75e308, 50)[:, np.newaxis]
    rng = np.random.default_rng(0)
    outliers = sign * generate_outliers(targets, 1000, alpha=alpha, optimize=optimize, rng=rng)
    assert np.isfinite(outliers).all()
    assert outliers.max() > 1.75e308
    assert outliers.min() < -1e307
    forest = SamplingOneClassForest(5, alpha=alpha, optimize=optimize, random_state=0)
    assert np.isfinite(forest.fit(targets).score_samples(targets)).all()


@pytest.mark.parametrize("method", [0, 1])
@pytest.mark.parametrize("optimize", [0, 1])
@pytest.mark.parametrize("krsm", [-1, 2])
def test_variants_find_far_points(method: int, optimize: int, krsm: int) -> None:
    rng = np.random.default_rng(0)
    forest = SamplingOneClassForest(
        50, method=method, optimize=optimize, krsm=krsm, random_state=0
    ).fit(rng.standard_normal((300, 4)))
    near = forest.score_samples(0.5 * rng.standard_normal((50, 4)))
    far = forest.score_samples(np.full((1, 4), 3.5))
    assert far[0] < near.min()
    assert far[0] >= -1.0
    assert near.max() <= 0.0


@pytest.mark.parametrize("method", [0, 1])
def test_results_do_not_depend_on_n_jobs(method: int) -> None:
    X = np.random.default_rng(0).standard_normal((200, 5))
    one = SamplingOneClassForest(10, method=method, random_state=0).fit(X)
    two = SamplingOneClassForest(10, method=method, n_jobs=2, random_state=0).fit(X)
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))


def test_scores_are_shares_of_trees() -> None:
    X = np.random.default_rng(0).standard_normal((100, 3))
    votes = -SamplingOneClassForest(7, random_state=0).fit(X).score_samples(X) * 7
    np.testing.assert_allclose(votes, votes.round(), atol=1e-12)
    assert len(np.unique(votes)) > 2


def test_points_out_of_bounds_are_rejected_on_demand() -> None:
    X = np.random.default_rng(0).random((100, 3))
    edge = X.max(axis=0)
    outside = np.array([edge[0], 0.5, np.nextafter(edge[2], 2.0)])
    plain = SamplingOneClassForest(20, random_state=0).fit(X)
    rejecting = SamplingOneClassForest(20, reject_out_of_bounds=True, random_state=0).fit(X)
    assert rejecting.score_samples([outside])[0] == -1.0
    assert plain.score_samples([outside])[0] > -1.0
    np.testing.assert_array_equal(rejecting.score_samples(X), plain.score_samples(X))


def test_too_large_a_subspace_is_refused() -> None:
    with pytest.raises(ValueError, match="krsm=5 is more than the 3 features"):
        SamplingOneClassForest(krsm=5).fit(np.random.default_rng(0).random((20, 3)))


def test_labels_change_nothing_without_the_tag() -> None:
    X = np.random.default_rng(0).standard_normal((100, 2))
    forest = SamplingOneClassForest(5, random_state=0)
    assert not get_tags(forest).target_tags.required
    with_labels = forest.fit(X, np.arange(100) % 2).score_samples(X)
    np.testing.assert_array_equal(with_labels, forest.fit(X).score_samples(X))


class TestSupervised:
    def test_tag(self) -> None:
        assert get_tags(SupervisedSamplingOneClassForest()).target_tags.required

    def test_known_anomalies_are_learnt(self) -> None:
        rng = np.random.default_rng(0)
        hidden = rng.normal(0.5, 0.05, size=(40, 2))  # in the middle of the targets
        X = np.vstack([rng.random((400, 2)), hidden])
        y = np.repeat([0, 1], [400, 40])
        test = rng.normal(0.5, 0.05, size=(30, 2))
        blind = SamplingOneClassForest(50, random_state=0).fit(X).score_samples(test)
        seeing = SupervisedSamplingOneClassForest(50, random_state=0).fit(X, y).score_samples(test)
        assert seeing.mean() < blind.mean() - 0.2

    def test_without_anomalies_it_is_the_plain_forest(self) -> None:
        X = np.random.default_rng(0).standard_normal((100, 2))
        supervised = SupervisedSamplingOneClassForest(5, random_state=0).fit(X, np.zeros(100))
        plain = SamplingOneClassForest(5, random_state=0).fit(X)
        np.testing.assert_array_equal(supervised.score_samples(X), plain.score_samples(X))

    def test_labels_reach_fit_from_fit_predict(self) -> None:
        X = np.random.default_rng(0).standard_normal((100, 2))
        y = np.arange(100) % 4 == 0
        forest = SupervisedSamplingOneClassForest(5, contamination=0.2, random_state=0)
        expected = forest.fit(X, y).predict(X)
        np.testing.assert_array_equal(forest.fit_predict(X, y), expected)
        with pytest.raises(ValueError, match="requires y to be passed"):
            forest.fit_predict(X)

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (None, "requires y to be passed, but the target y is None"),
            ([0, 1, 2, 0], "y must hold 0 .target. and 1 .anomaly. only"),
            ([0, 1, 1, 1], "y leaves 1 targets, two are needed"),
            ([0, 1, 0], "inconsistent numbers of samples"),
        ],
    )
    def test_bad_labels(self, y: list[int] | None, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            SupervisedSamplingOneClassForest().fit(np.arange(8.0).reshape(4, 2), y)
