"""Compiled code is used with the sources that it was made from, and with no others."""

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from ocrf.kernels.cache import sources_digest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("baselines", "datasets", "ocrf")

CALLER = """
from ocrf.kernels import kernel
from parcel.{callee} import answer

@kernel
def ask():
    return answer()
"""
CALLEE = """
from ocrf.kernels import {decorator}

@{decorator}
def answer():
    return {answer}
"""
USER = "from parcel.caller import ask; print(ask(), sum(ask.stats.cache_hits.values()))"


def run(code, folder, **environment):
    """Run code in a new process that finds the packages of a folder."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def parcel(tmp_path):
    """Return a package whose kernel calls that of a sub-package.

    Beside it lies an ``ocrf`` of this room alone, which imports in half of the time.
    """
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ocrf" / "kernels", tmp_path / "ocrf" / "kernels", ignore=ignored)
    (tmp_path / "ocrf" / "__init__.py").write_text("")
    package = tmp_path / "parcel"
    (package / "sub").mkdir(parents=True)
    for path in (package / "__init__.py", package / "sub" / "__init__.py"):
        path.write_text("")
    (package / "caller.py").write_text(CALLER.format(callee="sub.callee"))
    write_answer(package, 1)
    return package


def write_answer(package, answer, decorator="kernel"):
    """Write the module of what is called, always with the same times."""
    path = package / "sub" / "callee.py"
    path.write_text(CALLEE.format(answer=answer, decorator=decorator))
    os.utime(path, (10, 10))


def asked(parcel, **environment):
    """Return the answer of a new process, and how often it was found compiled."""
    done = run(USER, parcel.parent, PYTHONDONTWRITEBYTECODE="1", **environment)
    assert done.returncode == 0, done.stderr
    return tuple(map(int, done.stdout.split()))


def kernels(folder):
    """Return the files of compiled code below a folder."""
    return {path.name for path in folder.rglob("*.nb[ci]") if path.name.startswith("caller.ask")}


@pytest.mark.parametrize(
    ("place", "decorator"), [("package", "inner_kernel"), ("elsewhere", "kernel")]
)
def test_code_is_compiled_anew_when_what_it_calls_changes(parcel, tmp_path, place, decorator):
    folder = parcel if place == "package" else tmp_path / "chosen"
    environment = {} if place == "package" else {"NUMBA_CACHE_DIR": str(folder)}
    write_answer(parcel, 1, decorator)
    assert asked(parcel, **environment) == (1, 0)
    assert asked(parcel, **environment) == (1, 1)
    before = kernels(folder)
    assert len(before) == 2
    write_answer(parcel, 2, decorator)
    assert asked(parcel, **environment) == (2, 0)
    assert asked(parcel, **environment) == (2, 1)
    after = kernels(folder)
    assert len(after) == 2  # those of the old sources are gone
    assert not before & after


def test_files_that_cannot_be_removed_stay(parcel):
    """As files of another user would; here a folder has the name of one."""
    (parcel / "__pycache__" / "other.nbc").mkdir(parents=True)
    assert asked(parcel) == (1, 0)
    assert (parcel / "__pycache__" / "other.nbc").exists()


@pytest.fixture
def digest_of(monkeypatch):
    """Return a function that makes the digest of the package in a folder anew."""

    def digest(folder):
        package = types.ModuleType(folder.name)
        package.__path__ = [str(folder)]
        monkeypatch.setitem(sys.modules, folder.name, package)
        return sources_digest.__wrapped__(folder.name)

    return digest


def test_the_digest_names_all_sources_and_nothing_else(parcel, digest_of):
    first = digest_of(parcel)
    os.utime(parcel / "caller.py", (20, 20))
    (parcel / "notes.txt").write_text("no source")
    assert digest_of(parcel) == first
    (parcel / "sub" / "new.py").write_text("")
    second = digest_of(parcel)
    (parcel / "sub" / "new.py").rename(parcel / "sub" / "renamed.py")
    assert len({first, second, digest_of(parcel)}) == 3


def test_the_digest_of_a_package_depends_on_ocrf(parcel, digest_of, monkeypatch):
    first = digest_of(parcel)
    monkeypatch.setattr("ocrf.kernels.cache._OCRF", parcel.parent / "ocrf")
    assert digest_of(parcel) != first


def dispatchers(package):
    """Yield each kernel of a package with the module in which a name stands for it."""
    found = importlib.import_module(package)
    for info in pkgutil.walk_packages(found.__path__, f"{package}."):
        if not info.name.endswith("__main__"):
            module = importlib.import_module(info.name)
            for value in vars(module).values():
                if isinstance(value, Dispatcher):
                    yield module, value


@pytest.mark.parametrize("package", PACKAGES)
def test_kernels_call_only_what_their_digest_covers(package):
    found = list(dispatchers(package))
    assert found
    for module, kernel in found:
        origin = kernel.py_func.__module__.partition(".")[0]
        assert origin in {package, "ocrf"}, module
        if isinstance(kernel._cache, FunctionCache):
            index = Path(kernel._cache._cache_file._index_path).name
            assert f".{sources_digest(origin)}." in index


NOWHERE = """
import importlib, pkgutil, numba.core.caching as caching
caching.CacheImpl._locator_classes = [caching.UserProvidedCacheLocator]
for name in ("ocrf", "baselines", "datasets", "results.metrics", "results.records"):
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
"""


def test_every_module_can_be_imported_where_numba_can_write_nowhere(tmp_path):
    done = run(NOWHERE, ROOT, TMPDIR=str(tmp_path), NUMBA_CACHE_DIR="")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("RuntimeWarning") == 1


def test_a_process_in_which_nothing_may_be_compiled_says_so():
    code = "import ocrf; ocrf.OneClassRF(n_estimators=2).fit([[0.0], [1.0], [3.0]])"
    done = run(code, ROOT, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr.splitlines()[-1]
    assert "NUMBA_DISABLE_JIT" in done.stderr.splitlines()[-1]
