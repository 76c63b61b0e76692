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
import warnings
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runners.experiment import Experiment, Limits
from runners.isolation import messages, processes
from runners.isolation.messages import (
    Check,
    Checked,
    Failed,
    Hello,
    Hold,
    Kill,
    Load,
    Loaded,
    Message,
    NoData,
    Ready,
    Result,
    WarmUp,
)
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


_SHOWN: dict[Any, Any] = {}
"""Warnings of workers that were shown, as `warnings` keeps them."""


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
        self._without_data: dict[str, Result] = {}
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
        self._imported = self._warm = False

    @property
    def pid(self) -> int:
        """The zygote's process id."""
        return self._process.pid

    @property
    def started(self) -> bool:
        """Whether the zygote has imported everything and compiled the kernels."""
        return self._warm

    def has(self, data_key: str) -> bool:
        """Whether a data set is loaded here."""
        return data_key in self._holders

    def run(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool] = lambda: False
    ) -> Result:
        """Run one experiment and return its result.

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

        def look_at_both() -> bool:
            # What an experiment has forked may hold the sockets open when the zygote is gone.
            if self._process.poll() is not None:
                raise messages.ClosedError
            return look()

        try:
            self._start(limits, look)
            holder = self._holder(experiment, limits, look)
            if isinstance(holder, Result):
                return holder
            try:
                return Watch(holder, self.forget, experiment, limits, look_at_both).outcome()
            except messages.ClosedError:
                if self._died():
                    raise
                self.forget(holder)
                raise HolderDiedError("the process that forked the experiment was killed") from None
        except messages.ClosedError as error:
            raise WorkerDiedError(self._last_words()) from error

    def check(
        self, check: Check, limits: Limits, look: Callable[[], bool] = lambda: False
    ) -> str | None:
        """Try a part of a configuration; return what is wrong with it.

        What takes too long, or ends the process, is left to the experiments, which record it.

        Raises
        ------
        StartError
            If the zygote cannot start.
        """
        self._wait_for_imports(limits, look)
        ours, theirs = messages.pair()
        holder = None
        try:
            messages.send(self._control, check, (theirs.fileno(),))
            theirs.close()
            while answer := self._await(ours, limits.preparation_timeout, look):
                match answer:
                    case Hello(pid):
                        holder = Holder(ours, pid)
                    case Checked(problem):
                        return problem
                    case _:
                        raise messages.OrderError(answer)
        except messages.ClosedError:
            return None
        finally:
            if holder is not None:
                self._drop(holder)
            ours.close()
        return None

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

    def _start(self, limits: Limits, look: Callable[[], bool]) -> None:
        """Wait until the zygote has imported everything, and have it compile the kernels."""
        self._wait_for_imports(limits, look)
        if not self._warm:
            messages.send(self._control, WarmUp())
            self._wait_until_ready(limits, look)
            self._warm = True

    def _wait_for_imports(self, limits: Limits, look: Callable[[], bool]) -> None:
        if not self._imported:
            self._wait_until_ready(limits, look)
            self._imported = True

    def _wait_until_ready(self, limits: Limits, look: Callable[[], bool]) -> None:
        try:
            answer = self._await(self._control, limits.preparation_timeout, look)
        except messages.ClosedError:
            raise StartError(
                f"a worker process ended while starting: {self._last_words()}"
            ) from None
        match answer:
            case Ready(advice):
                # A process that has imported the kernels has said so itself.
                for text in advice if "ocrf.kernels" not in sys.modules else ():
                    # Shown once, however many workers say it.
                    warnings.warn_explicit(text, RuntimeWarning, "runners", 0, registry=_SHOWN)
            case Failed(traceback):
                raise StartError(f"a worker process cannot start:\n{traceback}")
            case None:
                raise StartError(
                    f"a worker process did not start within {limits.preparation_timeout:g} s; "
                    "runner.preparation_timeout=SECONDS allows more"
                )
            case _:
                raise messages.OrderError(answer)

    def _await(
        self, end: socket.socket, seconds: float, look: Callable[[], bool]
    ) -> Message | None:
        """Return the next message, or None if none comes in time."""
        deadline = processes.monotonic() + seconds
        while (left := deadline - processes.monotonic()) > 0:
            if select.select([end], [], [], min(left, LOOK_SECONDS))[0]:
                return messages.receive(end)[0]
            if look():
                raise AbortedError
        return None

    def _holder(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool]
    ) -> Holder | Result:
        """Return the holder of the experiment's data, or the result if they cannot be loaded."""
        key = experiment.cell.data_key
        if key in self._holders:
            self._holders.move_to_end(key)
            return self._holders[key]
        if key in self._without_data:
            return self._without_data[key]
        loaded = self._load(experiment, limits, look)
        if isinstance(loaded, NoData):
            # Not tried again in this run: a server that is down is down for all ten splits.
            self._without_data[key] = loaded.result
        if not isinstance(loaded, Holder):
            return loaded.result if isinstance(loaded, NoData) else loaded
        self._holders[key] = loaded
        while len(self._holders) > _MOST_HOLDERS or (
            len(self._holders) > 1 and sum(h.size for h in self._holders.values()) > _MOST_BYTES
        ):
            self._drop(self._holders.popitem(last=False)[1])
        return loaded

    def _load(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool]
    ) -> Holder | NoData | Result:
        """Have the zygote fork a holder that loads the experiment's data."""
        ours, theirs = messages.pair()
        config = experiment.cell.config
        messages.send(self._control, Hold(config["algorithm"]), (theirs.fileno(),))
        theirs.close()
        hello = self._await(ours, limits.preparation_timeout, look)
        if not isinstance(hello, Hello):
            # It may have been stopped, by SIGSTOP or a debugger.
            ours.close()
            raise WorkerDiedError(
                f"the zygote did not answer within {limits.preparation_timeout:g} s"
            )
        holder = Holder(ours, hello.pid)
        try:
            messages.send(ours, Load(config["dataset"], config.get("data")))
            answer = self._await(ours, limits.preparation_timeout, look)
        except AbortedError:
            self._drop(holder)
            raise
        except messages.ClosedError:
            self._drop(holder)
            return Result(
                "crashed", reason=f"the process that loads {experiment.cell.dataset} died"
            )
        if isinstance(answer, Loaded):
            holder.size = answer.size
            return holder
        self._drop(holder)
        if isinstance(answer, NoData):
            return answer
        reason = f"loading took longer than {limits.preparation_timeout:g} s"
        return NoData(Result("no_data", reason=reason))

    def _drop(self, holder: Holder) -> None:
        holder.end.close()
        messages.send(self._control, Kill(holder.pid))
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
