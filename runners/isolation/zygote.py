"""Zygote: a process that has imported the libraries, and forks one process per experiment.

Importing scikit-learn takes a second, forking a process that has done so takes milliseconds. What
not every experiment needs, scikit-learn, detectors and their kernels, is imported when one does. A
zygote is started by plain `subprocess` (which works under joblib and in Dask workers alike), in a
session of its own, so that Ctrl-C reaches the runner only. It forks one holder per data set
(`runners.isolation.holder`), which loads the data and forks the experiments
(`runners.isolation.child`), which find libraries and data in their memory.

No process outlives the one that forked it: a zygote ends when its socket closes, a holder when its
socket closes or the zygote dies, an experiment when its holder dies. Processes that an experiment
started become children of the holder, or of the zygote, and are killed. Both stay single-threaded:
of the threads of a process, a fork copies only the one that forks.
"""

from __future__ import annotations

import functools
import gc
import importlib
import logging
import os
import select
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from results.records.record import valid_text
from runners import detectors
from runners.isolation import holder, messages, processes
from runners.isolation.messages import (
    Check,
    Checked,
    Cut,
    Failed,
    Hello,
    Hold,
    Kill,
    Ready,
    WarmUp,
)

if TYPE_CHECKING:
    from datasets import Dataset

_PRELOADED = (
    "numpy",
    "hydra.utils",
    "pandas",
    "pyarrow.parquet",
    "results.records.encoding",
    "results.metrics",
    "datasets.protocols",
)
_INSTALLED = ("baselines.", "ocrf.", "pyod.", "sklearn.")


def main() -> None:
    """Serve the supervisor at the socket whose descriptor is the first argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    processes.become_subreaper()
    # A foreign process group's Ctrl-C does not come here; a stray one would break the protocol.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # what is imported stays
    _reported(control, _preload)
    gc.enable()
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
        importlib.import_module(name)


def _warm_up(packages: frozenset[str]) -> None:
    """Import packages, and compile their kernels or load them from numba's cache."""
    for package in sorted(packages):
        module = importlib.import_module(package)
        if package in detectors.WITH_KERNELS:
            module.warm_up()
    gc.collect()
    gc.freeze()


def _warm_up_algorithm(algorithm: Mapping[str, Any] | None) -> None:
    # The user's own code, which may be edited, is imported by holders only.
    if algorithm is not None and str(algorithm.get("_target_")).startswith(_INSTALLED):
        holder.prepare(algorithm)
        gc.collect()
        gc.freeze()


def _import_for(check: Check) -> None:
    """Import scikit-learn if a check needs it, as other checks and the experiments will."""
    protocol = check.splitter.protocol if check.splitter else {}
    if "sklearn" in detectors.preloaded_packages(check.algorithm or protocol):
        importlib.import_module("sklearn")


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
            case WarmUp(packages):
                _reported(control, functools.partial(_warm_up, packages))
            case Hold(algorithm):
                _warm_up_algorithm(algorithm)
                holders.add(_fork(control, descriptors[0], holder.serve))
            case Check():
                _import_for(message)
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
    from datasets import DataError, DataUnavailable, check_definition
    from datasets.protocols import Splitter, check_splitter, protocol_from

    problem = None
    of_splits: dict[str, None] = {}
    notes = _Notes()
    logging.getLogger("datasets").addHandler(notes)
    messages.send(end, Hello(os.getpid()))
    try:
        if check.algorithm is not None:
            detector = detectors.build(check.algorithm, random_state=0)
            detectors.check_methods(detector)
            detectors.check_parameters(detector)
            if check.narrowest is not None:
                detectors.check_width(detector, *check.narrowest)
        if check.data is not None:
            dataset = check_definition(check.data.dataset, check.data.data)
            for cut in check.cuts:
                _try_splits(dataset, cut)
                if text := _capped(dataset, cut):
                    of_splits[text] = None
            for label, algorithm in check.on_data.items():
                detector = detectors.build(algorithm, random_state=0)
                detectors.check_width(detector, label, dataset.X.shape[1])
        if check.splitter is not None:
            protocol = protocol_from(check.splitter.protocol)
            if isinstance(protocol.cut, Splitter):
                check_splitter(protocol.cut, check.splitter.n_splits, protocol.seeds)
    except DataUnavailable:
        pass  # a server is down: the experiments ask again
    except (detectors.DetectorError, DataError) as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001 (whatever a constructor raises)
        problem = f"{type(error).__name__}: {error}"
    problem = problem and " ".join(valid_text(problem).split())
    said, of_all = (tuple(map(valid_text, texts)) for texts in (notes.texts, of_splits))
    messages.send(end, Checked(problem, said, of_all))


def _try_splits(dataset: Dataset, cut: Cut) -> None:
    """Refuse what leaves no split at all; a single one that cannot be made is a record's matter."""
    from datasets import DataError
    from datasets.protocols import make_split, protocol_from

    if protocol_from(cut.protocol).generator.kind == "replayed":
        return  # where the stream of the tables was stopped, there are none, and that is said
    wrong = None
    for split in range(cut.n_splits):
        try:
            make_split(
                dataset, setting=cut.setting, protocol=cut.protocol, seed=cut.seed, split=split
            )
        except ValueError as error:
            wrong = wrong or error
        else:
            return
    raise DataError(
        f"protocol {cut.protocol['name']}, {cut.setting['name']}: no split can be made: {wrong}"
    )


def _capped(dataset: Dataset, cut: Cut) -> str:
    """Say if a protocol leaves anomalies out; empty if it keeps all."""
    from datasets.protocols import protocol_from

    protocol = protocol_from(cut.protocol)
    ratio, n_normal = protocol.cap.ratio, len(dataset.y) - dataset.n_anomalies
    if ratio is None or dataset.n_anomalies <= ratio * n_normal:
        return ""
    return (
        f"data set {dataset.name!r}: {dataset.n_anomalies} anomalies beside {n_normal} normal "
        f"rows; protocol {protocol.name!r} keeps {ratio:g} for each of these, drawn at random "
        "(protocol.cap.ratio=null keeps all)"
    )


class _Notes(logging.Handler):
    """Keeps what is logged, of which this process' standard error is not shown."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


if __name__ == "__main__":
    main()
