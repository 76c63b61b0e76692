"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from runners.kernels import drop_stale_kernels

# No test bounds wall-clock time: a machine may be busy.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Test the kernels as they are written, not as they were compiled once."""
    if not hasattr(config, "workerinput"):  # once, not in every process of pytest-xdist
        drop_stale_kernels()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest.

    The last file of a run is one worker's alone, and the tests of faults take minutes.
    """
    items.sort(key=lambda item: item.path.name != "test_faults.py")


@pytest.fixture(scope="session")
def data_home() -> Path:
    """Return the folder of all twelve data sets, or skip the test that needs it."""
    home = os.environ.get("OCRF_DATA_HOME")
    if not home:
        pytest.skip("OCRF_DATA_HOME is not set: the twelve data sets are not at hand")
    return Path(home)
