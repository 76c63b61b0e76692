"""How the functions of several packages are compiled."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

import numba
from numba.core import config

from .cache import cached
from .inner_compiler import ApartCompiler, InnerCompiler


def njit(function: Callable | None = None, **options: Any) -> Any:
    """Compile a function as ``numba.njit`` does, and keep the compiled code where that is possible.

    With ``cache=True`` numba raises RuntimeError while a module is imported if it can write neither
    to the module's folder nor to the user's cache folder. Here the code goes to a folder of the
    user's own below the temporary one instead; if that cannot be written either, or somebody else
    could write to it, the function is compiled anew in every process. One warning says which. It is
    compiled anew, too, when any source changes that may be part of it (`cache`).

    Parameters
    ----------
    function : callable, optional
        The function to compile. Without one, a decorator is returned.
    **options
        Options of ``numba.njit``.

    Warns
    -----
    RuntimeWarning
        Once per process, if numba's own choices for the cache fail.
    """
    if function is None:
        return lambda decorated: njit(decorated, **options)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return _refused(function)
    decorate = cached if options.get("cache") else numba.njit
    dispatcher = decorate(function, **options)
    dispatcher.compile = _without_collector(dispatcher.compile)  # type: ignore[method-assign]
    return dispatcher


def _refused(function: Callable) -> Callable:
    """Return what stands in a function's place where numba is told not to compile."""

    @wraps(function)
    def refuse(*_: Any, **__: Any) -> Any:
        raise RuntimeError(
            f"{function.__module__}.{function.__qualname__} has to be compiled, and the "
            "environment variable NUMBA_DISABLE_JIT forbids that; unset it."
        )

    refuse.py_func = function  # type: ignore[attr-defined]
    return refuse


def _without_collector(run: Callable) -> Callable:
    """Let the garbage collector rest during a call.

    The compiler makes very many objects that refer to each other and are needed to its end: going
    through them again and again takes an eighth of its time.
    """

    @wraps(run)
    def rested(*args: Any, **kwargs: Any) -> Any:
        if not gc.isenabled():
            return run(*args, **kwargs)
        _stopped_by.add(threading.get_ident())
        gc.disable()
        try:
            return run(*args, **kwargs)
        finally:
            gc.enable()
            _stopped_by.discard(threading.get_ident())

    return rested


# The threads whose calls let the garbage collector rest.
_stopped_by: set[int] = set()


def _wake_collector() -> None:
    """Let it work in a process that was forked meanwhile, which has none of the other threads."""
    if _stopped_by - {threading.get_ident()}:
        _stopped_by.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_wake_collector)


# Without numba's reference counts, which only allocations need: handing an array, or a named tuple
# of arrays, from one compiled function to another costs nothing then. Counting them takes a third
# of the time of growing trees, since the nodes of a tree are many and small. Nobody calls from C,
# and code that raises where a divisor is zero takes time to compile too.
_PLAIN = {"nogil": True, "_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """Compile a function that allocates no arrays, holds no lock, and is cached.

    A division by zero is infinite or NaN, as in NumPy.
    """
    return njit(function, cache=True, **_PLAIN, **options)


def inner_kernel(
    function: Callable | None = None, *, is_apart: bool = False, **options: Any
) -> Any:
    """Compile a `kernel` that only other kernels call: the code becomes part of theirs.

    It has no entry for Python, so that a call from there ends the process; ``py_func`` is the plain
    function. What unpacks the arguments of such a call, and a place of its own in the cache, take a
    sixth of the time of compiling a forest; machine code of its own takes a third
    (`inner_compiler`).

    Whether its instructions are copied into the caller's, the compiler chooses by their number.
    What nodes call is given ``forceinline=True``: their arguments are many, since every array is
    seven, and handing them over would take as long as the work of a small node.

    Parameters
    ----------
    function : callable, optional
        The function to compile. Without one, a decorator is returned.
    is_apart : bool
        Whether callers never copy the instructions: for what is called seldom. The loops around
        the call have more registers then, and are compiled in less time.
    **options
        Options of ``numba.njit``.
    """
    compiler = ApartCompiler if is_apart else InnerCompiler
    options |= {"no_cpython_wrapper": True, "pipeline_class": compiler}
    if is_apart:
        # Else numba hands down what the first caller to be compiled asks for.
        options["forceinline"] = False
    return njit(function, **_PLAIN, **options)
