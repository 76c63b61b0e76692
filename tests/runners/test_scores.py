"""Scores kept beside the records: on request only, the experiment's own, without a trace in it."""

import numpy as np
import pandas as pd
import pytest

from results.metrics import evaluate
from results.records.store import RecordStore
from runners import scores
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
    with open(tmp_path / "scores", "w+b") as file:
        scores.hand_over(file.fileno(), y, values)
        y_found, found = scores.take_over(file.fileno(), n_test)
    assert y_found.tobytes() == y.tobytes()
    assert found.tobytes() == values.tobytes()


def test_scores_are_those_that_the_metrics_were_made_of(make_cell, tmp_path):
    run_grid([make_cell(FOREST, keep_scores=True)])
    store = RecordStore(tmp_path / "output" / "records")
    records = list(store)
    files = sorted((tmp_path / "output" / "scores").rglob("*"))
    assert [p for p in files if p.is_file()] == [scores.path_of(store, r) for r in records]
    assert len(records) == 3
    for record in records:
        frame = pd.read_parquet(scores.path_of(store, record))
        assert list(frame) == ["y", "anomaly_score"]
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
    finished = sandbox.run("algorithm=iforest", "n_splits=1", "runner.keep_scores=true", n_jobs=1)
    assert finished.status == 0, finished.output
    [file] = (sandbox.output / "scores").rglob("*.parquet")
    assert main(["histogram", str(file), "--output", str(sandbox.output)]) == 0
    assert list((sandbox.output / "figures").rglob("*.pdf"))
