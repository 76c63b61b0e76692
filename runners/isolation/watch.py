"""Watch one experiment: its phases, its deadlines, what it prints, how it ends."""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace

from runners import scores
from runners.experiment import PHASES, Experiment, Limits
from runners.isolation import messages, processes
from runners.isolation.child import without_paths
from runners.isolation.messages import Kill, Message, Phase, Result, Task, Usage

# An experiment holds itself to its limit, by the seconds that it records. It is killed this much
# later, so that a slow message does not make a timeout of what was in time.
SLACK_SECONDS = 0.1
GRACE_SECONDS = 5.0  # for a zygote to do as it is told before it is killed itself
LOOK_SECONDS = 0.2  # between two looks at whether the run was aborted
TAIL = 16_000  # bytes of an experiment's output that are kept
_CHUNK = 1 << 16


class AbortedError(Exception):
    """The run is to end now; the experiment was killed and has no outcome."""


@dataclass
class Holder:
    """The process that has loaded a data set and forks experiments.

    Attributes
    ----------
    end : socket
    pid : int
    size : int
        Bytes of the data set.
    packages : frozenset of str
        Packages that were imported, and their kernels compiled, before it was forked.
    """

    end: socket.socket
    pid: int
    size: int = 0
    packages: frozenset[str] = frozenset()


class Watch:
    """One experiment in flight."""

    def __init__(
        self,
        holder: Holder,
        forget: Callable[[Holder], None],
        experiment: Experiment,
        limits: Limits,
        look: Callable[[], bool],
    ):
        self.holder, self.forget, self.limits, self.look = holder, forget, limits, look
        self.phase = "prepare"
        self.deadline = processes.monotonic() + limits.preparation_timeout
        self.result: Result | None = None
        self.usage: Usage | None = None
        self.timed_out = False
        self.aborted = False
        self.tail = b""
        self.output, theirs = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(theirs, True)
        keep = experiment.cell.config["runner"]["keep_scores"]
        self.scores = os.memfd_create("scores") if keep else None
        kept = () if self.scores is None else (self.scores,)
        cell = experiment.cell
        task = Task(cell.config, experiment.split, limits, cell.code, cell.indices)
        try:
            messages.send(holder.end, task, (theirs, *kept))
        finally:
            os.close(theirs)

    def outcome(self) -> Result:
        """Wait for the end, hold the experiment to its limits, and return its result."""
        poll = select.poll()
        poll.register(self.holder.end, select.POLLIN)
        poll.register(self.output, select.POLLIN)
        killed_at: float | None = None
        try:
            while self.usage is None:
                left = max(0.0, self.deadline - processes.monotonic())
                for descriptor, event in poll.poll(1000 * min(left, LOOK_SECONDS) + 1):
                    if descriptor == self.holder.end.fileno():
                        self._take(messages.receive(self.holder.end)[0])
                    elif not self._drain(once=True) or event & select.POLLERR:
                        poll.unregister(self.output)
                now = processes.monotonic()
                if killed_at is not None:
                    if self.usage is None and now - killed_at > GRACE_SECONDS:
                        self.forget(self.holder)
                        break
                elif self._is_over(now):
                    killed_at = now
                    messages.send(self.holder.end, Kill())
                    self.deadline = now + 2 * GRACE_SECONDS
            self._drain()
            if self.aborted:
                raise AbortedError
            return self._judge()
        finally:
            os.close(self.output)
            if self.scores is not None:
                os.close(self.scores)

    def _is_over(self, now: float) -> bool:
        """Say whether the experiment is to be killed, for its deadline or for the end of the run.

        From then on its phase stands, whatever it still reports.
        """
        if now >= self.deadline:
            # It may have left the phase in time, and its message have come since the last look.
            while self.usage is None and select.select([self.holder.end], [], [], 0)[0]:
                self._take(messages.receive(self.holder.end)[0])
        if self.usage is not None:
            return False
        self.timed_out = now >= self.deadline
        self.aborted = not self.timed_out and self.look()
        return self.timed_out or self.aborted

    def _take(self, message: Message) -> None:
        match message:
            case Phase(name, began):
                if not self.timed_out:
                    self.phase = name
                    timed = name in PHASES
                    seconds = self.limits.timeout if timed else self.limits.preparation_timeout
                    self.deadline = began + seconds + SLACK_SECONDS
            case Result():
                self.result = message
                # Nothing is left to do but to end.
                self.deadline = processes.monotonic() + GRACE_SECONDS
            case Usage():
                self.usage = message
            case _:
                raise messages.OrderError(message)

    def _drain(self, once: bool = False) -> bool:
        """Read what the experiment printed and keep its end; say whether more may come."""
        for _ in range(1 if once else 64):
            try:
                data = os.read(self.output, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.tail = (self.tail + data)[-TAIL:]
        return True

    def _judge(self) -> Result:
        """Turn messages, exit status and usage into the result."""
        usage = self.usage or Usage()
        result = self._without_result(usage) if self.result is None else self.result
        outside = None if usage.peak_bytes is None else usage.peak_bytes / (1 << 20)
        peaks = [peak for peak in (result.peak_memory_mb, outside) if peak is not None]
        result = replace(result, peak_memory_mb=max(peaks, default=None))
        if self.scores is not None and result.status == "ok":
            kept = scores.take_over(self.scores, result.counts["n_test"])
            result = replace(result, scores=kept)
        return result

    def _without_result(self, usage: Usage) -> Result:
        doing = PHASES.get(self.phase)
        if usage.exceeded:
            what = doing or "preparing"
            return self._failed("memory", f"{what} exceeded {self.limits.memory_limit_gb:g} GiB")
        if self.timed_out and doing:
            return Result("timeout", reason=self.limits.too_late(self.phase, usage.cpu_seconds))
        if self.timed_out:
            step = "evaluating the scores" if self.phase == "evaluate" else "preparing"
            return self._failed(
                "error", f"{step} took longer than {self.limits.preparation_timeout:g} s"
            )
        code = os.waitstatus_to_exitcode(usage.status)
        when = f" while {doing}" if doing else ""
        if code == -signal.SIGKILL and usage.oom is not False:
            known = "" if usage.oom else "probably "
            return self._failed(
                "memory", f"killed{when}, {known}by the kernel's out-of-memory killer"
            )
        return self._failed("crashed", f"{how_it_ended(code)}{when}, without a result")

    def _failed(self, status: str, reason: str) -> Result:
        """Return a failure; the end of what the process printed stands where a traceback would."""
        lines = self.tail.decode("utf-8", "replace").splitlines()
        # faulthandler ends with a list of hundreds of modules.
        kept = [line for line in lines if not line.startswith("Extension modules: ")]
        words = "\n".join(kept).strip()
        return Result(status, reason=reason, traceback=without_paths(words) or None)


def how_it_ended(code: int | None) -> str:
    """Return in words how a process ended, from its exit code (negative: a signal)."""
    if code is None:
        return "not ended"
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
