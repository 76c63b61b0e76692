"""OneClassRF against isolation forest: the same splits, one test over data sets per protocol."""

from __future__ import annotations

import pandas as pd

from results.ablations.effects import JUDGED_BY, summarise
from results.metrics import METRICS
from results.statistics.rank_tests import holm, matrix
from results.tables.text import markdown
from results.vocabulary import SETTINGS, display_name, format_difference, format_number

FORMS = ("oneclassrf", "oneclassrf_text")
REFERENCE = "iforest"


def duels(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare each form of OneClassRF with isolation forest, wherever both were run.

    Parameters
    ----------
    cells : DataFrame
        As :func:`results.aggregate.make_cells`.

    Returns
    -------
    DataFrame
        One row per protocol, setting, form and metric: ``protocol``, ``setting``, ``form``,
        ``reference_mean``, and the columns of :func:`results.ablations.effects.summarise`;
        ``p_holm`` is corrected for all rows.
    """
    rows = []
    for (protocol, setting), part in cells.groupby(level=["protocol", "setting"], sort=True):
        for form in FORMS:
            for metric in JUDGED_BY:
                both = pair(part, metric, form).dropna()
                if len(both) < 2:
                    continue
                first, own = summarise(both, REFERENCE, metric).to_dict("records")
                names = {"protocol": protocol, "setting": setting, "form": form}
                rows.append(names | {"reference_mean": first["mean"]} | own)
    table = pd.DataFrame(rows)
    if len(table):
        table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    return table


def pair(cells: pd.DataFrame, metric: str, form: str) -> pd.DataFrame:
    """Return data sets x isolation forest and a form of OneClassRF, of one protocol and setting."""
    names = [REFERENCE, form]
    own = cells[cells.index.get_level_values("label").isin(names)]
    return matrix(own, metric).reindex(columns=names)


def duels_markdown(table: pd.DataFrame) -> str:
    """Return the comparisons as a table, and what its columns are."""
    rows = [
        [
            str(row["protocol"]),
            SETTINGS[str(row["setting"])],
            display_name(str(row["form"])),
            METRICS[str(row["metric"])].heading,
            str(row["n_datasets"]),
            format_number(row["mean"], 3),
            format_number(row["reference_mean"], 3),
            format_difference(row["difference"]),
            f"{format_difference(row['low'])} to {format_difference(row['high'])}",
            str(row["wins_ties_losses"]),
            format_number(row["p"], 3),
            format_number(row["p_holm"], 3),
        ]
        for row in table.to_dict("records")
    ]
    headings = ["protocol", "", "form", "by", "data sets", "mean", display_name(REFERENCE)]
    headings += ["Δ", "95 %", "w/t/l", "p", "p (Holm)"]
    return (
        f"{markdown(headings, rows)}\n\nΔ: mean over data sets of the difference, with a bootstrap "
        "interval over data sets; w/t/l: data sets won, tied and lost at three decimals; p: "
        f"Wilcoxon's signed-rank test over data sets; p (Holm): corrected for the {len(rows)} rows "
        "of this table."
    )
