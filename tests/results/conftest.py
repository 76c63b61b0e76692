"""Records made from the paper's published numbers, once per session."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from results.output import Output
from tests.results.publications import publisher
from tests.results.support import published_records, with_curves, write_fast


@pytest.fixture(scope="session")
def paper_records():
    return list(published_records())


@pytest.fixture(scope="session")
def scattered_records():
    """The paper's numbers with noise over three splits, with curves."""
    rng = np.random.default_rng(0)
    return [with_curves(record, rng) for record in published_records(3)]


@pytest.fixture(scope="session")
def scattered_store(tmp_path_factory, scattered_records):
    """A store of the scattered records (written without fsync: tests need no durability)."""
    folder = tmp_path_factory.mktemp("run")
    write_fast(folder / "records", scattered_records)
    return folder


@pytest.fixture
def recorder(tmp_path):
    """An output to an empty folder, and what it prints."""
    text = io.StringIO()
    console = Console(file=text, width=200)
    return SimpleNamespace(output=Output(tmp_path, console), text=text)


@pytest.fixture
def publish(tmp_path):
    """Return a maker of publications; see `publisher`."""
    return publisher(tmp_path)
