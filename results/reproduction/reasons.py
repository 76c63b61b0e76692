"""``reasons.csv``: why cells differ from the paper's, written by hand and never overwritten."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

from results.metrics import PAPER_METRICS
from results.reproduction.comparison import only_by_spread
from results.vocabulary import SETTINGS

REASONS = Path(__file__).parents[1] / "published" / "goix2016" / "reasons.csv"
#: Said of a difference without a reason; a reason that begins so says only what was tried.
UNEXPLAINED = "unexplained"
_FIELDS = ["setting", "dataset", "algorithm", "metric", "reason"]


@dataclass(frozen=True)
class Reason:
    """Why cells differ, written by hand; any field but the reason may hold a shell pattern."""

    setting: str
    dataset: str
    algorithm: str
    metric: str
    reason: str

    def fits(self, row: Mapping[Hashable, object]) -> bool:
        """Whether the reason is for this row of the comparison."""
        return all(
            fnmatchcase(str(row[name]), getattr(self, name)) for name in _FIELDS if name != "reason"
        )


def read_reasons(path: Path = REASONS) -> list[Reason]:
    """Read the reasons, the most specific (fewest patterns) first.

    Raises
    ------
    ValueError
        If the columns are others, a line has too few or too many fields, a metric or setting is
        unknown, a reason is empty, or the file is not UTF-8 (with a byte order mark or without).
    FileNotFoundError
        If there is no such file. One with its first line alone holds no reason.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file of reasons {path}")
    columns = f"the columns must be {', '.join(_FIELDS)}"
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, row) for row in reader]
            if set(reader.fieldnames or ()) != set(_FIELDS):
                raise ValueError(f"{path}, line 1: {columns}")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from error
    reasons = []
    for number, row in rows:
        # The reader files surplus fields under None, and None under the names of missing ones.
        if None in row or None in row.values():
            raise ValueError(f"{path}, line {number}: {columns}")
        reason = Reason(**row)
        for name, valid in (("metric", PAPER_METRICS), ("setting", tuple(SETTINGS))):
            if not any(fnmatchcase(value, getattr(reason, name)) for value in valid):
                raise ValueError(
                    f"{path}, line {number}: {name} {getattr(reason, name)!r} is none of "
                    f"{', '.join(valid)}, nor a pattern of them"
                )
        if not reason.reason.strip():
            raise ValueError(f"{path}, line {number}: the reason is empty")
        reasons.append(reason)
    return sorted(reasons, key=lambda r: sum(getattr(r, name).count("*") for name in _FIELDS[:4]))


def reason_for(row: Mapping[Hashable, object], reasons: list[Reason]) -> str:
    """Return the first reason that is for a row, or ``unexplained``."""
    found = _first(row, reasons)
    return found.reason if found else UNEXPLAINED


def _first(row: Mapping[Hashable, object], reasons: list[Reason]) -> Reason | None:
    return next((reason for reason in reasons if reason.fits(row)), None)


def explain(
    table: pd.DataFrame, reasons: list[Reason]
) -> tuple[list[tuple[dict, str]], list[Reason]]:
    """Give each as-run cell that differs its reason (or ``unexplained``).

    Returns
    -------
    explained : list of (row, reason)
        The largest differences first.
    unused : list of Reason
        Reasons that no differing cell needs any more.
    """
    rows = table[table["as_run"] & table["verdict"].isin(["differs", "ours NA", "paper NA"])]
    order = rows["difference"].abs().sort_values(ascending=False, kind="stable").index
    differing = rows.loc[order].to_dict("records")
    wide = only_by_spread(table).to_dict("records")
    used = {_first(row, reasons) for row in differing}
    used |= {reason for reason in reasons if any(reason.fits(row) for row in wide)}
    explained = [(row, reason_for(row, reasons)) for row in differing]
    return explained, [reason for reason in reasons if reason not in used]
