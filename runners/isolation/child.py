"""What happens in the process of one experiment: split, fit, score, evaluate, report."""

from __future__ import annotations

import faulthandler
import os
import random
import resource
import sys
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from results.records.record import valid_text
from runners import detectors, scores
from runners.isolation import processes
from runners.isolation.messages import Message, Phase, Result, Task

if TYPE_CHECKING:
    from datasets import Dataset
    from datasets.dataset import Split

ROOT = Path(__file__).resolve().parents[2]
_LONGEST = 16_000  # characters of a traceback: its end tells more than its beginning
_LONGEST_REASON = 1_000
_GIB = 1 << 30

Report = Callable[[Message], None]


class _Clock:
    """Wall clock and processor seconds, children that were waited for included."""

    def __init__(self) -> None:
        self.began = processes.monotonic()
        self.cpu = _cpu_seconds()

    def read(self) -> tuple[float, float]:
        return processes.monotonic() - self.began, _cpu_seconds() - self.cpu


def _cpu_seconds() -> float:
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


class TooLateError(Exception):
    """Fitting or scoring returned, but after its time limit."""


def run(
    task: Task,
    dataset: Dataset,
    code: str | None,
    report: Report,
    set_baseline: Callable[[int, int], None],
    keep_scores: int | None = None,
) -> None:
    """Run one experiment and report its phases and its result.

    Parameters
    ----------
    task : Task
    dataset : datasets.Dataset
    code : str or None
        Digest of the user's own code that was imported; that of the task if it is still the same.
    report : callable
        Takes a `Phase` when a phase begins, and a `Result` once.
    set_baseline : callable
        Takes the memory that the process holds when fitting begins, as from
        `processes.memory_of`.
    keep_scores : int, optional
        Descriptor of an empty file that takes the scores of the test points.
    """
    faulthandler.enable()
    experiment = _Experiment(task, dataset, report, set_baseline, keep_scores)
    try:
        _limit_address_space(task.limits.memory_limit_gb)
        if code != task.code:
            raise detectors.DetectorError(
                "the code that the configuration names, or a file that this code names, was edited "
                "after the run had begun; the same command runs the new version"
            )
        if task.indices is not None and task.indices != _indices_now(task):
            raise detectors.DetectorError(
                "the file that protocol.indices names was changed after the run had begun; "
                "the same command runs the new version"
            )
        experiment.measure()
        result = experiment.result
    except TooLateError as error:
        result = Result("timeout", reason=str(error))
    except MemoryError as error:
        result = failure("memory", error, experiment.result)
        if not str(error):
            result = replace(result, reason="MemoryError: an allocation was refused")
    # Whatever a detector raises, SystemExit and KeyboardInterrupt included, is this experiment's
    # outcome: it is recorded, and the grid goes on.
    except BaseException as error:  # noqa: BLE001
        result = failure("error", error, experiment.result)
    report(result)


def _indices_now(task: Task) -> str | None:
    from datasets.protocols import indices_key

    return indices_key(task.config["protocol"]["indices"], task.config["dataset"]["name"])


def failure(status: str, error: BaseException, partial: Result | None = None) -> Result:
    """Return the result of an experiment that ended in an exception.

    Parameters
    ----------
    status : str
    error : BaseException
    partial : Result, optional
        What was known before.
    """
    reason = str(error) if isinstance(error, detectors.DetectorError) else _in_words(error)
    full = "".join(traceback.format_exception(error))
    return replace(
        partial or Result(status),
        status=status,
        metrics={},
        curves={},
        reason=" ".join(without_paths(valid_text(reason)).split())[:_LONGEST_REASON],
        traceback=without_paths(valid_text(full))[-_LONGEST:],
    )


def without_paths(text: str) -> str:
    """Remove the folders of this checkout and this environment from a text.

    Records are published, and the same failure on two machines should read the same.
    """
    for folder in (sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), str(ROOT)):
        text = text.replace(folder + "/", "")
    return text


def _in_words(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()


def _limit_address_space(memory_limit_gb: float | None) -> None:
    """Let single huge allocations fail at once, as a MemoryError.

    The limit proper is on resident memory and is watched from outside. Address space that is
    reserved and not touched uses no memory, so this limit leaves ample room.
    """
    if memory_limit_gb is None:
        return
    held = 0
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            held = int(line.split()[1]) * 1024
    room = held + int(2 * memory_limit_gb * _GIB) + _GIB
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        room = min(room, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (room, hard))


def _seed_shared_generators(random_state: int) -> None:
    """Seed the generators that all of a process shares, for detectors that draw from them.

    Otherwise they would go on from the state of the process that forked this one, the same for
    all of its experiments and another in every run.
    """
    random.seed(random_state)
    np.random.seed(random_state)  # noqa: NPY002


class _Experiment:
    """The steps of one experiment; `result` holds what is known so far."""

    def __init__(
        self,
        task: Task,
        dataset: Dataset,
        report: Report,
        set_baseline: Callable[[int, int], None],
        keep_scores: int | None,
    ):
        self.task, self.dataset, self.report = task, dataset, report
        self.set_baseline, self.keep_scores = set_baseline, keep_scores
        self.result = Result("ok")

    def measure(self) -> None:
        """Split, fit, score and evaluate."""
        split = self._split()
        detector = self._detector(split)
        processes.reset_peak()
        held = processes.peak()
        self.set_baseline(*processes.memory_of(os.getpid()))
        training: tuple[Any, ...] = (split.X_train,)
        if self.result.uses_labels:
            training += (split.y_train,)
        _, wall, cpu = self._timed("fit", lambda: detector.fit(*training))
        self._note(fit_seconds=wall, fit_cpu_seconds=cpu)
        raw, wall, cpu = self._timed("score", lambda: detector.score_samples(split.X_test))
        self._note(score_seconds=wall, score_cpu_seconds=cpu)
        self._note(peak_memory_mb=max(0, processes.peak() - held) / (1 << 20))
        self._evaluate(split, raw, detector)
        sys.stdout.flush()

    def _note(self, **fields: Any) -> None:
        self.result = replace(self.result, **fields)

    def _split(self) -> Split:
        from datasets import make_split

        config = self.task.config
        split = make_split(
            self.dataset,
            setting=config["setting"],
            protocol=config["protocol"],
            seed=config["seed"],
            split=self.task.split,
        )
        self._note(
            counts={
                "n_train": int(split.X_train.shape[0]),
                "n_test": int(split.X_test.shape[0]),
                "n_features": int(split.X_train.shape[1]),
                "n_anomalies_train": int(split.y_train.sum()),
                "n_anomalies_test": int(split.y_test.sum()),
            }
        )
        return split

    def _detector(self, split: Split) -> Any:
        limits = self.task.limits
        _seed_shared_generators(split.random_state)
        algorithm = self.task.config["algorithm"]
        detector = detectors.build(algorithm, split.random_state, limits.threads)
        if split.stream is not None:
            detectors.hand_over(split.stream, detector)
        labels = detectors.asks_for_labels(detector)
        if labels and not limits.allow_labels:
            raise detectors.DetectorError(
                f"{type(detector).__name__} asks for the labels of the training points; "
                "allow_labels=true hands them over, and marks its records"
            )
        self._note(uses_labels=labels)
        return detector

    def _timed(self, phase: str, call: Callable[[], Any]) -> tuple[Any, float, float]:
        """Call a method of the detector; return its value, wall and processor seconds.

        The supervisor kills a call that does not return. One that returns is held to the limit
        here, by the seconds that would be recorded: the supervisor may look a moment too late.
        """
        clock = _Clock()
        self.report(Phase(phase, clock.began))
        value = call()
        wall, cpu = clock.read()
        if wall > self.task.limits.timeout:
            raise TooLateError(self.task.limits.too_late(phase, cpu))
        return value, wall, cpu

    def _evaluate(self, split: Split, raw: Any, detector: Any) -> None:
        from results.metrics import evaluate
        from results.records.encoding import Curves

        self.report(Phase("evaluate", processes.monotonic()))
        anomaly_scores = -detectors.check_scores(raw, split.X_test.shape[0], detector)
        wanted = self.task.config["protocol"].get("metrics") or ()
        evaluation = evaluate(split.y_test, anomaly_scores, wanted)
        if self.keep_scores is not None:
            names = self.dataset.feature_names
            known = scores.explain(detector, split.X_test, anomaly_scores, names)
            kept = scores.Scores(split.y_test, anomaly_scores, split.test_rows, known)
            scores.hand_over(self.keep_scores, kept)
        self._note(
            metrics={name: float(value) for name, value in evaluation.metrics.items()},
            curves=Curves.from_arrays(evaluation.curves).encoded,
        )
