"""What is compiled, when, and where the compiled code is kept."""

import gc
import os
import shutil
import subprocess
import sys
import threading
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import joblib
import numpy as np
import pytest
from numba.core import event
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

import ocrf
from ocrf import OneClassRF
from ocrf.kernels import inner_kernel, kernel, njit


def test_compiled_code_is_kept_where_the_installation_cannot_be_written(tmp_path):
    """A file where the cache folder would be makes even root fail to write into the package."""
    package = tmp_path / "site" / "ocrf"
    shutil.copytree(
        Path(ocrf.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for room in (package, *filter(Path.is_dir, package.iterdir())):
        (room / "__pycache__").write_text("")
    code = (
        "import numpy as np\n"
        "from ocrf._growing.sampling import sample_rows\n"
        "sample_rows(np.uint64(1), 10, 3)\n"
        "hits = sum(sample_rows.stats.cache_hits.values())\n"
        "print(sample_rows.__module__, hits)\n"
    )
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "PYTHON"))},
        "PYTHONPATH": str(tmp_path / "site"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
    }
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert outputs == ["ocrf._growing.sampling 0", "ocrf._growing.sampling 1"]
    assert list((tmp_path / "cache").rglob("*.nbi"))


def compiled_types():
    """Return the argument types that each kernel has been compiled or loaded for in this process."""
    modules = [import_module(found.name) for found in walk_packages(ocrf.__path__, "ocrf.")]
    kernels = {k for module in modules for k in vars(module).values() if isinstance(k, Dispatcher)}
    return {kernel.py_func.__qualname__: set(map(str, kernel.signatures)) for kernel in kernels}


def test_no_kernel_is_compiled_twice(tmp_path):
    """Read-only, memory-mapped and foreign layouts must not each wait for a compiler."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    forest = OneClassRF(n_estimators=2, out_of_bounds="maximal", random_state=0).fit(X)
    expected = forest.score_samples(X)
    joblib.dump((forest, X), tmp_path / "forest")
    forest.estimators_[0].apply(X)
    before = compiled_types()
    assert len(before) > 30
    mapped, mapped_X = joblib.load(tmp_path / "forest", mmap_mode="r")
    assert not mapped_X.flags.writeable
    np.testing.assert_array_equal(mapped.score_samples(mapped_X), expected)
    mapped.estimators_[0].apply(mapped_X)
    for other in (mapped_X, np.asfortranarray(X), X[:, ::-1], X.astype(np.float32), X[:, :1]):
        OneClassRF(n_estimators=2, random_state=0).fit(other).score_samples(other)
    assert compiled_types() == before


def test_after_warming_up_nothing_is_compiled():
    ocrf.warm_up()
    before = compiled_types()
    X = np.random.default_rng(1).normal(size=(300, 50))
    incomplete = np.where(X > 2.0, np.nan, X)
    for parameters in ({}, {"max_features_node": 1}, {"scoring": "typical_cell"}):
        forest = OneClassRF(n_estimators=2, out_of_bounds="maximal", n_jobs=2, **parameters)
        for data, weights in ((X, None), (X, np.arange(300.0)), (incomplete, None)):
            forest.fit(data, sample_weight=weights)
            for rows in (X, incomplete):
                forest.score_samples(rows)
                forest.estimators_[0].apply(rows)
                forest.estimators_samples_[0], forest.estimators_features_[0]
                if forest.scoring == "depth":
                    explained = OneClassRF(n_estimators=2).fit(data, sample_weight=weights)
                    explained.feature_contributions(rows)
    assert compiled_types() == before


def test_no_kernel_is_compiled_for_a_constant():
    """An argument that is a constant in the caller would make another copy of the kernel."""
    OneClassRF(n_estimators=2, random_state=0).fit(np.eye(5))
    assert not [name for name, types in compiled_types().items() if "Literal" in str(types)]


@pytest.mark.parametrize("is_apart", [False, True])
def test_an_inner_kernel_is_only_part_of_its_callers(is_apart):
    """Machine code of its own would take time to compile, and nobody would run it."""

    def value_at(x, i):
        if i < 0:
            raise ValueError("negative")
        return x[i]

    inner = inner_kernel(value_at, is_apart=is_apart)
    next_inner = inner_kernel(lambda x, i: inner(x, i) + 1.0)
    outer = kernel(lambda x, i: 2.0 * next_inner(x, i))
    assert outer(np.arange(3.0), 1) == 4.0
    with pytest.raises(ValueError, match="negative"):
        outer(np.arange(3.0), -1)
    # numba finds machine code by name: that of an apart one is in its caller's library.
    found = [address_of(part) != 0 for part in (inner, next_inner, outer)]
    assert found == [is_apart, False, True]


def test_an_apart_kernel_stays_apart_where_a_copied_one_calls_it():
    """The compiler hands `forceinline` down to what is compiled on the way."""
    apart = inner_kernel(lambda x: x[0], is_apart=True)
    copied = inner_kernel(lambda x: 2.0 * apart(x), forceinline=True)
    outer = kernel(lambda x: 1.0 + copied(x) + apart(x))
    assert outer(np.full(1, 3.0)) == 10.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_the_garbage_collector_works_in_a_child_forked_while_a_thread_compiles():
    compiling, forked = threading.Event(), threading.Event()

    class Listener(event.Listener):
        def on_start(self, _):
            compiling.set()
            forked.wait(60)

        def on_end(self, _):
            pass

    with event.install_listener("numba:compile", Listener()):
        thread = threading.Thread(target=njit(lambda x: x + 1), args=(1,))
        thread.start()
        assert compiling.wait(60)
        assert not gc.isenabled()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 on: of threads
            child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        forked.set()
        thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert gc.isenabled()


def address_of(function):
    """Return where the machine code of a compiled function begins, 0 if it has none."""
    (compiled,) = function.overloads.values()
    return compiled.library.get_pointer_to_function(compiled.fndesc.mangled_name)


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_garbage_collector_rests_while_kernels_are_compiled(is_enabled):
    enabled_meanwhile = []

    class Listener(event.Listener):
        def on_start(self, _):
            enabled_meanwhile.append(gc.isenabled())

        on_end = on_start

    @njit
    def double(x):
        return 2 * x

    @njit
    def broken(x):
        return x.missing

    was_enabled = gc.isenabled()
    (gc.enable if is_enabled else gc.disable)()
    try:
        with event.install_listener("numba:compile", Listener()):
            assert double(2) == 4
            with pytest.raises(TypingError):
                broken(2)
        assert gc.isenabled() == is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
    assert enabled_meanwhile == [False] * 4
