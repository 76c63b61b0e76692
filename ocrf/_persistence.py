"""Pickles of fitted forests: which version made them, and what another version does with them.

A pickle holds the forest as a dictionary of arrays and numbers. Classes of this package but for the
estimator's own do not occur in it, so that a version in which they have moved can still open it and
say what it is.
"""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import InconsistentVersionWarning

from ._scoring.predictor import GrownForest
from ._trees.tree import Trees

_VERSION = "_ocrf_version"


class VersionWarning(InconsistentVersionWarning):
    """Warning for a pickle that another version of ocrf has made, and that can be read."""

    def __init__(self, estimator_name: str, pickled: str, current: str) -> None:
        super().__init__(
            estimator_name=estimator_name,
            current_sklearn_version=current,
            original_sklearn_version=pickled,
        )
        self.pickled, self.current = pickled, current

    def __str__(self) -> str:
        """Return what happened, and what to do."""
        return (
            f"{self.estimator_name} was pickled by ocrf {self.pickled} and is loaded by ocrf "
            f"{self.current}. Its trees are stored in the same form and will be used as they are; "
            f"scores may be computed otherwise. For those of ocrf {self.pickled}, load it there "
            f"(pip install ocrf=={self.pickled}); for those of ocrf {self.current}, fit it again."
        )


def to_plain(state: dict[str, Any], version: str) -> dict[str, Any]:
    """Return the state of an estimator with its version, and without classes of this package."""
    plain = state | {_VERSION: version}
    if "_grown" in state:
        grown = state["_grown"]._asdict()
        plain["_grown"] = grown | {"trees": grown["trees"]._asdict()}
    return plain


def from_plain(state: dict[str, Any], version: str, estimator: str) -> dict[str, Any]:
    """Return the state that `to_plain` was given; arrays are used as they are, without a copy.

    Raises
    ------
    ValueError
        If another version has stored the forest in another form.

    Warns
    -----
    VersionWarning
        If another version has stored it in the same form.
    """
    state = dict(state)
    pickled = state.pop(_VERSION, None)
    grown = state.get("_grown")
    if grown is not None and not _is_known(grown):
        name = f"=={pickled}" if pickled else ", the version that made it"
        raise ValueError(
            f"{estimator}: ocrf {pickled or '(no version is stated)'} has pickled this forest in a "
            f"form that ocrf {version} does not read. Load it with ocrf{name}, or fit it again."
        )
    if pickled != version:
        warnings.warn(VersionWarning(estimator, str(pickled), version), stacklevel=3)
    if grown is not None:
        state["_grown"] = GrownForest(**(grown | {"trees": Trees(**grown["trees"])}))
    return state


def _is_known(grown: Any) -> bool:
    """Tell whether the parts of a forest are those that this version scores with."""
    return (
        isinstance(grown, dict)
        and set(grown) == set(GrownForest._fields)
        and set(grown["trees"]) == set(Trees._fields)
    )
