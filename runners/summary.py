"""The summary of a run: counts, reasons, exit status."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from results.records.statuses import FAILED_STATUSES, NA_STATUSES

_MOST_REASONS = 20  # lines of a summary


def counted(n: int, noun: str) -> str:
    """Return ``"1 cell"``, ``"2 cells"``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


@dataclass
class Summary:
    """The summary of a run.

    Attributes
    ----------
    statuses : Counter
        Experiments of the grid by status, those of earlier runs included.
    recorded_before : int
        Experiments that earlier runs had done.
    reasons : Counter
        Failures by ``"cell: status: reason"``.
    left : int
        Experiments without a final record.
    stopped_by : int or None
        The signal that ended the run.
    trouble : str
        Why the run ended early otherwise.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    recorded_before: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    left: int = 0
    stopped_by: int | None = None
    trouble: str = ""

    @property
    def exit_status(self) -> int:
        """0; 1 if an experiment failed; 3 if the run could not go on; 128 + signal."""
        if self.stopped_by is not None:
            return 128 + self.stopped_by
        if self.trouble:
            return 3
        return int(any(self.statuses[status] for status in FAILED_STATUSES) or self.left > 0)

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.statuses + other.statuses,
            self.recorded_before + other.recorded_before,
            self.reasons + other.reasons,
            self.left + other.left,
            self.stopped_by or other.stopped_by,
            self.trouble or other.trouble,
        )

    def lines(self) -> list[str]:
        """Return the summary in words."""
        na = sum(self.statuses[status] for status in NA_STATUSES)
        failed = sum(self.statuses[status] for status in FAILED_STATUSES)
        lines = [
            f"{self.statuses['ok']} ok, {na} NA (timeout), {failed} failed, {self.left} left; "
            f"{self.recorded_before} recorded before"
        ]
        lines += [f"  {n} x {reason}" for reason, n in self.reasons.most_common(_MOST_REASONS)]
        if (more := len(self.reasons) - _MOST_REASONS) > 0:
            lines.append(f"  and {more} more; `python -m results status` lists all")
        if self.trouble:
            lines.append(f"Stopped: {self.trouble}")
        if self.left:
            lines.append("The same command goes on where this run ended.")
        return lines
