"""Cells on a small table of our own, and the command line run in this process."""

import copy

import numpy as np
import pytest

from results.records.record import targets
from runners import app, launcher
from runners.experiment import Cell
from runners.isolation.pool import Pool
from runners.own_code import own_code
from tests.faults.sandbox import CONF, Sandbox
from tests.faults.scenarios import SCENARIOS

TARGET = "tests.faults.detectors."


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """Return a CSV file with 120 rows, 10 of them abnormal."""
    return Sandbox(tmp_path_factory.mktemp("table")).data


@pytest.fixture
def make_cell(table, tmp_path):
    """Return a function that makes a cell: its algorithm, and changes to its configuration."""

    def make(target="Healthy", n_splits=3, output=None, name=None, timeout=20.0, **runner):
        algorithm = {"_target_": TARGET + target if "." not in target else target}
        config = {
            "dataset": {
                "name": "table",
                "path": str(table),
                "target": "label",
                "anomalies": ["odd"],
            },
            "algorithm": algorithm,
            "setting": {"name": "novelty", "anomalies_in_train": False},
            "protocol": {
                "name": "clean",
                "cap": {"ratio": 0.1},
                "metrics": ["roc_auc"],
            },
            "runner": {
                "backend": "threads",
                "n_jobs": 1,
                "threads_per_experiment": 1,
                "memory_limit_gb": None,
                "run_all_splits": False,
                "retry": None,
                "preparation_timeout": 600.0,  # kernels may have to be compiled
                "keep_scores": False,
                "progress": "none",
            }
            | runner,
            "data": {"home": None},
            "n_splits": n_splits,
            "timeout": timeout,
            "seed": 0,
            "output": str(output or tmp_path / "output"),
            "allow_labels": False,
        }
        code = own_code(targets(config)).digest
        return Cell(name or target.rpartition(".")[2].lower(), "", copy.deepcopy(config), code=code)

    return make


@pytest.fixture
def composed(monkeypatch):
    """Return a function that runs the command line up to the grid, and returns its cells."""
    cells = []

    def run_grid(given):
        cells.extend(given)
        return app.Summary()

    monkeypatch.setattr(app, "run_grid", run_grid)
    monkeypatch.setattr(launcher, "run_grid", run_grid)
    # No worker is started, and those of other tests can go on.
    monkeypatch.setattr(app, "POOL", Pool())

    def compose(*arguments):
        cells.clear()
        assert app.main(["--config-dir", str(CONF), *arguments]) == 0
        return list(cells)

    return compose


@pytest.fixture(params=[0, 1])
def rng(request):
    return np.random.default_rng(request.param)


@pytest.fixture
def refusal(tmp_path, capsys):
    """Return a function that returns the single line that a command line is refused with."""

    def refuse(*arguments):
        assert app.main([*arguments, f"output={tmp_path / 'output'}"]) == app.USAGE_ERROR
        said = capsys.readouterr()
        assert said.out == ""
        assert not (tmp_path / "output").exists()
        [line] = said.err.splitlines()
        return line

    return refuse


@pytest.fixture
def own_group(tmp_path):
    """Return a function that writes a YAML file of a user's group, and the override to find it."""

    def write(name, text):
        path = tmp_path / "mine" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return f"hydra.searchpath=[file://{tmp_path / 'mine'}]"

    return write


@pytest.fixture
def survives(tmp_path):
    """Return a function that goes through a scenario of `make faults`."""

    def go_through(name):
        _, scenario = SCENARIOS[name]
        try:
            findings = scenario(tmp_path)
        except PermissionError as error:
            pytest.skip(str(error))
        assert findings.problems == []
        assert findings.seen

    return go_through
