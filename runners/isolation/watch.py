"""Watch one experiment: its phases, its deadlines, what it prints, how it ends."""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runners import scores
from runners.experiment import Experiment, Limits
from runners.isolation import messages, processes
from runners.isolation.child import without_paths

GRACE_SECONDS = 5.0  # for a zygote to do as it is told before it is killed itself
LOOK_SECONDS = 0.2  # between two looks at whether the run was aborted
TAIL = 16_000  # bytes of an experiment's output that are kept
_CHUNK = 1 << 16


class AbortedError(Exception):
    """The run is to end now; the experiment was killed and has no outcome."""


@dataclass
class Holder:
    """The process that has loaded a data set and forks experiments: its socket, pid and bytes."""

    end: socket.socket
    pid: int
    size: int = 0


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
        self.result: dict[str, Any] | None = None
        self.usage: dict[str, Any] | None = None
        self.timed_out = False
        self.aborted = False
        self.tail = b""
        self.output, theirs = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(theirs, True)
        keep = experiment.cell.config["runner"]["keep_scores"]
        self.scores = os.memfd_create("scores") if keep else None
        kept = () if self.scores is None else (self.scores,)
        task = {
            "config": experiment.cell.config,
            "split": experiment.split,
            "allow_labels": limits.allow_labels,
            "threads": limits.threads,
            "memory_limit_gb": limits.memory_limit_gb,
        }
        try:
            messages.send(holder.end, "run", task, (theirs, *kept))
        finally:
            os.close(theirs)

    def outcome(self) -> dict[str, Any]:
        """Wait for the end, hold it to the limits, and return the fields of its record."""
        poll = select.poll()
        poll.register(self.holder.end, select.POLLIN)
        poll.register(self.output, select.POLLIN)
        killed_at: float | None = None
        try:
            while self.usage is None:
                now = processes.monotonic()
                left = max(0.0, self.deadline - now)
                for descriptor, event in poll.poll(1000 * min(left, LOOK_SECONDS) + 1):
                    if descriptor == self.holder.end.fileno():
                        self._take(*messages.receive(self.holder.end)[:2])
                    elif not self._drain(once=True) or event & select.POLLERR:
                        poll.unregister(self.output)
                now = processes.monotonic()
                if killed_at is not None:
                    if self.usage is None and now - killed_at > GRACE_SECONDS:
                        self.forget(self.holder)
                        break
                elif self.usage is None and (now >= self.deadline or self.look()):
                    self.aborted = now < self.deadline
                    self.timed_out = not self.aborted
                    killed_at = now
                    self.deadline = now + 2 * GRACE_SECONDS
                    messages.send(self.holder.end, "kill")
            self._drain()
            if self.aborted:
                raise AbortedError
            return self._judge()
        finally:
            os.close(self.output)
            if self.scores is not None:
                os.close(self.scores)

    def _take(self, kind: str, body: Any) -> None:
        if kind == "phase":
            self.phase = body
            timed = body in ("fit", "score")
            seconds = self.limits.timeout if timed else self.limits.preparation_timeout
            self.deadline = processes.monotonic() + seconds
        elif kind == "result":
            self.result = body
            # Nothing is left to do but to end.
            self.deadline = processes.monotonic() + GRACE_SECONDS
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
            self.tail = (self.tail + data)[-TAIL:]
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
        if self.scores is not None and fields["status"] == "ok":
            fields["scores"] = scores.take_over(self.scores, fields["counts"]["n_test"])
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
        return self._failed("crashed", f"{how_it_ended(code)}{doing}, without a result")

    def _failed(self, status: str, reason: str) -> dict[str, Any]:
        """Return a failure; the end of what the process printed stands where a traceback would."""
        lines = self.tail.decode("utf-8", "replace").splitlines()
        # faulthandler ends with a list of hundreds of modules.
        kept = [line for line in lines if not line.startswith("Extension modules: ")]
        words = "\n".join(kept).strip()
        return {"status": status, "reason": reason, "traceback": without_paths(words) or None}


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
