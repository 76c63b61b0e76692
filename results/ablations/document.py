"""The command ``ablations``: tables, figures, and the generated blocks of ABLATIONS.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from results.ablations.choice import choices, choices_markdown
from results.ablations.effects import (
    JUDGED_BY,
    Effects,
    contrasts,
    effects,
)
from results.ablations.figures import draw
from results.ablations.studies import STUDIES, TARGET, Study
from results.figures.style import render
from results.metrics import METRICS
from results.output import Output, csv_text
from results.provenance import tabulate, warnings_of
from results.records.frame import Experiments
from results.reproduction.document import marked, update
from results.tables.text import markdown
from results.vocabulary import SETTINGS, format_difference, format_number


def write_ablations(experiments: Experiments, output: Output, file: Path | None = None) -> None:
    """Write tables and figures below the output folder, and the document.

    Parameters
    ----------
    file : Path, optional
        The document whose numbers are replaced. By default one without sentences is written,
        ``ABLATIONS.md`` in the output folder: what other experiments say is not said of these.

    Raises
    ------
    ValueError
        If the records hold no ablation.
    """
    frame = experiments.frame
    results = {study: _of(study, frame) for study in STUDIES}
    if not any(results.values()):
        raise ValueError(
            "the records hold no ablation of OneClassRF; run one: " + STUDIES[0].command
        )
    blocks = {"runs": _runs(frame, results)}
    for study, found in results.items():
        name = f"ablation_{study.name}"
        if not found:
            output.remarks.append(f"not run: grid={name}")
            blocks[name] = f"Not run: `{study.command}`"
            continue
        blocks[name] = block(study, found)
        output.write(f"tables/{name}.md", f"# {study.title}\n\n{blocks[name]}\n")
        output.write(f"tables/{name}.csv", to_csv(found))
        figure = draw(found)
        for kind in ("pdf", "png"):
            output.write(f"figures/{name}.{kind}", render(figure, kind))
    made = choices(results)
    blocks["choice"] = choices_markdown(made) if made else "Too few data sets have been run."
    template = file.read_text(encoding="utf-8") if file and file.exists() else skeleton()
    text, problems = update(template, blocks)
    output.remarks += problems
    output.write(file.resolve() if file else "ABLATIONS.md", text)


def block(study: Study, found: list[Effects]) -> str:
    """Return a study's tables."""
    parts = [f"`{study.command}`, then `python -m results ablations --output output/ablations`."]
    parts += [summary_markdown(part) for part in found]
    if study.contrast:
        parts += [contrast_markdown(part) for part in found]
    details = [dataset_markdown(part, metric) for metric in JUDGED_BY for part in found]
    parts.append(
        "<details><summary>Every data set</summary>\n\n" + "\n\n".join(details) + "\n\n</details>"
    )
    return "\n\n".join(parts)


def _of(study: Study, frame: pd.DataFrame) -> list[Effects]:
    """Return the effects of a study that was run: others' experiments may be among its levels."""
    own = set(study.values).difference(
        *(s.values for s in STUDIES if s is not study and len(s.values) == 1)
    )
    found = effects(frame, study)
    levels = {level for part in found for level in part.means[JUDGED_BY[0]].columns}
    changed = (
        name.partition("=")[0] for level in levels for name in study.describe(level).split(", ")
    )
    return found if own.intersection(changed) else []


def skeleton() -> str:
    """Return a document without sentences."""
    parts = ["# Ablations", "", "## What to use", "", marked("choice", ""), ""]
    parts += ["## What was run", "", marked("runs", ""), ""]
    for study in STUDIES:
        parts += [
            f"## {study.title}",
            "",
            study.question,
            "",
            marked(f"ablation_{study.name}", ""),
            "",
        ]
    return "\n".join(parts)


def _runs(frame: pd.DataFrame, results: Mapping[Study, list[Effects]]) -> str:
    """Say what was run: splits of each data set in each study, and on what."""
    own = frame[frame["config_algorithm"].str.contains(f'"{TARGET}"', regex=False)]
    statuses = ", ".join(f"{n} {status}" for status, n in own["status"].value_counts().items())
    names = [study.name for study, found in results.items() if found]
    table: dict[str, dict[str, str]] = {}
    for study, found in results.items():
        for part in found:
            counts = part.means[JUDGED_BY[0]].notna().sum(axis=1).to_dict()
            for dataset, n in part.n_splits.items():
                levels = counts[dataset]
                seen = table.setdefault(str(dataset), {})
                text = f"{levels} x {n}"
                before = seen.get(study.name)
                seen[study.name] = text if before in (None, text) else f"{before}, {text}"
    rows = [
        [dataset, *(row.get(name, "--") for name in names)]
        for dataset, row in sorted(table.items())
    ]
    provenance = tabulate(own)
    shown = provenance[
        provenance["item"].isin(["commit", "cpu", "os", "versions.numba", "versions.scikit-learn"])
    ]
    return "\n\n".join(
        [
            f"{len(own)} experiments: {statuses}. Levels x splits that the tables are over, per "
            "data set and study (two entries: novelty and outlier detection differ):",
            markdown(["", *names], rows),
            markdown(
                ["", "value", "experiments"],
                [[str(v) for v in row] for row in shown.itertuples(index=False)],
            ),
            *warnings_of(provenance),
            f"Metrics: {', '.join(f'{METRICS[m].heading} = {m}' for m in JUDGED_BY)}. Δ is the "
            "mean over data sets of the paired difference to the reference, with a bootstrap "
            "interval over data sets; w/t/l counts data sets at three decimals; p is Wilcoxon's "
            "signed-rank test over data sets, and p (Holm) is corrected for the number of levels "
            "in the table. Fit time is processor time relative to the reference's, as geometric "
            "mean over data sets; --: run with another version of the code.",
        ]
    )


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
                format_difference(cell["difference"]),
                f"{format_difference(cell['low'])} to {format_difference(cell['high'])}",
                cell["wins_ties_losses"],
                _probability(cell["p"]),
                _probability(cell["p_holm"]),
            ]
        seconds = effects.seconds[level]
        row.append("--" if pd.isna(seconds) else f"x {seconds:.2f}")
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
                format_difference(cell["difference"]),
                f"{format_difference(cell['low'])} to {format_difference(cell['high'])}",
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
            text = format_difference(difference)
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
    for own in all_effects:
        where = {
            "study": own.study.name,
            "protocol": own.protocol,
            "setting": own.setting,
        }
        parts.append(own.summary.assign(dataset="(all)", **where))
        for metric in JUDGED_BY:
            long = _long(own.means[metric], "mean")
            long["n_splits"] = long["dataset"].map(own.n_splits)
            reference = own.means[metric][own.study.reference]
            long["difference"] = long["mean"] - long["dataset"].map(reference)
            error = _long(own.errors[metric], "standard_error")
            long = long.merge(error, on=["dataset", "level"], how="left")
            parts.append(long.assign(metric=metric, **where))
    table = pd.concat(parts, ignore_index=True)
    first = ["study", "protocol", "setting", "dataset", "metric", "level"]
    return csv_text(table[first + [name for name in table.columns if name not in first]])


def _long(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return data sets x levels as one row per value; gaps are left out."""
    long = table.reset_index().melt("dataset", var_name="level", value_name=name)
    return long.dropna(subset=name)


def _probability(value: float) -> str:
    return "< .001" if value < 0.001 else format_number(value, 3)
