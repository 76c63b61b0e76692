"""Threads: results in order, the first failure raised, nothing begun after it."""

import threading

import pytest

from ocrf._threads import map_in_threads


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(n_jobs):
    assert map_in_threads(lambda x: x * x, range(20), n_jobs) == [x * x for x in range(20)]
    assert map_in_threads(str, [], n_jobs) == []


def test_one_item_stays_in_the_callers_thread():
    (name,) = map_in_threads(lambda _: threading.current_thread().name, [0], 4)
    assert name == threading.current_thread().name


@pytest.mark.parametrize("broken", [ValueError, KeyboardInterrupt])
def test_a_failure_is_raised_and_what_waits_is_not_begun(broken):
    begun = []

    def work(item):
        begun.append(item)
        raise broken(item)

    with pytest.raises(broken):
        map_in_threads(work, range(1000), 2)
    assert len(begun) < 1000
