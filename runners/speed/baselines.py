"""Time the algorithms of `baselines` beside the programs that the paper ran.

CPU seconds of one fit and one scoring per line, on one thread, on the first novelty split of the
paper's protocol. The memory is the process's largest so far, code, data and earlier lines included.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from resource import RUSAGE_SELF, getrusage
from typing import Any

from hydra.utils import instantiate
from omegaconf import OmegaConf
from rich.console import Console
from threadpoolctl import threadpool_limits

from baselines import warm_up
from datasets import DataUnavailable, load, make_split
from datasets.configuration import CONF, compose


@dataclass(frozen=True)
class Timing:
    """What to time, within how many seconds it should be, and what it is compared with."""

    dataset: str
    algorithm: str
    target: float
    original: str
    parameters: tuple[tuple[str, Any], ...] = ()


TIMINGS = (
    Timing("wilt", "ocrfsampling", 3.0, "20 s, the original C++ program"),
    Timing("pendigits", "ocrfsampling", 20.0, "218 s, the original C++ program"),
    Timing("http", "orca", 120.0, "1369 s, published"),
    Timing("forestcover", "orca", 90.0, "734 s, published"),
    Timing("http", "lsad", 15.0, "none"),
    Timing("ionosphere", "rfc", 10.0, "none", (("n_forests", 26),)),
    Timing("wilt", "rfc", 60.0, "37 s and 3.3 GB for 2 forests in R", (("n_forests", 26),)),
)

NAMES = sorted({timing.algorithm for timing in TIMINGS})


def measure(timing: Timing) -> tuple[float, float, float]:
    """Return the CPU seconds of fit and of scoring, and the process's largest memory in MB."""
    groups = compose([f"dataset={timing.dataset}", "setting=novelty", "protocol=paper"])
    dataset = load(groups["dataset"], groups["data"])
    split = make_split(
        dataset, setting=groups["setting"], protocol=groups["protocol"], seed=0, split=0
    )
    config = OmegaConf.load(CONF / "algorithm" / f"{timing.algorithm}.yaml")
    detector = instantiate(config, **dict(timing.parameters), _convert_="all")
    detector.set_params(random_state=split.random_state)
    with threadpool_limits(1):
        started = time.process_time()
        detector.fit(split.X_train)
        fitted = time.process_time()
        detector.score_samples(split.X_test)
        scored = time.process_time()
    memory = getrusage(RUSAGE_SELF).ru_maxrss / 2**10
    return fitted - started, scored - fitted, memory


def time_baselines(
    console: Console, algorithms: Collection[str], datasets: Collection[str] | None
) -> bool:
    """Print one line per timing; return whether all targets are met.

    Parameters
    ----------
    console : Console
    algorithms : collection of str
        Of `NAMES`.
    datasets : collection of str or None
        None stands for all.
    """
    warm_up()
    chosen = [
        timing
        for timing in TIMINGS
        if timing.algorithm in algorithms and (datasets is None or timing.dataset in datasets)
    ]
    if not chosen:
        console.print("none of the algorithms with an original is timed on these data sets")
        return True
    line = f"{'data set':12} {'algorithm':30} {'fit':>7} {'score':>7} {'target':>7}  original"
    console.print(line, highlight=False)
    met = True
    for timing in chosen:
        try:
            fit, score, memory = measure(timing)
        except DataUnavailable as error:
            console.print(f"{timing.dataset:12} {timing.algorithm:30} not timed: {error}")
            continue
        name = timing.algorithm + "".join(f" {key}={value}" for key, value in timing.parameters)
        console.print(
            f"{timing.dataset:12} {name:30} {fit:5.2f} s {score:5.2f} s {timing.target:5.0f} s  "
            f"{timing.original}; {memory:.0f} MB",
            highlight=False,
        )
        met &= fit + score <= timing.target
    return met
