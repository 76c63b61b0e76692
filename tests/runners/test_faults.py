"""The fault tests of `python -m tests.faults`, as far as time allows: one grid with all detectors.

`make faults` does all of them, each on a grid of its own.
"""

import pytest

from tests.faults.scenarios import DETECTORS, SCENARIOS, misbehaving


def test_every_detector_fault_gets_its_status_and_the_rest_of_the_grid_is_complete(tmp_path):
    findings = misbehaving(*DETECTORS)(tmp_path)
    assert findings.problems == []
    assert len(findings.seen) > len(DETECTORS)


@pytest.mark.parametrize(
    "name",
    [
        "kill -9 of the runner",
        "kill -9 of a Dask worker",
        "Ctrl-C",
        "SIGTERM",
        "full disk",
        "two runs at once",
        "corrupted record",
        "records of odd values",
        "stopped worker",
        "edited code",
        "missing class",
        "column of text",
        "shadowed name",
    ],
)
def test_runs_survive(tmp_path, name):
    _, scenario = SCENARIOS[name]
    try:
        findings = scenario(tmp_path)
    except PermissionError as error:
        pytest.skip(str(error))
    assert findings.problems == []
    assert findings.seen
