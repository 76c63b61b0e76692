"""Locks: each experiment belongs to one living run."""

import errno
import json
import os
import subprocess
import sys
import time

import pytest

from runners import locks as module
from runners.locks import Locks
from tests.faults.sandbox import ROOT

KEY = "ab" * 32


def edit(locks, **changes):
    path = locks._file(KEY)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_claim_excludes_others_until_it_is_released(tmp_path):
    first, second = Locks(tmp_path), Locks(tmp_path)
    assert first.take(KEY)
    assert not second.take(KEY)
    assert not first.take(KEY)
    first.release(KEY)
    assert second.take(KEY)


def test_file_systems_without_hard_links(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(module.os, "link", refuse)
    first, second = Locks(tmp_path), Locks(tmp_path)
    assert first.take(KEY)
    assert not second.take(KEY)
    first.release(KEY)
    assert second.take(KEY)


def test_a_claim_of_a_dead_process_is_void(tmp_path):
    code = f"from runners.locks import Locks; assert Locks({str(tmp_path)!r}).take({KEY!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    locks = Locks(tmp_path)
    assert locks._file(KEY).exists()
    assert locks.take(KEY)


def test_a_pid_that_is_used_again_is_another_process(tmp_path):
    locks = Locks(tmp_path)
    locks.take(KEY)
    edit(locks, start=1)
    assert locks.take(KEY)


def test_another_machine_is_alive_as_long_as_its_heart_beats(tmp_path, monkeypatch):
    locks = Locks(tmp_path)
    locks.take(KEY)
    edit(locks, host="elsewhere", pid=1, start=1)
    assert not locks.take(KEY)
    silent = time.time() - module._SILENT_SECONDS - 5
    os.utime(locks._file(KEY), (silent, silent))
    assert locks.take(KEY)


def test_the_heart_beats(tmp_path, monkeypatch):
    locks = Locks(tmp_path)
    locks.take(KEY)
    os.utime(locks._file(KEY), (1, 1))
    locks.beat(KEY)
    assert locks._file(KEY).stat().st_mtime == 1  # too soon
    monkeypatch.setattr(module, "_BEAT_SECONDS", 0.0)
    locks.beat(KEY)
    assert locks._file(KEY).stat().st_mtime > 1


def test_a_claim_that_was_taken_over_is_not_released(tmp_path):
    locks = Locks(tmp_path)
    locks.take(KEY)
    edit(locks, host="elsewhere")
    locks.release(KEY)
    assert locks._file(KEY).exists()


def test_a_claim_cut_short_by_a_power_failure_is_void(tmp_path):
    locks = Locks(tmp_path)
    locks._file(KEY).write_text('{"host": ')
    assert locks.take(KEY)


@pytest.mark.parametrize("stale", [False, True])
def test_processes_in_a_race_get_each_experiment_once(tmp_path, stale):
    """Several processes take all of 100 locks, which may be there already from a dead one."""
    keys = [f"{i:032x}" for i in range(100)]
    if stale:
        code = f"""
from runners.locks import Locks
locks = Locks({str(tmp_path)!r})
assert all([locks.take(f"{{i:032x}}") for i in range(100)])
"""
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    code = f"""
import sys, time
from pathlib import Path
from runners.locks import Locks
locks = Locks({str(tmp_path)!r})
Path({str(tmp_path)!r}, "ready-" + sys.argv[1]).touch()
while not Path({str(tmp_path)!r}, "go").exists():
    pass
print(*[i for i in range(100) if locks.take(f"{{i:032x}}")])
sys.stdout.flush()
time.sleep(60)  # a lock holds only while its maker lives
"""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(i)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for i in range(3)
    ]
    while len(list(tmp_path.glob("ready-*"))) < 3:
        time.sleep(0.01)
    (tmp_path / "go").touch()
    taken = []
    for racer in racers:
        taken += racer.stdout.readline().split()
    for racer in racers:
        racer.kill()
        racer.communicate()
    assert sorted(map(int, taken)) == list(range(len(keys)))
