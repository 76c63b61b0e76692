"""Detectors that misbehave, each in one way, until the environment says that they are mended.

The variable ``OCRF_MENDED`` turns every one of them into a well-behaved detector, so that a rerun
can show that a grid is completed after its cause of failure has gone. It names a file that says so
by being there: workers have the environment that they were started with.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _mended() -> bool:
    return os.path.exists(os.environ.get("OCRF_MENDED", ""))


class Healthy:
    """The distance to the training mean, negated. With `seconds` of sleep in fit."""

    def __init__(self, seconds: float = 0.0):
        self.seconds = seconds

    def fit(self, X: Array, y: Any = None) -> Healthy:
        """Learn the mean; misbehave first."""
        if log := os.environ.get("OCRF_FITS"):
            # One short write in append mode: lines of several processes do not mix.
            descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, f"{type(self).__name__}\n".encode())
            os.close(descriptor)
        if not _mended():
            time.sleep(self.seconds)
            self.misbehave()
        self.mean_ = X.mean(axis=0)
        return self

    def score_samples(self, X: Array) -> Array:
        """Score points."""
        scores = -np.linalg.norm(X - self.mean_, axis=1)
        return scores if _mended() else self.spoil(scores)

    def misbehave(self) -> None:
        """Do what a detector must not do."""

    def spoil(self, scores: Array) -> Array:
        """Return what a detector must not return."""
        return scores


class Draws(Healthy):
    """The distance to the training mean along a direction that is drawn, negated."""

    def __init__(self, random_state: int | None = None):
        super().__init__()
        self.random_state = random_state

    def score_samples(self, X: Array) -> Array:
        """Score points."""
        direction = np.random.default_rng(self.random_state).normal(size=X.shape[1])
        return -np.abs((X - self.mean_) @ direction)


class SpinsInNumba(Healthy):
    """Runs compiled code that never returns and never looks at a signal."""

    def misbehave(self) -> None:
        import numba

        @numba.njit
        def spin(x: float) -> float:
            while x > 0.0:
                x = x + 1.0 if x < 1e9 else 1.0
            return x

        spin(1.0)


class SlowToScore(Healthy):
    """Fits at once and scores for ever."""

    def spoil(self, scores: Array) -> Array:
        time.sleep(3600)
        return scores


class Naps(Healthy):
    """Sleeps while fitting, and while scoring, for so many seconds."""

    def __init__(self, fit_seconds: float = 0.0, score_seconds: float = 0.0):
        super().__init__(fit_seconds)
        self.score_seconds = score_seconds

    def spoil(self, scores: Array) -> Array:
        time.sleep(self.score_seconds)
        return scores


class ForksChildren(Healthy):
    """Starts children and grandchildren, some of which detach themselves, and waits for ever."""

    def misbehave(self) -> None:
        _fork_children()
        time.sleep(3600)


class LeavesChildren(Healthy):
    """Starts the same children, and returns as if nothing were."""

    def misbehave(self) -> None:
        _fork_children()


def _fork_children() -> None:
    for _ in range(2):
        if os.fork() == 0:
            if os.fork() == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(3600)
            os._exit(0)
    subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True
    )


class Allocates(Healthy):
    """Allocates and touches memory without end."""

    def misbehave(self) -> None:
        kept = []
        while True:
            kept.append(np.ones(1 << 20))
            time.sleep(0.001)


class AllocatesAtOnce(Healthy):
    """Asks for a terabyte."""

    def misbehave(self) -> None:
        np.ones(1 << 37)


class Segfaults(Healthy):
    """Reads at address 0."""

    def misbehave(self) -> None:
        ctypes.string_at(0)


class Aborts(Healthy):
    """Dies as C++ programs do."""

    def misbehave(self) -> None:
        os.write(2, b"terminate called after throwing an instance of 'std::logic_error'\n")
        os.abort()


class Exits(Healthy):
    """Leaves with status 0, without a word."""

    def misbehave(self) -> None:
        os._exit(0)


class SystemExits(Healthy):
    """Calls sys.exit."""

    def misbehave(self) -> None:
        sys.exit("enough")


class Raises(Healthy):
    """Raises an exception."""

    def misbehave(self) -> None:
        raise RuntimeError("the matrix is singular")


class RefusesMemory(Healthy):
    """Knows that it would need too much, and says so."""

    def misbehave(self) -> None:
        raise MemoryError("would need 512.0 GB")


class PrintsMuch(Healthy):
    """Prints 100 MB, and is otherwise fine."""

    def misbehave(self) -> None:
        line = b"x" * 999 + b"\n"
        for descriptor in (1, 2):
            for _ in range(50):
                _write_all(descriptor, line * 1000)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


class ReturnsNaN(Healthy):
    """Returns NaN for some points."""

    def spoil(self, scores: Array) -> Array:
        scores[::3] = np.nan
        return scores


class ReturnsInfinity(Healthy):
    """Returns an infinite score."""

    def spoil(self, scores: Array) -> Array:
        scores[0] = -np.inf
        return scores


class ReturnsTooFew(Healthy):
    """Returns one score too few."""

    def spoil(self, scores: Array) -> Array:
        return scores[:-1]


class ReturnsEqual(Healthy):
    """Returns the same score for all points."""

    def spoil(self, scores: Array) -> Array:
        return np.full_like(scores, 0.5)


class IgnoresSignals(Healthy):
    """Ignores every signal that can be ignored, and sleeps."""

    def misbehave(self) -> None:
        for number in signal.valid_signals():
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_IGN)
        time.sleep(3600)


class StopsItself(Healthy):
    """Stops itself as Ctrl-Z does."""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class KillsItsParent(Healthy):
    """Kills the process that forked it."""

    def misbehave(self) -> None:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)


class WantsLabels(Healthy):
    """Asks for the labels of the training points."""

    def __sklearn_tags__(self) -> Any:
        return SimpleNamespace(target_tags=SimpleNamespace(required=True))

    def fit(self, X: Array, y: Any = None) -> Healthy:
        """Learn from the points that are labelled normal."""
        if y is None:
            raise TypeError("fit needs y")
        return super().fit(X[np.asarray(y) == 0])
