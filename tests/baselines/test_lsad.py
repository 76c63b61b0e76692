"""LSAD against its closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from baselines import LeastSquaresAnomalyDetection
from baselines.lsad import median_neighbor_distance, scaled_squared_distances, solve_regularised


@pytest.fixture(params=range(3))
def points(request: pytest.FixtureRequest) -> np.ndarray:
    return np.random.default_rng(request.param).standard_normal((120, 3))


def test_closed_form(points: np.ndarray) -> None:
    detector = LeastSquaresAnomalyDetection(40, random_state=0).fit(points)

    def kernels(X: np.ndarray) -> np.ndarray:
        return np.exp(-cdist(X, detector.centres_, "sqeuclidean") / detector.sigma_**2)

    phi = kernels(points)
    theta = np.linalg.solve(phi.T @ phi + 0.1 * np.eye(40), phi.sum(axis=0))
    np.testing.assert_allclose(detector.theta_, theta, rtol=1e-8)
    test = np.random.default_rng(9).standard_normal((50, 3)) * 2
    expected = np.clip(kernels(test) @ theta, 0, 1) - 1
    np.testing.assert_allclose(detector.score_samples(test), expected, atol=1e-10)


def test_sigma_is_the_median_distance_to_the_fifth_neighbour(points: np.ndarray) -> None:
    distances = np.sort(cdist(points, points), axis=1)[:, 4]  # the first is the point itself
    assert median_neighbor_distance(points, 5) == pytest.approx(np.median(distances))


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300])
def test_sigma_scales_with_the_data(points: np.ndarray, scale: float) -> None:
    expected = median_neighbor_distance(points, 5) * scale
    assert median_neighbor_distance(points * scale, 5) == pytest.approx(expected)


def test_sigma_of_duplicates() -> None:
    distinct = np.array([[0.0], [3.0], [7.0]])
    mostly_one = np.vstack([np.zeros((50, 1)), distinct])
    # Most fifth neighbours are at distance 0; those of 3 and 7 are not.
    assert median_neighbor_distance(mostly_one, 5) == pytest.approx(5.0)
    assert median_neighbor_distance(np.ones((20, 2)), 5) == 1.0


@pytest.mark.parametrize("batch_size", [1, 7, 119, 120])
def test_batches_change_nothing(points: np.ndarray, batch_size: int) -> None:
    whole = LeastSquaresAnomalyDetection(30, batch_size=1000, random_state=1).fit(points)
    batched = LeastSquaresAnomalyDetection(30, batch_size=batch_size, random_state=1).fit(points)
    np.testing.assert_allclose(batched.theta_, whole.theta_, rtol=1e-9)
    np.testing.assert_allclose(
        batched.score_samples(points), whole.score_samples(points), atol=1e-12
    )


@pytest.mark.parametrize("rho", [0.0, 1e-12, 0.1])
def test_duplicated_centres_are_solved_stably(points: np.ndarray, rho: float) -> None:
    repeated = np.repeat(points, 4, axis=0)
    detector = LeastSquaresAnomalyDetection(rho=rho, random_state=0).fit(repeated)
    centres = detector.centres_
    assert len(np.unique(centres, axis=0)) < len(centres)
    assert np.abs(detector.theta_).max() < 1e3
    # With little regularisation the training points are fitted nearly exactly.
    if rho < 0.1:
        assert detector.score_samples(points).mean() > -0.01


def test_solution_without_regularisation_has_smallest_norm() -> None:
    phi = np.random.default_rng(0).random((20, 3))
    phi = np.hstack([phi, phi[:, :1]])
    theta = solve_regularised(phi.T @ phi, phi.sum(axis=0), 0.0)
    expected = np.linalg.lstsq(phi, np.ones(20), rcond=None)[0]
    np.testing.assert_allclose(theta, expected, rtol=1e-9)


def test_close_points_far_from_the_origin_keep_their_distance() -> None:
    X = np.array([[1e9], [1e9 + 0.25]])
    distances = scaled_squared_distances(X, np.array([[1e9]]), 2.0)
    np.testing.assert_array_equal(distances, [[0.0], [0.25]])
