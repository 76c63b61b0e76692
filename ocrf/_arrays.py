"""Arrays on their way into compiled code."""

from __future__ import annotations

import numpy as np


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written to, of an array that perhaps can.

    To numba the two are different types, and each would have kernels compiled for it. What comes
    from the caller, or out of a memory-mapped pickle, may be either; so that one set of kernels
    serves both, what is only read is always passed as read-only.
    """
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
