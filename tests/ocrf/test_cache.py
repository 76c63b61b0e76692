"""Where compiled code is kept if neither the package nor the home folder can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ocrf

NOBODY = 65534
CODE = """
import sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import numpy as np
    from ocrf._growing.sampling import sample_rows
print(sample_rows(np.uint64(1), 10, 3).tolist())
print(sum(sample_rows.stats.cache_hits.values()))
for warning in caught:
    print(warning.category.__name__, warning.message)
"""


# Another user without a home, who may read all of this installation and write to none of it.
OTHER_USER = [
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
]
AS_ROOT = os.getuid() == 0 if hasattr(os, "getuid") else False


def _is_possible():
    if not hasattr(os, "getuid"):
        return False
    if not AS_ROOT:
        return True
    try:
        return subprocess.run([*OTHER_USER, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not _is_possible(), reason="needs another user (setpriv)")


@pytest.fixture
def unwritable(tmp_path):
    """Return a folder with a read-only copy of the package, without compiled code."""
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(ocrf.__file__).parent, site / "ocrf", ignore=ignored)
    rooms = [site / "ocrf", *filter(Path.is_dir, site.joinpath("ocrf").iterdir())]
    for room in rooms:
        room.chmod(0o555)
    yield site
    for room in rooms:
        room.chmod(0o755)


def sample(site, **environment):
    """Import the package in a process that may write neither to it nor to a home folder."""
    done = subprocess.run(
        [*(OTHER_USER if AS_ROOT else []), sys.executable, "-c", CODE],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
        | ({} if AS_ROOT else {"XDG_CACHE_HOME": str(site / "ocrf" / "cache")})
        | environment,
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def kernels_alone(unwritable):
    """Return the folder with a package that imports nothing by itself: half of the time."""
    unwritable.joinpath("ocrf", "__init__.py").write_text("")
    return unwritable


@pytest.fixture
def temporary(tmp_path):
    """Return a temporary folder of the process that everybody may write to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.mark.parametrize(
    ("site", "home"),
    [
        ("unwritable", {}),
        ("kernels_alone", {"HOME": "/nonexistent"}),
        ("kernels_alone", {"HOME": "/proc"}),
    ],
)
def test_a_folder_below_the_temporary_one(request, temporary, site, home):
    folder = request.getfixturevalue(site)
    for hits in (0, 1):
        numbers, found, *warned = sample(folder, TMPDIR=str(temporary), **home)
        assert numbers.count(",") == 2
        assert int(found) == hits
        (warning,) = warned
        assert warning.startswith("RuntimeWarning numba can write neither")
        assert str(temporary) in warning
        assert "NUMBA_CACHE_DIR" in warning
    (kernels,) = temporary.iterdir()
    assert kernels.stat().st_mode & 0o077 == 0
    assert list(kernels.rglob("*.nbi"))


def test_a_folder_of_somebody_else_is_not_used(kernels_alone, temporary):
    """Whoever can write to the cache can run code as this user."""
    user = NOBODY if AS_ROOT else os.getuid()
    trap = temporary / f"ocrf-kernels-{user}"
    trap.mkdir()
    trap.chmod(0o777)
    _, found, warning = sample(kernels_alone, TMPDIR=str(temporary))
    assert int(found) == 0
    assert "the first call of every process will take long" in warning
    assert "NUMBA_CACHE_DIR" in warning
    assert not list(trap.iterdir())


def test_the_variable_names_another_folder(kernels_alone, temporary):
    for hits in (0, 1):
        _, found = sample(kernels_alone, NUMBA_CACHE_DIR=str(temporary / "chosen"))
        assert int(found) == hits
