"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# Until everything is imported and collected, the garbage collector would go through a million objects
# that stay, again and again.
gc.disable()

# No test bounds wall-clock time: a machine may be busy.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


#: Files that take long. Of three workers each takes one of the first three, then one of the next
#: three: the first one compiles all kernels, while the others have work that needs none; otherwise
#: they would compile the same kernels at the same time.
_LONGEST = (
    "ocrf/test_compiling.py",
    "results/test_published_run.py",
    "results/test_report.py",
    "baselines/test_conformance.py",
    "results/test_input.py",
    "results/test_figures.py",
    "runners/test_faults_processes.py",
    "runners/test_faults.py",
    "runners/test_faults_files.py",
    "runners/test_scale_out.py",
    "runners/test_sweeps.py",
    "runners/test_worker.py",
    "runners/test_grid.py",
    "runners/test_own_code.py",
    "runners/test_speed.py",
    "results/test_sentences.py",
    "runners/test_names.py",
    "results/test_pack.py",
    "runners/test_replay.py",
    "results/test_benchmarks_document.py",
    "ocrf/test_cache.py",
    "runners/test_configuration.py",
    "datasets/test_openml.py",
    "datasets/test_home.py",
    "ocrf/test_growing.py",
    "baselines/test_random_inputs.py",
    "results/test_ablations.py",
    "datasets/test_cli.py",
    "datasets/test_uci.py",
    "results/test_reproduction.py",
    "runners/test_scores.py",
    "runners/test_theory_figures.py",
    "baselines/test_pyod_detector.py",
    "results/test_definitions.py",
    "runners/test_commands.py",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: the last file of a run is one worker's alone."""
    order = {name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: order.get("/".join(item.path.parts[-2:]), len(order)))


def pytest_collection_finish() -> None:
    """Save processor time, now that everything is imported."""
    # The workers of a test run compete, and threads of linear algebra spin while they wait: the
    # runner holds them to one as well.
    threadpool_limits(1)
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def data_home() -> Path:
    """Return the folder of all twelve data sets, or skip the test that needs it."""
    home = os.environ.get("OCRF_DATA_HOME")
    if not home:
        pytest.skip("OCRF_DATA_HOME is not set: the twelve data sets are not at hand")
    return Path(home)
