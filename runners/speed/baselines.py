"""Time the algorithms of `baselines` beside the programs that the paper ran.

``python -m runners.speed.baselines [NAME ...]``: CPU seconds of one fit and one scoring per line,
on one thread, on the first novelty split of the paper's protocol. The memory is the process's
largest so far, code, data and earlier lines included.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from resource import RUSAGE_SELF, getrusage
from typing import Any

from hydra.utils import instantiate
from omegaconf import OmegaConf
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per timing; return 1 if a target is missed."""
    wanted = set(sys.argv[1:] if arguments is None else arguments)
    unknown = wanted - {timing.algorithm for timing in TIMINGS}
    if unknown:
        print(f"nothing to time for {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    warm_up()
    print(f"{'data set':12} {'algorithm':30} {'fit':>7} {'score':>7} {'target':>7}  original")
    missed = False
    for timing in TIMINGS:
        if wanted and timing.algorithm not in wanted:
            continue
        try:
            fit, score, memory = measure(timing)
        except DataUnavailable as error:
            print(f"{timing.dataset:12} {timing.algorithm:30} not timed: {error}", flush=True)
            continue
        name = timing.algorithm + "".join(f" {key}={value}" for key, value in timing.parameters)
        print(
            f"{timing.dataset:12} {name:30} {fit:5.2f} s {score:5.2f} s {timing.target:5.0f} s  "
            f"{timing.original}; {memory:.0f} MB",
            flush=True,
        )
        missed |= fit + score > timing.target
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
