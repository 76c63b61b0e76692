"""Provenance says with what a record was made, and nothing about where."""

import importlib.metadata
import json
import socket
import subprocess

import numpy
import pytest

from runners import provenance as module
from runners.provenance import provenance


def test_provenance_names_code_versions_and_hardware():
    made = provenance(threads=2, config={"algorithm": {"_target_": "sklearn.svm.OneClassSVM"}})
    assert made["versions"]["numpy"] == numpy.__version__
    assert made["versions"]["python"].startswith("3.")
    assert made["threads"]["OPENBLAS_NUM_THREADS"] == "2"
    assert made["cores"] >= 1
    assert made["memory_gb"] > 0
    assert made["cpu"]
    assert made["os"].startswith("Linux")
    assert made["started"].endswith("+00:00")


def test_a_variable_that_chooses_the_processor_is_part_of_its_name(monkeypatch):
    for name in module.PROCESSOR_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    module._machine.cache_clear()
    plain = provenance(1)["cpu"]
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    module._machine.cache_clear()
    assert provenance(1)["cpu"] == f"{plain}, OPENBLAS_CORETYPE=Haswell"
    module._machine.cache_clear()


def test_provenance_names_no_machine():
    assert socket.gethostname() not in json.dumps(provenance(1)) or len(socket.gethostname()) < 4
    assert str(module.ROOT) not in json.dumps(provenance(1))


@pytest.mark.parametrize(
    ("target", "package"),
    [("psutil.Process", "psutil"), ("ocrf.OneClassRF", None), ("sklearn.svm.OneClassSVM", None)],
)
@pytest.mark.parametrize("nested", [False, True])
def test_the_version_of_a_detector_from_elsewhere_is_added(target, package, nested):
    algorithm = {"_target_": target}
    if nested:
        algorithm = {"_target_": "sklearn.pipeline.Pipeline", "steps": [["x", algorithm]]}
    made = provenance(1, {"algorithm": algorithm})
    extra = set(made["versions"]) - set(provenance(1)["versions"])
    assert extra == ({package} if package else set())


def test_modules_belong_to_the_packages_that_the_standard_library_names():
    belongs = importlib.metadata.packages_distributions()
    for name in belongs.keys() & {"sklearn", "yaml", "hydra", "six", "ocrf", "numpy", "_pytest"}:
        package = belongs[name][0]
        assert module._version_of(name) == (package, importlib.metadata.version(package))
    assert module._version_of("nothing") is None


def test_a_commit_is_dirty_when_a_tracked_file_differs(tmp_path, monkeypatch):
    def git(*arguments):
        identity = ("-c", "user.name=n", "-c", "user.email=e")
        subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True
        )

    monkeypatch.setattr(module, "ROOT", tmp_path)
    module._commit.cache_clear()
    assert module._commit() == {"commit": None, "dirty": None}
    git("init")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-m", "first")
    (tmp_path / "untracked").write_text("2")
    module._commit.cache_clear()
    assert module._commit()["dirty"] is False
    assert len(module._commit()["commit"]) == 40
    (tmp_path / "file").write_text("3")
    module._commit.cache_clear()
    assert module._commit()["dirty"] is True
    module._commit.cache_clear()
