"""Scores kept beside the records: on request only, the experiment's own, without a trace in it."""

import numpy as np
import pandas as pd
import pytest

from results.metrics import evaluate
from results.records.store import RecordStore
from runners import app, scores
from runners.detectors import DetectorError
from runners.grid import run_grid
from runners.isolation.pool import POOL
from tests.faults.sandbox import Sandbox

FOREST = "sklearn.ensemble.IsolationForest"


@pytest.fixture(autouse=True, scope="module")
def _close_workers():
    yield
    POOL.close()


@pytest.mark.parametrize("n_test", [1, 5, 300_000])
def test_what_is_handed_over_is_taken_over(rng, tmp_path, n_test):
    y, values = rng.integers(0, 2, n_test, dtype=np.int8), rng.normal(size=n_test)
    rows = rng.permutation(n_test)
    with open(tmp_path / "scores", "w+b") as file:
        known = {0: {"a": 0.1, "b": -2.5e-17}}
        scores.hand_over(file.fileno(), scores.Scores(y, values, rows, known))
        found = scores.take_over(file.fileno(), n_test)
    assert found.y.tobytes() == y.tobytes()
    assert found.anomaly_scores.tobytes() == values.tobytes()
    assert found.rows.tolist() == rows.tolist()
    assert found.contributions == known


class Explains:
    """A detector whose contributions are what it is told."""

    def __init__(self, contributions):
        self.contributions = contributions

    def feature_contributions(self, X):
        return self.contributions[: len(X)]


def test_contributions_are_those_of_the_most_anomalous_points(rng):
    X, values = rng.normal(size=(50, 2)), rng.permutation(50).astype(float)
    known = scores.explain(Explains(np.arange(100.0).reshape(50, 2)), X, values, ("a", "b"))
    assert [values[point] for point in known] == list(range(49, 49 - scores.N_EXPLAINED, -1))
    assert list(known.values())[1] == {"a": 2.0, "b": 3.0}
    assert scores.explain(object(), X, values, ("a", "b")) == {}


@pytest.mark.parametrize("contributions", [np.zeros((50, 3)), np.full((50, 2), np.nan)])
def test_contributions_of_another_shape_or_not_finite_are_refused(rng, contributions):
    with pytest.raises(DetectorError, match="Explains: feature_contributions must be finite"):
        scores.explain(Explains(contributions), np.zeros((50, 2)), np.zeros(50), ("a", "b"))


def test_scores_are_those_that_the_metrics_were_made_of(make_cell, tmp_path):
    run_grid([make_cell(FOREST, keep_scores=True)])
    store = RecordStore(tmp_path / "output" / "records")
    records = list(store)
    files = sorted((tmp_path / "output" / "scores").rglob("*"))
    assert [p for p in files if p.is_file()] == [scores.path_of(store, r) for r in records]
    assert len(records) == 3
    for record in records:
        frame = pd.read_parquet(scores.path_of(store, record))
        assert list(frame) == ["y", "anomaly_score", "row"]
        assert len(frame) == record.counts["n_test"]
        assert frame["y"].sum() == record.counts["n_anomalies_test"]
        assert evaluate(frame["y"], frame["anomaly_score"]).metrics == record.metrics


def test_keeping_scores_changes_no_result(make_cell, tmp_path):
    without = make_cell(FOREST, n_splits=1, output=tmp_path / "without")
    kept = make_cell(FOREST, n_splits=1, output=tmp_path / "kept", keep_scores=True)
    assert without.keys == kept.keys
    run_grid([without])
    run_grid([kept])
    assert not (tmp_path / "without" / "scores").exists()
    [a] = RecordStore(tmp_path / "without" / "records")
    [b] = RecordStore(tmp_path / "kept" / "records")
    assert a.metrics == b.metrics
    assert a.curves == b.curves


@pytest.mark.parametrize("target", ["Raises", "ReturnsNaN", "Exits"])
def test_a_failed_experiment_leaves_no_scores(make_cell, tmp_path, target):
    summary = run_grid([make_cell(target, n_splits=1, keep_scores=True)])
    assert summary.exit_status == 1
    assert not (tmp_path / "output" / "scores").exists()


def test_scores_that_cannot_be_written_end_the_run_without_a_record(make_cell, tmp_path):
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "scores").write_text("in the way")
    summary = run_grid([make_cell(n_splits=2, keep_scores=True)])
    assert summary.exit_status == 3
    assert "scores" in summary.trouble
    assert summary.left == 2
    assert len(RecordStore(tmp_path / "output" / "records")) == 0


def test_histogram_of_kept_scores_through_the_command_line(tmp_path):
    from results.cli import main

    sandbox = Sandbox(tmp_path)
    overrides = ("algorithm=iforest", "n_splits=1", "runner.keep_scores=true", "runner.n_jobs=1")
    assert app.main(sandbox.arguments(*overrides)) == 0
    [file] = (sandbox.output / "scores").rglob("*.parquet")
    assert main(["histogram", str(file), "--output", str(sandbox.output)]) == 0
    assert list((sandbox.output / "figures").rglob("*.pdf"))


def test_histogram_says_which_features_make_the_most_anomalous_points_anomalous(
    make_cell, tmp_path, capsys
):
    from results.cli import main

    run_grid([make_cell("ocrf.OneClassRF", n_splits=1, keep_scores=True)])
    store = RecordStore(tmp_path / "output" / "records")
    [record] = store
    file = scores.path_of(store, record)
    frame = pd.read_parquet(file)
    top = frame["anomaly_score"].idxmax()
    assert frame["contributions"].notna().sum() == min(scores.N_EXPLAINED, len(frame))
    capsys.readouterr()
    assert main(["histogram", str(file), "--output", str(tmp_path)]) == 0
    [line] = [
        text
        for text in capsys.readouterr().out.splitlines()
        if text.startswith(f"{frame['row'][top]} ")
    ]
    name, contribution = max(frame["contributions"][top], key=lambda pair: pair[1])
    assert f"{name} {contribution:+.3f}" in line
