"""What `make` does with the exit statuses of what it runs."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("status", "printed"), [(0, True), (1, True), (2, False), (3, True), (130, True)]
)
def test_make_benchmark_prints_tables_unless_nothing_was_begun(tmp_path, status, printed):
    """Status 2 says that the command line or the configuration is wrong."""
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n[ "$2" = results ] || exit {status}\n'
    )
    python.chmod(0o755)
    command = ["make", "benchmark", f"PY={python}", f"INSTALLED={python}", "GRID=paper"]
    done = subprocess.run(
        [*command, f"OUTPUT={tmp_path}/out", "ARGS=n_splits=3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    # make itself ends with 2 whatever a recipe ended with.
    assert done.returncode == (2 if status else 0)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0] == f"-m runners grid=paper output={tmp_path}/out n_splits=3"
    assert calls[1:] == ([f"-m results tables --output {tmp_path}/out"] if printed else [])
    if status:
        assert f"Error {status}" in done.stderr
