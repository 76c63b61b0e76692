"""What compiled code needs: how it is compiled and kept, its arrays, its threads, its hashes."""

from .decorators import inner_kernel, kernel, njit
from .hashing import GOLDEN, mix

__all__ = ["GOLDEN", "inner_kernel", "kernel", "mix", "njit"]
