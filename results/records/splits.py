"""How many splits the cells of a protocol have, whatever a run asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: Where a protocol does not say so.
USUAL_SPLITS: Final = 10


def splits_of(protocol: Mapping[str, Any]) -> int | None:
    """Return how many splits a protocol has; None where only a file or a class knows.

    Parameters
    ----------
    protocol : mapping
        As configured: one split for each of its ``seeds``; as many as a splitter's ``n_splits``
        and ``n_repeats`` make; and else :data:`USUAL_SPLITS`.

    Examples
    --------
    >>> splits_of({"seeds": [0, 1, 2]}), splits_of({"cut": {"kind": "random"}})
    (3, 10)
    >>> splits_of({"cut": {"_target_": "sklearn.model_selection.StratifiedKFold", "n_splits": 5}})
    5
    """
    seeds, cut = protocol.get("seeds"), protocol.get("cut")
    if isinstance(seeds, list | tuple):
        return len(seeds)
    if protocol.get("indices") is not None:
        return None
    if not isinstance(cut, Mapping) or "_target_" not in cut:
        return USUAL_SPLITS
    n_splits, n_repeats = cut.get("n_splits"), cut.get("n_repeats", 1)
    known = all(type(count) is int and count > 0 for count in (n_splits, n_repeats))
    return n_splits * n_repeats if known else None
