"""Runs whose files are full, damaged, shared, edited or wrong."""

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "full disk",
        "two runs at once",
        "damaged records",
        "edited code",
        "missing class",
        "column of text",
        "shadowed name",
    ],
)
def test_runs_survive(survives, name):
    survives(name)
