"""The supervisor's end of a zygote: start it, hear that it is ready, have it fork, end it."""

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
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runners.experiment import Limits
from runners.isolation import messages, processes
from runners.isolation.messages import Check, Failed, Hold, Kill, Message, Ready, WarmUp
from runners.isolation.watch import GRACE_SECONDS, LOOK_SECONDS, TAIL, AbortedError, how_it_ended

ROOT = Path(__file__).resolve().parents[2]
_MARK = "OCRF_ZYGOTE"  # environment variable by which the processes of a zygote are found
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

_SHOWN: dict[Any, Any] = {}
"""Warnings of zygotes that were shown, as `warnings` keeps them."""


class StartError(RuntimeError):
    """A zygote does not start: nothing can run here."""


def thread_environment(threads: int) -> dict[str, str]:
    """Return the variables that hold numerical libraries to a number of threads."""
    return dict.fromkeys(_THREAD_VARIABLES, str(threads))


def await_message(end: socket.socket, seconds: float, look: Callable[[], bool]) -> Message | None:
    """Return the next message at a socket, or None if none comes in time.

    Raises
    ------
    AbortedError
        If `look`, which is called several times a second, returned true.
    messages.ClosedError
        If the other end is gone.
    """
    deadline = processes.monotonic() + seconds
    while (left := deadline - processes.monotonic()) > 0:
        if select.select([end], [], [], min(left, LOOK_SECONDS))[0]:
            return messages.receive(end)[0]
        if look():
            raise AbortedError
    return None


class ZygoteProcess:
    """A running zygote (`runners.isolation.zygote`).

    Parameters
    ----------
    threads : int
        Threads of numerical libraries in it and in what it forks.
    """

    def __init__(self, threads: int):
        self._mark = uuid.uuid4().hex
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the zygote)
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
        self._imported = False
        # Packages that it was told to import; None before it could run an experiment.
        self.warm: frozenset[str] | None = None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit status (negative: a signal), None while it runs."""
        return self._process.poll()

    def wait_until_imported(self, limits: Limits, look: Callable[[], bool]) -> None:
        """Wait until it has imported everything.

        Raises
        ------
        StartError
            If it cannot, or not within ``limits.preparation_timeout``.
        """
        if not self._imported:
            self._wait_until_ready(limits, look)
            self._imported = True

    def wait_until_warm(
        self, packages: frozenset[str], limits: Limits, look: Callable[[], bool]
    ) -> None:
        """Wait until it has imported everything, packages too, and have it compile their kernels.

        Raises
        ------
        StartError
            If it cannot, or either takes longer than ``limits.preparation_timeout``.
        """
        self.wait_until_imported(limits, look)
        warm = self.warm or frozenset()
        if missing := packages - warm:
            messages.send(self._control, WarmUp(missing))
            self._wait_until_ready(limits, look)
        self.warm = warm | packages

    def _wait_until_ready(self, limits: Limits, look: Callable[[], bool]) -> None:
        try:
            answer = await_message(self._control, limits.preparation_timeout, look)
        except messages.ClosedError:
            raise StartError(
                f"a worker process ended while starting: {self.last_words()}"
            ) from None
        match answer:
            case Ready(advice):
                # A process that has imported the kernels has said so itself.
                for text in advice if "ocrf.kernels" not in sys.modules else ():
                    # Shown once, however many zygotes say it.
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

    def fork(self, order: Hold | Check) -> socket.socket:
        """Have it fork a process that obeys an order; return the socket of that process."""
        ours, theirs = messages.pair()
        with theirs:
            try:
                messages.send(self._control, order, (theirs.fileno(),))
            except messages.ClosedError:
                ours.close()
                raise
        return ours

    def kill(self, pid: int) -> None:
        """Have it kill a process that it forked, and everything below."""
        messages.send(self._control, Kill(pid))
        processes.wait_until_dead(pid, GRACE_SECONDS)

    def died(self) -> bool:
        """Whether it is gone. When it goes its holders do, and are seen to go first."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        return self._process.returncode is not None

    def last_words(self) -> str:
        """Return how it ended, and the end of what it printed."""
        self.died()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - TAIL))
        words = self._stderr.read().decode("utf-8", "replace").strip()
        how = how_it_ended(self._process.returncode)
        return f"{how}: {words}" if words else how

    def close(self) -> None:
        """End it and everything below it."""
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
