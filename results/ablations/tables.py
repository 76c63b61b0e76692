"""Effects as tables: a summary per setting, and the values of every data set."""

from __future__ import annotations

import pandas as pd

from results.ablations.effects import JUDGED_BY, Effects, contrasts
from results.metrics import METRICS
from results.rounding import format_number
from results.tables.text import markdown
from results.vocabulary import SETTINGS

#: Differences of more than so many standard errors over the splits are marked.
MARKED_ERRORS = 2.0


def summary_markdown(effects: Effects) -> str:
    """Return one row per level: means, differences to the reference, tests over data sets."""
    headings = ["", "n"]
    for metric in JUDGED_BY:
        name = METRICS[metric].heading
        headings += [name, "Δ", "95 %", "w/t/l", "p", "p (Holm)"]
    headings.append("fit time")
    table = {(row["level"], row["metric"]): row for row in effects.summary.to_dict("records")}
    rows = []
    for level in effects.means[JUDGED_BY[0]].columns:
        is_reference = level == effects.study.reference
        row = [f"**{level}**" if is_reference else level]
        row.append(str(table[level, JUDGED_BY[0]]["n_datasets"]))
        for metric in JUDGED_BY:
            cell = table[level, metric]
            row.append(format_number(cell["mean"], 3))
            if pd.isna(cell["difference"]):
                row += [""] * 5
                continue
            row += [
                signed(cell["difference"]),
                f"{signed(cell['low'])} to {signed(cell['high'])}",
                cell["wins_ties_losses"],
                _probability(cell["p"]),
                _probability(cell["p_holm"]),
            ]
        row.append(f"x {effects.seconds[level]:.2f}")
        rows.append(row)
    setting = SETTINGS[effects.setting].capitalize()
    caption = f"{setting}, protocol {effects.protocol}; bold: the reference"
    return f"{caption}\n\n{markdown(headings, rows)}"


def contrast_markdown(effects: Effects) -> str:
    """Return what changing one parameter does for each value of the others."""
    headings = ["", "against", "n"]
    rows = []
    parts = {metric: contrasts(effects, metric).to_dict("records") for metric in JUDGED_BY}
    for metric in JUDGED_BY:
        headings += [f"{METRICS[metric].heading} Δ", "95 %", "w/t/l", "p"]
    for cells in zip(*parts.values(), strict=True):
        row = [str(cells[0]["level"]), str(cells[0]["base"]), str(cells[0]["n_datasets"])]
        for cell in cells:
            row += [
                signed(cell["difference"]),
                f"{signed(cell['low'])} to {signed(cell['high'])}",
                cell["wins_ties_losses"],
                _probability(cell["p"]),
            ]
        rows.append(row)
    caption = f"{SETTINGS[effects.setting].capitalize()}: {effects.study.contrast} alone"
    return f"{caption}\n\n{markdown(headings, rows)}"


def dataset_markdown(effects: Effects, metric: str) -> str:
    """Return data sets x levels: the reference's value, and the others' differences to it."""
    means = effects.means[metric].to_dict("index")
    errors = effects.errors[metric].to_dict("index")
    reference = effects.study.reference
    others = [level for level in effects.means[metric].columns if level != reference]
    rows = []
    for dataset, values in means.items():
        n_splits = str(effects.n_splits.to_dict()[dataset])
        row = [str(dataset), n_splits, format_number(values[reference], 3)]
        for level in others:
            difference = values[level] - values[reference]
            if pd.isna(difference):
                row.append("--")
                continue
            error = errors[dataset][level]
            text = signed(difference)
            # What rounds to nothing is nothing, however exactly it is known.
            clear = text.strip("0.") and error > 0 and abs(difference) > MARKED_ERRORS * error
            row.append(f"**{text}**" if clear else text)
        rows.append(row)
    caption = (
        f"{METRICS[metric].heading}, {SETTINGS[effects.setting]}: the reference, and differences "
        f"to it (bold: more than {MARKED_ERRORS:g} standard errors over the paired splits)"
    )
    return f"{caption}\n\n{markdown(['', 'splits', reference, *others], rows)}"


def to_csv(all_effects: list[Effects]) -> str:
    """Return the summaries and the data sets' values as one table."""
    parts = []
    for effects in all_effects:
        where = {
            "study": effects.study.name,
            "protocol": effects.protocol,
            "setting": effects.setting,
        }
        parts.append(effects.summary.assign(dataset="(all)", **where))
        for metric in JUDGED_BY:
            long = _long(effects.means[metric], "mean")
            long["n_splits"] = long["dataset"].map(effects.n_splits)
            reference = effects.means[metric][effects.study.reference]
            long["difference"] = long["mean"] - long["dataset"].map(reference)
            error = _long(effects.errors[metric], "standard_error")
            long = long.merge(error, on=["dataset", "level"], how="left")
            parts.append(long.assign(metric=metric, **where))
    table = pd.concat(parts, ignore_index=True)
    first = ["study", "protocol", "setting", "dataset", "metric", "level"]
    return table[first + [name for name in table.columns if name not in first]].to_csv(index=False)


def _long(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return data sets x levels as one row per value; gaps are left out."""
    long = table.reset_index().melt("dataset", var_name="level", value_name=name)
    return long.dropna(subset=name)


def signed(value: float) -> str:
    """Return a difference with its sign, three decimals."""
    text = format_number(abs(value), 3)
    if not text.strip("0."):
        return text
    return f"{'+' if value > 0 else '-'}{text}"


def _probability(value: float) -> str:
    return "< .001" if value < 0.001 else format_number(value, 3)
