"""Runs whose processes are killed, stopped or told to end."""

import pytest


@pytest.mark.parametrize(
    "name",
    ["kill -9 of the runner", "kill -9 of a Dask worker", "Ctrl-C", "SIGTERM", "stopped worker"],
)
def test_runs_survive(survives, name):
    survives(name)
