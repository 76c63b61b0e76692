"""Means of Linux to end processes for certain, and to measure them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import time
from collections.abc import Iterable
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent`, its parent, dies; at once if it has."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def become_subreaper() -> None:
    """Inherit descendants whose own parents die, however they detached themselves."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid: int) -> list[int]:
    """Return the children of all threads of a process; none if it is gone."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """Return children, their children, and so on."""
    found: list[int] = []
    waiting = children(pid)
    while waiting:
        child = waiting.pop()
        found.append(child)
        waiting += children(child)
    return found


def kill(pids: Iterable[int]) -> None:
    """Send SIGKILL to those of the processes that exist."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def kill_descendants(keep: frozenset[int] = frozenset()) -> None:
    """Kill and reap every descendant of this process, except `keep` and theirs.

    Repeats until none is left, because one may fork while others are being killed, and orphans
    come to this process (a subreaper) only when their parents have died.
    """
    while True:
        roots = [pid for pid in children(os.getpid()) if pid not in keep]
        if not roots:
            return
        kill(pid for root in roots for pid in [root, *descendants(root)])
        for root in roots:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(root, 0)


def kill_marked(name: str, value: str) -> None:
    """Kill every process that was started with the environment variable `name` set to `value`.

    For a worker that was itself killed: its orphans are not its descendants any more.
    """
    marker = f"{name}={value}".encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if marker in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                kill([int(entry)])


def start_time(pid: int) -> int | None:
    """Return when a process started (clock ticks since boot), None if there is none.

    Together with the pid this names a process for good: pids are used again.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command, in brackets, may hold blanks and brackets itself.
    after = text.rpartition(")")[2].split()
    return None if after[0] == "Z" else int(after[19])


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes, 0 if it is gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return 0


def proportional(pid: int) -> int:
    """Return the anonymous memory of a process in bytes; sharers have a part of each page."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss_Anon:"):
                return int(line.split()[1]) * 1024
    return 0


class Memory:
    """The memory that a process and its descendants have gained since `start`.

    One process is measured by its resident memory. Forked children share pages with their parents,
    so several are measured by their proportional shares; taking these needs some milliseconds each,
    which a single process is spared.

    Parameters
    ----------
    pid : int
        The first of them.
    start : tuple of int
        Its resident memory, and the anonymous part of it, at the start: `memory_of`.
    sharers : int
        How many other processes share what it held at the start: those that forked it.
    """

    def __init__(self, pid: int, start: tuple[int, int], sharers: int = 0):
        self.pid, self.start, self.sharers = pid, start, sharers

    def grown(self) -> int:
        """Return the bytes that they hold more now."""
        grown = resident(self.pid) - self.start[0]
        if others := descendants(self.pid):
            together = sum(map(proportional, [self.pid, *others]))
            members = 1 + len(others)
            inherited = self.start[1] * members // (members + self.sharers)
            grown = max(grown, together - inherited)
        return grown


def memory_of(pid: int) -> tuple[int, int]:
    """Return the resident memory of a process, and the anonymous part of it, in bytes."""
    found = {"VmRSS:": 0, "RssAnon:": 0}
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, value = line.partition("\t")
            if name in found:
                found[name] = int(value.split()[0]) * 1024
    return found["VmRSS:"], found["RssAnon:"]


def reset_peak() -> None:
    """Forget the peak of this process' resident memory (`peak` starts anew)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Return the peak of this process' resident memory since `reset_peak`, in bytes."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def be_first_for_the_oom_killer() -> None:
    """Ask the kernel to sacrifice this process before the one that supervises it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("800")


def oom_kills() -> int | None:
    """Return how many processes the kernel killed when memory ran out, None if unknown."""
    total = None
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                total = int(line.split()[1])
    return total


def wait_until_dead(pid: int, seconds: float) -> bool:
    """Wait for a process that need not be a child; say whether it is gone."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def monotonic() -> float:
    """Return a clock that all processes of a machine share, in seconds."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)
