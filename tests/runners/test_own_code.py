"""A user's own code belongs to the key: what it consists of, and what it does not."""

import sys
from pathlib import Path

import pytest

from results.records.frame import load_experiments
from results.records.record import targets
from results.records.store import RecordStore
from runners.grid import run_grid
from runners.isolation.pool import POOL
from runners.own_code import _installed_elsewhere, own_code

DETECTOR = """
import numpy as np

class Mine:
    def fit(self, X):
        self.mean = X.mean(axis=0)
        return self

    def score_samples(self, X):
        return -np.linalg.norm(X - self.mean, axis=1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder from which modules are imported, and a function that writes to it."""
    folder = tmp_path / "code"

    def write(name, text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    write("own_main.py", DETECTOR)
    monkeypatch.syspath_prepend(str(folder))
    yield write
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def test_targets_are_found_however_deeply_they_are_nested():
    config = {
        "algorithm": {
            "_target_": "a.A",
            "steps": [["x", {"_target_": "b.B", "inner": {"deep": ({"_target_": "c.C"},)}}]],
        },
        "protocol": {"splitter": {"_target_": "d.D"}},
        "seed": 0,
    }
    assert sorted(targets(config)) == ["a.A", "b.B", "c.C", "d.D"]


@pytest.mark.parametrize(
    "target", ["ocrf.OneClassRF", "baselines.PyODDetector", "sklearn.svm.OneClassSVM", "no.such"]
)
def test_packages_and_this_project_have_no_digest(target):
    assert own_code([target]).digest is None


def test_whatever_the_arguments_of_a_target_may_name_counts():
    getter = {"_target_": "hydra.utils.get_method", "path": "fns.ident"}
    config = {
        "algorithm": {"_target_": "a.A", "fn": getter, "texts": ["auto", "b.f", "1.5", "c..d"]},
        "dataset": {"path": "mine.csv"},
    }
    assert sorted(targets(config)) == ["a.A", "b.f", "fns.ident", "hydra.utils.get_method"]


def test_a_function_that_is_named_by_a_path_belongs_to_the_key(folder):
    folder("own_fns.py", "def ident(x):\n    return x\n")
    getter = {"_target_": "hydra.utils.get_method", "path": "own_fns.ident"}
    named = {"algorithm": {"_target_": "own_main.Mine", "fn": getter}}
    before = own_code(targets(named))
    assert before.modules == ("own_fns", "own_main")
    folder("own_fns.py", "def ident(x):\n    return -x\n")
    assert own_code(targets(named)).digest != before.digest


def test_nothing_is_imported(folder):
    folder("own_loud.py", "raise SystemExit('imported')\n" + DETECTOR)
    assert own_code(["own_loud.Mine"]).modules == ("own_loud",)
    assert "own_loud" not in sys.modules


@pytest.mark.parametrize(
    ("files", "target", "modules"),
    [
        ({}, "own_main.Mine", {"own_main"}),
        ({}, "own_main.Mine.fit", {"own_main"}),
        ({"own_a.py": "import own_b", "own_b.py": ""}, "own_a.A", {"own_a", "own_b"}),
        ({"own_a.py": "from own_b import x", "own_b.py": ""}, "own_a.A", {"own_a", "own_b"}),
        # Imported inside of a function, or by a name in a string.
        ({"own_a.py": "def f():\n  import own_b", "own_b.py": ""}, "own_a.A", {"own_a", "own_b"}),
        (
            {"own_a.py": "import importlib\nimportlib.import_module('own_b')", "own_b.py": ""},
            "own_a.A",
            {"own_a", "own_b"},
        ),
        # Modules that import one another, and one that does not exist.
        (
            {"own_a.py": "import own_b, nowhere", "own_b.py": "import own_a"},
            "own_a.A",
            {"own_a", "own_b"},
        ),
        (
            {
                "own_p/__init__.py": "from .c import z",
                "own_p/a.py": "from . import b\nfrom .sub.d import w",
                "own_p/b.py": "",
                "own_p/c.py": "",
                "own_p/unused.py": "",
                "own_p/sub/__init__.py": "",
                "own_p/sub/d.py": "from .. import e",
                "own_p/e.py": "",
            },
            "own_p.a.A",
            {"own_p", "own_p.a", "own_p.b", "own_p.c", "own_p.sub", "own_p.sub.d", "own_p.e"},
        ),
        # A package without __init__.py.
        (
            {"own_n/a.py": "from own_n import b", "own_n/b.py": ""},
            "own_n.a.A",
            {"own_n.a", "own_n.b"},
        ),
        # The same below a package that has one.
        (
            {"own_p/__init__.py": "", "own_p/sub/a.py": "from . import b", "own_p/sub/b.py": ""},
            "own_p.sub.a.A",
            {"own_p", "own_p.sub.a", "own_p.sub.b"},
        ),
        # What cannot be parsed still has its bytes.
        ({"own_a.py": "def ("}, "own_a.A", {"own_a"}),
    ],
)
def test_a_target_consists_of_what_it_imports(folder, files, target, modules):
    for name, text in files.items():
        folder(name, text)
    found = own_code([target])
    assert set(found.modules) == modules
    for name in files:
        before = own_code([target]).digest
        folder(name, files[name] + "\n# edited\n")
        module = name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        assert (own_code([target]).digest != before) == (module in modules)


@pytest.mark.parametrize("name", ["own_w.txt", "tables/own.npy"])
def test_files_that_own_code_names_belong_to_it(folder, name):
    folder("own_a.py", f"W = open(Path(__file__).parent / {name!r}).read()")
    before = own_code(["own_a.A"])
    folder(name, "1")
    first = own_code(["own_a.A"])
    folder(name, "2")
    assert len({before, first, own_code(["own_a.A"])}) == 3
    folder("own_other.txt", "1")
    folder(name, "1")
    assert own_code(["own_a.A"]) == first


@pytest.mark.parametrize("target", ["own_main.Mine", "sklearn.svm.OneClassSVM"])
def test_files_that_are_arguments_belong_to_own_code_alone(folder, target):
    path = folder("weights.npy", "1")
    named = list(targets({"_target_": target, "weights": str(path), "nowhere": "/no/such.npy"}))
    before = own_code(named).digest
    folder("weights.npy", "2")
    assert (own_code(named).digest != before) == (target == "own_main.Mine")


def test_packages_in_a_folder_of_their_own_are_installed(folder):
    """`pip install --target`: what it lists is named by its version, a module beside it is not."""
    folder("own_pkg/__init__.py", "import own_main")
    folder("own_pkg-1.dist-info/METADATA", "Name: own_pkg\nVersion: 1\n")
    folder("own_pkg-1.dist-info/RECORD", "own_pkg/__init__.py,,\n")
    _installed_elsewhere.cache_clear()
    found = own_code(["own_pkg.A", "own_main.Mine"])
    _installed_elsewhere.cache_clear()
    assert (found.modules, found.packages) == (("own_main",), ("numpy", "own_pkg"))


def test_packages_that_own_code_imports_are_named(folder):
    folder("own_a.py", "import torch_or_not, scipy.stats, os, ocrf\n")
    assert own_code(["own_a.A"]).packages == ("scipy",)


def test_the_same_code_has_the_same_digest_elsewhere(folder, tmp_path, monkeypatch):
    here = own_code(["own_main.Mine"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "own_main.py").write_text(DETECTOR)
    monkeypatch.syspath_prepend(str(elsewhere))
    assert own_code(["own_main.Mine"]) == here


@pytest.fixture(autouse=True, scope="module")
def _close_workers():
    yield
    POOL.close()


@pytest.fixture
def _no_workers():
    POOL.close()
    yield
    POOL.close()


def flipped(text):
    return text.replace("return -np", "return np")


@pytest.mark.usefixtures("_no_workers")
def test_edited_code_is_run_again(folder, make_cell):
    """Two splits, then the sign is flipped, then four splits: no score of the old code is left.

    Of a class that is edited itself, and of one that is imported from what is edited.
    """
    folder("own_help.py", DETECTOR)
    folder("own_other.py", "from own_help import Mine\n")
    targets = {"mine": "own_main.Mine", "other": "own_other.Mine"}
    before = [make_cell(target, n_splits=2, name=name) for name, target in targets.items()]
    assert run_grid(before).statuses == {"ok": 4}
    store = RecordStore(f"{before[0].config['output']}/records")
    old = {(r.algorithm, r.split): r.metrics["roc_auc"] for r in store}
    assert len(old) == 4
    assert min(old.values()) > 0.5

    folder("own_main.py", flipped(DETECTOR))
    folder("own_help.py", flipped(DETECTOR))
    POOL.close()  # another run has other workers
    after = [make_cell(target, n_splits=4, name=name) for name, target in targets.items()]
    summary = run_grid(after)
    assert summary.recorded_before == 0
    assert summary.statuses == {"ok": 8}
    for earlier, cell in zip(before, after, strict=True):
        assert earlier.code != cell.code
        new = [store.get(key) for key in cell.keys]
        assert {record.provenance["code"] for record in new} == {cell.code}
        for record in new:
            assert record.metrics["roc_auc"] < 0.5
            if record.split < 2:
                expected = 1 - old[record.algorithm, record.split]
                assert record.metrics["roc_auc"] == pytest.approx(expected)


SPLITTER = """
class Halves:
    def split(self, X, y=None, groups=None):
        middle = len(X) // 2
        yield range(middle), range(middle, len(X))
        yield range(middle, len(X)), range(middle)
"""


@pytest.mark.usefixtures("_no_workers")
def test_an_edited_splitter_is_told_from_an_edited_algorithm(folder, composed, tmp_path):
    """Tables leave out every algorithm on the earlier splits, whatever else was run on the new."""
    folder("own_cut.py", SPLITTER)
    (tmp_path / "mine" / "protocol").mkdir(parents=True)
    (tmp_path / "mine" / "protocol" / "halves.yaml").write_text(
        "name: halves\ncut: {_target_: own_cut.Halves}\nscaling: {kind: none}\nmetrics: [roc_auc]\n"
    )

    def run(*algorithms):
        cells = [
            cell
            for algorithm in algorithms
            for cell in composed(
                "dataset=pima",
                f"algorithm={algorithm}",
                "setting=outlier",
                "n_splits=2",
                f"hydra.searchpath=[file://{tmp_path / 'mine'}]",
                "protocol=halves",
                "runner.n_jobs=1",
                f"output={tmp_path}/output",
            )
        ]
        assert run_grid(cells).statuses == {"ok": 2 * len(cells)}
        POOL.close()  # another run has other workers
        return Path(cells[0].config["output"]) / "records"

    first = load_experiments(run("iforest", "lof")).frame
    folder("own_cut.py", SPLITTER.replace("// 2", "// 3"))
    experiments = load_experiments(run("lof"))
    assert set(experiments.frame["label"]) == {"lof"}
    assert experiments.frame["code_algorithm"].isna().all()
    assert experiments.frame["code_protocol"].nunique() == 1
    [remark] = experiments.remarks
    assert "left out 4 experiments on another version of the code" in remark
    # Nothing is run again after the change is undone: what was recorded counts.
    folder("own_cut.py", SPLITTER)
    experiments = load_experiments(run("lof"))
    assert sorted(experiments.frame["key"]) == sorted(first["key"])
    [remark] = experiments.remarks
    assert "left out 2 experiments on another version of the code" in remark


@pytest.mark.usefixtures("_no_workers")
def test_code_that_is_edited_while_the_grid_runs_is_no_result(folder, make_cell):
    cell = make_cell("own_main.Mine", n_splits=2, name="mine")
    folder("own_main.py", flipped(DETECTOR))
    assert run_grid([cell]).statuses == {"error": 2}
    records = list(RecordStore(f"{cell.config['output']}/records"))
    assert all("edited after the run had begun" in record.reason for record in records)
    # The same command is another grid now.
    assert run_grid([make_cell("own_main.Mine", n_splits=2, name="mine")]).statuses == {"ok": 2}


def test_everything_is_run_again_on_request(make_cell):
    cell = make_cell(n_splits=2)
    run_grid([cell])
    [first, _] = sorted(RecordStore(f"{cell.config['output']}/records"), key=lambda r: r.split)
    again = make_cell(n_splits=2, retry="all")
    assert again.keys == cell.keys
    summary = run_grid([again])
    assert (summary.recorded_before, summary.statuses) == (0, {"ok": 2})
    [second, _] = sorted(RecordStore(f"{cell.config['output']}/records"), key=lambda r: r.split)
    assert second.metrics == first.metrics
    assert second.provenance["finished"] > first.provenance["finished"]


def test_a_timeout_of_an_earlier_run_skips_nothing_that_is_run_again(make_cell):
    cell = make_cell("Naps", n_splits=2, timeout=0.2)
    cell.config["algorithm"]["fit_seconds"] = 0.3
    assert run_grid([cell]).statuses == {"timeout": 1, "skipped": 1}
    # The machine is quicker now: the same configuration, and so the same keys.
    again = make_cell("Naps", n_splits=2, timeout=0.2, retry="all")
    again.config["algorithm"]["fit_seconds"] = 0.3
    records = {r.split: r for r in RecordStore(f"{cell.config['output']}/records")}
    assert run_grid([again]).statuses == {"timeout": 1, "skipped": 1}
    after = {r.split: r for r in RecordStore(f"{cell.config['output']}/records")}
    timed_out = next(s for s, record in after.items() if record.status == "timeout")
    assert after[timed_out].provenance["finished"] > records[timed_out].provenance["finished"]
