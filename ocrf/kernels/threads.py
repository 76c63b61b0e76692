"""Running kernels in threads: they release the interpreter's lock, and share what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import cpu_count

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    It depends on the processors that this process may use (its affinity mask and its cgroup) and on
    nothing else: joblib's own function asks the active backend, which limits processes.

    Parameters
    ----------
    n_jobs : int or None
        None is 1, -1 all processors, -2 all but one, and so on, at least 1.

    Raises
    ------
    ValueError
        If `n_jobs` is 0.
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError(
            "The 'n_jobs' parameter of OneClassRF must be a number of threads, -1 for all "
            "processors, or None for one thread. Got 0 instead."
        )
    return n_jobs if n_jobs > 0 else max(cpu_count() + 1 + n_jobs, 1)


def map_in_threads(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int,
    cancel: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Apply a function to each item; return the results in the order of the items.

    Plain threads: setting up and closing joblib's pool takes ten milliseconds, as long as fitting
    a small forest.

    Parameters
    ----------
    function : callable
    items : iterable
    n_jobs : int
        Threads at most; with one, or one item, everything happens in the caller's.
    cancel : callable, optional
        Called as soon as an item fails or the caller is interrupted: it makes calls that have
        begun return early. Those that have not begun are cancelled.
    """
    items = list(items)
    n_workers = min(n_jobs, len(items))
    if n_workers <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_workers) as pool:
        try:
            return list(pool.map(function, items))
        except BaseException:
            # Raised again: leaving the pool waits for its threads, also after Ctrl-C, and kernels
            # do not see an interrupt.
            cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
