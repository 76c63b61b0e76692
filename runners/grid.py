"""Run a grid of cells: plan, hand out, survive, summarise."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, cpu_count, delayed, parallel_config

from results.records.grid_file import ask
from results.records.statuses import FAILED_STATUSES
from results.records.store import RecordStore
from runners.detectors import WITH_KERNELS, preloaded_packages
from runners.experiment import Cell, Experiment
from runners.isolation.pool import POOL
from runners.isolation.zygote_process import StartError
from runners.preflight import (
    check_inputs,
    check_shared,
    check_writable,
    protocol_notice,
    say_notes,
)
from runners.progress import Progress, log, log_to
from runners.schedule import Plan, Schedule, make_plan
from runners.summary import Summary, counted
from runners.supervise import STOP, Outcome, Run, supervise

_GRACE_SECONDS = 15.0  # for experiments on other machines to end when told to
_LONELY_SECONDS = 60.0  # without a Dask worker before the run gives up
_WAIT_SECONDS = 0.5  # between two looks at what another run is at
_SLOW_START_SECONDS = 8.0  # after which the start of the workers is explained


class _GiveUpError(Exception):
    """Raised in the main thread to leave joblib, which waits for workers that are gone."""


def run_grid(cells: Sequence[Cell]) -> Summary:
    """Run every experiment of some cells that has no final record yet.

    The cells share `output` and `runner`.

    Raises
    ------
    UsageError
        If the configuration, a data set, an algorithm, the record store or the Dask cluster does
        not allow to begin.
    """
    check_shared(cells)
    config = cells[0].config
    runner = config["runner"]
    output = Path(config["output"]).resolve()
    store = RecordStore(output / "records")
    check_writable(store.path)
    store.tidy()
    handler = log_to(output / "run.log")
    STOP.clear()
    try:
        plan = make_plan(cells, store, runner["retry"])
        for path, reason in plan.unreadable:
            text = f"unreadable record, its experiment is run again: {path}: {reason}"
            log.warning(text)
            print(text, file=sys.stderr)
        try:
            check_inputs(dict.fromkeys(experiment.cell for experiment in plan.todo))
        except StartError as error:
            summary = Summary(left=len(plan.todo), trouble=str(error))
            print("\n".join(summary.lines()), file=sys.stderr)
            return summary
        say_notes()
        # A job of another launcher has one cell of a sweep.
        ask(store, cells, is_part="SUBMITIT_EXECUTOR" in os.environ)
        return _Grid(cells, plan, store, runner).run()
    finally:
        log.removeHandler(handler)
        handler.close()


class _Grid:
    """One run of a grid."""

    def __init__(
        self, cells: Sequence[Cell], plan: Plan, store: RecordStore, runner: dict[str, Any]
    ):
        self.cells, self.plan, self.store, self.settings = cells, plan, store, runner
        self.outcomes: dict[str, Outcome] = {}
        self.stopped_by: int | None = None
        self.trouble = ""
        self.aborted: float | None = None
        self.schedule = Schedule([], {})
        self.run_data = Run(
            str(store.path), uuid.uuid4().hex[:12], runner["retry"], since=time.time()
        )
        self.progress: Progress

    def run(self) -> Summary:
        plan = self.plan
        cells = counted(len(set(self.cells)), "cell")
        head = f"{counted(plan.experiments, 'experiment')} in {cells}"
        known = f"{len(plan.done)} recorded before, {len(plan.todo)} to run"
        with self._backend() as (n_jobs, trouble), self._signals():
            self.progress = Progress(plan, n_jobs, self.settings["progress"], sys.stdout)
            with self.progress, self._watched(trouble), self._slow_start():
                if notice := protocol_notice(self.cells):
                    self.progress.say(notice)
                self.progress.say(f"{head}: {known}, {n_jobs} at a time")
                self._work(n_jobs)
        summary = self._summary()
        for line in [*summary.lines(), f"Records: {self.store.path}"]:
            self.progress.say(line)
        return summary

    def _work(self, n_jobs: int) -> None:
        waiting = list(self.plan.todo)
        told = False
        while waiting and not self._ending():
            waiting = self._round(waiting, n_jobs)
            if waiting and not self._ending():
                if not told:
                    told = True
                    text = f"another run is at {len(waiting)} of these experiments; waiting for it"
                    self.progress.say(text)
                time.sleep(_WAIT_SECONDS)

    def _round(self, experiments: list[Experiment], n_jobs: int) -> list[Experiment]:
        """Run experiments; return those that another run is at."""
        self.schedule = Schedule(experiments, self.plan.costs)
        by_key = {experiment.key: experiment for experiment in experiments}
        if self._ending():
            self.schedule.stop()
        local = self.settings["backend"] == "threads"
        # Which experiment is next depends on those that have ended: none is dispatched in advance.
        parallel = Parallel(
            n_jobs=n_jobs, pre_dispatch=n_jobs, batch_size=1, return_as="generator_unordered"
        )
        task = self._here if local else supervise
        busy = []
        for outcome in parallel(
            delayed(task)(experiment, self.run_data) for experiment in self._hand_out()
        ):
            experiment = by_key[outcome.key]
            if not local:
                self._take(experiment, outcome)
            if outcome.kind == "busy":
                busy.append(experiment)
        return busy

    def _hand_out(self) -> Iterator[Experiment]:
        while (experiment := self.schedule.next()) is not None:
            self.progress.begins(experiment)
            yield experiment

    def _here(self, experiment: Experiment, run: Run) -> Outcome:
        outcome = supervise(experiment, run)
        # In the worker's thread: the choice of the next experiment depends on it.
        self._take(experiment, outcome)
        return outcome

    def _take(self, experiment: Experiment, outcome: Outcome) -> None:
        self.schedule.finished(experiment, outcome.status)
        self.progress.ends(experiment, outcome)
        if outcome.status:
            self.outcomes[experiment.key] = outcome
        elif outcome.kind in ("store", "start") and not self.trouble:
            self.trouble = outcome.message
            log.error(outcome.message)
            self._abort()

    @contextlib.contextmanager
    def _slow_start(self) -> Iterator[None]:
        """Say why nothing happens while the first worker starts, if that takes long."""

        def explain() -> None:
            if local and not POOL.started and not self._ending():
                compiling = (
                    "; in a fresh checkout they compile the kernels first, about a minute "
                    "on an idle machine"
                    if any(
                        WITH_KERNELS & preloaded_packages(e.cell.config["algorithm"])
                        for e in self.plan.todo
                    )
                    else ""
                )
                self.progress.say(f"the workers are starting{compiling}")

        local = self.settings["backend"] == "threads" and bool(self.plan.todo)
        timer = threading.Timer(_SLOW_START_SECONDS, explain)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _ending(self) -> bool:
        return self.stopped_by is not None or bool(self.trouble)

    def _abort(self) -> None:
        """End the experiments in flight, here and on other machines."""
        self.schedule.stop()
        STOP.set()
        self.aborted = self.aborted or time.monotonic()
        if self.settings["backend"] != "threads":
            with contextlib.suppress(OSError):
                self.run_data.stop_file.touch()

    @contextlib.contextmanager
    def _watched(self, trouble: Callable[[], str | None] | None) -> Iterator[None]:
        """Leave joblib when it waits for workers that are gone or do not end."""
        if trouble is None:
            yield
            return
        done = threading.Event()
        main = threading.get_ident()

        def watch() -> None:
            seen = time.monotonic()
            while not done.wait(1.0):
                now, found = time.monotonic(), trouble()
                if self.aborted is not None:
                    if now - self.aborted > _GRACE_SECONDS or found is not None:
                        break
                elif found is None:
                    seen = now
                elif found:
                    self.trouble = found
                    break
                elif now - seen > _LONELY_SECONDS:
                    self.trouble = f"no Dask worker for {_LONELY_SECONDS:g} s"
                    break
            if not done.is_set():
                signal.pthread_kill(main, signal.SIGUSR1)

        def give_up(_number: int, _frame: Any) -> None:
            if not done.is_set():
                raise _GiveUpError

        before = signal.signal(signal.SIGUSR1, give_up)
        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        except _GiveUpError:
            log.error("left the experiments that were in flight")
        finally:
            done.set()
            thread.join()
            signal.signal(signal.SIGUSR1, before)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Ctrl-C: finish what runs, then end; a second one, SIGTERM or SIGHUP: end now."""

        def handle(number: int, _frame: Any) -> None:
            again = self.stopped_by is not None
            self.stopped_by = number
            self.schedule.stop()
            if number == signal.SIGINT and not again:
                text = "Ctrl-C: finishing the experiments that run; once more ends them now"
                self.progress.message = text
            else:
                text = f"{signal.Signals(number).name}: ending now"
                self.progress.message = text
                self._abort()
            # Not through `say`: the interrupted code may hold the display's lock.
            if self.progress.mode != "live":
                os.write(2, f"\n{text}\n".encode())

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def _backend(self) -> Iterator[tuple[int, Callable[[], str | None] | None]]:
        if self.settings["backend"] == "dask":
            from runners.dask import backend

            with backend(self.settings, self.cells[0].config, self.run_data) as (n_jobs, trouble):
                yield n_jobs, trouble
            return
        n_jobs = int(self.settings["n_jobs"])
        if n_jobs < 0:
            threads = int(self.settings["threads_per_experiment"])
            n_jobs = max(1, (cpu_count() + 1 + n_jobs) // threads)
        # One supervising thread each; the work is in processes of its own.
        n_jobs = max(1, min(n_jobs, len(self.plan.todo)))
        with parallel_config(backend="threading"):
            yield n_jobs, None

    def _summary(self) -> Summary:
        statuses: Counter[str] = Counter(record.status for record in self.plan.done)
        reasons = Counter(
            _failure(r.dataset, f"{r.label} {r.setting} {r.protocol}", r.status, r.reason)
            for r in self.plan.done
            if r.status in FAILED_STATUSES
        )
        cells = {experiment.key: experiment.cell for experiment in self.plan.todo}
        for outcome in self.outcomes.values():
            statuses[outcome.status] += 1
            if outcome.status in FAILED_STATUSES:
                cell = cells[outcome.key]
                reasons[_failure(cell.dataset, cell.rest, outcome.status, outcome.reason)] += 1
        return Summary(
            statuses,
            len(self.plan.done),
            reasons,
            len(self.plan.todo) - len(self.outcomes),
            self.stopped_by,
            self.trouble,
        )


def _failure(dataset: str, rest: str, status: str, reason: str | None) -> str:
    """Return a failure in one line; without data it is the same for all of a data set's cells."""
    who = dataset if status == "no_data" else f"{dataset} {rest}"
    return f"{who}: {status}: {reason}"
