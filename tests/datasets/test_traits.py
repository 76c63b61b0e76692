"""Traits of data sets, counted by hand."""

from __future__ import annotations

import numpy as np

from datasets import Dataset
from datasets.cli import main
from datasets.traits import traits


def test_traits_by_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    X[:, 1] = 7.0  # constant
    X[:, 2] = rng.integers(0, 5, size=100) / 3  # five values on 100 rows
    y = np.zeros(100, dtype=np.int8)
    y[:4] = 1
    X[:3, 0] += [50.0, 50.1, 50.2]  # three beside each other, one among the normal points
    X[3] = X[50]
    found = traits(Dataset("made", X, y, tuple("abcd"), "made"))
    assert found["rows"] == 100
    assert found["features"] == 4
    assert found["anomaly_share"] == 0.04
    assert found["discrete_share"] == 0.5
    assert found["clustered_share"] == 0.75


def test_they_are_printed_as_csv(capsys):
    assert main(["traits", "dataset=pima", "data.source=bundled"]) == 0
    header, line = capsys.readouterr().out.splitlines()
    assert header == "dataset,rows,features,anomaly_share,discrete_share,clustered_share"
    assert line.startswith("pima,768,8,0.348958,")
