"""Zygote: a process that has imported everything, and forks one process per experiment.

Importing scikit-learn takes a second, forking a process that has done so takes milliseconds. A
zygote is started by plain `subprocess` (which works under joblib and in Dask workers alike), in a
session of its own, so that Ctrl-C reaches the runner only. It forks one *holder* per data set,
which loads the data and forks the *experiments*, which find libraries and data in their memory.

No process outlives the one that forked it: a zygote ends when its socket closes, a holder when its
socket closes or the zygote dies, an experiment when its holder dies. Processes that an experiment
started become children of the holder, or of the zygote, and are killed. Both stay single-threaded:
of the threads of a process, a fork copies only the one that forks.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import mmap
import os
import select
import signal
import socket
import struct
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from results.records.record import targets, valid_text
from runners import detectors
from runners.isolation import child, messages, processes
from runners.isolation.messages import (
    Check,
    Checked,
    Failed,
    Hello,
    Hold,
    Kill,
    Load,
    Loaded,
    NoData,
    Ready,
    Task,
    Usage,
    WarmUp,
)
from runners.own_code import own_code

if TYPE_CHECKING:
    from datasets import Dataset

_PRELOADED = (
    "numpy",
    "sklearn.ensemble",
    "sklearn.svm",
    "sklearn.neighbors",
    "sklearn.covariance",
    "hydra.utils",
    "pandas",
    "pyarrow.parquet",
    "results.records.encoding",
    "results.metrics",
    "datasets",
    "ocrf",
    "baselines",
)
_SAMPLING_SECONDS = 0.05  # between two looks at the memory of an experiment
_SAMPLING_SECONDS_LIMITED = 0.01


def main() -> None:
    """Serve the supervisor at the socket whose descriptor is the first argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    processes.become_subreaper()
    # A foreign process group's Ctrl-C does not come here; a stray one would break the protocol.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _reported(control, _preload)
    gc.collect()
    gc.freeze()  # keeps the collector of the children from touching, and so copying, our pages
    _serve(control)


def _reported(control: socket.socket, step: Callable[[], None]) -> None:
    """Take a step of the start, and tell the supervisor how it went."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            step()
    except BaseException as error:  # the supervisor reports it and ends the run
        messages.send(control, Failed("".join(traceback.format_exception(error))))
        raise
    said = dict.fromkeys(str(warning.message) for warning in caught)
    messages.send(control, Ready(tuple(text for text in said if "NUMBA_CACHE_DIR" in text)))


def _preload() -> None:
    for name in _PRELOADED:
        __import__(name)


def _warm_up() -> None:
    """Compile the kernels, or load them from numba's cache, so that children need not."""
    for package in ("ocrf", "baselines"):
        sys.modules[package].warm_up()
    gc.collect()
    gc.freeze()


def _warm_up_algorithm(algorithm: Mapping[str, Any] | None) -> None:
    # The user's own code, which may be edited, is imported by holders only.
    if algorithm is not None and str(algorithm.get("_target_")).startswith("baselines."):
        _prepare(algorithm)
        gc.collect()
        gc.freeze()


def _serve(control: socket.socket) -> None:
    holders: set[int] = set()
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        readable = poll.poll(500)
        for pid in list(holders):
            if os.waitpid(pid, os.WNOHANG)[0]:
                holders.discard(pid)
        # Orphans of a holder that was killed have come to us.
        processes.kill_descendants(keep=frozenset(holders))
        if not readable:
            continue
        try:
            message, descriptors = messages.receive(control)
        except messages.ClosedError:
            processes.kill_descendants()
            os._exit(0)
        match message:
            case WarmUp():
                _reported(control, _warm_up)
            case Hold(algorithm):
                _warm_up_algorithm(algorithm)
                holders.add(_fork(control, descriptors[0], _hold))
            case Check():
                check = functools.partial(_check, check=message)
                holders.add(_fork(control, descriptors[0], check))
            case Kill(doomed):
                if doomed is not None and doomed in holders:  # otherwise it has ended already
                    processes.kill([*processes.descendants(doomed), doomed])
                    os.waitpid(doomed, 0)
                    holders.discard(doomed)
                    processes.kill_descendants(keep=frozenset(holders))
            case _:
                raise messages.OrderError(message)


def _fork(control: socket.socket, descriptor: int, serve: Callable[[socket.socket], None]) -> int:
    """Fork a process that serves at a socket and ends then; return its process id."""
    zygote = os.getpid()
    end = socket.socket(fileno=descriptor)
    pid = os.fork()
    if pid:
        end.close()
        return pid
    try:
        processes.die_with_parent(zygote)
        processes.become_subreaper()
        control.close()
        serve(end)
    finally:
        # Whatever happened: never return into the zygote's loop.
        os._exit(1)


def _check(end: socket.socket, check: Check) -> None:
    """Say what is wrong with a detector, data set or splitter, if that is the user's to mend."""
    from baselines.pyod_detector import PyODDetector, find_detector
    from datasets import DataError, DataUnavailable, load
    from datasets.protocols import Splitter, check_splitter, protocol_from

    problem = None
    messages.send(end, Hello(os.getpid()))
    try:
        if check.algorithm is not None:
            detector = detectors.build(check.algorithm, random_state=0)
            detectors.check_methods(detector)
            if isinstance(detector, PyODDetector):
                find_detector(detector.detector)
        if check.data is not None:
            load(check.data.dataset, check.data.data)
        if check.protocol is not None:
            cut = protocol_from(check.protocol).cut
            if isinstance(cut, Splitter):
                check_splitter(cut)
    except DataUnavailable:
        pass  # a server is down: the experiments ask again
    except (detectors.DetectorError, DataError) as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 (whatever a constructor raises)
        problem = f"{type(error).__name__}: {error}"
    messages.send(end, Checked(problem and " ".join(valid_text(problem).split())))


def _hold(end: socket.socket) -> None:
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
    from datasets import DataUnavailable, load

    try:
        dataset = load(order.dataset, order.data)
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


_imported: dict[tuple[str, ...], str | None] = {}
"""Digests of the user's own code when it was imported here, by the targets that name it."""

_prepared: list[Mapping[str, Any]] = []
"""Algorithms that the children find imported and compiled."""


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
    _prepare(task.config["algorithm"])
    return _imported[named]


def _prepare(algorithm: Mapping[str, Any]) -> None:
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
    return Usage(status, None if baseline is None else largest, exceeded)


def _baseline(shared: mmap.mmap) -> tuple[int, int] | None:
    held, not_of_files = struct.unpack("qq", shared[:16])
    return (held, not_of_files) if held else None


if __name__ == "__main__":
    main()
