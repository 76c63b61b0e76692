import os

import pytest

from runners.kernels import drop_stale_kernels


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


def test_a_package_without_kernels(tmp_path):
    (tmp_path / "module.py").write_text("")
    assert drop_stale_kernels([tmp_path]) == 0
    assert drop_stale_kernels([tmp_path / "nowhere"]) == 0
