"""The same grid on Dask workers and through submitit: the same metrics, to the last bit."""

import importlib.metadata
import json
import shutil
import subprocess
import sys
from dataclasses import replace

import cloudpickle
import pytest

from datasets.errors import UsageError
from results.records.store import RecordStore
from runners import cluster
from runners import dask as dask_module
from runners.cluster import Needs
from tests.faults.sandbox import Sandbox


def metrics(sandbox):
    return {
        record.key: (record.status, record.metrics, record.curves.encoded)
        for record in RecordStore(sandbox.output / "records")
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    sandbox = Sandbox(tmp_path_factory.mktemp("reference"))
    assert sandbox.run("algorithm=draws,raises", "n_splits=2", n_jobs=1).status == 1
    return metrics(sandbox)


@pytest.mark.parametrize(
    ("overrides", "n_jobs"),
    [
        (["runner=dask"], 2),
        (["hydra/launcher=submitit_local", "hydra.launcher.timeout_min=5"], 1),
        (["hydra/launcher=basic"], 1),
    ],
    ids=["dask", "submitit", "basic"],
)
def test_metrics_do_not_depend_on_where_they_were_made(tmp_path, reference, overrides, n_jobs):
    sandbox = Sandbox(tmp_path)
    finished = sandbox.run("algorithm=draws,raises", "n_splits=2", *overrides, n_jobs=n_jobs)
    # A failure reaches the exit status from wherever it happened.
    assert finished.status == 1, finished.output
    assert "2 ok, 0 NA (timeout), 2 failed, 0 left" in finished.output
    assert dict(sandbox.statuses("draws")) == {"ok": 2}
    assert dict(sandbox.statuses("raises")) == {"error": 2}
    # The path of the data differs between the folders, and with it the keys.
    assert sorted(map(repr, metrics(sandbox).values())) == sorted(map(repr, reference.values()))
    assert sandbox.left_behind() == 0


LACKING = [
    ({}, None),
    ({"root": "/nowhere"}, "the code is not in /nowhere"),
    ({"probe": None}, None),
    ({"home": "/nowhere"}, "the data home /nowhere does not exist"),
    ({"probe": "/nowhere/probe"}, "the record store /nowhere is not shared"),
    ({"python": "2.7"}, "instead of 2.7"),
    ({"versions": {"numpy": "1.0"}}, "numpy .* instead of 1.0"),
    ({"versions": {"no-such-package": "1.0"}}, "no-such-package is not installed"),
]


@pytest.fixture(scope="module")
def found():
    """Return the problems that a process finds that has the needs by value and not the code."""
    needs = Needs(
        root=str(dask_module.ROOT),
        python=cluster.python(),
        versions={"numpy": importlib.metadata.version("numpy")},
        probe=__file__,
    )
    cloudpickle.register_pickle_by_value(cluster)
    try:
        sent = cloudpickle.dumps([replace(needs, **changes).problems for changes, _ in LACKING])
    finally:
        cloudpickle.unregister_pickle_by_value(cluster)
    code = (
        "import json, pickle, sys; "
        "checks = pickle.load(sys.stdin.buffer); "
        "assert 'runners' not in sys.modules; "
        "print(json.dumps([problems() for problems in checks]))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=sent, capture_output=True, cwd="/", check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(("number", "problem"), list(enumerate(words for _, words in LACKING)))
def test_what_a_worker_lacks_is_named(found, number, problem):
    problems = found[number]
    if problem is None:
        assert problems == []
    else:
        with pytest.raises(AssertionError, match=problem):
            raise AssertionError(*problems)


def test_a_scheduler_that_does_not_answer_is_said(monkeypatch, make_cell):
    monkeypatch.setattr(dask_module, "_CONNECT_SECONDS", 0.5)
    settings = {"scheduler": "tcp://127.0.0.1:9", "n_jobs": 1, "threads_per_experiment": 1}
    with (
        pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        dask_module.backend(settings, make_cell().config, None),
    ):
        pass


@pytest.mark.parametrize(
    ("override", "launcher", "words"),
    [
        ("algorithm=iforest,no_such", "submitit_local", "Could not find 'algorithm/no_such'"),
        ("n_splits=0", "submitit_local", "n_splits must be at least 1"),
        pytest.param(
            *("n_splits=1", "submitit_slurm", "srun is not found here"),
            marks=pytest.mark.skipif(shutil.which("srun") is not None, reason="there is a srun"),
        ),
    ],
)
def test_nothing_is_handed_to_other_launchers_that_cannot_run(
    tmp_path, refusal, table, override, launcher, words
):
    data = (f"data.path={table}", "data.target=label", "data.anomalies=[odd]")
    line = refusal("-m", "dataset=custom", *data, override, f"hydra/launcher={launcher}")
    assert words in line
    assert not list(tmp_path.rglob(".submitit"))
