"""Elsewhere than on Linux the harness stops with one sentence."""

import subprocess
import sys

import pytest

from runners.app import ROOT


@pytest.mark.parametrize("platform", ["darwin", "win32"])
@pytest.mark.parametrize("module", ["runners", "runners.check"])
def test_other_systems_are_told_in_one_sentence(platform, module):
    code = f"import runpy, sys; sys.platform = {platform!r}; runpy.run_module({module!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("The benchmark runs on Linux only")
    assert done.stdout == ""
