"""The illustrations: their numbers, their files, and that a wrong estimator would show."""

import matplotlib as mpl
import numpy as np
import pytest

from runners.theory import gamma_split, level_sets, outlier_density
from runners.theory.__main__ import ILLUSTRATIONS, main
from runners.theory.examples import (
    MODES_BOX,
    MODES_SPLITS,
    modes_density,
    modes_distribution,
    sample_modes,
    skewed_distribution,
)
from runners.theory.illustration import STYLE

mpl.use("agg")


@pytest.fixture(scope="module", params=[0, 1])
def illustrations(request):
    with mpl.rc_context(STYLE):
        return {
            "outlier_density": outlier_density.illustrate(seed=request.param, n=5000),
            "gamma_split": gamma_split.illustrate(seed=request.param, n_samples=40),
            "level_sets": level_sets.illustrate(seed=request.param),
        }


def test_adaptive_outliers_follow_the_inliers(illustrations):
    illustration = illustrations["outlier_density"]
    numbers = illustration.numbers
    assert illustration.holds
    assert numbers["distance_adaptive_2"] < 0.6 * numbers["distance_adaptive_0"]
    assert numbers["distance_naive_2"] == pytest.approx(numbers["distance_naive_0"])
    assert numbers["adaptive_ratio_largest_deviation"] == 0
    assert numbers["naive_ratio_smallest"] < 0.7 < 2 < numbers["naive_ratio_largest"]
    assert numbers["split_distance_to_population"] < 0.15
    assert "does not depend on the tree" in illustration.text()


def test_large_gammas_separate_the_modes(illustrations):
    illustration = illustrations["gamma_split"]
    numbers = illustration.numbers
    assert illustration.holds
    assert numbers["separating_10"] > 0.8
    assert numbers["separating_0.1"] < 0.1
    assert 3 < numbers["gini_separates_from"] < 10
    assert numbers["entropy_separates"] == 0
    assert "not for the entropy" in illustration.verdict


def test_a_tree_of_depth_4_has_few_level_sets(illustrations):
    illustration = illustrations["level_sets"]
    assert illustration.holds
    for title in ("two modes", "two clusters"):
        assert 4 < illustration.numbers[f"{title}, one tree: leaves"] <= 16
        forest, tree = (
            illustration.numbers[f"{title}, {name}: auc"] for name in ("100 trees", "one tree")
        )
        assert forest > tree > 0.7
        assert illustration.numbers[f"{title}, 100 trees: levels"] > 50


def test_the_examples_are_those_of_the_papers_source():
    x, density, cdf = skewed_distribution()
    assert np.trapezoid(density, x) == pytest.approx(1.0, abs=1e-6)
    assert x[density.argmax()] == pytest.approx(2.9, abs=1e-3)
    assert (np.diff(cdf) > 0).all()
    x, cdf = modes_distribution()
    slope = np.gradient(cdf, x)
    np.testing.assert_allclose(
        slope[1:-1] / slope.max(), modes_density(x)[1:-1] / modes_density(x).max(), rtol=1e-3
    )
    assert list(MODES_SPLITS) == [10.0, 1.0, 0.1]


@pytest.mark.parametrize("seed", [0, 1])
def test_samples_follow_the_distribution(seed):
    X = sample_modes(np.random.default_rng(seed), 20_000)
    lower, upper = np.transpose(MODES_BOX)
    assert ((lower <= X) & (upper >= X)).all()
    x, cdf = modes_distribution()
    values = np.sort(X[:, 0])
    # Kolmogorov and Smirnov's distance; 1.95 / sqrt(n) is exceeded once in a thousand samples.
    distance = np.abs(np.interp(values, x, cdf) - np.arange(1, len(X) + 1) / len(X)).max()
    assert distance < 1.95 / np.sqrt(len(X))
    # The second mode is narrow in the second feature.
    second = np.abs(X[:, 0] - 2.9) < 0.1
    assert np.ptp(X[second, 1]) < np.ptp(X[~second, 1])


def test_the_command_writes_figures_and_captions(tmp_path, capsys):
    assert main(["level_sets", "--output", str(tmp_path), "--seed", "3"]) == 0
    printed = capsys.readouterr().out
    for suffix in ("pdf", "png", "txt"):
        path = tmp_path / "figures" / f"theory_level_sets.{suffix}"
        assert path.stat().st_size > 200
        assert f"wrote {path}" in printed
    assert (tmp_path / "figures" / "theory_level_sets.txt").read_text() in printed


def test_the_same_seed_writes_the_same_files(tmp_path):
    for name in ("a", "b"):
        main(["outlier_density", "--output", str(tmp_path / name)])
    for suffix in ("pdf", "png", "txt"):
        first, second = (
            (tmp_path / name / "figures" / f"theory_outlier_density.{suffix}").read_bytes()
            for name in "ab"
        )
        assert first == second


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["level_set"])
    assert stop.value.code == 2
    message = capsys.readouterr().err
    assert all(name in message for name in ILLUSTRATIONS)
