"""Level sets: the picture is the score."""

import subprocess
import sys

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ocrf import OneClassRF, plot_level_sets


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def data(seed, n=300):
    return np.random.default_rng(seed).normal(size=(n, 2)) * [1.0, 20.0]


def one_tree(X, seed, depth=4):
    return OneClassRF(
        n_estimators=1, max_samples=1.0, max_features_node=None, max_depth=depth, random_state=seed
    ).fit(X)


def rectangles(mesh):
    """Return the edges along x and y, and the scores of the rectangles."""
    corners = mesh.get_coordinates()
    values = mesh.get_array().reshape(corners.shape[0] - 1, corners.shape[1] - 1)
    return corners[0, :, 0], corners[:, 0, 1], values


def test_a_plot_without_axes_has_a_figure_of_its_own(ax):
    forest = one_tree(data(0), 0)
    drawn = plot_level_sets(forest, resolution=2)
    assert plt.get_fignums() == [ax.figure.number, drawn.axes.figure.number]
    plt.close(drawn.axes.figure)


@pytest.mark.parametrize("seed", [0, 1])
def test_one_tree_is_drawn_exactly(ax, seed):
    """Every point of a rectangle, next to its edges too, has the rectangle's score."""
    X = data(seed)
    forest = one_tree(X, seed)
    x, y, values = rectangles(plot_level_sets(forest, X, ax=ax))
    (tree,) = forest.estimators_
    assert set(tree.threshold[tree.feature == 0]) <= set(x)
    assert set(tree.threshold[tree.feature == 1]) <= set(y)
    rng = np.random.default_rng(seed)
    for along in (0.0, 1e-9, 1.0 - 1e-9, *rng.random(5)):
        # `along` = 0 lies on the lower edge, which belongs to the rectangle.
        grid = np.stack(
            np.meshgrid(x[:-1] + along * np.diff(x), y[:-1] + along * np.diff(y)), axis=-1
        )
        scores = forest.score_samples(grid.reshape(-1, 2)).reshape(values.shape)
        np.testing.assert_array_equal(scores, values)


@pytest.mark.parametrize("seed", [0, 1])
def test_points_outside_the_box_are_drawn_as_they_score(ax, seed):
    X = data(seed)
    forest = one_tree(X, seed, depth=2).set_params(out_of_bounds="maximal").fit(X)
    x, y, values = rectangles(plot_level_sets(forest, X, ax=ax))
    rng = np.random.default_rng(seed)
    drawn = np.stack([rng.uniform(x[0], x[-1], 2000), rng.uniform(y[0], y[-1], 2000)], axis=1)
    inside = (drawn >= X.min(axis=0)).all(axis=1) & (drawn <= X.max(axis=0)).all(axis=1)
    assert 0.5 < inside.mean() < 0.95
    painted = values[
        np.searchsorted(y, drawn[:, 1], side="right") - 1,
        np.searchsorted(x, drawn[:, 0], side="right") - 1,
    ]
    np.testing.assert_array_equal(forest.score_samples(drawn), painted)


@pytest.mark.parametrize("seed", [0])
def test_a_large_forest_is_drawn_on_a_grid(ax, seed):
    X = data(seed)
    forest = OneClassRF(random_state=seed).fit(X)
    x, y, values = rectangles(plot_level_sets(forest, ax=ax, resolution=50))
    assert values.shape == (50, 50)
    np.testing.assert_allclose(np.diff(x), np.diff(x)[0])
    centres = np.stack(np.meshgrid((x[:-1] + x[1:]) / 2, (y[:-1] + y[1:]) / 2), axis=-1)
    np.testing.assert_array_equal(
        forest.score_samples(centres.reshape(-1, 2)).reshape(50, 50), values
    )


def test_constant_scores_are_drawn(ax):
    forest = OneClassRF(n_estimators=3, random_state=0).fit(np.ones((50, 2)))
    _, _, values = rectangles(plot_level_sets(forest, ax=ax))
    assert np.unique(values).size == 1


@pytest.mark.parametrize("n_levels", [1, 2, 7])
def test_levels_are_equally_wide(ax, n_levels):
    X = data(0)
    mesh = plot_level_sets(OneClassRF(random_state=0).fit(X), X, ax=ax, levels=n_levels)
    values = mesh.get_array()
    np.testing.assert_allclose(
        mesh.norm.boundaries, np.linspace(values.min(), values.max(), n_levels + 1)
    )
    # The highest and the lowest score are among the coloured, not outside them.
    assert set(np.unique(mesh.norm(values))) <= set(range(n_levels))
    assert mesh.norm(values.max()) == n_levels - 1


def test_levels_may_be_scores(ax):
    X = data(0)
    mesh = plot_level_sets(OneClassRF(random_state=0).fit(X), ax=ax, levels=[-0.7, -0.5, -0.4])
    assert mesh.norm.boundaries.tolist() == [-0.7, -0.5, -0.4]


def test_the_picture_takes_in_the_points_and_obeys_bounds(ax):
    X = data(0)
    forest = OneClassRF(random_state=0).fit(X)
    far = np.array([[10.0, 0.0], [-10.0, 5.0]])
    plot_level_sets(forest, far, ax=ax)
    assert ax.get_xlim()[0] < -10 < 10 < ax.get_xlim()[1]
    plot_level_sets(forest, far, ax=ax, bounds=((0, 1), (2, 3)))
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 1), (2, 3))


def test_column_names_do_not_matter(ax):
    pd = pytest.importorskip("pandas")
    X = data(0)
    named = one_tree(pd.DataFrame(X, columns=["a", "b"]), 0)
    x, _, values = rectangles(plot_level_sets(named, ax=ax))
    x_plain, _, plain = rectangles(plot_level_sets(one_tree(X, 0), ax=ax))
    np.testing.assert_array_equal(x, x_plain)
    np.testing.assert_array_equal(values, plain)


def test_points_of_a_frame_are_held_to_the_names_that_the_axes_bear(ax):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(data(0), columns=["a $1$", "b"])
    forest = one_tree(frame, 0)
    plot_level_sets(forest, frame, ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a $1$", "b")
    ax.set_xlabel("of the user's own")
    plot_level_sets(forest, frame, ax=ax)
    assert ax.get_xlabel() == "of the user's own"
    with pytest.raises(ValueError, match="same order as they were in fit"):
        plot_level_sets(forest, frame[["b", "a $1$"]], ax=ax)


def test_points_without_a_value_take_no_part_in_the_bounds(ax):
    forest = one_tree(data(0), 0)
    plot_level_sets(forest, [[-10.0, 0.0], [10.0, 5.0], [np.nan, 3.0]], ax=ax)
    assert ax.get_xlim() == (-11.0, 11.0)


def test_three_features_are_refused(ax):
    forest = OneClassRF(n_estimators=2).fit(np.random.default_rng(0).normal(size=(20, 3)))
    with pytest.raises(ValueError, match="two features; the forest was fitted on 3"):
        plot_level_sets(forest, ax=ax)


def test_an_unfitted_forest_is_refused(ax):
    with pytest.raises(NotFittedError):
        plot_level_sets(OneClassRF(), ax=ax)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("levels", 0),
        ("levels", 2.5),
        ("levels", [1.0]),
        ("levels", [2.0, 1.0]),
        ("resolution", 1),
        ("bounds", ((1, 0), (0, 1))),
        ("bounds", (0, 1)),
        ("X", [[1.0, 2.0, 3.0]]),
        ("X", [[1.0, np.inf]]),
        ("X", [[1.0, np.nan]]),
    ],
)
def test_bad_arguments_are_named(ax, name, value):
    forest = one_tree(data(0), 0)
    with pytest.raises(ValueError, match=name):
        plot_level_sets(forest, **({"ax": ax} | {name: value}))


def test_importing_the_package_does_not_load_matplotlib():
    code = "import sys, ocrf; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
