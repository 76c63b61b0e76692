"""Runs whose files are full, damaged, shared, edited or wrong.

These are the cheap ones, and those whose parts no other test looks at: `make faults` goes through all.
"""

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
