"""How command lines end: one line on standard error and status 2, whatever is wrong."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf.errors import ConfigKeyError

from datasets.command import carried_out
from datasets.errors import DataError, UsageError

ROOT = Path(__file__).resolve().parents[2]


def failing(error):
    def work():
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UsageError("no such thing"), "no such thing"),
        (DataError("no label"), "no label"),
        (ConfigKeyError("no key"), "no key"),
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.csv"),
            "a.csv: No space left on device",
        ),
        (OSError("odd"), "error: odd"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(error, said, capsys):
    assert carried_out(failing(error)) == 2
    found = capsys.readouterr()
    assert (found.out.strip(), found.err) == ("", f"{said}\n")


def test_other_errors_are_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        carried_out(failing(ZeroDivisionError()))


def test_what_is_fine_has_the_status_of_its_work(capsys):
    assert carried_out(lambda: print("x") or 1) == 1
    assert capsys.readouterr() == ("x\n", "")


_PRINTS = """
import sys
from datasets.command import carried_out
def work():
    for _ in range(100_000):
        print("caf\\xe9")
    return 0
sys.exit(carried_out(work))
"""


@pytest.mark.parametrize(
    ("redirection", "status", "said"),
    [
        ("| head -n 1 >/dev/null; exit ${PIPESTATUS[0]}", 141, ""),
        (">&-", 0, ""),
        (">/dev/full", 2, "standard output: No space left on device\n"),
        (">/dev/null", 0, ""),
    ],
)
def test_standard_output_may_be_left_closed_full_or_narrow(redirection, status, said):
    done = subprocess.run(
        ["bash", "-c", f'"$0" -c "$1" {redirection}', sys.executable, _PRINTS],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", said)
