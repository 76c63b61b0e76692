"""Grids end to end in this process: records, resuming, skipping, sharing, reproducibility."""

import json
import shutil
import time
import types
from dataclasses import replace

import pytest

from datasets.errors import UsageError
from results.records.store import RecordStore
from runners import grid
from runners.grid import run_grid
from runners.isolation.pool import POOL
from runners.schedule import make_plan

FOREST = "sklearn.ensemble.IsolationForest"


@pytest.fixture(autouse=True, scope="module")
def mending(tmp_path_factory):
    """Return the file that mends all detectors, of which the workers of this module know."""
    file = tmp_path_factory.mktemp("mended") / "mended"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OCRF_MENDED", str(file))
        POOL.close()  # workers have the environment that they were started with
        yield file
        POOL.close()


@pytest.fixture
def mended(mending):
    """Return a function that mends all detectors."""
    yield mending.touch
    mending.unlink()


def store_of(cell):
    return RecordStore(f"{cell.config['output']}/records")


def statuses(cell):
    records = sorted(store_of(cell), key=lambda record: record.split)
    return [record.status for record in records if record.algorithm == cell.algorithm]


def test_records_of_a_cell(make_cell):
    cell = make_cell(FOREST, name="iforest")
    summary = run_grid([cell])
    assert summary.exit_status == 0
    assert summary.statuses == {"ok": 3}
    records = sorted(store_of(cell), key=lambda record: record.split)
    assert [record.key for record in records] == list(cell.keys)
    assert len({record.metrics["roc_auc"] for record in records}) == 3
    for record in records:
        assert record.config == cell.config
        assert record.limits == {"timeout": 20.0, "memory_limit_gb": None, "allow_labels": False}
        made = record.provenance
        assert {"commit", "dirty", "versions", "cpu", "cores", "memory_gb", "os"} <= set(made)
        assert made["threads"]["OMP_NUM_THREADS"] == "1"
        assert made["versions"]["scikit-learn"]


@pytest.mark.parametrize("target", ["Healthy", "Raises", "IgnoresSignals"])
def test_records_name_the_version_of_the_file(make_cell, target):
    timeout = 0.5 if target == "IgnoresSignals" else 60.0
    cell = replace(make_cell(target, n_splits=2, timeout=timeout), content="5e" * 32)
    run_grid([cell])
    records = list(store_of(cell))
    assert {record.key for record in records} == set(cell.keys)
    assert {record.provenance["content"] for record in records} == {cell.content}


def test_records_of_data_without_a_file_name_no_version(make_cell):
    cell = make_cell(n_splits=1)
    run_grid([cell])
    [record] = store_of(cell)
    assert record.provenance.get("content") is None


@pytest.mark.parametrize("there", [True, False])
def test_records_are_valid_text_whatever_a_file_is_called(make_cell, tmp_path, there, monkeypatch):
    monkeypatch.setattr("runners.grid.check_inputs", list)
    cell = make_cell(n_splits=1)
    path = tmp_path / "caf\udce9.csv"
    if there:
        shutil.copy(cell.config["dataset"]["path"], path)
    cell.config["dataset"]["path"] = str(path)
    run_grid([cell])
    [record] = store_of(cell)
    # Composition and the check before a run refuse such a path; here the experiment does, and says
    # it in valid text.
    assert record.status == "error"
    assert r"caf\udce9.csv" in record.reason
    assert record.key == cell.key(0)
    assert record.config["dataset"]["path"] == str(tmp_path / r"caf\udce9.csv")
    json.dumps(record.to_dict(), ensure_ascii=False).encode("utf-8")


def test_a_finished_experiment_is_not_repeated(make_cell):
    cell = make_cell(n_splits=2)
    run_grid([cell])
    before = {record.split: record.provenance for record in store_of(cell)}
    more = make_cell(n_splits=3)
    summary = run_grid([more])
    assert summary.recorded_before == 2
    after = {record.split: record.provenance for record in store_of(cell)}
    assert len(after) == 3
    assert {split: after[split] for split in before} == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_metrics_do_not_depend_on_the_number_of_jobs(make_cell, tmp_path, n_jobs, request):
    cells = [
        make_cell(target, name=name, output=tmp_path / str(n_jobs), n_jobs=n_jobs)
        for target, name in ((FOREST, "iforest"), ("Healthy", "healthy"))
    ]
    run_grid(cells)
    found = {record.key: record for record in store_of(cells[0])}
    assert len(found) == 6
    digest = {key: (r.metrics, r.curves.encoded) for key, r in sorted(found.items())}
    # The first parameter leaves its result for the second.
    cache = request.session.stash.setdefault(_DIGESTS, {})
    cache[n_jobs] = digest
    assert all(other == digest for other in cache.values())


_DIGESTS = pytest.StashKey()


def test_a_timeout_makes_the_cell_na(make_cell):
    cell = make_cell("IgnoresSignals", timeout=0.5, n_splits=4)
    summary = run_grid([cell])
    assert statuses(cell) == ["timeout", "skipped", "skipped", "skipped"]
    assert summary.exit_status == 0  # NA is a result
    [reason] = {r.reason for r in store_of(cell) if r.status == "skipped"}
    assert reason.startswith("split 0 of the cell: fitting took longer than 0.5 s")
    assert run_grid([cell]).recorded_before == 4


def test_a_longer_timeout_repeats_only_what_timed_out(make_cell, mended):
    slow, quick = make_cell("IgnoresSignals", timeout=0.5), make_cell(timeout=60.0)
    run_grid([slow, quick])
    mended()
    slow, quick = make_cell("IgnoresSignals", timeout=60.0), make_cell(timeout=60.0)
    summary = run_grid([slow, quick])
    assert summary.recorded_before == 3
    assert statuses(slow) == ["ok"] * 3


def test_all_splits_are_run_on_request(make_cell):
    cell = make_cell("IgnoresSignals", timeout=0.3, run_all_splits=True)
    run_grid([cell])
    assert statuses(cell) == ["timeout"] * 3


def test_failures_are_retried_only_on_request(make_cell, mended):
    cell, healthy = make_cell("Raises"), make_cell()
    summary = run_grid([cell, healthy])
    assert summary.exit_status == 1
    assert summary.statuses == {"error": 3, "ok": 3}
    [(reason, n)] = summary.reasons.items()
    assert (reason, n) == (
        "table raises novelty clean: error: RuntimeError: the matrix is singular",
        3,
    )
    mended()
    assert run_grid([cell]).exit_status == 1  # still failed, and nothing is run
    summary = run_grid([make_cell("Raises", retry="failed")])
    assert summary.exit_status == 0
    assert statuses(cell) == ["ok"] * 3


def test_the_same_cell_twice_is_one(make_cell):
    summary = run_grid([make_cell(), make_cell()])
    assert sum(summary.statuses.values()) == 3


def test_the_grid_is_described_for_the_status_command(make_cell):
    run_grid([make_cell(n_splits=2)])
    other = make_cell("Raises", n_splits=2)
    run_grid([other])
    path = store_of(other).path.parent / "grid.json"
    cells = json.loads(path.read_text())["cells"]
    assert [cell["algorithm"] for cell in cells] == ["healthy", "raises"]
    assert cells[1]["keys"] == list(other.keys)
    assert cells[1]["dataset"] == "table"


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"cells": null}', '{"cells": [1]}', '{"cells": [{}]}']
)
def test_a_file_that_holds_no_grid_is_written_anew(make_cell, text):
    cell = make_cell(n_splits=1)
    path = store_of(cell).path.parent / "grid.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    run_grid([cell])
    assert [found["keys"] for found in json.loads(path.read_text())["cells"]] == [list(cell.keys)]


def test_a_log_is_kept_beside_the_records(make_cell):
    cell = make_cell("Raises", n_splits=1)
    run_grid([cell])
    log = (store_of(cell).path.parent / "run.log").read_text()
    assert "table raises novelty clean split 0: error" in log
    assert "the matrix is singular" in log


def test_a_store_that_cannot_be_made_is_said_at_the_start(make_cell, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="record store cannot be written"):
        run_grid([make_cell(output=tmp_path / "file")])


def test_a_claim_of_a_living_run_is_waited_for(make_cell, monkeypatch):
    """The other run ends without a record: its experiment is run here."""
    from runners import supervise

    cell = make_cell(n_splits=2)
    locks = supervise.Locks(store_of(cell).path)
    locks.take(cell.key(0))
    monkeypatch.setattr("runners.grid._WAIT_SECONDS", 0.01)
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        locks.release(cell.key(0))

    clock = types.SimpleNamespace(sleep=sleep, time=time.time)
    monkeypatch.setattr("runners.grid.time", clock)
    assert run_grid([cell]).statuses == {"ok": 2}
    assert waited == [0.01]


@pytest.mark.parametrize(
    ("aborted", "found", "trouble"),
    [
        (False, "", "no Dask worker for 0.1 s"),
        (False, "Dask gave up an experiment", "Dask gave up an experiment"),
        (True, "", ""),
    ],
)
def test_a_run_does_not_wait_for_what_will_not_come(
    make_cell, monkeypatch, aborted, found, trouble
):
    monkeypatch.setattr(grid, "_LONELY_SECONDS", 0.1)
    cell = make_cell(n_splits=1)
    store = store_of(cell)
    running = grid._Grid([cell], make_plan([cell], store), store, cell.config["runner"])
    running.aborted = time.monotonic() if aborted else None
    waited = False
    with running._watched(lambda: found):
        time.sleep(3600)
        waited = True
    assert not waited
    assert running.trouble == trouble


def test_a_run_with_workers_is_left_alone(make_cell, monkeypatch):
    monkeypatch.setattr(grid, "_LONELY_SECONDS", 0.1)
    cell = make_cell(n_splits=1)
    store = store_of(cell)
    running = grid._Grid([cell], make_plan([cell], store), store, cell.config["runner"])
    with running._watched(lambda: None):
        time.sleep(2.5)
    assert running.trouble == ""
