"""What is to be run again, and in which order."""

import threading

import pytest

from results.records.record import Record
from results.records.store import RecordStore
from runners.experiment import Experiment, Limits
from runners.schedule import Schedule, make_plan
from runners.supervise import is_final


def record(cell, split=0, status="ok", timeout=20.0, **changes):
    values = {
        "key": cell.key(split),
        "dataset": cell.dataset,
        "algorithm": cell.algorithm,
        "variant": "",
        "setting": cell.setting,
        "protocol": cell.protocol,
        "seed": 0,
        "split": split,
        "status": status,
        "limits": {"timeout": timeout, "memory_limit_gb": None, "allow_labels": False},
    }
    return Record(**(values | changes))


@pytest.mark.parametrize(
    ("status", "recorded", "limits", "retry", "final"),
    [
        ("ok", {}, Limits(20), None, True),
        ("ok", {}, Limits(2000), "failed", True),
        ("timeout", {}, Limits(20), None, True),
        ("timeout", {}, Limits(5), None, True),
        ("timeout", {}, Limits(21), None, False),
        ("timeout", {}, Limits(20), "failed", True),
        ("skipped", {}, Limits(20), None, True),
        ("skipped", {}, Limits(21), None, False),
        ("skipped", {}, Limits(20, run_all_splits=True), None, False),
        ("timeout", {}, Limits(20, run_all_splits=True), None, True),
        ("error", {}, Limits(2000), None, True),
        ("error", {}, Limits(20), "failed", False),
        ("crashed", {}, Limits(20), None, True),
        ("crashed", {}, Limits(20), "failed", False),
        ("error", {"allow_labels": False}, Limits(20, allow_labels=True), None, False),
        ("error", {"allow_labels": True}, Limits(20, allow_labels=True), None, True),
        ("memory", {"memory_limit_gb": 1.0}, Limits(20, memory_limit_gb=1.0), None, True),
        ("memory", {"memory_limit_gb": 1.0}, Limits(20, memory_limit_gb=2.0), None, False),
        ("memory", {"memory_limit_gb": 1.0}, Limits(20), None, False),
        ("memory", {"memory_limit_gb": None}, Limits(20), None, True),
        ("memory", {"memory_limit_gb": None}, Limits(20), "failed", False),
        ("no_data", {}, Limits(20), None, False),
    ],
)
def test_what_stands_and_what_is_run_again(make_cell, status, recorded, limits, retry, final):
    old = {"timeout": 20.0, "memory_limit_gb": None, "allow_labels": False} | recorded
    assert is_final(record(make_cell(), status=status, limits=old), limits, retry) is final


def test_nothing_recorded_is_to_be_run():
    assert not is_final(None, Limits(20))


def test_a_plan_parts_what_is_done_from_what_is_not(make_cell, tmp_path):
    store = RecordStore(tmp_path)
    cell = make_cell(n_splits=4)
    store.put(record(cell, 0))
    store.put(record(cell, 1, "error"))
    path = store.put(record(cell, 2))
    path.write_text("{")
    plan = make_plan([cell, cell], store)
    assert [e.split for e in plan.todo] == [2, 3]
    assert [r.split for r in plan.done] == [0, 1]
    assert [p for p, _ in plan.unreadable] == [path]
    assert plan.experiments == 4


def test_costs_come_from_records_else_from_size(make_cell, tmp_path):
    store = RecordStore(tmp_path)
    known, unknown, timed_out = make_cell(), make_cell(name="unknown"), make_cell(name="slow")
    store.put(
        record(known, 0, fit_seconds=3.0, score_seconds=4.0, counts={"n_train": 60, "n_test": 60})
    )
    store.put(record(timed_out, 0, "timeout", timeout=5.0))
    costs = make_plan([known, unknown, timed_out], store).costs
    assert costs[known] == 7.0
    assert costs[timed_out] == 5.0
    assert costs[unknown] == pytest.approx(120 * 1e-4)


def handed_out(schedule):
    while (experiment := schedule.next()) is not None:
        yield experiment


def test_the_longest_come_first(make_cell):
    cells = {name: make_cell(name=name, n_splits=1) for name in ("short", "long", "middle")}
    costs = {cells["short"]: 1.0, cells["long"]: 9.0, cells["middle"]: 4.0}
    schedule = Schedule([Experiment(cell, 0) for cell in costs], costs)
    assert [e.cell.algorithm for e in handed_out(schedule)] == ["long", "middle", "short"]


def test_a_cell_that_nothing_is_known_of_runs_alone_while_there_is_other_work(make_cell):
    long, short = make_cell(name="long", n_splits=3), make_cell(name="short", n_splits=2)
    todo = [*long.experiments(), *short.experiments()]
    schedule = Schedule(todo, {long: 9.0, short: 1.0})
    first, second = schedule.next(), schedule.next()
    assert (first.cell, second.cell) == (long, short)
    # No worker idles: with nothing else left, a second split of the longest cell is begun.
    third = schedule.next()
    assert third.cell == long
    schedule.finished(second, "ok")
    assert schedule.next().cell == short
    schedule.finished(first, "ok")
    assert schedule.next().cell == long
    assert schedule.next() is None


def test_a_finished_split_opens_its_cell(make_cell):
    long, short = make_cell(name="long", n_splits=3), make_cell(name="short", n_splits=3)
    schedule = Schedule([*long.experiments(), *short.experiments()], {long: 9.0, short: 1.0})
    schedule.finished(schedule.next(), "ok")
    assert [schedule.next().cell for _ in range(2)] == [long, long]


def test_stopping_hands_out_no_more(make_cell):
    cell = make_cell(n_splits=3)
    schedule = Schedule(cell.experiments(), {cell: 1.0})
    schedule.next()
    schedule.stop()
    assert schedule.next() is None
    assert schedule.left == 2


def test_threads_get_each_experiment_once(make_cell):
    cells = [make_cell(name=f"a{i}", n_splits=50) for i in range(4)]
    schedule = Schedule([e for c in cells for e in c.experiments()], dict.fromkeys(cells, 1.0))
    got = []

    def work():
        for experiment in handed_out(schedule):
            got.append(experiment.key)
            schedule.finished(experiment, "ok")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(set(got)) == 200
