"""The steps of a protocol that other benchmarks need: cuts, generators, scalings, splitters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from datasets import Dataset
from datasets.configuration import compose
from datasets.protocols import splits_in_file
from datasets.protocols.scaling import Standard
from tests.datasets.support import NOVELTY, OUTLIER, RAW, dataset, split_of

LEGACY = {"kind": "legacy"}


def parts(made, protocol, setting=OUTLIER, split=0):
    got = split_of(made, setting, {"name": "p", "metrics": ["roc_auc"]} | protocol, split=split)
    return got.X_train[:, 0].astype(int), got.X_test[:, 0].astype(int)


NONE = {"scaling": {"kind": "none"}}


def test_train_test_split_is_scikit_learn_s():
    made = dataset(90, 30)
    cut = {"kind": "random", "by": "train_test_split", "test_size": 0.4}
    for kind in ("random", "stratified"):
        protocol = {"cut": cut | {"kind": kind}, "generator": LEGACY, "seeds": [7, 3]} | NONE
        train, test = parts(made, protocol, split=1)
        expected = train_test_split(
            np.arange(120),
            test_size=0.4,
            random_state=np.random.RandomState(3),
            stratify=made.y if kind == "stratified" else None,
        )
        np.testing.assert_array_equal(train, expected[0])
        np.testing.assert_array_equal(test, expected[1])


def test_the_legacy_generator_draws_resize_and_bootstrap_in_turn():
    made = dataset(40, 10)
    protocol = {
        "resize": {"least": 80},
        "cut": {"kind": "bootstrap", "train_size": 1.0},
        "test_rows": "all",
        "generator": LEGACY,
        "seeds": [5],
    } | NONE
    train, test = parts(made, protocol)
    stream = np.random.RandomState(5)
    table = stream.choice(50, 80, replace=True)
    np.testing.assert_array_equal(test, table)
    np.testing.assert_array_equal(train, table[stream.choice(80, 80, replace=True)])


@pytest.mark.parametrize("n_rows", [200, 1500, 12_000])
def test_adbench_s_splits_are_those_of_its_script(n_rows):
    made = dataset(n_rows - n_rows // 10, n_rows // 10)
    protocol = compose(["protocol=adbench", "setting=outlier"])["protocol"]
    # As ADBench's data generator does it, on NumPy's global generator.
    np.random.seed(2)  # noqa: NPY002
    X, y = made.X, made.y
    if n_rows < 1000:
        drawn = np.random.choice(np.arange(n_rows), 1000, replace=True)  # noqa: NPY002
        X, y = X[drawn], y[drawn]
    elif n_rows > 10_000:
        drawn = np.random.choice(np.arange(n_rows), 10_000, replace=False)  # noqa: NPY002
        X, y = X[drawn], y[drawn]
    train, test, _, labels = train_test_split(X, y, test_size=0.3, shuffle=True, stratify=y)
    scaler = MinMaxScaler().fit(train)
    split = split_of(made, protocol=protocol, split=1)
    np.testing.assert_allclose(split.X_train, scaler.transform(train), rtol=0, atol=1e-12)
    np.testing.assert_allclose(split.X_test, scaler.transform(test), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(split.y_test, labels)


def test_the_first_normal_rows_train():
    made = dataset(41, 9)
    cut = {"kind": "in_order", "of": "normal", "train_size": 0.5, "rounding": "half_even"}
    train, test = parts(made, {"cut": cut} | NONE, NOVELTY)
    normal = np.flatnonzero(made.y == 0)
    np.testing.assert_array_equal(train, normal[:20])  # 20.5
    assert sorted(test) == sorted([*normal[20:], *np.flatnonzero(made.y)])


def test_rest_and_anomalies_tests_those_that_were_dropped():
    made = dataset(60, 20)
    train, test = parts(made, {"test_rows": "rest_and_anomalies"} | NONE, NOVELTY)
    assert not set(train) & set(test)
    assert set(np.flatnonzero(made.y)) <= set(test)
    assert len(train) + len(test) == 80


def test_no_cut_trains_and_tests_on_all():
    made = dataset(30, 5)
    protocol = {"cut": {"kind": "none"}, "test_rows": "all"} | NONE
    train, test = parts(made, protocol)
    assert sorted(train) == sorted(test) == list(range(35))
    train, test = parts(made, protocol, NOVELTY)
    assert sorted(train) == np.flatnonzero(made.y == 0).tolist()


def test_a_benchmark_without_a_test_part_ranks_the_rows_as_the_file_has_them():
    """Of neighbours at the same distance the first ones count, so that the order does."""
    made = dataset(30, 5)
    protocol = {
        "name": "whole_table",
        "cut": {"kind": "none"},
        "train_anomalies": "kept",
        "test_rows": "all",
        "scaling": {"kind": "minmax", "fitted_on": "all"},
        "generator": {"kind": "legacy"},
        "seeds": [0],
        "metrics": ["roc_auc"],
    }
    split = split_of(made, OUTLIER, protocol)
    np.testing.assert_array_equal(split.X_train, split.X_test)
    np.testing.assert_array_equal(split.y_test, made.y)
    np.testing.assert_allclose(split.X_test, MinMaxScaler().fit_transform(made.X))


@pytest.mark.parametrize("rows", [None, np.arange(1000, 950, -1)])
@pytest.mark.parametrize(
    "steps", [{}, {"cap": {"ratio": 0.1}, "test_rows": "all"}, {"generator": LEGACY}]
)
def test_a_split_says_which_rows_it_tests(rows, steps):
    made = replace(dataset(40, 10), rows=rows)
    split = split_of(made, OUTLIER, {"name": "p", "metrics": ["roc_auc"]} | steps | NONE)
    found = split.test_rows if rows is None else 1000 - split.test_rows
    np.testing.assert_array_equal(made.X[found], split.X_test)
    np.testing.assert_array_equal(made.y[found], split.y_test)


def test_distinct_rows_stay_once():
    made = dataset(30, 6)
    double = Dataset(
        "made", np.vstack([made.X, made.X[:20]]), np.r_[made.y, made.y[:20]], ("a", "b"), "made"
    )
    protocol = {"repeats": "drop", "cut": {"kind": "none"}, "test_rows": "all"} | NONE
    assert sorted(parts(double, protocol)[1]) == list(range(36))


def test_a_stratified_cut_keeps_the_share_of_anomalies():
    made = dataset(100, 40)
    train, test = parts(made, {"cut": {"kind": "stratified", "train_size": 0.3}} | NONE)
    assert (len(train), len(test)) == (42, 98)
    assert made.y[train].sum() == 12


@pytest.mark.parametrize(
    ("kind", "scaler"),
    [("standard", StandardScaler), ("minmax", MinMaxScaler), ("robust", RobustScaler)],
)
def test_scaling_is_scikit_learn_s(kind, scaler):
    made = dataset(50, 10)
    raw = split_of(made)
    got = split_of(made, protocol=RAW | {"scaling": {"kind": kind, "fitted_on": "train"}})
    fitted = scaler().fit(raw.X_train)
    np.testing.assert_array_equal(got.X_train, fitted.transform(raw.X_train))
    np.testing.assert_array_equal(got.X_test, fitted.transform(raw.X_test))


@given(st.integers(2, 300), st.booleans(), st.integers(0, 10_000))
def test_standard_scaling_is_scikit_learn_s_to_the_last_digit(n, missing, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * 10.0 ** rng.integers(-8, 9, 6) + 10.0 ** rng.integers(-8, 9, 6)
    X[:, 0] = 1e5 / 3
    X[:, 1] = X[:, 0] + 1e-11 * rng.integers(2, size=n)  # constant but for rounding
    if missing:
        X[1:][rng.random((n - 1, 6)) < 0.2] = np.nan
    theirs, ours = StandardScaler().fit(X), Standard().fit(X)
    assert ours.mean.tolist() == theirs.mean_.tolist()
    assert ours.deviation.tolist() == theirs.scale_.tolist()
    np.testing.assert_array_equal(ours.transform(X.copy()), theirs.transform(X))


def test_a_splitter_of_scikit_learn_s():
    made = dataset(40, 10)
    target = "sklearn.model_selection.StratifiedKFold"
    cut = {"_target_": target, "n_splits": 5, "shuffle": True}
    tested = [parts(made, {"cut": cut} | NONE, split=i)[1] for i in range(5)]
    assert sorted(np.concatenate(tested)) == list(range(50))
    with pytest.raises(ValueError, match="yields no split 5"):
        parts(made, {"cut": cut} | NONE, split=5)
    with pytest.raises(ValueError, match="n_split"):
        parts(made, {"cut": {"_target_": target, "n_split": 5}} | NONE)


@pytest.mark.parametrize("name", ["StratifiedShuffleSplit", "ShuffleSplit", "StratifiedKFold"])
def test_each_seed_is_the_random_state_of_its_split(name):
    made = dataset(60, 20)
    own = {"n_splits": 3, "shuffle": True} if name.endswith("KFold") else {"train_size": 0.7}
    cut = {"_target_": f"sklearn.model_selection.{name}"} | own
    steps = {"cut": cut, "generator": {"kind": "legacy"}, "seeds": [11, 12]} | NONE
    for split, seed in enumerate(steps["seeds"]):
        splitter = getattr(model_selection, name)(**own, random_state=seed)
        expected = next(splitter.split(made.X, made.y))
        for rows_, expected_ in zip(parts(made, steps, split=split), expected, strict=True):
            np.testing.assert_array_equal(rows_, expected_)


def test_with_the_legacy_generator_a_split_s_seed_is_its_detector_s():
    """A script gives one number to its split and to its detector."""
    steps = {"name": "p", "metrics": ["roc_auc"], "generator": LEGACY}
    made = dataset(40, 10)
    states = [split_of(made, OUTLIER, steps | {"seeds": [11, 12]}, split=i) for i in range(2)]
    states += [split_of(made, OUTLIER, steps, seed=5, split=i) for i in range(2)]
    assert [state.random_state for state in states] == [11, 12, 5, 6]


def test_a_random_state_and_several_seeds_are_refused():
    made = dataset(60, 20)
    cut = {"_target_": "sklearn.model_selection.StratifiedShuffleSplit", "random_state": 11}
    steps = {"cut": cut, "generator": {"kind": "legacy"}} | NONE
    with pytest.raises(ValueError, match=r"cut.random_state: 11 is one cut for all \[11, 12\]"):
        parts(made, steps | {"seeds": [11, 12]})
    expected = next(model_selection.StratifiedShuffleSplit(random_state=11).split(made.X, made.y))
    np.testing.assert_array_equal(parts(made, steps | {"seeds": [5]})[0], expected[0])


def test_a_splitter_without_a_random_state_yields_its_pairs_in_turn():
    made = dataset(40, 10)
    cut = {"_target_": "sklearn.model_selection.StratifiedKFold", "n_splits": 5}
    steps = {"cut": cut, "generator": {"kind": "legacy"}, "seeds": [3, 4, 5]} | NONE
    pairs = list(model_selection.StratifiedKFold(5).split(made.X, made.y))
    for split in range(3):
        np.testing.assert_array_equal(parts(made, steps, split=split)[1], pairs[split][1])


class Overlapping:
    """Trains on the first rows and tests all of them, as a mistake in a splitter does."""

    def split(self, X, y):
        yield np.arange(30), np.arange(len(X))


def test_a_splitter_that_tests_what_it_trains_on_is_refused():
    cut = {"_target_": f"{__name__}.Overlapping"}
    with pytest.raises(ValueError, match="Overlapping has 30 rows in both parts of split 0; if"):
        parts(dataset(40, 10), {"cut": cut} | NONE)
    train, test = parts(dataset(40, 10), {"cut": cut, "test_rows": "all"} | NONE)
    assert (len(train), len(test)) == (30, 50)


def test_row_numbers_of_a_file(tmp_path):
    made = dataset(20, 5)
    rows = pd.DataFrame(
        {"split": 0, "part": ["train"] * 10 + ["test"] * 15, "row": [*range(24, -1, -1)]}
    )
    rows.to_parquet(tmp_path / "made.parquet")
    protocol = {"indices": f"{tmp_path}/{{dataset}}.parquet"} | NONE
    train, test = parts(made, protocol)
    np.testing.assert_array_equal(train, np.arange(24, 14, -1))
    np.testing.assert_array_equal(test, np.arange(14, -1, -1))
    with pytest.raises(ValueError, match="no row of split 1"):
        parts(made, protocol, split=1)
    assert splits_in_file(protocol["indices"], "made") == 1
    rows.assign(row=99).to_parquet(tmp_path / "made.parquet")
    with pytest.raises(ValueError, match="there is no row 99"):
        parts(made, protocol)
    pd.concat([rows, rows.assign(split=1, row=98)]).to_parquet(tmp_path / "made.parquet")
    with pytest.raises(ValueError, match="there is no row 98"):
        parts(made, protocol, split=0)


def test_row_numbers_of_a_file_are_those_of_the_source(tmp_path):
    """Where rows of a class were dropped, the others keep their numbers."""
    whole = dataset(20, 5)
    kept = np.flatnonzero(np.arange(25) % 4 != 1)
    made = replace(whole, X=whole.X[kept], y=whole.y[kept], rows=kept)
    numbers = np.random.default_rng(0).permutation(kept)
    rows = pd.DataFrame({"split": 0, "part": "train", "row": numbers})
    rows.loc[8:, "part"] = "test"
    rows.to_parquet(tmp_path / "made.parquet")
    protocol = {"indices": str(tmp_path / "made.parquet")} | NONE
    train, test = parts(made, protocol)
    np.testing.assert_array_equal(train, numbers[:8])
    np.testing.assert_array_equal(test, numbers[8:])
    for absent in (5, 99):
        rows.assign(row=[absent, *numbers[1:]]).to_parquet(tmp_path / "made.parquet")
        with pytest.raises(ValueError, match=f"row {absent} of the source is none of 'made'"):
            parts(made, protocol)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"split": [0, 0, 1, 1]}, None),
        ({"split": [0, 0, 1, 1], "row": [3, 3, 0, 1]}, None),
        ({"split": [1, 1, 2, 2]}, "numbered 0, 1, 2, ...; there is a split 2, and 2 in all"),
        ({"split": [0, 0, 1, 1], "part": ["train", "test", "train", "train"]}, "for part test"),
        ({"split": ["0", "0", "1", "1"]}, "split is a whole number; got"),
        ({"part": "valid"}, "part is train or test; got 'valid'"),
        ({"dataset": "other"}, "has no row of 'made'"),
        ({"data_set": "made"}, "unknown column data_set; did you mean dataset"),
        ({"dataset": ["made", "made", "made", None]}, "column dataset has rows without a value"),
    ],
)
def test_the_splits_of_a_file_are_counted_before_a_run(tmp_path, caplog, changes, words):
    rows = {"split": 0, "part": ["train", "test"] * 2, "row": [0, 1, 2, 3]} | changes
    pd.DataFrame(rows).to_parquet(tmp_path / "made.parquet")
    pattern = f"{tmp_path}/{{dataset}}.parquet"
    if words is None:
        assert splits_in_file(pattern, "made") == 2
        said = [
            text for text in caplog.messages if "of 'made', 1 rows are in a split twice" in text
        ]
        assert len(said) == ("row" in changes)
    else:
        with pytest.raises(ValueError, match=words):
            splits_in_file(pattern, "made")
