"""Holder: a process that has loaded a data set, and forks one process per experiment on it.

It is forked by a zygote, and watches each experiment: the memory that it takes, and its end.
"""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from results.records.record import targets, valid_text
from runners import detectors
from runners.isolation import child, messages, processes
from runners.isolation.messages import Hello, Load, Loaded, NoData, Task, Usage
from runners.own_code import own_code

if TYPE_CHECKING:
    from datasets import Dataset

_SAMPLING_SECONDS = 0.05  # between two looks at the memory of an experiment
_SAMPLING_SECONDS_LIMITED = 0.01

_imported: dict[tuple[str, ...], str | None] = {}
"""Digests of the user's own code when it was imported here, by the targets that name it."""

_prepared: list[Mapping[str, Any]] = []
"""Algorithms that `prepare` has seen."""

_evaluated: set[tuple[str, ...]] = set()
"""Metrics that were computed once: their kernels are loaded."""


def serve(end: socket.socket) -> None:
    """Load a data set and run experiments on it, one at a time, until the socket closes."""
    try:
        messages.send(end, Hello(os.getpid()))
        order, _ = messages.receive(end)
        if not isinstance(order, Load):
            raise messages.OrderError(order)
        dataset = _load(end, order)
        if dataset is None:
            return
        gc.collect()
        gc.freeze()
        while True:
            task, descriptors = messages.receive(end)
            if isinstance(task, Task):
                _run_one(end, task, dataset, *descriptors)
            # Otherwise it is a Kill for an experiment that has just ended.
    except messages.ClosedError:
        processes.kill_descendants()


def _load(end: socket.socket, order: Load) -> Dataset | None:
    from datasets import DataError, DataUnavailable, content_digest, load

    try:
        dataset = load(order.dataset, order.data)
        # After loading: a file that changed meanwhile may have been read half and half.
        if order.content not in (None, content_digest(order.dataset, order.data)):
            raise DataError(
                "the file of the data was changed after the run had begun; the same command runs "
                "the new version"
            )
    except DataUnavailable as error:
        reason = valid_text(str(error))
        messages.send(end, NoData(replace(child.failure("no_data", error), reason=reason)))
        return None
    # A wrong definition, a damaged file, a bug: the outcome of every experiment on this data.
    except BaseException as error:  # noqa: BLE001
        messages.send(end, NoData(child.failure("error", error)))
        return None
    messages.send(end, Loaded(int(dataset.X.nbytes)))
    return dataset


def _run_one(
    end: socket.socket,
    task: Task,
    dataset: Dataset,
    output: int,
    keep_scores: int | None = None,
) -> None:
    shared = mmap.mmap(-1, mmap.PAGESIZE)  # where the child tells what it held before fitting
    oom_before = processes.oom_kills()
    code = _import_targets(task)
    _anticipate(task, dataset)
    holder = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            processes.die_with_parent(holder)
            _become_experiment(end, output)
            child.run(
                task,
                dataset,
                code,
                lambda message: messages.send(end, message),
                lambda *held: shared.__setitem__(slice(0, 16), struct.pack("qq", *held)),
                keep_scores,
            )
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            # No exit handlers: they are the zygote's, and threads of a detector may still run.
            os._exit(0)
    for descriptor in (output, keep_scores):
        if descriptor is not None:
            os.close(descriptor)
    usage = _watch(end, pid, shared, task.limits.memory_limit_gb)
    oom_after = processes.oom_kills()
    if oom_before is not None and oom_after is not None:
        usage = replace(usage, oom=oom_after > oom_before)
    messages.send(end, usage)
    shared.close()


def _anticipate(task: Task, dataset: Dataset) -> None:
    """Compute here what the splits of the data set share: the next experiment finds it."""
    from datasets.protocols import anticipate
    from results.metrics import evaluate

    setting, protocol = task.config["setting"], task.config["protocol"]
    # The experiment meets what is wrong again, and reports it.
    with contextlib.suppress(Exception):
        anticipate(dataset, setting=setting, protocol=protocol, split=task.split)
    metrics = tuple(protocol.get("metrics") or ())
    if metrics not in _evaluated:
        _evaluated.add(metrics)
        with contextlib.suppress(Exception):
            evaluate([0, 1], [0.0, 1.0], metrics)


def _import_targets(task: Task) -> str | None:
    """Import the modules of the targets before forking: the next experiment finds them imported.

    Returns the digest of the user's own code among them, as it was imported.
    """
    named = tuple(sorted(set(targets(task.config))))
    if named not in _imported:
        for target in named:
            # The experiment imports it again, and reports what is wrong with it.
            with contextlib.suppress(Exception):
                __import__(target.rpartition(".")[0])
        _imported[named] = own_code(named).digest
    prepare(task.config["algorithm"])
    return _imported[named]


def prepare(algorithm: Mapping[str, Any]) -> None:
    """Import an algorithm and compile its kernels, unless that was done: children find them so."""
    if algorithm not in _prepared:
        _prepared.append(algorithm)
        detectors.warm_up(algorithm)


def _become_experiment(end: socket.socket, output: int) -> None:
    os.setsid()
    processes.be_first_for_the_oom_killer()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.set_inheritable(end.fileno(), False)


def _watch(end: socket.socket, pid: int, shared: mmap.mmap, limit_gb: float | None) -> Usage:
    """Wait for an experiment to end, killing it when told to or when it needs too much memory."""
    limit = None if limit_gb is None else int(limit_gb * (1 << 30))
    interval = _SAMPLING_SECONDS if limit is None else _SAMPLING_SECONDS_LIMITED
    ended = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(end, select.POLLIN)
    # What the experiment starts with it shares with the zygote and with us.
    memory = processes.Memory(pid, processes.memory_of(pid), sharers=2)
    started, largest, exceeded = False, 0, False
    try:
        while True:
            events = dict(poll.poll(1000 * interval))
            if end.fileno() in events:
                messages.receive(end)  # a Kill; if the socket closed, our caller kills and ends
                break
            if ended in events:
                break
            if not started and (baseline := _baseline(shared)):
                started, memory.start, largest = True, baseline, 0
            largest = max(largest, memory.grown())
            if limit is not None and largest > limit:
                exceeded = True
                break
    finally:
        os.close(ended)
        processes.kill([*processes.descendants(pid), pid])
        _, status, usage = os.wait4(pid, 0)
        processes.kill_descendants()
    baseline = _baseline(shared)
    if baseline is not None:
        # What grew and ended between two looks.
        largest = max(largest if started else 0, usage.ru_maxrss * 1024 - baseline[0])
    return Usage(
        status,
        None if baseline is None else largest,
        exceeded,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
    )


def _baseline(shared: mmap.mmap) -> tuple[int, int] | None:
    held, not_of_files = struct.unpack("qq", shared[:16])
    return (held, not_of_files) if held else None
