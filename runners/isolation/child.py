"""What happens in the process of one experiment: split, fit, score, evaluate, report."""

from __future__ import annotations

import faulthandler
import os
import random
import resource
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from results.records.record import valid_text
from runners import detectors, scores
from runners.isolation import processes

ROOT = Path(__file__).resolve().parents[2]
_LONGEST = 16_000  # characters of a traceback: its end tells more than its beginning
_LONGEST_REASON = 1_000
_GIB = 1 << 30

Report = Callable[[str, Any], None]


class _Clock:
    """Wall clock and processor seconds, children that were waited for included."""

    def __init__(self) -> None:
        self.wall = time.perf_counter()
        self.cpu = _cpu_seconds()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self.wall, _cpu_seconds() - self.cpu


def _cpu_seconds() -> float:
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def run(
    task: Mapping[str, Any],
    dataset: Any,
    report: Report,
    set_baseline: Callable[[int, int], None],
    keep_scores: int | None = None,
) -> None:
    """Run one experiment and report its phases and its outcome.

    Parameters
    ----------
    task : mapping
        `config` (resolved), `split`, and the limits `allow_labels`, `threads` and
        `memory_limit_gb`.
    dataset : datasets.Dataset
    report : callable
        Gets ``("phase", name)`` when a phase begins and ``("result", dict)`` once. The result
        holds fields of a `results.records.record.Record`.
    set_baseline : callable
        Gets the memory that the process holds when fitting begins, as from
        `processes.memory_of`.
    keep_scores : int, optional
        Descriptor of an empty file that takes the scores of the test points.
    """
    faulthandler.enable()
    result: dict[str, Any] = {"status": "ok"}
    try:
        _limit_address_space(task["memory_limit_gb"])
        _measure(task, dataset, report, set_baseline, keep_scores, result)
    except MemoryError as error:
        result |= failure("memory", error)
        if not str(error):
            result["reason"] = "MemoryError: an allocation was refused"
    # Whatever a detector raises, SystemExit and KeyboardInterrupt included, is this experiment's
    # outcome: it is recorded, and the grid goes on.
    except BaseException as error:  # noqa: BLE001
        result |= failure("error", error)
    report("result", result)


def failure(status: str, error: BaseException) -> dict[str, Any]:
    """Return the fields of a record that tell of an exception."""
    reason = str(error) if isinstance(error, detectors.DetectorError) else _in_words(error)
    full = "".join(traceback.format_exception(error))
    return {
        "status": status,
        "metrics": {},
        "curves": {},
        "reason": " ".join(without_paths(valid_text(reason)).split())[:_LONGEST_REASON],
        "traceback": without_paths(valid_text(full))[-_LONGEST:],
    }


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
    reserved and not touched is no memory, so this one leaves ample room.
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


def _measure(
    task: Mapping[str, Any],
    dataset: Any,
    report: Report,
    set_baseline: Callable[[int, int], None],
    keep_scores: int | None,
    result: dict[str, Any],
) -> None:
    from datasets import make_split
    from results.metrics import evaluate
    from results.records.encoding import Curves

    config = task["config"]
    split = make_split(
        dataset,
        setting=config["setting"],
        protocol=config["protocol"],
        seed=config["seed"],
        split=task["split"],
    )
    result["counts"] = {
        "n_train": int(split.X_train.shape[0]),
        "n_test": int(split.X_test.shape[0]),
        "n_features": int(split.X_train.shape[1]),
        "n_anomalies_train": int(split.y_train.sum()),
        "n_anomalies_test": int(split.y_test.sum()),
    }
    _seed_shared_generators(split.random_state)
    detector = detectors.build(config["algorithm"], split.random_state, task["threads"])
    labels = detectors.asks_for_labels(detector)
    if labels and not task["allow_labels"]:
        raise detectors.DetectorError(
            f"{type(detector).__name__} asks for the labels of the training points; "
            "allow_labels=true hands them over, and marks its records"
        )
    result["uses_labels"] = labels

    processes.reset_peak()
    held = processes.peak()
    set_baseline(*processes.memory_of(os.getpid()))
    report("phase", "fit")
    clock = _Clock()
    if labels:
        detector.fit(split.X_train, split.y_train)
    else:
        detector.fit(split.X_train)
    result["fit_seconds"], result["fit_cpu_seconds"] = clock.read()

    report("phase", "score")
    clock = _Clock()
    raw = detector.score_samples(split.X_test)
    result["score_seconds"], result["score_cpu_seconds"] = clock.read()
    result["peak_bytes"] = max(0, processes.peak() - held)

    report("phase", "evaluate")
    anomaly_scores = -detectors.check_scores(raw, split.X_test.shape[0])
    evaluation = evaluate(split.y_test, anomaly_scores, config["protocol"].get("metrics") or ())
    if keep_scores is not None:
        scores.hand_over(keep_scores, split.y_test, anomaly_scores)
    result["metrics"] = {name: float(value) for name, value in evaluation.metrics.items()}
    result["curves"] = Curves.from_arrays(evaluation.curves).encoded
    sys.stdout.flush()
