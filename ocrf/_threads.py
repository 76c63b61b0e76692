"""Running kernels in threads: they hold no lock, and share what they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int
) -> list[Result]:
    """Return what a function makes of each item, in the order of the items.

    Plain threads: a pool of joblib's takes ten milliseconds to set up and tear down, as long as
    fitting a small forest.

    Parameters
    ----------
    function : callable
    items : iterable
    n_jobs : int
        Threads at most; with one, or one item, everything happens in the caller's.
    """
    items = list(items)
    n_threads = min(n_jobs, len(items))
    if n_threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            return list(pool.map(function, items))
        except BaseException:
            # What has not begun is not wanted any more.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
