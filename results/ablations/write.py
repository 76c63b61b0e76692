"""The command ``ablations``: tables, figures, and the generated blocks of ABLATIONS.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from results.ablations.choice import choices, choices_markdown
from results.ablations.effects import JUDGED_BY, Effects, effects
from results.ablations.figures import draw
from results.ablations.studies import STUDIES, TARGET, Study
from results.ablations.tables import contrast_markdown, dataset_markdown, summary_markdown, to_csv
from results.figures.style import render
from results.metrics import METRICS
from results.output import Output
from results.records.frame import Experiments
from results.records.provenance import tabulate, warnings_of
from results.reproduction.document import marked, update
from results.tables.text import markdown

FILE = Path(__file__).parents[1] / "ABLATIONS.md"


def write_ablations(experiments: Experiments, output: Output, file: Path | None = None) -> None:
    """Write tables and figures below the output folder, and the document.

    Parameters
    ----------
    file : Path, optional
        The document to update. By default the sentences of ``results/ABLATIONS.md`` go to
        ``ABLATIONS.md`` in the output folder with the numbers of these experiments.

    Raises
    ------
    ValueError
        If the records hold no ablation.
    """
    frame = experiments.frame
    results = {study: effects(frame, study) for study in STUDIES}
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
    text, problems = update(_template(file), blocks)
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


def _template(file: Path | None) -> str:
    for path in (file, FILE):
        if path is not None and path.exists():
            return path.read_text(encoding="utf-8")
    return skeleton()


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
            "mean over data sets.",
        ]
    )
