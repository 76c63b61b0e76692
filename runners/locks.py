"""Locks: simultaneous runs on one record store do each experiment once.

A lock is a file that is created exclusively and says who made it. One whose maker is dead is void:
on the same machine that is seen at once (pid and start time), on another after its heartbeat has
stopped for a while.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from results.records.files import LOCKS
from runners.isolation import processes

_BEAT_SECONDS = 10.0
# What file systems without hard links say; exclusive creation is nearly as good.
_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_SILENT_SECONDS = 60.0  # of another machine's lock before it is void


class Locks:
    """The locks of one process on the experiments of a record store.

    Parameters
    ----------
    store : Path
        The record store's folder; locks live in a hidden folder of it.
    """

    def __init__(self, store: str | os.PathLike[str]):
        self.path = Path(store) / LOCKS
        self.path.mkdir(parents=True, exist_ok=True)
        self._host = f"{socket.gethostname()}/{_boot()}"
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._beaten: dict[str, float] = {}

    def take(self, key: str) -> bool:
        """Lock an experiment; false if a living run has it.

        Raises
        ------
        OSError
            If the store cannot be written.
        """
        path = self._file(key)
        if self._create(path, key):
            return True
        if not self._void(path):
            return False
        # Only one may take a void lock over, or the second would throw away the first one's.
        with self._mutex():
            if self._void(path):
                path.unlink(missing_ok=True)
            return self._create(path, key)

    def release(self, key: str) -> None:
        """Give an experiment back, if it is still ours."""
        with self._lock:
            self._beaten.pop(key, None)
        with self._mutex():
            path = self._file(key)
            if self._is_ours(path):
                path.unlink(missing_ok=True)

    def beat(self, key: str) -> None:
        """Show that a lock's maker is alive; cheap enough to be called at any time."""
        now = time.monotonic()
        with self._lock:
            if now - self._beaten.get(key, now) < _BEAT_SECONDS:
                return
            self._beaten[key] = now
        with contextlib.suppress(OSError):
            os.utime(self._file(key))

    def _file(self, key: str) -> Path:
        return self.path / f"{key[:32]}.json"

    def _create(self, path: Path, key: str) -> bool:
        # Written under another name first: half a lock would be read as a void one.
        maker = {"host": self._host, "pid": self._pid, "start": processes.start_time(self._pid)}
        temporary = path.with_name(f".{path.stem}.{uuid.uuid4().hex[:8]}")
        try:
            temporary.write_text(json.dumps(maker))
            try:
                os.link(temporary, path)
            except OSError as error:
                if error.errno not in _NO_HARD_LINKS:
                    raise
                with open(path, "x") as handle:
                    handle.write(json.dumps(maker))
        except FileExistsError:
            return False
        finally:
            temporary.unlink(missing_ok=True)
        with self._lock:
            self._beaten[key] = time.monotonic()
        return True

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            maker = json.loads(path.read_text())
        except FileNotFoundError:
            return None
        except ValueError:
            return {}  # truncated by a power failure: void
        return maker if isinstance(maker, dict) else {}

    def _is_ours(self, path: Path) -> bool:
        maker = self._read(path)
        return bool(maker) and (maker["host"], maker["pid"]) == (self._host, self._pid)  # type: ignore[index]

    def _void(self, path: Path) -> bool:
        maker = self._read(path)
        if not maker:
            return True
        if maker.get("host") == self._host:
            return processes.start_time(int(maker["pid"])) != maker["start"]
        try:
            # Compared on the file system's own clock, which all machines share.
            return _file_system_now(self.path) - path.stat().st_mtime > _SILENT_SECONDS
        except FileNotFoundError:
            return True

    @contextlib.contextmanager
    def _mutex(self) -> Iterator[None]:
        """Let one process at a time remove locks."""
        with open(self.path / ".mutex", "w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _file_system_now(folder: Path) -> float:
    probe = folder / f".now.{uuid.uuid4().hex[:8]}"
    try:
        probe.touch()
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


def _boot() -> str:
    """Return what tells this boot, and this container, from others of the same host name."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot[:8]}/{os.readlink('/proc/self/ns/pid')}"
    return ""
