"""Work space that goes back to the system as soon as nothing refers to it.

What threads allocate and free, the C library keeps for later: of a fit on two threads as much as
the input would stay in use for nothing.
"""

from __future__ import annotations

import math
import mmap
from typing import Any

import numpy as np

# Arrays begin where a cache line does.
_ALIGNMENT = 64


def scratch(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return zeros in memory pages of their own, of which only what is touched is taken.

    Raises
    ------
    MemoryError
        If the system has, or grants, no more.
    """
    (array,) = scratch_together((shape, dtype))
    return array


def scratch_together(*arrays: tuple[int | tuple[int, ...], Any]) -> list[np.ndarray]:
    """Return several arrays, each as from `scratch`, that go back to the system together.

    Parameters
    ----------
    *arrays : (shape, dtype)
    """
    starts, end = [], 0
    for shape, dtype in arrays:
        starts.append(end)
        n_bytes = math.prod(np.atleast_1d(shape).tolist()) * np.dtype(dtype).itemsize
        end += -(-n_bytes // _ALIGNMENT) * _ALIGNMENT
    try:
        # Private, and not shared with processes forked later.
        pages = mmap.mmap(-1, max(end, 1), access=mmap.ACCESS_COPY)
    except OSError as error:
        raise MemoryError(f"unable to allocate {end} bytes of work space") from error
    return [
        np.ndarray(shape, dtype, pages, start)
        for (shape, dtype), start in zip(arrays, starts, strict=True)
    ]


def settled(array: np.ndarray) -> np.ndarray:
    """Return a copy that takes no more room than it needs."""
    copy = scratch(array.shape, array.dtype)
    copy[...] = array
    return copy
