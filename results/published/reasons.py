"""``reasons.csv``: why values differ from the printed ones, written by hand, never overwritten."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from results.published.values import read_rows

FILE_NAME = "reasons.csv"
#: Said of a difference without a reason; a reason that begins so says only what was tried.
UNEXPLAINED = "unexplained"
_PATTERNS = ["setting", "dataset", "algorithm", "metric"]
_FIELDS = [*_PATTERNS, "reason"]


@dataclass(frozen=True)
class Reason:
    """Why values differ; any field but the reason may hold a shell pattern.

    Attributes
    ----------
    setting, dataset : str
        Printed names.
    algorithm, metric : str
        Our names.
    reason : str
    """

    setting: str
    dataset: str
    algorithm: str
    metric: str
    reason: str

    def fits(self, row: Mapping[Hashable, object]) -> bool:
        """Whether the reason is for this row of a comparison."""
        return all(fnmatchcase(str(row[name]), getattr(self, name)) for name in _PATTERNS)


def read_reasons(path: Path, known: Mapping[str, Iterable[str]]) -> list[Reason]:
    """Read the reasons, the most specific (fewest patterns) first.

    Parameters
    ----------
    path : Path
    known : mapping of str to iterable of str
        The names that the fields ``setting``, ``dataset``, ``algorithm`` and ``metric`` may hold,
        or be patterns of.

    Raises
    ------
    ValueError
        If the columns are others, a line has too few or too many fields, a name or pattern fits
        nothing, a reason is empty, or the file is not UTF-8 (with a byte order mark or without).
    FileNotFoundError
        If there is no such file. One with its first line alone holds no reason.
    """
    header, rows = read_rows(path)
    if set(header) != set(_FIELDS):
        raise ValueError(f"{path}, line 1: the columns must be {', '.join(_FIELDS)}")
    reasons = []
    for line, row in rows:
        reason = Reason(**row)
        for name in _PATTERNS:
            pattern, valid = getattr(reason, name), list(known[name])
            if not any(fnmatchcase(value, pattern) for value in valid):
                raise ValueError(
                    f"{path}, line {line}: {name} {pattern!r} is none of {', '.join(valid)}, "
                    "nor a pattern of them"
                )
        if not reason.reason.strip():
            raise ValueError(f"{path}, line {line}: the reason is empty")
        reasons.append(reason)
    return sorted(reasons, key=lambda r: sum(getattr(r, name).count("*") for name in _PATTERNS))


def first_reason(row: Mapping[Hashable, object], reasons: Iterable[Reason]) -> Reason | None:
    """Return the first reason that is for a row."""
    return next((reason for reason in reasons if reason.fits(row)), None)


def reason_for(row: Mapping[Hashable, object], reasons: Iterable[Reason]) -> str:
    """Return the text of the first reason that is for a row, or ``unexplained``."""
    found = first_reason(row, reasons)
    return found.reason if found else UNEXPLAINED
