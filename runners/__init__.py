"""Runners: compose the cells of a grid and run each experiment in a process of its own."""

import sys

if sys.platform != "linux":
    print(
        "The benchmark runs on Linux only, which it needs to end and to measure the processes of "
        "experiments; the estimator (import ocrf) runs wherever numba does.",
        file=sys.stderr,
    )
    raise SystemExit(2)
