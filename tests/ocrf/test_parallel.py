"""Threads: how many, results in order, the first failure raised, nothing begun after it."""

import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import get_context
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ocrf import OneClassRF
from ocrf._growing import blocks
from ocrf.kernels.threads import map_in_threads, n_threads

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(n_jobs):
    assert map_in_threads(lambda x: x * x, range(20), n_jobs) == [x * x for x in range(20)]
    assert map_in_threads(str, [], n_jobs) == []


def test_one_item_stays_in_the_callers_thread():
    (name,) = map_in_threads(lambda _: threading.current_thread().name, [0], 4)
    assert name == threading.current_thread().name


@pytest.mark.parametrize("broken", [ValueError, KeyboardInterrupt])
def test_a_failure_is_raised_and_what_waits_is_not_begun(broken):
    begun = []

    def work(item):
        begun.append(item)
        raise broken(item)

    with pytest.raises(broken):
        map_in_threads(work, range(1000), 2)
    assert len(begun) < 1000


def test_a_failure_tells_those_that_have_begun():
    cancelled = threading.Event()

    def work(item):
        if item == 0:
            raise ValueError
        assert cancelled.wait(60)

    with pytest.raises(ValueError):
        map_in_threads(work, [0, 1], 2, cancelled.set)


def test_the_number_of_threads():
    assert n_threads(None) == 1
    assert n_threads(3) == 3
    assert n_threads(-1) == joblib.cpu_count()
    assert n_threads(-1000) == 1


def test_no_threads_are_refused():
    with pytest.raises(ValueError, match=r"'n_jobs' parameter of OneClassRF .* Got 0"):
        OneClassRF(n_jobs=0).fit([[0.0], [1.0]])


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs an affinity mask")
def test_threads_follow_the_affinity_of_the_process():
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from ocrf.kernels.threads import n_threads; print(n_threads(-1))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "1", done.stderr


def test_joblibs_backends_do_not_change_the_number_of_threads():
    class Cluster(joblib.parallel.SequentialBackend):
        def effective_n_jobs(self, n_jobs):
            return 1000

    joblib.register_parallel_backend("cluster", Cluster)
    try:
        with joblib.parallel_config("cluster"):
            assert n_threads(None) == 1
            assert n_threads(2) == 2
    finally:
        joblib.parallel.BACKENDS.pop("cluster")


def _threads_of_a_daemon(queue):
    queue.put(n_threads(2))


@pytest.mark.filterwarnings("default:.*fork.*:DeprecationWarning")
def test_a_daemonic_process_may_use_threads():
    context = get_context("fork")
    queue = context.Queue()
    daemon = context.Process(target=_threads_of_a_daemon, args=(queue,), daemon=True)
    daemon.start()
    assert queue.get(timeout=60) == 2
    daemon.join()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_fit_grows_no_more_trees(monkeypatch, n_jobs):
    """Ctrl-C in a long fit: threads stop before their next tree."""
    X = np.random.default_rng(0).normal(size=(4000, 4))
    forest = OneClassRF(
        n_estimators=10**6, max_samples=1.0, max_depth=None, n_jobs=n_jobs, random_state=0
    )
    grown = []
    grow_trees = blocks.grow_trees

    def count(*args):
        if len(grown) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        grown.append(grow_trees(*args))
        return grown[-1]

    monkeypatch.setattr(blocks, "grow_trees", count)
    # A shell starts its background jobs with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            forest.fit(X)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sum(grown) < 10**4
    with pytest.raises(NotFittedError):
        forest.score_samples(X)


def test_scores_during_a_refit_are_the_old_forests_or_the_new():
    """Two forests of different widths: a mixture of both would read beyond the rows."""
    rng = np.random.default_rng(0)
    narrow, wide = rng.normal(size=(300, 2)), rng.normal(size=(300, 5))
    forest = OneClassRF(n_estimators=3, contamination=0.1, random_state=0).fit(narrow)
    expected = {
        2: forest.decision_function(narrow),
        5: OneClassRF(n_estimators=3, contamination=0.1, random_state=0)
        .fit(wide)
        .decision_function(wide),
    }
    errors, scored, stop = [], [], threading.Event()

    def score():
        while not stop.is_set():
            for X in (narrow, wide):
                try:
                    found = forest.decision_function(X)
                except ValueError as error:
                    if "is expecting" not in str(error):
                        errors.append(error)
                except AttributeError as error:
                    errors.append(error)
                else:
                    scored.append(X.shape[1])
                    if not np.array_equal(found, expected[X.shape[1]]):
                        errors.append("scores of a mixture")

    thread = threading.Thread(target=score)
    thread.start()
    deadline = time.monotonic() + 120
    for k in range(10**4):
        forest.fit(wide if k % 2 == 0 else narrow)
        if errors or (k >= 50 and {2, 5} <= set(scored)) or time.monotonic() > deadline:
            break
    stop.set()
    thread.join()
    assert not errors
    assert {2, 5} <= set(scored)
