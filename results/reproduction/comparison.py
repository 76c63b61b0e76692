"""Ours beside what others printed: difference, spread and a verdict for every published value."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from results.published import paper
from results.published.description import Run, Tolerance
from results.published.publication import Publication
from results.published.reasons import Reason, first_reason, reason_for
from results.records.statuses import MISSING
from results.status import failed_in_words

NOT_JUDGED, NOT_RUN = "not judged", "not run"
VERDICTS = ("reproduced", "differs", "paper NA", "ours NA", "both NA", NOT_JUDGED, NOT_RUN)
#: What a comparison is written with; a column `published_std` follows where spreads are printed.
COLUMNS = [
    "setting",
    "column",
    "algorithm",
    "as_run",
    "uses_labels",
    "dataset",
    "metric",
    "published",
    "ours",
    "std",
    "n_ok",
    "n_splits",
    "mark",
    "difference",
    "verdict",
]
# Published values have few decimals: a difference of .02 may come out as .0200...01.
_NOISE = 1e-9


def compare(cells: pd.DataFrame, publication: Publication | None = None) -> pd.DataFrame:
    """Put every published value beside ours.

    Parameters
    ----------
    cells : DataFrame
        As :func:`results.aggregate.make_cells`. Only those of the publication's protocols and
        settings are compared.
    publication : Publication, optional
        Default: the paper.

    Returns
    -------
    DataFrame
        In the order of the publication; one row per value and algorithm: :data:`COLUMNS`,
        ``spread`` (the one that counts for the tolerance), ``published_std``, ``within`` (judged,
        and within the absolute tolerance), ``why`` a value is not judged, and whether experiments
        ``failed``. ``n_splits``: how many splits the printed value is a mean over; one of ours over
        fewer, or over splits of several versions, is not judged. Setting, column and data set are
        printed names, algorithm and metric ours. ``published``, ``ours``, ``std`` and
        ``difference`` (ours - published) are in the printed scale. Algorithms that do not repeat
        how the column was made (``as_run`` false) are listed only if they were run. Settings of
        which no cell was run, and data sets that are not here, are left out.
    """
    publication = publication or paper.publication()
    ours = dict(zip(cells.index, cells.to_dict("records"), strict=True))
    ran = {(protocol, setting) for protocol, setting, _, _ in ours}
    described = publication.description
    datasets = publication.datasets
    rows = []
    together: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in publication.values.to_dict("records"):
        value = {str(name): item for name, item in row.items()}
        key = (value["setting"], value["dataset"], value["column"])
        together.setdefault(key, []).append(value)
    for (setting, dataset, column), printed in together.items():
        run = described.settings[setting]
        if (run.protocol, run.setting) not in ran or datasets[dataset] is None:
            continue
        for i, algorithm in enumerate(described.algorithms_of(column, setting)):
            cell = ours.get((run.protocol, run.setting, datasets[dataset], algorithm))
            if cell is None and i > 0:
                continue
            names = {"algorithm": algorithm, "as_run": i == 0}
            rows += [_row(value | names, cell, publication) for value in printed]
    return pd.DataFrame(
        rows, columns=[*COLUMNS, "spread", "published_std", "within", "why", "failed"]
    )


def why_not_judged(cell: Mapping[Hashable, Any], run: Run) -> str:
    """Return why a mean of ours does not stand beside a printed one; empty if it does."""
    if cell["n_ok"] < run.splits_of(cell):
        return f"{cell['n_ok']} of {run.splits_of(cell)} splits{failed_in_words(cell)}"
    return "splits of several versions" if cell["mixed"] else ""


def _row(
    value: Mapping[str, Any], cell: Mapping[Hashable, Any] | None, publication: Publication
) -> dict[str, Any]:
    factor = publication.description.factor
    tolerance = publication.description.tolerance_of(value["column"])
    metric, theirs = value["metric"], float(value["published"])
    ours = factor * float(cell[metric]) if cell else math.nan
    std = factor * float(cell[f"{metric}_std"]) if cell else math.nan
    run = publication.description.settings[value["setting"]]
    n_ok = int(cell["n_ok"]) if cell else 0
    # Ours may be over several seeds, each with as many splits as the printed mean.
    n_published = run.splits_of(cell) // int(cell["n_seeds"]) if cell else 0
    spread = tolerance.spread(std, value["spread"], n_ok, n_published)
    why = "" if cell is None or math.isnan(ours) else why_not_judged(cell, run)
    return {
        **{name: value[name] for name in ("setting", "column", "algorithm", "as_run", "dataset")},
        "uses_labels": bool(cell["uses_labels"]) if cell else False,
        "metric": metric,
        "published": theirs,
        "ours": ours,
        "std": std,
        "spread": spread,
        "n_ok": n_ok,
        "n_splits": run.splits_of(cell) if cell else run.splits,
        # A cell may have finished without having recorded this metric.
        "mark": (cell["mark"] if cell else "") or (MISSING if math.isnan(ours) else ""),
        "difference": ours - theirs,
        "verdict": NOT_JUDGED
        if why
        else verdict(theirs, ours, tolerance.allowed(spread), ran=cell is not None),
        "published_std": value["spread"],
        "within": not why and abs(ours - theirs) <= tolerance.absolute + _NOISE,
        "why": why,
        "failed": bool(cell and cell["n_experiments"] > cell["n_ok"]),
    }


def verdict(published: float, ours: float, allowed: float, *, ran: bool = True) -> str:
    """Return one of :data:`VERDICTS` on two means over as many splits.

    Parameters
    ----------
    published, ours : float
        NaN for NA.
    allowed : float
        The largest difference that counts as none.
    ran : bool
        Whether there is one of ours.

    Examples
    --------
    >>> verdict(0.684, 0.673, 0.02), verdict(0.684, 0.6, 0.02)
    ('reproduced', 'differs')
    """
    if not ran:
        return NOT_RUN
    if math.isnan(published):
        return "both NA" if math.isnan(ours) else "paper NA"
    if math.isnan(ours):
        return "ours NA"
    return "reproduced" if abs(ours - published) <= allowed + _NOISE else "differs"


def bound_in_words(tolerance: Tolerance, scale: str = "fraction") -> tuple[str, str]:
    """Return the absolute bound, and the one by spreads (empty if there is none).

    Examples
    --------
    >>> bound_in_words(Tolerance(absolute=0.02, spreads=2.0))
    ('.02', 'two standard deviations of ours')
    """
    absolute = f"{tolerance.absolute:g}".removeprefix("0") or "0"
    if scale == "percent":
        absolute = f"{tolerance.absolute:g} per cent"
    if not tolerance.spreads:
        return absolute, ""
    number = {1.0: "one", 2.0: "two", 3.0: "three"}.get(tolerance.spreads, f"{tolerance.spreads:g}")
    plural = "" if tolerance.spreads == 1 else "s"
    if tolerance.spread_of == "means":
        return absolute, f"{number} standard error{plural} of the difference of the means"
    whose = {"ours": "of ours", "published": "as published"}[tolerance.spread_of]
    return absolute, f"{number} standard deviation{plural} {whose}"


def verdict_meanings(publication: Publication | None = None) -> dict[str, str]:
    """Return what each verdict means under the tolerances of a publication."""
    described = (publication or paper.publication()).description

    def largest(tolerance: Tolerance) -> str:
        absolute, spreads = bound_in_words(tolerance, described.scale)
        return f"the larger of {absolute} and {spreads}" if spreads else absolute

    bound = largest(described.tolerance)
    for column, tolerance in described.tolerances.items():
        bound += f"; for {column}, {largest(tolerance)}"
    return {
        "reproduced": f"the difference is at most {bound}",
        "differs": "the difference is larger than that",
        "paper NA": "a value here, NA in the paper",
        "ours NA": "NA here or failed, a value in the paper",
        "both NA": "no value in either",
        NOT_JUDGED: "ours is over fewer splits, or over splits of several versions of a package",
        NOT_RUN: "no experiment here",
    }


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Count verdicts per setting, metric and algorithm that repeats a published column.

    Returns
    -------
    DataFrame
        Columns: setting, metric, algorithm, one per verdict, ``computed`` (values that both
        have), ``share`` (reproduced among those; NaN if none), ``within`` (those within the
        absolute tolerance), ``worst`` and ``worst_difference`` (the data set with the largest
        difference; empty and NaN if none), ``uses_labels``.
    """
    as_run = table[table["as_run"]]
    keys = ["setting", "metric", "algorithm"]
    groups = as_run.groupby(keys, sort=False)
    counts = as_run.groupby([*keys, "verdict"], sort=False).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    counts["computed"] = counts["reproduced"] + counts["differs"]
    counts["share"] = counts["reproduced"] / counts["computed"].where(counts["computed"] > 0)
    counts["within"] = groups["within"].sum().astype(int)
    for key, part in groups:
        judged = part[part["verdict"] != NOT_JUDGED]
        sizes = judged.set_index("dataset")["difference"].abs().dropna()
        worst = str(sizes.idxmax()) if len(sizes) else ""
        differences = part.loc[part["dataset"] == worst, "difference"]
        counts.loc[key, "worst"] = worst
        counts.loc[key, "worst_difference"] = differences.iloc[0] if worst else math.nan
    marked = set(as_run.loc[as_run["uses_labels"], "algorithm"])
    counts = counts.reset_index()
    return counts.assign(uses_labels=counts["algorithm"].isin(marked))


def not_judged(table: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the rows that are not judged, one for each cell."""
    cell = ["setting", "dataset", "column", "algorithm"]
    return table[table["verdict"] == NOT_JUDGED].drop_duplicates(cell).to_dict("records")


def overall(table: pd.DataFrame, metric: str) -> tuple[int, int]:
    """Return how many as-run values of a metric are reproduced, and how many can be compared."""
    rows = table[table["as_run"] & (table["metric"] == metric)]
    reproduced = int((rows["verdict"] == "reproduced").sum())
    return reproduced, reproduced + int((rows["verdict"] == "differs").sum())


def only_by_spread(table: pd.DataFrame) -> pd.DataFrame:
    """Return the as-run rows that are reproduced only because their spread is wide, farthest first.

    Two standard deviations of single splits may be much more than the published mean of ten splits
    would move by chance, so these deserve a look.
    """
    rows = table[table["as_run"] & (table["verdict"] == "reproduced") & ~table["within"]]
    return rows.loc[_farthest_first(rows)]


def _farthest_first(rows: pd.DataFrame) -> pd.Index:
    return rows["difference"].abs().sort_values(ascending=False, kind="stable").index


def explain(
    table: pd.DataFrame, reasons: list[Reason]
) -> tuple[list[tuple[dict, str]], list[Reason]]:
    """Give each as-run value that differs its reason (or ``unexplained``).

    Returns
    -------
    explained : list of (row, reason)
        The largest differences first.
    unused : list of Reason
        Reasons that no value needs any more that differs or is not judged.
    """
    rows = table[table["as_run"] & table["verdict"].isin(["differs", "ours NA", "paper NA"])]
    differing = rows.loc[_farthest_first(rows)].to_dict("records")
    wide = only_by_spread(table).to_dict("records")
    used = {first_reason(row, reasons) for row in differing}
    seen = [*wide, *not_judged(table)]
    used |= {reason for reason in reasons if any(reason.fits(row) for row in seen)}
    explained = [(row, reason_for(row, reasons)) for row in differing]
    return explained, [reason for reason in reasons if reason not in used]
