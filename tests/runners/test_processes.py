"""What is known about processes, and how they are ended."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from runners.isolation import processes
from tests.faults.sandbox import ROOT, wait_for


def python(code, **options):
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, text=True, **options)


def test_start_times_name_processes():
    assert processes.start_time(os.getpid()) == processes.start_time(os.getpid())
    child = python("import time; time.sleep(60)")
    try:
        assert processes.start_time(child.pid) is not None
        assert child.pid in processes.descendants(os.getpid())
    finally:
        child.kill()
    # Not waited for yet: a zombie runs no more.
    assert wait_for(lambda: processes.start_time(child.pid) is None)
    child.wait()
    assert processes.start_time(child.pid) is None
    assert processes.children(child.pid) == []
    assert processes.resident(child.pid) == 0
    assert processes.wait_until_dead(child.pid, 0)


def test_memory_of_a_process_and_its_children():
    code = """
import os, sys, time
import numpy as np
from runners.isolation import processes
print(*processes.memory_of(os.getpid()), flush=True)
shared = np.ones(50 << 17)  # 50 MiB before the fork, held by both
if os.fork() == 0:
    own = np.ones(30 << 17)
    print("ready", flush=True)
time.sleep(60)
"""
    parent = python(code, stdout=subprocess.PIPE)
    try:
        start = tuple(map(int, parent.stdout.readline().split()))
        parent.stdout.readline()
        memory = processes.Memory(parent.pid, start)
        assert 78 < memory.grown() / (1 << 20) < 95
        processes.kill(processes.children(parent.pid))
        assert wait_for(lambda: 48 < memory.grown() / (1 << 20) < 60)
    finally:
        processes.kill([*processes.descendants(parent.pid), parent.pid])
        parent.communicate()


def test_peak_memory_is_that_since_the_reset():
    code = """
import numpy as np
from runners.isolation import processes
a = np.ones(100 << 17); del a
processes.reset_peak()
held = processes.peak()
b = np.ones(40 << 17); del b
print((processes.peak() - held) >> 20)
"""
    out, _ = python(code, stdout=subprocess.PIPE).communicate()
    assert 39 <= int(out) <= 45


def test_detached_descendants_are_killed():
    code = """
import os, signal, time
from runners.isolation import processes
processes.become_subreaper()
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
time.sleep(0.3)
print(len(processes.descendants(os.getpid())))
processes.kill_descendants()
print(len(processes.descendants(os.getpid())))
"""
    out, _ = python(code, stdout=subprocess.PIPE).communicate()
    # Three that detached themselves, and three whose children they were, not yet waited for.
    assert out.split() == ["6", "0"]


def test_marked_processes_are_found():
    child = python("import time; time.sleep(60)", env=os.environ | {"OCRF_TEST_MARK": "x1"})
    environment = Path(f"/proc/{child.pid}/environ")
    assert wait_for(lambda: b"OCRF_TEST_MARK=x1" in environment.read_bytes())
    processes.kill_marked("OCRF_TEST_MARK", "x2")
    assert child.poll() is None
    processes.kill_marked("OCRF_TEST_MARK", "x1")
    assert child.wait() == -9


def test_a_process_dies_with_its_parent():
    code = """
import os, time
from runners.isolation import processes
parent = os.getpid()
child = os.fork()
if child == 0:
    processes.die_with_parent(parent)
    print(os.getpid(), flush=True)
time.sleep(600)
"""
    parent = python(code, stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    assert wait_for(lambda: processes.start_time(child) is None)


@pytest.mark.parametrize("touched", [False, True])
def test_reserved_memory_is_not_resident(touched):
    before = processes.resident(os.getpid())
    block = np.empty(64 << 17)
    if touched:
        block[:] = 1.0
    grown = (processes.resident(os.getpid()) - before) / (1 << 20)
    assert (grown > 60) is touched
    del block
