"""Compiling functions that only other compiled functions call, without machine code of their own.

numba optimises every function together with all that it calls, and then makes machine code of it.
Where the function is called, both are done once more, for its code is part of the caller's. What
Python never calls needs neither: it is linked into its callers as it is, and optimised there. That
takes a third off the time of the first fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class InnerCompiler(Compiler):
    """numba's compiler, for ``numba.njit(pipeline_class=InnerCompiler)``."""

    is_apart = False

    def compile_extra(self, func: Callable) -> Any:
        """Compile a function into an `_InnerLibrary`."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _InnerLibrary(codegen, func.__qualname__, self.is_apart)
        return super().compile_extra(func)


class ApartCompiler(InnerCompiler):
    """The compiler of a function that its callers call, instead of taking its code into theirs."""

    is_apart = True


class _NoEnvironments:
    """What is asked to place the environment of a function, in which it finds Python objects.

    Its place is in the machine code. A function that Python does not call needs no such objects.
    """

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class _InnerLibrary(JITCodeLibrary):
    """The code of a function that is only linked into others.

    Should another version of numba have other names for these steps, the function is optimised and
    made machine code as any other: that takes longer, and the result is the same.
    """

    def __init__(self, codegen: Any, name: str, is_apart: bool) -> None:
        super().__init__(codegen, name)
        self._is_apart = is_apart

    @property
    def codegen(self) -> Any:
        return _NoEnvironments()

    def add_ir_module(self, ir_module: Any) -> None:
        """Add the function's own code, before that of what it calls."""
        if self._is_apart:
            for function in ir_module.functions:
                if not function.is_declaration:
                    function.attributes.add("noinline")
        super().add_ir_module(ir_module)

    def _optimize_final_module(self) -> None:
        """Leave the optimisation to the callers."""

    def _finalize_final_module(self) -> None:
        """End as numba's library does, without machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
