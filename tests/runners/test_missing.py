"""The study of missing values."""

import csv
from pathlib import Path

import numpy as np
import pytest

from runners import missing

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_normal", "n_anomalies"), [(100, 3), (100, 40), (5, 2), (3, 90)])
def test_a_sample_keeps_rare_anomalies(seed, n_normal, n_anomalies):
    y = np.random.default_rng(seed).permutation(np.repeat([0, 1], [n_normal, n_anomalies]))
    rows = missing.sample(y, 20, np.random.default_rng(seed))
    assert len(set(rows)) == len(rows) <= 20
    assert y[rows].sum() == min(n_anomalies, 10)
    assert (y[rows] == 0).sum() == min(n_normal, 20 - y[rows].sum())


def test_values_are_removed_from_the_rows_of_the_pattern():
    X, y = np.ones((4000, 2)), np.repeat([0, 1], 2000)
    rng = np.random.default_rng(0)
    gone = np.isnan(missing.remove(X, y, 0.2, "all rows", rng))
    assert gone.mean() == pytest.approx(0.2, abs=0.02)
    gone = np.isnan(missing.remove(X, y, 0.5, "anomalies", rng))
    assert not gone[y == 0].any()
    assert gone[y == 1].mean() == pytest.approx(0.5, abs=0.02)
    assert not np.isnan(X).any()


def test_the_command_writes_every_experiment_and_prints_their_means(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(missing, "SHARES", (0.2,))
    arguments = ["--data", "pima", "--splits", "1", "--largest", "60", "--output", str(tmp_path)]
    assert missing.main(arguments) == 0
    rows = list(csv.DictReader((tmp_path / "missing.csv").read_text().splitlines()))
    assert len(rows) == 2 * 2
    assert all(0 <= float(row[method]) <= 1 for row in rows for method in missing.METHODS)
    first = float(rows[0]["proportion"])
    assert f"| novelty | all rows | 20% | {first:.3f} |" in capsys.readouterr().out
    assert missing.main(arguments) == 0
    assert list(csv.DictReader((tmp_path / "missing.csv").read_text().splitlines())) == rows


def test_the_published_table_is_that_of_the_published_experiments():
    text = (ROOT / "results" / "runs" / "missing.csv").read_text(encoding="utf-8")
    table = missing.table(list(csv.DictReader(text.splitlines())))
    assert table in (ROOT / "results" / "ABLATIONS.md").read_text(encoding="utf-8")
