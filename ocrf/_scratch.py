"""Work space that goes back to the system as soon as nothing refers to it.

What threads allocate and free, the C library keeps for later: of a fit on two threads as much as
the input would stay in use for nothing.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np


def scratch(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return zeros in memory pages of their own, of which only what is touched is taken."""
    size = int(np.prod(shape))
    # Private, and not shared with processes forked later.
    pages = mmap.mmap(-1, max(size * np.dtype(dtype).itemsize, 1), access=mmap.ACCESS_COPY)
    return np.frombuffer(pages, dtype, size).reshape(shape)
