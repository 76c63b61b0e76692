"""The workers of a process, lent to its threads."""

from __future__ import annotations

import atexit
import contextlib
import threading
from typing import Any

from runners.isolation.worker import Worker, WorkerDiedError
from runners.isolation.zygote_process import StartError


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
        broken = False
        try:
            yield worker
        except (WorkerDiedError, StartError):
            broken = True
            raise
        finally:
            with self._lock:
                self._busy.discard(worker)
                if not broken:
                    self._free.append(worker)
            if broken:
                worker.close()

    @property
    def started(self) -> bool:
        """Whether a worker has finished starting."""
        with self._lock:
            return any(worker.started for worker in (*self._free, *self._busy))

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
