"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_home() -> Path:
    """Return the folder of all twelve data sets, or skip the test that needs it."""
    home = os.environ.get("OCRF_DATA_HOME")
    if not home:
        pytest.skip("OCRF_DATA_HOME is not set: the twelve data sets are not at hand")
    return Path(home)
