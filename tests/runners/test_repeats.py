"""Repeated rows are counted by value, and the published shares are those of the data."""

import csv

import numpy as np
import pytest

from datasets import Split, load
from datasets.configuration import compose
from results.reproduction.repeats import repeated_rows
from runners.repeats import main, repeated, shares


def split(X_train, X_test, y_test):
    y_test = np.asarray(y_test)
    return Split(
        X_train=np.asarray(X_train, float),
        X_test=np.asarray(X_test, float),
        y_test=y_test,
        y_train=np.zeros(len(X_train), int),
        test_rows=np.arange(len(y_test)),
        random_state=0,
    )


def test_rows_are_the_same_where_all_values_are():
    train = [[1, 2], [0.0, 3]]
    test = [[1, 2], [2, 1], [-0.0, 3], [1, 2], [1, 3]]
    assert repeated(split(train, test, [0, 0, 0, 1, 1])) == (pytest.approx(2 / 3), 0.5)


@pytest.mark.parametrize("name", ["pima", "ionosphere", "spambase"])
@pytest.mark.parametrize("setting", ["novelty", "outlier"])
def test_the_published_shares_of_bundled_data_sets(name, setting):
    composed = compose([f"dataset={name}", "protocol=clean"])
    found = shares(load(composed["dataset"], composed["data"]), setting, composed["protocol"], 10)
    row = repeated_rows().loc[(name, setting)]
    assert found == pytest.approx((row["normal"], row["anomalies"]), abs=5e-5)


@pytest.mark.mirror
def test_shuttle_has_the_rows_of_the_protocol(tmp_path, data_home, monkeypatch):
    """Its source repeats no row; the published table, of which `clean` is not made, does."""
    monkeypatch.setenv("OCRF_DATA_HOME", str(data_home))
    file = tmp_path / "rows.csv"
    assert main(["--data", "shuttle", "--splits", "1", "--file", str(file)]) == 0
    shown = [*csv.DictReader(file.read_text().splitlines())]
    assert [(row["normal"], row["anomalies"]) for row in shown] == [("0.0000", "0.0000")] * 2
    assert not repeated_rows().loc["shuttle"][["normal", "anomalies"]].to_numpy().any()


@pytest.mark.mirror
def test_the_published_shares_of_a_data_set_with_many_repeated_rows(
    tmp_path, data_home, monkeypatch
):
    monkeypatch.setenv("OCRF_DATA_HOME", str(data_home))
    file = tmp_path / "rows.csv"
    assert main(["--data", "smtp", "--file", str(file)]) == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    for row in rows:
        published = repeated_rows().loc[("smtp", row["setting"])]
        assert float(row["normal"]) == pytest.approx(published["normal"], abs=5e-5)
        assert float(row["anomalies"]) == pytest.approx(published["anomalies"], abs=5e-5)


def test_a_data_set_that_is_not_at_hand_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OCRF_DATA_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr("runners.repeats.load", unavailable)
    assert main(["--data", "pima", "--splits", "1", "--file", str(tmp_path / "rows.csv")]) == 1
    assert "left out: pima: data set 'pima'" in capsys.readouterr().err


def unavailable(*_):
    from datasets import DataUnavailable

    raise DataUnavailable("pima", [("home", "nothing")], "Fetch it.")
