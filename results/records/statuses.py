"""Every status of an experiment, defined once: records, tables and commands read these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Status:
    """How an experiment ended.

    Attributes
    ----------
    name : str
        As in records.
    mark : str
        What a table prints for a cell that has no value because of it; empty for ``ok``.
    meaning : str
        What the mark stands for.
    is_na : bool
        Whether it is the paper's NA: a deadline that passed, or an experiment not tried because of
        one.
    is_failure : bool
        Whether it is a failure in the strict sense: such an experiment is run again on demand only,
        and the exit status of a run tells of it.
    strength : int
        Of two records of one key the one with the higher strength is kept. It takes more to show
        that something cannot be done in time than to fail.
    """

    name: str
    mark: str
    meaning: str
    is_na: bool = False
    is_failure: bool = False
    strength: int = 0


_NA_MEANING = "fitting or scoring exceeded the time limit"

_DEFINITIONS: Final = (
    Status("ok", "", "", strength=3),
    Status("timeout", "NA", _NA_MEANING, is_na=True, strength=2),
    Status("memory", "mem", "needed more memory than allowed", is_failure=True),
    Status("crashed", "crash", "the process died", is_failure=True),
    Status("error", "err", "the algorithm raised an error", is_failure=True),
    Status("no_data", "no data", "the data set could not be loaded", is_failure=True),
    Status("skipped", "NA", _NA_MEANING, is_na=True, strength=1),
)

#: The statuses by name. A cell in which several occur and none is ``ok`` is marked by the first.
STATUSES: Final[dict[str, Status]] = {status.name: status for status in _DEFINITIONS}
NA_STATUSES: Final = frozenset(status.name for status in _DEFINITIONS if status.is_na)
FAILED_STATUSES: Final = frozenset(status.name for status in _DEFINITIONS if status.is_failure)

#: What a table prints where no experiment was run, or none has a value.
MISSING: Final = "--"
#: What the marks stand for, in the order of the statuses.
MARK_MEANINGS: Final = {status.mark: status.meaning for status in _DEFINITIONS if status.mark} | {
    MISSING: "not run, or nothing to average"
}
#: The status that a mark is of, the first of those that share it.
NAMES_OF_MARKS: Final = {s.mark: s.name for s in reversed(_DEFINITIONS) if s.mark}
NA: Final = STATUSES["timeout"].mark
