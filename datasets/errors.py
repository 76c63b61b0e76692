"""What can go wrong with data, each with a name of its own."""

from __future__ import annotations

from collections.abc import Sequence

# How many names or labels an error message lists before it stops.
_LISTED = 12


def listed(names: Sequence[str], counts: Sequence[int] = ()) -> str:
    """Return the first names for a message, quoted, and how many more there are.

    >>> print(listed(["a", "b"]), listed(["a", "b"], [3, 4]), sep="; ")
    'a', 'b'; 'a' (3), 'b' (4)
    """
    quoted = [repr(name) for name in names[:_LISTED]]
    if counts:
        quoted = [f"{name} ({n})" for name, n in zip(quoted, counts, strict=False)]
    shown = ", ".join(quoted)
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown


class UsageError(Exception):
    """The command or the configuration is wrong; the message says what would be right."""


class DataError(ValueError):
    """A data set, or the YAML that describes it, is not usable: the message says where and why."""


class WrongContent(DataError):  # noqa: N818 (a state of the data, not of the code)
    """A source served a table other than the expected one."""


class SourceFailed(Exception):  # noqa: N818
    """One source could not serve a table; the message is the reason.

    Parameters
    ----------
    reason : str
        What happened, in one line.
    passing : bool
        Whether another attempt may succeed.
    misfit : bool
        Whether the source has served a table, to which the definition does not fit.
    """

    def __init__(self, reason: str, *, passing: bool = False, misfit: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.passing = passing
        self.misfit = misfit


class DataUnavailable(Exception):  # noqa: N818
    """No source of a data set served it.

    Parameters
    ----------
    name : str
        The data set.
    reasons : sequence of (source, reason) pairs
        Why each source failed, in the order in which they were tried.
    hint : str
        What the user can do.
    """

    def __init__(self, name: str, reasons: Sequence[tuple[str, str]], hint: str) -> None:
        tried = "; ".join(f"{source}: {reason}" for source, reason in reasons) or "no source to try"
        super().__init__(f"data set {name!r} cannot be loaded ({tried}). {hint}".rstrip())
        self.name = name
        self.reasons = tuple(reasons)
        self.hint = hint

    def __reduce__(self) -> tuple[type, tuple[str, Sequence[tuple[str, str]], str]]:
        # The default rebuilds an exception from its message alone, which has another signature:
        # this one has to survive the way back from a worker process.
        return type(self), (self.name, self.reasons, self.hint)
