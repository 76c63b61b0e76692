"""One experiment in a worker: outcomes, limits, cleanliness."""

import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from datasets import content_key
from runners.experiment import Experiment, Limits
from runners.isolation import processes
from runners.isolation.messages import Usage
from runners.isolation.watch import AbortedError, Watch
from runners.isolation.worker import HolderDiedError, Worker, WorkerDiedError
from tests.faults.sandbox import wait_for

FOREST = "sklearn.ensemble.IsolationForest"


@pytest.fixture(scope="module")
def shared_worker():
    worker = Worker(threads=1)
    yield worker
    worker.close()
    assert worker.zygote.returncode == 0


@pytest.fixture
def run(shared_worker, make_cell):
    def run(target, split=0, timeout=20.0, look=lambda: False, **limits):
        experiment = Experiment(make_cell(target), split)
        return shared_worker.run(experiment, Limits(timeout, **limits), look)

    return run


def descendants(worker):
    """Return the living processes below a worker; the ended ones are reaped within half a second."""
    return [
        p for p in processes.descendants(worker.zygote.pid) if processes.start_time(p) is not None
    ]


def test_a_result_has_everything_that_a_record_needs(run):
    result = run(FOREST)
    assert result.status == "ok"
    assert set(result.metrics) == {
        *("roc_auc", "average_precision", "roc_auc_curve", "pr_auc_curve")
    }
    assert set(result.curves) == {"roc", "pr"}
    assert result.counts["n_train"] + result.counts["n_anomalies_train"] <= 60
    assert result.counts["n_test"] == 60
    assert result.fit_cpu_seconds > 0
    assert result.fit_seconds > 0
    assert result.score_seconds > 0
    assert 0 <= result.peak_memory_mb < 50
    assert result.uses_labels is False


@pytest.mark.parametrize("split", [0, 1])
def test_the_same_experiment_gives_the_same_bits(run, split):
    first, second = run(FOREST, split), run(FOREST, split)
    assert first.metrics == second.metrics
    assert first.curves == second.curves
    assert run(FOREST, split + 1).curves != first.curves


DRAWING = """
import random
import numpy as np

class FromNumpy:
    def fit(self, X):
        self.drawn = np.random.random()

    def score_samples(self, X):
        return np.random.random(len(X)) + self.drawn

class FromPython(FromNumpy):
    def fit(self, X):
        self.drawn = random.random()

    def score_samples(self, X):
        return [random.random() + self.drawn for _ in X]

class WhenBuilt(FromNumpy):
    def __init__(self):
        self.rng = np.random.RandomState(np.random.randint(1000000))

    def score_samples(self, X):
        return self.rng.random_sample(len(X))
"""


@pytest.fixture(scope="module")
def draw_afresh(tmp_path_factory):
    """Return a function that runs one of these detectors with scores kept, in one of two workers."""
    folder = tmp_path_factory.mktemp("drawing")
    (folder / "drawing.py").write_text(DRAWING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(folder)])
        workers = [Worker(threads=1), Worker(threads=1)]

        def draw(cell, split, which):
            return workers[which].run(Experiment(cell, split), Limits(20))

        yield draw
        for worker in workers:
            worker.close()


@pytest.mark.parametrize("name", ["FromNumpy", "FromPython", "WhenBuilt"])
def test_what_is_drawn_from_shared_generators_follows_from_the_split(draw_afresh, make_cell, name):
    cell = make_cell(f"drawing.{name}", keep_scores=True)
    first, again = draw_afresh(cell, 0, 0), draw_afresh(cell, 0, 1)
    assert first.status == "ok"
    assert first.metrics == again.metrics
    assert first.curves == again.curves
    other = draw_afresh(cell, 1, 0)
    assert other.metrics != first.metrics
    assert set(other.scores[1]).isdisjoint(first.scores[1])


@pytest.mark.parametrize("target", ["SlowToScore", "IgnoresSignals", "ForksChildren"])
def test_what_does_not_return_is_killed_and_nothing_is_left(run, shared_worker, target):
    run("Healthy")
    before = set(descendants(shared_worker))
    assert run(target, timeout=1.0).status == "timeout"
    assert set(descendants(shared_worker)) == before


def test_fit_and_scoring_have_a_limit_each(run):
    # Fitting takes most of the limit, and scoring has all of it again.
    assert run("SlowToScore", timeout=0.5).reason.startswith("scoring took longer than 0.5 s")


def test_a_timeout_says_whether_the_time_was_spent_on_a_processor(run):
    """What waits, or shares a processor with much other work, may be fast."""
    waiting = run("IgnoresSignals", timeout=1)
    assert waiting.reason == "fitting took longer than 1 s, less than half of it on a processor"


def test_children_that_a_detector_leaves_are_ended(run, shared_worker):
    run("Healthy")
    before = set(descendants(shared_worker))
    assert run("LeavesChildren").status == "ok"
    assert set(descendants(shared_worker)) == before


def test_the_memory_limit_is_on_what_the_experiment_adds(run):
    assert run("Healthy", memory_limit_gb=0.05).status == "ok"
    result = run("Allocates", memory_limit_gb=0.05)
    assert result.status == "memory"
    assert 0.05 * 1024 <= result.peak_memory_mb < 0.05 * 1024 + 100


@pytest.mark.parametrize(
    ("target", "status", "reason"),
    [
        ("Segfaults", "crashed", "killed by SIGSEGV while fitting"),
        ("Exits", "crashed", "exited with status 0 while fitting"),
        ("Aborts", "crashed", "killed by SIGABRT while fitting"),
        ("WantsLabels", "error", "asks for the labels"),
        ("RefusesMemory", "memory", "would need 512.0 GB"),
    ],
)
def test_failures_are_told_apart(run, target, status, reason):
    result = run(target)
    assert result.status == status
    assert reason in result.reason


@pytest.mark.parametrize(
    ("oom", "status", "words"),
    [
        (True, "memory", "killed while fitting, by the kernel's out-of-memory killer"),
        (None, "memory", "probably by the kernel's out-of-memory killer"),
        # The kernel counts its kills, and there was none: somebody else did it.
        (False, "crashed", "killed by SIGKILL while fitting"),
    ],
)
def test_the_out_of_memory_killer_is_recognised(oom, status, words):
    watch = Watch.__new__(Watch)
    watch.phase, watch.limits, watch.timed_out, watch.tail = "fit", Limits(5), False, b""
    result = watch._without_result(Usage(signal.SIGKILL, oom=oom))
    assert result.status == status
    assert words in result.reason


def test_the_last_words_of_a_crash_are_kept(run):
    assert "std::logic_error" in run("Aborts").traceback
    assert "misbehave" in run("Segfaults").traceback


def test_tracebacks_name_no_folder_of_this_machine(run):
    traceback = run("Raises").traceback
    assert 'File "tests/faults/detectors.py"' in traceback
    assert os.getcwd() not in traceback


def test_labels_are_handed_over_only_on_request(run):
    result = run("WantsLabels", allow_labels=True)
    assert (result.status, result.uses_labels) == ("ok", True)
    # One that does not ask gets none even then.
    assert run("Healthy", allow_labels=True).uses_labels is False


def test_data_that_cannot_be_had_are_asked_for_once(shared_worker, make_cell, tmp_path):
    cell = make_cell()
    cell.config["dataset"]["path"] = str(tmp_path / "none.csv")
    for split in range(2):
        result = shared_worker.run(Experiment(cell, split), Limits(5))
        assert result.status in ("no_data", "error")
        assert "none.csv" in result.reason


def test_data_that_are_changed_while_the_grid_runs_are_no_result(
    shared_worker, make_cell, tmp_path, table
):
    cell = make_cell()
    cell.config["dataset"]["path"] = str(tmp_path / "edited.csv")
    text = table.read_text()
    (tmp_path / "edited.csv").write_text(text)
    cell = replace(cell, content=content_key(cell.config["dataset"]))
    (tmp_path / "edited.csv").write_text(text + text.splitlines()[-1] + "\n")
    result = shared_worker.run(Experiment(cell, 0), Limits(5))
    assert result.status == "error"
    assert "changed after the run had begun" in result.reason
    cell = replace(cell, content=content_key(cell.config["dataset"]))
    assert shared_worker.run(Experiment(cell, 0), Limits(5)).status == "ok"


def test_reasons_are_valid_text_whatever_a_file_is_called(shared_worker, make_cell, tmp_path):
    cell = make_cell()
    cell.config["dataset"]["path"] = str(tmp_path / "caf\udce9.csv")
    result = shared_worker.run(Experiment(cell, 0), Limits(5))
    assert result.status == "error"
    for text in (result.reason, result.traceback):
        assert r"caf\udce9.csv" in text
        text.encode("utf-8")


def test_a_run_that_is_aborted_leaves_nothing(run, shared_worker):
    run("Healthy")
    before = set(descendants(shared_worker))
    flag = threading.Event()
    threading.Timer(0.5, flag.set).start()
    with pytest.raises(AbortedError):
        run("IgnoresSignals", timeout=3600.0, look=flag.is_set)
    assert set(descendants(shared_worker)) == before
    assert run("Healthy").status == "ok"


def test_a_worker_outlives_its_holder(run, shared_worker):
    with pytest.raises(HolderDiedError):
        run("KillsItsParent")
    assert run("Healthy").status == "ok"


def test_a_worker_that_is_killed_takes_everything_along(make_cell):
    worker = Worker(threads=1)
    try:
        worker.run(Experiment(make_cell(), 0), Limits(20))
        started = []

        def kill():
            wait_for(lambda: len(descendants(worker)) >= 5)
            started.extend(descendants(worker))
            os.kill(worker.zygote.pid, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        with pytest.raises(WorkerDiedError, match="SIGKILL"):
            worker.run(Experiment(make_cell("ForksChildren"), 0), Limits(20))
        thread.join()
    finally:
        worker.close()
    assert len(started) >= 5
    assert wait_for(lambda: all(processes.start_time(p) is None for p in started))


def test_threads_are_limited(make_cell):
    worker = Worker(threads=2)
    try:
        worker.run(Experiment(make_cell(), 0), Limits(20, threads=2))
        environment = Path(f"/proc/{worker.zygote.pid}/environ").read_text().split("\0")
    finally:
        worker.close()
    assert "OMP_NUM_THREADS=2" in environment
    assert "NUMBA_NUM_THREADS=2" in environment


def test_experiments_share_what_was_imported_and_loaded(run, shared_worker, make_cell):
    """Isolation is cheap because an experiment is a fork of a process that has done all that."""
    run("Healthy")
    before = set(descendants(shared_worker))
    for split in range(3):
        assert run("Healthy", split).status == "ok"
    # The same holders, and no process more.
    assert set(descendants(shared_worker)) == before
    assert shared_worker.has(make_cell().data_key)


@pytest.mark.parametrize(
    ("fit", "score", "reason"),
    [
        (0.2005, 0.0, "fitting took longer than 0.2 s"),
        (0.0, 0.2005, "scoring took longer than 0.2 s"),
        (0.15, 0.25, "scoring took longer than 0.2 s"),
        (0.25, 0.25, "fitting took longer than 0.2 s"),
    ],
)
def test_a_call_that_returns_just_after_its_limit_is_a_timeout(
    shared_worker, make_cell, fit, score, reason
):
    cell = make_cell("Naps", n_splits=8)
    cell.config["algorithm"].update(fit_seconds=fit, score_seconds=score)
    results = [shared_worker.run(e, Limits(0.2)) for e in cell.experiments()]
    assert {result.status for result in results} == {"timeout"}
    assert {result.reason.partition(",")[0] for result in results} == {reason}
    assert {result.fit_seconds for result in results} == {None}
