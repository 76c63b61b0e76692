"""Measurements that need a process of their own: peak memory, and the first call.

``python runners/speed/child.py '{"measure": ..., ...}'`` prints one line of JSON.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_MEGABYTE = 2**20


class ChildError(RuntimeError):
    """A measuring process ended without a result."""


def run(task: dict[str, Any], folder: Path = _ROOT, **environment: str) -> dict[str, Any]:
    """Run a measurement in a new process and return what it printed.

    Parameters
    ----------
    task : dict
        What to measure.
    folder : Path, optional
        The checkout whose packages are measured, this one by default.
    **environment
        Variables of the process.

    Raises
    ------
    ChildError
        With the last lines of the process' errors.
    """
    done = subprocess.run(
        # This file whatever the checkout, and no module beside it in the place of a package.
        [sys.executable, "-P", __file__, json.dumps(task)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()[-5:]
        raise ChildError(f"{task} ended with status {done.returncode}:\n" + "\n".join(lines))
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def _memory(field: str) -> float:
    """Return a line of /proc/self/status in MB: VmRSS, or VmHWM, the peak since `_settle`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / _MEGABYTE
    raise KeyError(field)


def _settle() -> float:
    """Give free memory back, start the peak anew, and return the resident memory in MB.

    What an earlier call has freed and the C library kept would else be taken unseen.
    """
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _grow(n_rows: int, n_features: int, n_jobs: int, seed: int) -> dict[str, Any]:
    """Fit and score clustered data; seconds, and the peak memory beyond the input (Linux)."""
    import ocrf
    from runners.speed.contestants import OURS, make
    from runners.speed.synthetic import clustered

    ocrf.warm_up()
    X = clustered(n_rows, n_features, seed)
    # The first fit loads what later ones find: thread pools and modules.
    make(OURS, n_jobs, seed).fit(X[:100])
    forest = make(OURS, n_jobs, seed)
    before = _settle()
    start = time.perf_counter()
    forest.fit(X)
    fit_seconds = time.perf_counter() - start
    fit_peak = _memory("VmHWM") - before
    forest_size = len(pickle.dumps(forest.forest)) / _MEGABYTE
    before = _settle()
    start = time.perf_counter()
    scores = forest.score_samples(X)
    score_seconds = time.perf_counter() - start
    score_peak = _memory("VmHWM") - before - scores.nbytes / _MEGABYTE
    return {
        "n_rows": n_rows,
        "n_features": n_features,
        "n_jobs": n_jobs,
        "fit_seconds": fit_seconds,
        "score_seconds": score_seconds,
        "input_mb": X.nbytes / _MEGABYTE,
        "fit_peak_mb": fit_peak,
        "forest_mb": forest_size,
        # The input and all that fitting took beside the forest that it made, over the input.
        "fit_need_over_input": 1.0 + (fit_peak - forest_size) * _MEGABYTE / X.nbytes,
        "fit_peak_over_input": 1.0 + fit_peak * _MEGABYTE / X.nbytes,
        "score_peak_mb": max(score_peak, 0.0),
    }


def _time(n_rows: int, n_features: int, n_jobs: int, seed: int) -> dict[str, Any]:
    """Fit clustered data, all features searched, and score them: seconds of the processors."""
    import ocrf
    from runners.speed.synthetic import clustered

    X = clustered(n_rows, n_features, seed)
    forest = ocrf.OneClassRF(max_features_node=None, n_jobs=n_jobs, random_state=seed)
    forest.fit(X[:500]).score_samples(X[:500])  # kernels are loaded, or compiled
    start = time.process_time()
    forest.fit(X)
    fitted = time.process_time()
    scores = forest.score_samples(X)
    return {
        "fit_seconds": fitted - start,
        "score_seconds": time.process_time() - fitted,
        "scores": hashlib.sha256(scores.tobytes()).hexdigest(),
    }


def _start(seed: int) -> dict[str, Any]:
    """Time the import, and the first and second fit and scoring of a process."""
    start = time.perf_counter()
    import ocrf

    seconds = {"import_seconds": time.perf_counter() - start}
    from runners.speed.synthetic import clustered

    X = clustered(1000, 5, seed)
    for call in ("first", "second"):
        start, cpu = time.perf_counter(), time.process_time()
        ocrf.OneClassRF(n_jobs=1, random_state=seed).fit(X).score_samples(X)
        seconds[f"{call}_call_seconds"] = time.perf_counter() - start
        seconds[f"{call}_call_cpu_seconds"] = time.process_time() - cpu
    return seconds


_MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "grow": _grow,
    "start": _start,
    "time": _time,
}


def main() -> None:
    """Do the measurement that the argument describes."""
    task = json.loads(sys.argv[1])
    print(json.dumps(_MEASURES[task.pop("measure")](**task)))


if __name__ == "__main__":
    main()
