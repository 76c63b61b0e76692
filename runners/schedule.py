"""Which experiments are to be run, and which comes next."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from results.records.record import Record, RecordError, read_record
from results.records.statuses import NA_STATUSES
from results.records.store import CellName, RecordStore
from runners.experiment import Cell, Experiment, Limits
from runners.supervise import is_final

# Assumed seconds per row of an experiment without any record. Only the order depends on it.
_GUESS_PER_ROW = 1e-4
_USUAL_ROWS = 1000


@dataclass(frozen=True)
class Plan:
    """What of a grid is done, and what is to be run.

    Attributes
    ----------
    todo : list of Experiment
        To be run.
    done : list of Record
        Records that stand.
    costs : dict
        Seconds that one experiment of a cell is expected to take, by cell.
    unreadable : list of (Path, str)
        Record files of these experiments that cannot be read, and why.
    """

    todo: list[Experiment]
    done: list[Record]
    costs: dict[Cell, float]
    unreadable: list[tuple[Path, str]]

    @property
    def experiments(self) -> int:
        """How many experiments the grid has."""
        return len(self.todo) + len(self.done)


def make_plan(cells: Sequence[Cell], store: RecordStore, retry: str | None = None) -> Plan:
    """Compare a grid with the records that exist."""
    experiments: dict[Experiment, None] = {}  # a sweep may name the same cell twice
    for cell in cells:
        experiments.update(dict.fromkeys(cell.experiments()))
    todo, done = [], []
    store.unreadable.clear()
    for experiment in experiments:
        record = store.get(experiment.key)
        if record is not None and is_final(
            record, Limits.from_config(experiment.cell.config), retry
        ):
            done.append(record)
        else:
            todo.append(experiment)
    costs = _costs({experiment.cell for experiment in todo}, store)
    return Plan(todo, done, costs, list(store.unreadable))


def _costs(cells: Iterable[Cell], store: RecordStore) -> dict[Cell, float]:
    """Guess what an experiment of each cell costs: from one earlier record, else from its size."""
    examples = store.examples()
    rows: dict[str, int] = {}
    for name, path in examples.items():
        if name.dataset not in rows and (record := _read(path)) and record.counts:
            rows[name.dataset] = record.counts["n_train"] + record.counts["n_test"]
    costs = {}
    for cell in cells:
        name = CellName.of(cell.dataset, cell.label, cell.setting)
        record = _read(examples[name]) if name in examples else None
        seconds = _seconds(record) if record else None
        if seconds is None:
            expected = cell.config["dataset"].get("expected") or {}
            n_rows = rows.get(name.dataset) or expected.get("samples") or _USUAL_ROWS
            seconds = n_rows * _GUESS_PER_ROW
        costs[cell] = seconds
    return costs


def _read(path: Path) -> Record | None:
    try:
        return read_record(path)
    except (RecordError, FileNotFoundError):
        return None  # reported where it matters: when the experiment itself is planned


def _seconds(record: Record) -> float | None:
    if record.status in NA_STATUSES:
        return float(record.limits.get("timeout", 0.0))
    if record.fit_seconds is None:
        return None
    return record.fit_seconds + (record.score_seconds or 0.0)


@dataclass
class _State:
    waiting: deque[Experiment] = field(default_factory=deque)
    in_flight: int = 0
    proven: bool = False  # a split of the cell has finished


class Schedule:
    """Hand out experiments, the longest first; safe to be used by several threads.

    Until one of a cell's splits has finished, only one of them runs at a time while there is other
    work: if it times out, the others are skipped, and a second one would have wasted its time.
    """

    def __init__(self, todo: Iterable[Experiment], costs: dict[Cell, float]):
        self._lock = threading.Lock()
        self._stopped = False
        self._cells: dict[Cell, _State] = {}
        todo = list(todo)
        for cell in sorted({e.cell for e in todo}, key=lambda c: (-costs[c], c.identity)):
            self._cells[cell] = _State()
        for experiment in todo:
            self._cells[experiment.cell].waiting.append(experiment)

    def next(self) -> Experiment | None:
        """Return the next experiment to be run, None if there is none (any more)."""
        with self._lock:
            if self._stopped:
                return None
            waiting = [state for state in self._cells.values() if state.waiting]
            for state in waiting:
                if state.proven or not state.in_flight:
                    break
            else:
                if not waiting:
                    return None
                # Only cells without a finished split are left; the worker would be idle otherwise.
                state = waiting[0]
            state.in_flight += 1
            return state.waiting.popleft()

    def finished(self, experiment: Experiment, status: str) -> None:
        """Learn that an experiment has ended, "" if without a record."""
        with self._lock:
            state = self._cells[experiment.cell]
            state.in_flight -= 1
            state.proven = state.proven or bool(status)

    def stop(self) -> None:
        """Hand out no more. Takes no lock: a signal handler may call it at any moment."""
        self._stopped = True

    @property
    def left(self) -> int:
        """How many experiments were not handed out."""
        with self._lock:
            return sum(len(state.waiting) for state in self._cells.values())
