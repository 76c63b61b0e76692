"""What does not answer in time, experiments and workers, is given up."""

import os
import signal
import threading

import pytest

from runners.experiment import Cell, Experiment, Limits
from runners.isolation import messages, processes
from runners.isolation.messages import Kill, Phase, Usage
from runners.isolation.watch import Holder, Watch
from runners.isolation.worker import Worker, WorkerDiedError
from runners.isolation.zygote_process import StartError


def watched(make_cell, phases, limits, cpu_seconds=None):
    """Return the result of an experiment whose messages have all come before the first look."""
    ours, theirs = messages.pair()
    watch = Watch(Holder(ours, 0), lambda holder: None, Experiment(make_cell(), 0), limits, bool)
    now = processes.monotonic()
    for name, ago in phases:
        messages.send(theirs, Phase(name, now - ago))
    orders = []

    def experiment():
        orders.append(messages.receive(theirs)[0])
        orders.append(messages.receive(theirs)[0])
        # What was on its way when the order to end came.
        messages.send(theirs, Phase("evaluate", processes.monotonic()))
        messages.send(theirs, Usage(signal.SIGKILL, oom=False, cpu_seconds=cpu_seconds))

    thread = threading.Thread(target=experiment)
    thread.start()
    result = watch.outcome()
    thread.join()
    ours.close()
    theirs.close()
    assert isinstance(orders[1], Kill)
    return result


@pytest.mark.parametrize(
    ("phases", "status", "reason"),
    [
        ([("fit", 10.0)], "timeout", "fitting took longer than 5 s"),
        # Fitting ended in time, though the message was read after its deadline.
        ([("fit", 20.0), ("score", 16.0)], "timeout", "scoring took longer than 5 s"),
        ([("fit", 40.0), ("score", 39.0), ("evaluate", 38.0)], "error", "evaluating the scores"),
    ],
)
def test_the_phase_at_the_deadline_says_what_was_too_slow(make_cell, phases, status, reason):
    result = watched(make_cell, phases, Limits(5.0, preparation_timeout=30.0))
    assert result.status == status
    assert reason in result.reason


@pytest.mark.parametrize(
    ("cpu_seconds", "words"),
    [(None, "5 s"), (2.6, "5 s"), (2.4, "5 s, less than half of it on a processor")],
)
def test_a_timeout_says_how_much_processor_time_there_was(make_cell, cpu_seconds, words):
    limits = Limits(5.0, preparation_timeout=30.0)
    result = watched(make_cell, [("fit", 10.0)], limits, cpu_seconds)
    assert result.reason == f"fitting took longer than {words}"


def test_a_zygote_that_is_stopped_is_given_up(make_cell):
    worker = Worker(threads=1)
    try:
        cell = make_cell()
        worker.run(Experiment(cell, 0), Limits(20))
        os.kill(worker.zygote.pid, signal.SIGSTOP)
        # Its holder goes on without it.
        assert worker.run(Experiment(cell, 1), Limits(20)).status == "ok"
        cell.config["dataset"]["name"] = "other"
        other = Cell("healthy", "", cell.config, code=cell.code)
        with pytest.raises(WorkerDiedError, match=r"did not answer within 0\.5 s"):
            worker.run(Experiment(other, 0), Limits(20, preparation_timeout=0.5))
    finally:
        worker.close()
    assert worker.zygote.returncode == -signal.SIGKILL


def test_a_zygote_that_is_stopped_while_it_starts_is_given_up(make_cell):
    worker = Worker(threads=1)
    os.kill(worker.zygote.pid, signal.SIGSTOP)
    try:
        with pytest.raises(StartError, match=r"did not start within 0\.5 s; runner\.prep"):
            worker.run(Experiment(make_cell(), 0), Limits(20, preparation_timeout=0.5))
    finally:
        worker.close()
