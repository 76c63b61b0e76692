"""Runs whose files are full, damaged, shared, edited or wrong."""

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "full disk",
        "two runs at once",
        "corrupted record",
        "records of odd values",
        "edited code",
        "missing class",
        "column of text",
        "shadowed name",
    ],
)
def test_runs_survive(survives, name):
    survives(name)
