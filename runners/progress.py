"""Progress: one live display over the whole grid, or plain lines, and a log file."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path
from typing import Any, TextIO

from datasets.command import discard_output
from results.records.statuses import FAILED_STATUSES, NA_STATUSES
from runners.experiment import Cell, Experiment
from runners.schedule import Plan
from runners.supervise import Outcome

log = logging.getLogger("runners")

MODES = ("auto", "live", "plain", "none")
_PLAIN_SECONDS = 30.0  # between two lines without an event
_MOST_RUNNING = 8  # lines of the live display
_MOST_FAILURES = 5
_BAR_WIDTH = 24


def log_to(path: Path) -> logging.Handler:
    """Append the runner's log to a file. A log that cannot be written stops nothing."""
    handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s [%(process)d] %(message)s"))
    handler.handleError = lambda record: None  # type: ignore[method-assign]
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    log.disabled = False  # Hydra disables what loggers there are when it sets up its own
    return handler


class Progress:
    """Display how far a run is, and log it.

    Parameters
    ----------
    plan : Plan
    n_jobs : int
        How many experiments run at the same time.
    mode : str
        One of `MODES`.
    stream : text file or None
        Where to print.
    """

    def __init__(
        self, plan: Plan, n_jobs: int, mode: str = "auto", stream: TextIO | None = sys.stdout
    ):
        if stream is None:  # closed by whoever started the process: ``>&-``
            mode = "none"
        elif mode == "auto":
            mode = "live" if stream.isatty() else "plain"
        self.mode, self.stream, self.n_jobs = mode, stream, n_jobs
        self.started = time.monotonic()
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.message = ""
        self._lock = threading.RLock()
        self._costs = dict(plan.costs)
        self._left: Counter[Cell] = Counter(e.cell for e in plan.todo)
        self._cells = len(self._left)
        self._total = len(plan.todo)
        self._running: dict[Experiment, float] = {}
        self._seen: defaultdict[Cell, list[float]] = defaultdict(list)
        self._failed: Counter[Cell] = Counter()
        self._last_line = 0.0
        self._live: Any = None

    def __enter__(self) -> Progress:
        if self.mode == "live":
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self.stream)
            self._live = Live(
                console=console, get_renderable=self._render, refresh_per_second=4, transient=True
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def say(self, text: str) -> None:
        """Print a line above the display, and log it."""
        log.info(text)
        if self._live is not None:
            self._live.console.print(text, markup=False, highlight=False)
        elif self.mode != "none":
            try:
                print(text, file=self.stream, flush=True)
            except OSError as error:
                # Its reader has gone (``| head``), or a disk is full: the run goes on.
                log.warning("standard output: %s", error.strerror)
                self.mode = "none"
                discard_output()

    def begins(self, experiment: Experiment) -> None:
        """Note that an experiment was handed to a worker."""
        with self._lock:
            self._running[experiment] = time.monotonic()

    def ends(self, experiment: Experiment, outcome: Outcome) -> None:
        """Note that an experiment ended, with a record or without."""
        with self._lock:
            began = self._running.pop(experiment, time.monotonic())
            if not outcome.status:
                return
            seconds = time.monotonic() - began
            cell, status = experiment.cell, outcome.status
            self.counts[status] += 1
            self._left[cell] -= 1
            if outcome.kind == "ran" and status != "skipped":
                # Without the start of the worker, which only the first experiments wait for.
                self._seen[cell].append(outcome.seconds if status == "ok" else seconds)
            if status == "timeout":
                self._costs[cell] = 0.0  # the rest of the cell is skipped
            text = f"{experiment.name}: {status} ({seconds:.2f} s)"
            if status == "ok":
                log.info(text)
            else:
                log.warning("%s: %s", text, outcome.reason)
            if status in FAILED_STATUSES:
                self.reasons[f"{status}: {outcome.reason}"] += 1
                self._failed[cell] += 1
                told = status == "no_data" and self.reasons[f"{status}: {outcome.reason}"] > 1
                if self._failed[cell] == 1 and not told:
                    self.say(f"{experiment.name}: {status}: {outcome.reason}")
            elif status == "timeout":
                self.say(f"{experiment.name}: {status}: {outcome.reason}")
            if self.mode == "plain" and (
                not self._left[cell] or time.monotonic() - self._last_line > _PLAIN_SECONDS
            ):
                self._last_line = time.monotonic()
                self.say(f"{self._status_line()}; {cell.name} {self._cell_words(cell)}")

    def seconds_left(self) -> float | None:
        """Estimate how long the rest will take, None before anything is known."""
        with self._lock:
            if not self._seen:
                return None
            means = {cell: sum(s) / len(s) for cell, s in self._seen.items()}
            # The ratio of measured to guessed seconds corrects the guesses for the other cells.
            guessed = sum(max(self._costs[c], 1e-3) for c in means if self._costs[c] > 0)
            actual = sum(mean for c, mean in means.items() if self._costs[c] > 0)
            correction = actual / guessed if guessed else 1.0
            now = time.monotonic()
            total = 0.0
            for cell, n in self._left.items():
                cost = self._costs[cell]
                if cell in means and cost > 0:
                    cost = means[cell]
                elif cost > 0:
                    cost *= correction
                total += n * cost
            total -= sum(now - began for began in self._running.values())
            return max(0.0, total) / self.n_jobs

    @property
    def done(self) -> int:
        """Experiments that ended with a record."""
        return sum(self.counts.values())

    def elapsed(self) -> float:
        """Seconds since the grid began."""
        return time.monotonic() - self.started

    def _cell_words(self, cell: Cell) -> str:
        return f"{cell.n_splits - self._left[cell]} of {cell.n_splits} splits"

    def _status_line(self) -> str:
        cells = sum(1 for n in self._left.values() if not n)
        parts = [f"{self.done}/{self._total} experiments", f"{cells}/{self._cells} cells"]
        if na := sum(self.counts[status] for status in NA_STATUSES):
            parts.append(f"{na} NA")
        if failed := sum(self.counts[status] for status in FAILED_STATUSES):
            parts.append(f"{failed} failed")
        parts.append(f"{_duration(self.elapsed())} elapsed")
        left = self.seconds_left() if self.done < self._total else None
        # An estimate that has been used up, as one from guesses soon is, says nothing.
        if left is not None and round(left) > 0:
            parts.append(f"about {_duration(left)} left")
        return ", ".join(parts)

    def _render(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        with self._lock:
            now = time.monotonic()
            head = Table.grid(padding=(0, 1))
            bar = ProgressBar(total=max(1, self._total), completed=self.done, width=_BAR_WIDTH)
            head.add_row(bar, Text(self._status_line()))
            lines: list[Any] = [head]
            oldest = sorted(self._running.items(), key=lambda item: item[1])
            for experiment, began in oldest[:_MOST_RUNNING]:
                text = f"  {_duration(now - began):>8}  {experiment.name}"
                lines.append(Text(text, style="cyan", overflow="ellipsis", no_wrap=True))
            if len(oldest) > _MOST_RUNNING:
                lines.append(Text(f"            and {len(oldest) - _MOST_RUNNING} more"))
            for reason, n in self.reasons.most_common(_MOST_FAILURES):
                text = f"  {n} x {reason}"
                lines.append(Text(text, style="red", overflow="ellipsis", no_wrap=True))
            if self.message:
                lines.append(Text(self.message, style="yellow"))
            return Group(*lines)


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
