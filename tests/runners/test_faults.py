"""Detectors that misbehave, all of `make faults` on one grid.

`make faults` gives each a grid of its own. What goes wrong around a run is in `test_faults_*.py`: in
files of their own, since a file is the work of one process.
"""

from tests.faults.scenarios import DETECTORS, misbehaving


def test_every_detector_fault_gets_its_status_and_the_rest_of_the_grid_is_complete(tmp_path):
    findings = misbehaving(*DETECTORS)(tmp_path)
    assert findings.problems == []
    assert len(findings.seen) > len(DETECTORS)
