"""Supervise one experiment: lock it, run it in a worker, record its outcome, release it.

joblib calls `supervise` alone, in a thread of this process or in a Dask worker on another machine.
Its arguments hold all that it needs, and its outcome goes to the record store.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from datasets.protocols import protocol_from, stopped
from results.records.encoding import Curves
from results.records.files import LOCKS
from results.records.record import Record, RecordError, read_record
from results.records.statuses import NA_STATUSES
from results.records.store import RecordStore
from runners import scores
from runners.experiment import Experiment, Limits
from runners.isolation.messages import Result
from runners.isolation.pool import POOL
from runners.isolation.watch import AbortedError
from runners.isolation.worker import HolderDiedError, WorkerDiedError
from runners.isolation.zygote_process import StartError
from runners.locks import Locks
from runners.provenance import provenance

Kind = Literal["ran", "shared", "busy", "aborted", "store", "start"]

_STARTS = 2  # how often an experiment is begun whose worker dies
_LOOK_SECONDS = 1.0  # between two looks for the file that ends a run on other machines


@dataclass(frozen=True)
class Outcome:
    """What became of a supervised experiment.

    Attributes
    ----------
    kind : str
        ``ran``: it was run, or skipped (a timeout, an NA to replay), and is recorded. ``shared``:
        another run had recorded it. ``busy``: another run is at it. ``aborted``: it was killed
        because the run ends. ``store``: its record could not be written. ``start``: no worker
        starts.
    status, reason, seconds
        Of its record, if there is one.
    limits, counts
        Likewise.
    message : str
        For ``store`` and ``start``: what is wrong.
    """

    kind: Kind
    key: str
    status: str = ""
    reason: str = ""
    seconds: float = 0.0
    limits: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    message: str = ""


def is_final(record: Record | None, limits: Limits, retry: str | None = None) -> bool:
    """Whether a record stands, or its experiment is to be run (again) under these limits.

    What was cut short by a limit is run again under a wider one. Failures are, only if `retry`
    is ``"failed"``; but data that were missing may be there now, and asking is cheap. With
    ``"all"`` everything is run again.
    """
    if record is None or record.status == "no_data" or retry == "all":
        return False
    if record.status in NA_STATUSES:
        if record.status == "skipped" and limits.run_all_splits:
            return False
        return limits.timeout <= float(record.limits.get("timeout", 0))
    if record.status == "ok":
        return True
    if retry == "failed":
        return False
    if record.status == "memory" and (old := record.limits.get("memory_limit_gb")) is not None:
        return limits.memory_limit_gb is not None and limits.memory_limit_gb <= old
    if record.status == "error" and limits.allow_labels:
        # Without labels it failed, for that reason or another: it is tried once with them.
        return bool(record.limits.get("allow_labels", False))
    return True


@dataclass(frozen=True)
class Run:
    """What all experiments of a run share.

    Attributes
    ----------
    store : str
        Absolute path of the record store.
    name : str
        Names the run's stop file.
    retry : str or None
        See `is_final`.
    since : float
        When the run began. A failure that was recorded later is not tried again.
    """

    store: str
    name: str
    retry: str | None = None
    since: float = 0.0

    @property
    def stop_file(self) -> Path:
        """The file whose existence ends the run at once, wherever its experiments are."""
        return Path(self.store) / LOCKS / f"stop-{self.name}"


class Flag:
    """A boolean that may be set in a signal handler, where an Event's lock could block."""

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        """Raise the flag."""
        self._set = True

    def clear(self) -> None:
        """Lower the flag."""
        self._set = False

    def is_set(self) -> bool:
        """Whether the flag is up."""
        return self._set


STOP = Flag()
"""Set to end the experiments of this process at once."""


@functools.lru_cache(maxsize=4)
def _locks(store: str, pid: int) -> Locks:
    return Locks(store)


_local = threading.local()


def _store(path: str) -> RecordStore:
    """Return this thread's view of a store: a listing is not to be shared between threads."""
    if getattr(_local, "path", None) != path:
        _local.path, _local.store = path, RecordStore(path)
    return _local.store


def supervise(experiment: Experiment, run: Run) -> Outcome:
    """Run one experiment, unless it is done or another run has it, and record its outcome."""
    limits = Limits.from_config(experiment.cell.config)
    try:
        store, locks = _store(run.store), _locks(run.store, os.getpid())
        look = _Look(run, locks, experiment.key)
        if look():
            return Outcome("aborted", experiment.key)
        if not locks.take(experiment.key):
            return Outcome("busy", experiment.key)
        try:
            known = store.get(experiment.key)
            done = is_final(known, limits, run.retry) or _is_recent(known, limits, run)
            cause = None
            if not done:
                cause = _stopped(experiment) or _timed_out(store, experiment, limits, run)
            if done and known is not None:
                return _outcome("shared", known)
            record = (
                _record(experiment, limits, cause)
                if cause is not None
                else _run(experiment, limits, look, store)
            )
            store.put(record)
            return _outcome("ran", record)
        finally:
            locks.release(experiment.key)
    except AbortedError:
        return Outcome("aborted", experiment.key)
    except StartError as error:
        return Outcome("start", experiment.key, message=str(error))
    except OSError as error:
        return Outcome("store", experiment.key, message=f"cannot write to {run.store}: {error}")


class _Look:
    """Say whether the run is to end, several times a second, and keep the lock alive."""

    def __init__(self, run: Run, locks: Locks, key: str):
        self.run, self.locks, self.key = run, locks, key
        self.looked = 0.0

    def __call__(self) -> bool:
        if STOP.is_set():
            return True
        self.locks.beat(self.key)
        now = time.monotonic()
        if now - self.looked > _LOOK_SECONDS:
            self.looked = now
            return self.run.stop_file.exists()
        return False


def _is_recent(record: Record | None, limits: Limits, run: Run) -> bool:
    """Whether a record was made under these limits since this run began (by a concurrent run)."""
    if record is None or record.limits != limits.recorded():
        return False
    return float(record.provenance.get("finished", 0.0)) > run.since


_FINISHED: set[str] = set()
"""Keys of experiments that are known to be ok: their records are read once."""


def _stopped(experiment: Experiment) -> Result | None:
    """Return the result of an experiment that is skipped: the tables it replays have NA there."""
    cell = experiment.cell
    protocol = protocol_from(cell.config["protocol"])
    reason = stopped(protocol, cell.dataset, cell.setting)
    return None if reason is None else Result("skipped", reason=reason)


def _timed_out(
    store: RecordStore, experiment: Experiment, limits: Limits, run: Run
) -> Result | None:
    """Return the result of an experiment that is skipped: another split of its cell timed out."""
    if limits.run_all_splits:
        return None
    keys = [key for key in experiment.cell.keys if key != experiment.key and key not in _FINISHED]
    for key, path in store.locate(keys).items():
        try:
            other = read_record(path)
        except (FileNotFoundError, RecordError):
            continue
        if other.status == "ok":
            _FINISHED.add(key)
        elif other.status == "timeout" and (
            is_final(other, limits, run.retry) or _is_recent(other, limits, run)
        ):
            reason = f"split {other.split} of the cell: {other.reason}"
            return Result("skipped", reason=reason)
    return None


def _run(experiment: Experiment, limits: Limits, look: _Look, store: RecordStore) -> Record:
    started = provenance(limits.threads, experiment.cell.config)
    for attempt in range(_STARTS):
        try:
            with POOL.lend(limits.threads, experiment.cell.data_key) as worker:
                result = worker.run(experiment, limits, look)
                break
        except (HolderDiedError, WorkerDiedError) as error:
            # Killed from outside, or by the detector; in the latter case it will be again.
            if attempt == _STARTS - 1:
                reason = f"its worker died {_STARTS} times: {error}"
                result = Result("crashed", reason=reason)
    record = _record(experiment, limits, result, started)
    if result.scores is not None:
        scores.save(
            store, record, result.scores
        )  # first: who sees the record may count on the scores
    return record


def _record(
    experiment: Experiment,
    limits: Limits,
    result: Result,
    started: Mapping[str, Any] | None = None,
) -> Record:
    cell = experiment.cell
    made = dict(started or provenance(limits.threads))
    made["finished"] = time.time()
    if cell.content is not None:
        made["content"] = cell.content
    if cell.code is not None:
        made |= {"code": cell.code} | {f"code_{part}": code for part, code in cell.code_of.items()}
    if cell.indices is not None:
        made |= {"indices": cell.indices, "splits": cell.splits}
    known = {field.name: getattr(result, field.name) for field in fields(result)}
    del known["scores"]
    known["curves"] = Curves(known["curves"])
    return Record(
        key=experiment.key,
        dataset=cell.dataset,
        algorithm=cell.algorithm,
        variant=cell.variant,
        setting=cell.setting,
        protocol=cell.protocol,
        seed=cell.seed,
        split=experiment.split,
        limits=limits.recorded(),
        config=dict(cell.config),
        provenance=made,
        **known,
    )


def _outcome(kind: Kind, record: Record) -> Outcome:
    return Outcome(
        kind,
        record.key,
        record.status,
        record.reason or "",
        (record.fit_seconds or 0.0) + (record.score_seconds or 0.0),
        record.limits,
        record.counts,
    )
