"""The grid on Dask workers, through joblib's Dask backend.

Experiments are children of the workers, started by plain `subprocess`, which Dask's daemonic worker
processes allow (they allow none of `multiprocessing`'s).
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import signal
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from joblib import cpu_count, parallel_config

from datasets.errors import UsageError
from results.records.files import LOCKS
from runners import cluster
from runners.cluster import Needs
from runners.supervise import Run

ROOT = Path(__file__).resolve().parents[1]
_CONNECT_SECONDS = 10.0
_WORKER_SECONDS = 60.0
_SAME_VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "dask", "distributed")
# A worker that dies loses its experiment, and another worker begins that anew. An experiment cannot
# kill a worker, since it has a process of its own, so there is no reason to give up early.
_ALLOWED_FAILURES = 20


@contextlib.contextmanager
def backend(
    settings: Mapping[str, Any], config: Mapping[str, Any], run: Run
) -> Iterator[tuple[int, Callable[[], str | None]]]:
    """Connect to the scheduler, or start a local cluster.

    Yields
    ------
    n_jobs : int
        How many experiments run at once.
    trouble : callable
        Says what is wrong with the cluster: None, ``""`` while there are no workers, or why an
        experiment was lost for good.

    Raises
    ------
    UsageError
        If the extra is not installed, the scheduler does not answer, or a worker lacks what it
        needs.
    """
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise UsageError(
            f"runner=dask needs the extra `dask` ({error}); install dask and distributed"
        ) from error
    with contextlib.ExitStack() as stack:
        stack.enter_context(
            dask.config.set(
                {
                    "distributed.scheduler.allowed-failures": _ALLOWED_FAILURES,
                    # Read by the workers of a local cluster: see `dask_setup` below.
                    "distributed.worker.preload": [__name__],
                }
            )
        )
        address = settings.get("scheduler")
        if address is None:
            address = stack.enter_context(_local_cluster(settings))
        try:
            client = stack.enter_context(
                Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(f"no Dask scheduler answers at {address}: {error}") from error
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            raise UsageError(
                f"the Dask scheduler at {address} has no workers; start some with "
                f"`dask worker {address} --nthreads N` in the checkout"
            ) from error
        _check_workers(client, config, run)
        slots = sum(client.nthreads().values())
        n_jobs = int(settings["n_jobs"])
        stack.enter_context(parallel_config(backend="dask", client=client))
        # joblib's Dask backend takes all slots there are; the schedule hands out no more than that.
        yield slots if n_jobs < 0 else min(n_jobs, slots), lambda: _trouble(client)


def _trouble(client: Any) -> str | None:
    # joblib waits for ever for a task that Dask gives up.
    for future in list(client.futures.values()):
        if future.status == "error":
            return f"Dask gave up an experiment: {future.exception}"
    try:
        return None if client.nthreads() else ""
    except (OSError, TimeoutError):
        return ""  # the scheduler itself does not answer


def dask_setup(worker: Any) -> None:
    """Let Ctrl-C, which a terminal sends to all processes of the run, reach the runner only.

    Dask calls this when a worker of a local cluster starts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def _local_cluster(settings: Mapping[str, Any]) -> Iterator[str]:
    from distributed import LocalCluster

    n_jobs = int(settings["n_jobs"])
    if n_jobs < 0:
        threads = int(settings["threads_per_experiment"])
        n_jobs = max(1, (cpu_count() + 1 + n_jobs) // threads)
    with LocalCluster(
        n_workers=n_jobs,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",  # any free port
        # The runner watches memory per experiment; a worker that is restarted would lose some.
        memory_limit=0,
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address


def _check_workers(client: Any, config: Mapping[str, Any], run: Run) -> None:
    """See that every worker has the code, the data home and the store, the scheduler the code."""
    import cloudpickle  # comes with Dask

    probe = Path(run.store) / LOCKS / f"probe-{uuid.uuid4().hex[:12]}"
    probe.touch()
    home = (config.get("data") or {}).get("home")
    needs = Needs(
        root=str(ROOT),
        python=cluster.python(),
        versions={name: importlib.metadata.version(name) for name in _SAME_VERSIONS},
        home=None if home is None else os.path.abspath(home),
        probe=str(probe),
    )
    cloudpickle.register_pickle_by_value(cluster)
    try:
        found = client.run(needs.problems)
        # The scheduler unpickles what it hands on, and so needs the code, but no data or records.
        found["scheduler"] = client.run_on_scheduler(replace(needs, home=None, probe=None).problems)
    finally:
        cloudpickle.unregister_pickle_by_value(cluster)
        probe.unlink(missing_ok=True)
    problems = [f"{worker}: {problem}" for worker, list_ in found.items() for problem in list_]
    if problems:
        raise UsageError("the Dask cluster lacks what the grid needs:\n  " + "\n  ".join(problems))
