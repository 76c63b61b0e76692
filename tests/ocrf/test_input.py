"""What may be fitted and scored, and what is refused."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ocrf import OneClassRF, _forest


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: X[::-1][::-1],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
    ],
)
def test_memory_layout_is_irrelevant(X, convert):
    forest = OneClassRF(n_estimators=10, random_state=0)
    expected = clone(forest).fit(X).score_samples(X)
    np.testing.assert_array_equal(clone(forest).fit(convert(X)).score_samples(convert(X)), expected)


def test_read_only_input(X):
    frozen = X.copy()
    frozen.setflags(write=False)
    forest = OneClassRF(n_estimators=10, random_state=0).fit(frozen)
    expected = OneClassRF(n_estimators=10, random_state=0).fit(X).score_samples(X)
    np.testing.assert_array_equal(forest.score_samples(frozen), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_other_number_types(X, dtype):
    narrow = (10 * X).astype(dtype)
    forest = OneClassRF(n_estimators=10, random_state=0).fit(narrow)
    wide = OneClassRF(n_estimators=10, random_state=0).fit(narrow.astype(np.float64))
    np.testing.assert_array_equal(
        forest.score_samples(narrow), wide.score_samples(narrow.astype(np.float64))
    )


def test_input_is_left_alone(X):
    copy = X.copy()
    OneClassRF(n_estimators=3).fit(X).score_samples(X)
    np.testing.assert_array_equal(X, copy)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[np.inf, 1.0], [0.0, 1.0]], "infinity"),
        (np.empty((0, 2)), r"Found array with 0 sample\(s\)"),
        (np.ones((1, 2)), r"Found array with 1 sample\(s\) .* minimum of 2"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        ([1.0, 2.0], "Expected 2D array"),
        ([[0.0, -1.7e308], [0.0, 1.7e308]], "column 1 of X spans more than a float64 can hold"),
    ],
)
def test_bad_data_are_named(data, message):
    with pytest.raises(ValueError, match=message):
        OneClassRF().fit(data)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (
            {"city": ["Rome", "Oslo"], "x": [1.0, 2.0], "kind": pd.Categorical(["a", "b"])},
            ValueError,
            "Columns 'city', 'kind' of X hold texts or objects that are not numbers. Pass finite",
        ),
        (
            {"x": [1.0, 2.0], "y": [np.inf, 1.0]},
            ValueError,
            "Column 'y' of X holds infinite values.",
        ),
        (
            {
                "x": pd.Series([1.0, -np.inf], dtype=object),
                "when": pd.period_range("2020", periods=2),
            },
            TypeError,
            "Column 'x' of X holds infinite values. Column 'when' of X holds texts or objects",
        ),
        (
            {"day": pd.to_datetime(["2020-01-01", None]), "x": [1.0, 2.0], "city": ["Rome", "Oslo"]}
            | {"wait": pd.Series([np.timedelta64(1, "D"), np.timedelta64(2, "D")], dtype=object)},
            ValueError,
            "Columns 'day', 'wait' of X hold dates or durations. Column 'city' of X holds texts",
        ),
        ({"x": [1.0, 2.0], "y": [1j, 2.0]}, ValueError, "Column 'y' of X holds complex numbers."),
        (
            {"x": [1.0, 2.0], "y": pd.Series([10**400, 2], dtype=object)},
            ValueError,
            "Column 'y' of X holds integers beyond",
        ),
        (
            {f"v{j}": ["a", "b"] for j in range(30)},
            ValueError,
            "'v18', 'v19' and 10 more of X hold texts",
        ),
    ],
)
def test_all_columns_that_are_no_finite_numbers_are_named(columns, error, message):
    frame = pd.DataFrame(columns)
    fine = pd.DataFrame(np.eye(2, len(columns)), columns=list(columns))
    forest = OneClassRF(n_estimators=2, random_state=0).fit(fine)
    for use in (OneClassRF().fit, forest.score_samples, forest.estimators_[0].apply):
        with pytest.raises(error, match=re.escape(message)):
            use(frame)
    with pytest.raises(error, match="of X hold"):
        OneClassRF().fit(frame.to_numpy())


def test_large_floats_of_a_list_are_taken():
    OneClassRF(n_estimators=2).fit([[1e300, 2], [3, 2**53], [4.0, 5]])


def test_texts_of_numbers_are_numbers_as_before():
    frame = pd.DataFrame({"x": ["1", "2.5"], "y": pd.Categorical([3, 4])})
    forest = OneClassRF(n_estimators=2, random_state=0)
    expected = forest.fit([[1.0, 3.0], [2.5, 4.0]]).score_samples([[1.0, 3.0]])
    np.testing.assert_array_equal(forest.fit(frame).score_samples(frame[:1]), expected)


DAYS = np.array([["2020-01-01", "NaT"], ["2020-02-01", "2020-03-01"]], dtype="M8[D]")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (DAYS, "Columns 0, 1 of X hold dates or durations"),
        (2**60 + np.arange(6).reshape(3, 2), "Columns 0, 1 of X hold integers beyond 2..53"),
        (np.array([[1, 2**63], [2, 3]], np.uint64), "Column 1 of X holds integers beyond"),
        ([[-(2**60), 0], [1, 2]], "Column 0 of X holds integers beyond"),
        (
            pd.DataFrame({"id": pd.array([2**60, None], "Int64"), "b": [1, 2]}),
            "Column 'id' of X holds integers beyond",
        ),
        (pd.DataFrame({"id": [2**60, True], "b": [1, 2]}, dtype=object), "Column 'id' of X holds"),
        (pd.DataFrame({"id": pd.Categorical([2**60, 5])}), "Column 'id' of X holds integers"),
        ([[2**60, 0.5], [1, 2]], "Column 0 of X holds integers beyond"),
        (pa.table({"id": [2**60, 1], "b": [0.5, 2]}), "Column 'id' of X holds integers beyond"),
        (pa.table({"day": DAYS[:, 1].astype("M8[s]"), "b": [1, 2]}), "Column 'day' of X holds dat"),
        (DAYS - DAYS[:, :1], "Columns 0, 1 of X hold dates or durations"),
        ([list(row) for row in DAYS], "Columns 0, 1 of X hold dates"),
        (
            np.array([[1.0, DAYS[0, 1]], [2.0, DAYS[1, 1]]], dtype=object),
            "Column 1 of X holds dates",
        ),
        (pd.DataFrame({"x": [1.0, 2.0], "day": DAYS[:, 1].astype("M8[s]")}), "Column 'day' of X"),
        (np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[0, 1], [0, 0]]), "X is a masked array"),
        ([np.ma.masked_array([1.0, 2.0], [0, 1]), [3.0, 4.0]], "X is a masked array"),
    ],
)
def test_missing_values_that_would_be_lost_are_refused(X, data, message):
    forest = OneClassRF(n_estimators=2, random_state=0).fit(X[:, :2])
    for use in (OneClassRF().fit, forest.score_samples, forest.estimators_[0].apply):
        with pytest.raises(ValueError, match=message):
            use(data)


def test_large_values_of_both_signs_are_taken_without_a_warning(X):
    large = np.where(X > 0.0, 8e307, -8e307)
    forest = OneClassRF(n_estimators=2, random_state=0).fit(large)
    assert np.isfinite(forest.score_samples(large)).all()
    forest.estimators_[0].apply(large)


def test_a_named_column_that_overflows_is_named():
    frame = pd.DataFrame({"good": [0.0, 1.0, 2.0], "bad": [-1.7e308, 0.0, 1.7e308]})
    with pytest.raises(ValueError, match="column 'bad' of X spans more"):
        OneClassRF().fit(frame)


@pytest.mark.parametrize("broken", [ValueError, KeyboardInterrupt])
def test_a_refit_that_ends_early_leaves_no_forest(X, monkeypatch, broken):
    """Old trees with a new number of columns would be walked beyond the rows."""
    forest = OneClassRF(n_estimators=5, random_state=0)

    def end(*args):
        raise broken

    with monkeypatch.context() as patch:
        patch.setattr(_forest, "grow_blocks", end)
        with pytest.raises(broken):
            forest.fit(X)
    with pytest.raises(NotFittedError):
        forest.score_samples(X)
    forest.fit(X)
    with pytest.raises(ValueError, match="spans more"):
        forest.fit([[-1.7e308], [1.7e308]])
    with pytest.raises(NotFittedError):
        forest.score_samples(X[:, :1])


def test_sparse_input_is_refused(X):
    with pytest.raises(TypeError, match="Sparse data was passed"):
        OneClassRF().fit(sparse.csr_matrix(X))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        OneClassRF(n_estimators=2).fit(X).score_samples(sparse.csr_matrix(X))


def test_wrong_width_at_scoring(X):
    forest = OneClassRF(n_estimators=2).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but OneClassRF is expecting 3"):
        forest.score_samples(X[:, :2])


@pytest.mark.parametrize("container", ["pandas", "default"])
def test_outputs_are_arrays_and_names_are_held_to(X, container):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    expected = OneClassRF(n_estimators=5, random_state=0).fit(X)
    with config_context(transform_output=container):
        forest = OneClassRF(n_estimators=5, random_state=0).fit(frame)
        assert forest.feature_names_in_.tolist() == ["a", "b", "c"]
        for name in ("score_samples", "decision_function", "predict", "feature_contributions"):
            found = getattr(forest, name)(frame)
            assert type(found) is np.ndarray
            np.testing.assert_array_equal(found, getattr(expected, name)(X))
            with pytest.raises(ValueError, match="feature names should match"):
                getattr(forest, name)(frame[["b", "a", "c"]])
