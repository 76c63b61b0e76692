"""The supervisor's end of a zygote: run one experiment in it, hold it to its limits, clean up."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners import messages, processes
from runners.child import without_paths
from runners.experiment import Experiment, Limits

ROOT = Path(__file__).resolve().parents[1]
_MARK = "OCRF_ZYGOTE"  # environment variable by which the processes of a zygote are found
_START_SECONDS = 300.0  # to import everything, compiling kernels included
_GRACE_SECONDS = 5.0  # for a zygote to do as it is told before it is killed itself
_LOOK_SECONDS = 0.2  # between two looks at whether the run was aborted
_MOST_HOLDERS = 6  # data sets that one worker keeps
_MOST_BYTES = 1 << 30
_TAIL = 16_000  # bytes of an experiment's output that are kept
_CHUNK = 1 << 16
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


class AbortedError(Exception):
    """The run is to end now; the experiment was killed and has no outcome."""


class StartError(RuntimeError):
    """A zygote does not start: nothing can run here."""


def thread_environment(threads: int) -> dict[str, str]:
    """Return the variables that hold numerical libraries to a number of threads."""
    return dict.fromkeys(_THREAD_VARIABLES, str(threads))


@dataclass
class _Holder:
    end: socket.socket
    pid: int
    size: int = 0


class Worker:
    """A zygote and the data sets that its holders have loaded. Used by one thread at a time."""

    def __init__(self, threads: int):
        self.threads = threads
        self._holders: OrderedDict[str, _Holder] = OrderedDict()
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
            [sys.executable, "-m", "runners.zygote", str(theirs.fileno())],
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
                return _Watch(self, holder, experiment, limits, look).outcome()
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
            self._process.wait(_GRACE_SECONDS)
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
            if select.select([end], [], [], min(left, _LOOK_SECONDS))[0]:
                kind, body, _ = messages.receive(end)
                return kind, body
            if look():
                raise AbortedError
        return None

    def _holder(
        self, experiment: Experiment, limits: Limits, look: Callable[[], bool]
    ) -> _Holder | dict[str, Any]:
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
        holder = _Holder(ours, int(hello[1]))
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

    def _drop(self, holder: _Holder) -> None:
        holder.end.close()
        messages.send(self._control, "kill", holder.pid)
        processes.wait_until_dead(holder.pid, _GRACE_SECONDS)

    def forget(self, holder: _Holder) -> None:
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
        self._stderr.seek(max(0, self._stderr.tell() - _TAIL))
        words = self._stderr.read().decode("utf-8", "replace").strip()
        how = _how_it_ended(self._process.returncode)
        return f"{how}: {words}" if words else how


class _Watch:
    """One experiment in flight."""

    def __init__(
        self,
        worker: Worker,
        holder: _Holder,
        experiment: Experiment,
        limits: Limits,
        look: Callable[[], bool],
    ):
        self.worker, self.holder, self.limits, self.look = worker, holder, limits, look
        self.phase = "prepare"
        self.deadline = processes.monotonic() + limits.preparation_timeout
        self.result: dict[str, Any] | None = None
        self.usage: dict[str, Any] | None = None
        self.timed_out = False
        self.aborted = False
        self.tail = b""
        self.output, theirs = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(theirs, True)
        task = {
            "config": experiment.cell.config,
            "split": experiment.split,
            "allow_labels": limits.allow_labels,
            "threads": limits.threads,
            "memory_limit_gb": limits.memory_limit_gb,
        }
        try:
            messages.send(holder.end, "run", task, (theirs,))
        finally:
            os.close(theirs)

    def outcome(self) -> dict[str, Any]:
        poll = select.poll()
        poll.register(self.holder.end, select.POLLIN)
        poll.register(self.output, select.POLLIN)
        killed_at: float | None = None
        try:
            while self.usage is None:
                now = processes.monotonic()
                left = max(0.0, self.deadline - now)
                for descriptor, event in poll.poll(1000 * min(left, _LOOK_SECONDS) + 1):
                    if descriptor == self.holder.end.fileno():
                        self._take(*messages.receive(self.holder.end)[:2])
                    elif not self._drain(once=True) or event & select.POLLERR:
                        poll.unregister(self.output)
                now = processes.monotonic()
                if killed_at is not None:
                    if self.usage is None and now - killed_at > _GRACE_SECONDS:
                        self.worker.forget(self.holder)
                        break
                elif self.usage is None and (now >= self.deadline or self.look()):
                    self.aborted = now < self.deadline
                    self.timed_out = not self.aborted
                    killed_at = now
                    self.deadline = now + 2 * _GRACE_SECONDS
                    messages.send(self.holder.end, "kill")
            self._drain()
        finally:
            os.close(self.output)
        if self.aborted:
            raise AbortedError
        return self._judge()

    def _take(self, kind: str, body: Any) -> None:
        if kind == "phase":
            self.phase = body
            timed = body in ("fit", "score")
            seconds = self.limits.timeout if timed else self.limits.preparation_timeout
            self.deadline = processes.monotonic() + seconds
        elif kind == "result":
            self.result = body
            # Nothing is left to do but to end.
            self.deadline = processes.monotonic() + _GRACE_SECONDS
        elif kind == "exit":
            self.usage = body

    def _drain(self, once: bool = False) -> bool:
        """Read what the experiment printed and keep its end; say whether more may come."""
        for _ in range(1 if once else 64):
            try:
                data = os.read(self.output, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.tail = (self.tail + data)[-_TAIL:]
        return True

    def _judge(self) -> dict[str, Any]:
        """Turn messages, exit status and usage into the fields of a record."""
        usage = self.usage or {"status": 0, "peak_bytes": None, "exceeded": False, "oom": None}
        fields: dict[str, Any] = dict(self.result or {})
        peak = fields.pop("peak_bytes", None)
        peak = max((p for p in (peak, usage["peak_bytes"]) if p is not None), default=None)
        if self.result is None:
            fields |= self._without_result(usage)
        fields["peak_memory_mb"] = None if peak is None else peak / (1 << 20)
        return fields

    def _without_result(self, usage: Mapping[str, Any]) -> dict[str, Any]:
        what = {"fit": "fitting", "score": "scoring"}.get(self.phase)
        if usage["exceeded"]:
            return self._failed(
                "memory", f"{what or 'preparing'} exceeded {self.limits.memory_limit_gb:g} GiB"
            )
        if self.timed_out and what:
            reason = f"{what} took longer than {self.limits.timeout:g} s"
            return {"status": "timeout", "reason": reason}
        if self.timed_out:
            step = "evaluating the scores" if self.phase == "evaluate" else "preparing"
            return self._failed(
                "error", f"{step} took longer than {self.limits.preparation_timeout:g} s"
            )
        code = os.waitstatus_to_exitcode(usage["status"])
        doing = f" while {what}" if what else ""
        if code == -signal.SIGKILL and usage["oom"] is not False:
            known = "" if usage["oom"] else "probably "
            return self._failed(
                "memory", f"killed{doing}, {known}by the kernel's out-of-memory killer"
            )
        return self._failed("crashed", f"{_how_it_ended(code)}{doing}, without a result")

    def _failed(self, status: str, reason: str) -> dict[str, Any]:
        """Return a failure; the end of what the process printed stands where a traceback would."""
        lines = self.tail.decode("utf-8", "replace").splitlines()
        # faulthandler ends with a list of hundreds of modules.
        kept = [line for line in lines if not line.startswith("Extension modules: ")]
        words = "\n".join(kept).strip()
        return {"status": status, "reason": reason, "traceback": without_paths(words) or None}


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "not ended"
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


class Pool:
    """Workers that are free, shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[Worker] = []
        self._busy: set[Worker] = set()

    @contextlib.contextmanager
    def lend(self, threads: int, data_key: str) -> Any:
        """Lend a worker, preferably one that has the data set; a broken one is not taken back."""
        with self._lock:
            suitable = [w for w in self._free if w.threads == threads]
            suitable.sort(key=lambda worker: not worker.has(data_key))
            worker = suitable[0] if suitable else None
            if worker is not None:
                self._free.remove(worker)
        if worker is None:
            worker = Worker(threads)
        with self._lock:
            self._busy.add(worker)
        try:
            yield worker
        except (WorkerDiedError, StartError):
            with self._lock:
                self._busy.discard(worker)
            worker.close()
            raise
        except BaseException:
            self._take_back(worker)
            raise
        else:
            self._take_back(worker)

    def _take_back(self, worker: Worker) -> None:
        with self._lock:
            self._busy.discard(worker)
            self._free.append(worker)

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            workers = [*self._free, *self._busy]
            self._free.clear()
            self._busy.clear()
        for worker in workers:
            worker.close()


POOL = Pool()
"""The workers of this process: of the runner itself, or of one Dask worker."""

atexit.register(POOL.close)
