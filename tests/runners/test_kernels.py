"""Kernels older than their sources go, wherever numba keeps them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import _CacheLocator

from runners.kernels import ROOT, drop_stale_kernels


@pytest.fixture
def package(tmp_path):
    """Return a package of two modules with one compiled kernel each, older and newer."""
    cache = tmp_path / "sub" / "__pycache__"
    cache.mkdir(parents=True)
    for path, time in (
        (tmp_path / "caller.py", 100),
        (tmp_path / "sub" / "callee.py", 100),
        (cache / "caller.grow-1.py311.nbi", 200),
        (cache / "caller.grow-1.py311.1.nbc", 200),
    ):
        path.write_text("")
        os.utime(path, (time, time))
    return tmp_path


def test_kernels_newer_than_all_sources_stay(package):
    assert drop_stale_kernels([package]) == 0
    assert len(list(package.rglob("*.nb?"))) == 2


@pytest.mark.parametrize("module", ["caller.py", "sub/callee.py"])
def test_a_newer_module_drops_all_kernels_of_its_package(package, module):
    os.utime(package / module, (300, 300))
    assert drop_stale_kernels([package]) == 2
    assert not list(package.rglob("*.nb?"))
    assert len(list(package.rglob("*.py"))) == 2


def test_a_newer_module_drops_the_kernels_of_a_package_that_may_call_it(package, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "called.py").write_text("")
    os.utime(other / "called.py", (300, 300))
    assert drop_stale_kernels([other, package]) == 2


@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "temporary", "user"])
def test_kernels_that_are_kept_elsewhere_are_dropped_too(
    package, tmp_path_factory, monkeypatch, place
):
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    if place == "temporary":
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        folder = folder / f"ocrf-kernels-{os.getuid()}"
    else:
        monkeypatch.setenv("NUMBA_CACHE_DIR" if place != "user" else "XDG_CACHE_HOME", str(folder))
        folder = folder / "numba" if place == "user" else folder
    subpath = _CacheLocator.get_suitable_cache_subpath(str(package / "sub" / "callee.py"))
    kernel = folder / subpath / "callee.grow-1.py311.1.nbc"
    kernel.parent.mkdir(parents=True)
    kernel.write_text("")
    other = folder / "another_0" / "x.nbc"
    other.parent.mkdir()
    other.write_text("")
    os.utime(kernel, (50, 50))
    assert drop_stale_kernels([package]) == 1
    assert not kernel.exists()
    assert other.exists()


def test_kernels_that_cannot_be_removed_are_left_to_numba(package, monkeypatch):
    """It takes nothing from a folder that it cannot write to."""

    def refuse(*_, **__):
        raise PermissionError(13, "Read-only file system")

    os.utime(package / "caller.py", (300, 300))
    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    assert drop_stale_kernels([package]) == 0


def test_kernels_that_another_run_deletes_meanwhile(package, monkeypatch):
    listed = [*package.rglob("*.nb?")]
    os.utime(package / "caller.py", (300, 300))
    for path in listed:
        path.unlink()
    glob = Path.glob

    def late(self, pattern, **options):
        # Newer Pythons look for sources, below a folder, by the same method.
        return iter(listed) if ".nb" in str(pattern) else glob(self, pattern, **options)

    monkeypatch.setattr(Path, "glob", late)
    assert drop_stale_kernels([package]) == 0


_NOWHERE = """
import importlib, pkgutil, numba.core.caching as caching
caching.CacheImpl._locator_classes = [caching.UserProvidedCacheLocator]
for name in ("ocrf", "baselines", "datasets", "results.metrics", "results.records"):
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""


def test_every_module_can_be_imported_where_numba_can_write_nowhere(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, "-c", _NOWHERE],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("RuntimeWarning") == 1


def test_a_package_without_kernels(tmp_path):
    (tmp_path / "module.py").write_text("")
    assert drop_stale_kernels([tmp_path]) == 0
    assert drop_stale_kernels([tmp_path / "nowhere"]) == 0
