"""Paired timings: on each data set the contestants take turns, pair after pair.

The machine's speed drifts by more than the differences of interest. Ratios within a pair of runs
that follow each other drift little, so they are what is summarised, by their median.
"""

from __future__ import annotations

import pickle
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from runners.speed import contestants


@dataclass(frozen=True)
class Timing:
    """One fit and one scoring."""

    dataset: str
    algorithm: str
    n_jobs: int
    pair: int
    n_train: int
    n_test: int
    n_features: int
    fit_seconds: float
    fit_cpu_seconds: float
    score_seconds: float
    score_cpu_seconds: float
    row_seconds: float  # scoring a single row, the median of `_SINGLE_ROWS` calls
    pickle_mb: float  # the fitted forest


_SINGLE_ROWS = 9
_MEGABYTE = 2**20


def clock(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the wall and CPU seconds of a call (all threads of this process), and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def time_once(
    dataset: str, X_train: np.ndarray, X_test: np.ndarray, algorithm: str, n_jobs: int, pair: int
) -> Timing:
    """Fit and score once."""
    with contestants.threads(n_jobs):
        forest = contestants.make(algorithm, n_jobs, random_state=pair)
        fit_wall, fit_cpu, _ = clock(lambda: forest.fit(X_train))
        score_wall, score_cpu, scores = clock(lambda: forest.score_samples(X_test))
        rows = [
            clock(partial(forest.score_samples, X_test[i : i + 1]))[0]
            for i in range(min(_SINGLE_ROWS, len(X_test)))
        ]
    if scores.shape != (X_test.shape[0],) or not np.isfinite(scores).all():
        raise ValueError(f"{algorithm} on {dataset}: the scores are not {len(X_test)} numbers")
    return Timing(
        dataset=dataset,
        algorithm=algorithm,
        n_jobs=n_jobs,
        pair=pair,
        n_train=X_train.shape[0],
        n_test=X_test.shape[0],
        n_features=X_train.shape[1],
        fit_seconds=fit_wall,
        fit_cpu_seconds=fit_cpu,
        score_seconds=score_wall,
        score_cpu_seconds=score_cpu,
        row_seconds=statistics.median(rows),
        pickle_mb=len(pickle.dumps(forest.forest)) / _MEGABYTE,
    )


def time_pairs(
    dataset: str,
    X_train: np.ndarray,
    X_test: np.ndarray,
    algorithms: Sequence[str],
    n_jobs: int,
    n_pairs: int,
) -> list[Timing]:
    """Time all contestants in turn, ``n_pairs`` times, each time starting with another one."""
    timings = []
    for pair in range(n_pairs):
        first = pair % len(algorithms)
        for algorithm in [*algorithms[first:], *algorithms[:first]]:
            timings.append(time_once(dataset, X_train, X_test, algorithm, n_jobs, pair))
    return timings


@dataclass(frozen=True)
class Summary:
    """Medians over the pairs of one contestant on one data set, or on all of them together."""

    dataset: str
    algorithm: str
    n_jobs: int
    fit_seconds: float
    score_seconds: float
    row_seconds: float
    pickle_mb: float
    # OneClassRF's time over this contestant's, pair by pair; that of the processors drifts less
    # where others use the machine.
    fit_ratio: float
    total_ratio: float
    fit_cpu_ratio: float
    total_cpu_ratio: float


TOTAL = "total"


def summarise(timings: Iterable[Timing]) -> list[Summary]:
    """Return the medians per data set and contestant, and of the totals over the data sets."""
    cells: dict[tuple[int, str, str], dict[int, np.ndarray]] = {}
    others: dict[tuple[int, str, str], list[tuple[float, float]]] = {}
    for timing in timings:
        for dataset in (timing.dataset, TOTAL):
            key = (timing.n_jobs, dataset, timing.algorithm)
            cell = cells.setdefault(key, {})
            others.setdefault(key, []).append((timing.row_seconds, timing.pickle_mb))
            # Fit, fit and score; then the same in seconds of the processors.
            seconds = np.array([timing.fit_seconds, timing.fit_seconds + timing.score_seconds])
            cpu = [timing.fit_cpu_seconds, timing.fit_cpu_seconds + timing.score_cpu_seconds]
            cell[timing.pair] = cell.get(timing.pair, 0.0) + np.append(seconds, cpu)
    summaries = []
    for key, cell in cells.items():
        n_jobs, dataset, algorithm = key
        ours = cells[n_jobs, dataset, contestants.OURS]
        ratios = np.median([ours[pair] / cell[pair] for pair in cell], axis=0)
        summaries.append(
            Summary(
                dataset=dataset,
                algorithm=algorithm,
                n_jobs=n_jobs,
                fit_seconds=statistics.median(c[0] for c in cell.values()),
                score_seconds=statistics.median(c[1] - c[0] for c in cell.values()),
                row_seconds=statistics.median(row for row, _ in others[key]),
                # Of all data sets together: in one pair.
                pickle_mb=sum(size for _, size in others[key]) / len(cell),
                fit_ratio=float(ratios[0]),
                total_ratio=float(ratios[1]),
                fit_cpu_ratio=float(ratios[2]),
                total_cpu_ratio=float(ratios[3]),
            )
        )
    # The totals come last.
    return sorted(summaries, key=lambda s: (s.n_jobs, s.dataset == TOTAL))
