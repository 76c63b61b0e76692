"""The supervisor's end of a zygote: run one experiment in it, hold it to its limits, clean up."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import tempfile
import uuid
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runners.experiment import Experiment, Limits
from runners.isolation import messages, processes
from runners.isolation.watch import (
    GRACE_SECONDS,
    LOOK_SECONDS,
    TAIL,
    AbortedError,
    Holder,
    Watch,
    how_it_ended,
)

ROOT = Path(__file__).resolve().parents[2]
_MARK = "OCRF_ZYGOTE"  # environment variable by which the processes of a zygote are found
_START_SECONDS = 300.0  # to import everything, compiling kernels included
_MOST_HOLDERS = 6  # data sets that one worker keeps
_MOST_BYTES = 1 << 30
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class WorkerDiedError(Exception):
    """The zygote is gone; the experiment in it has no outcome."""


class HolderDiedError(Exception):
    """The holder is gone; the experiment in it has no outcome. The zygote can go on."""


class StartError(RuntimeError):
    """A zygote does not start: nothing can run here."""


def thread_environment(threads: int) -> dict[str, str]:
    """Return the variables that hold numerical libraries to a number of threads."""
    return dict.fromkeys(_THREAD_VARIABLES, str(threads))


class Worker:
    """A zygote and the data sets that its holders have loaded. Used by one thread at a time."""

    def __init__(self, threads: int):
        self.threads = threads
        self._holders: OrderedDict[str, Holder] = OrderedDict()
        self._without_data: dict[str, dict[str, Any]] = {}
        self._mark = uuid.uuid4().hex
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the worker)
        self._control, theirs = messages.pair()
        path = [str(ROOT), *(p for p in sys.path if p and Path(p) != ROOT)]
        environment = os.environ | thread_environment(threads)
        environment |= {
            _MARK: self._mark,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONHASHSEED": "0",  # a detector that iterates over a set repeats itself
            "MPLBACKEND": "Agg",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "runners.isolation.zygote", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            env=environment,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self._ready = False

    @property
    def pid(self) -> int:
        """The zygote's process id."""
        return self._process.pid

    @property
    def started(self) -> bool:
        """Whether the zygote has imported everything."""
        return self._ready

    def has(self, data_key: str) -> bool:
        """Whether a data set is loaded here."""
        return data_key in self._holders

    def run(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool] = lambda: False
    ) -> dict[str, Any]:
        """Run one experiment and return the fields of its record that say what happened.

        Parameters
        ----------
        experiment : Experiment
        limits : Limits
        look : callable
            Called several times a second; if it returns true, the experiment is killed.

        Raises
        ------
        AbortedError
            If `look` said so.
        HolderDiedError
            If the process that forked the experiment died.
        WorkerDiedError
            If the zygote died. The worker cannot be used again.
        StartError
            If the zygote cannot start.
        """
        try:
            self._wait_until_ready(look)
            holder = self._holder(experiment, limits, look)
            if isinstance(holder, dict):
                return holder
            try:
                return Watch(holder, self.forget, experiment, limits, look).outcome()
            except messages.ClosedError:
                if self._died():
                    raise
                self.forget(holder)
                raise HolderDiedError("the process that forked the experiment was killed") from None
        except messages.ClosedError as error:
            raise WorkerDiedError(self._last_words()) from error

    def close(self) -> None:
        """End the zygote and everything below it."""
        for holder in self._holders.values():
            holder.end.close()
        self._holders.clear()
        self._control.close()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            processes.kill_marked(_MARK, self._mark)
        else:
            if self._process.returncode:
                # It did not end by its own will, so it did not clean up either.
                processes.kill_marked(_MARK, self._mark)
        self._stderr.close()

    def _wait_until_ready(self, look: Callable[[], bool]) -> None:
        if self._ready:
            return
        try:
            answer = self._await(self._control, _START_SECONDS, look)
        except messages.ClosedError:
            raise StartError(
                f"a worker process ended while starting: {self._last_words()}"
            ) from None
        if answer is None:
            raise StartError(f"a worker process did not start within {_START_SECONDS:g} s")
        if answer[0] == "failed":
            raise StartError(f"a worker process cannot start:\n{answer[1]}")
        self._ready = True

    def _await(
        self, end: socket.socket, seconds: float, look: Callable[[], bool]
    ) -> tuple[str, Any] | None:
        """Return the next message, or None when there is none in time."""
        deadline = processes.monotonic() + seconds
        while (left := deadline - processes.monotonic()) > 0:
            if select.select([end], [], [], min(left, LOOK_SECONDS))[0]:
                kind, body, _ = messages.receive(end)
                return kind, body
            if look():
                raise AbortedError
        return None

    def _holder(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool]
    ) -> Holder | dict[str, Any]:
        """Return the holder of the experiment's data, or the outcome if they cannot be had."""
        key = experiment.cell.data_key
        if key in self._holders:
            self._holders.move_to_end(key)
            return self._holders[key]
        if key in self._without_data:
            return dict(self._without_data[key])
        ours, theirs = messages.pair()
        messages.send(self._control, "hold", descriptors=(theirs.fileno(),))
        theirs.close()
        hello = self._await(ours, _START_SECONDS, look)
        if hello is None:
            raise WorkerDiedError("the zygote does not answer")
        holder = Holder(ours, int(hello[1]))
        config = experiment.cell.config
        messages.send(ours, "load", {"dataset": config["dataset"], "data": config.get("data")})
        try:
            answer = self._await(ours, limits.preparation_timeout, look)
        except (messages.ClosedError, AbortedError) as error:
            self._drop(holder)
            if isinstance(error, AbortedError):
                raise
            return {
                "status": "crashed",
                "reason": f"the process that loads {experiment.cell.dataset} died",
            }
        if answer is None:
            self._drop(holder)
            reason = f"loading took longer than {limits.preparation_timeout:g} s"
            answer = ("no data", {"status": "no_data", "reason": reason})
        if answer[0] == "no data":
            self._drop(holder)
            # Not asked for again in this run: a server that is down is so for all ten splits.
            self._without_data[key] = answer[1]
            return dict(answer[1])
        holder.size = answer[1]["bytes"]
        self._holders[key] = holder
        while len(self._holders) > _MOST_HOLDERS or (
            len(self._holders) > 1 and sum(h.size for h in self._holders.values()) > _MOST_BYTES
        ):
            self._drop(self._holders.popitem(last=False)[1])
        return holder

    def _drop(self, holder: Holder) -> None:
        holder.end.close()
        messages.send(self._control, "kill", holder.pid)
        processes.wait_until_dead(holder.pid, GRACE_SECONDS)

    def forget(self, holder: Holder) -> None:
        """Kill a holder that does not do as it is told."""
        self._holders = OrderedDict((k, h) for k, h in self._holders.items() if h is not holder)
        self._drop(holder)

    def _died(self) -> bool:
        """Whether the zygote is gone. When it goes its holders do, and are seen to go first."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        return self._process.returncode is not None

    def _last_words(self) -> str:
        self._died()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - TAIL))
        words = self._stderr.read().decode("utf-8", "replace").strip()
        how = how_it_ended(self._process.returncode)
        return f"{how}: {words}" if words else how
