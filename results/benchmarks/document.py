"""The command ``benchmarks``: the generated blocks of BENCHMARKS.md, and its figure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from results.ablations.document import summary_markdown
from results.ablations.effects import JUDGED_BY, Effects, effects
from results.ablations.studies import STUDIES, Study
from results.aggregate import make_cells
from results.benchmarks.duels import duels, duels_markdown
from results.benchmarks.exact import exact_markdown
from results.benchmarks.halves import judge_all, judged_markdown
from results.benchmarks.placing import placing
from results.benchmarks.traits import correlations, correlations_markdown, draw, read_traits
from results.figures.style import render
from results.output import Output
from results.provenance import tabulate
from results.published.publication import Publication
from results.records.frame import Experiments
from results.reproduction.comparison import compare
from results.reproduction.comparison_output import NOT_JUDGED_TITLE, WIDE_TITLE, sections
from results.reproduction.document import marked, update
from results.tables.text import markdown

#: Where most values have no spread, since nothing is drawn.
_EXACT = "dte2024_semi"
_NOTHING = "Nothing to show: the records hold no such experiments."


def write_benchmarks(
    experiments: Experiments,
    output: Output,
    publications: list[Publication],
    file: Path | None = None,
) -> None:
    """Write the document and its figure.

    Parameters
    ----------
    publications : list of Publication
        Those that runs are compared with.
    file : Path, optional
        The document whose numbers are replaced. By default one without sentences is written,
        ``BENCHMARKS.md`` in the output folder: what other experiments say is not said of these.
    """
    frame = experiments.frame
    cells = make_cells(frame)
    traits = read_traits()
    blocks = {"runs": _runs(frame)}
    for publication in publications:
        for setting in publication.description.settings:
            name = publication.name + (
                "" if len(publication.description.settings) < 2 else f"_{setting}"
            )
            part = _cells_of(cells, publication, setting)
            blocks[f"compare_{name}"] = _comparison(part, publication) or _NOTHING
            blocks[f"standings_{name}"] = placing(part, publication, setting) or _NOTHING
            if name == _EXACT:
                blocks[f"exact_{name}"] = exact_markdown(part, publication, setting)
    found = duels(cells)
    blocks["duels"] = duels_markdown(found) if len(found) else _NOTHING
    results = parameter_effects(frame)
    parts = [
        f"{study.title}:\n\n{summary_markdown(part)}"
        for study, own in results.items()
        for part in own
    ]
    blocks["ablations"] = "\n\n".join(parts) or _NOTHING
    judged = judge_all(results)
    blocks["halves"] = judged_markdown(judged) if judged else _NOTHING
    related = correlations(cells, traits)
    blocks["traits"] = correlations_markdown(related) if len(related) else _NOTHING
    if len(related):
        output.write("figures/traits.png", render(draw(cells, traits), "png"))
    text = file.read_text(encoding="utf-8") if file and file.exists() else skeleton(list(blocks))
    text, problems = update(text, blocks)
    output.remarks += problems
    output.write(file.resolve() if file else "BENCHMARKS.md", text)


def parameter_effects(frame: pd.DataFrame) -> dict[Study, list[Effects]]:
    """Return the effects of the studies that vary a parameter alone, and were run here.

    Of a study of several parameters, those that have a study of their own stay as referenced: of
    combinations, the records hold only what studies have in common.
    """
    apart = {name for study in STUDIES if len(study.values) == 1 for name in study.values}
    results = {}
    for study in STUDIES:
        own = {n: v for n, v in study.values.items() if len(study.values) == 1 or n not in apart}
        alone = replace(study, values=own)
        results[alone] = [part for part in effects(frame, alone) if _varied(part)]
    return results


def _varied(part: Effects) -> bool:
    """Whether there are two levels at least beside the reference, all of one parameter."""
    levels = part.means[JUDGED_BY[0]].columns.drop(part.study.reference)
    changed = [part.study.describe(level).split(", ") for level in levels]
    return (
        len(levels) > 1
        and all(len(names) == 1 for names in changed)
        and len({names[0].partition("=")[0] for names in changed}) == 1
    )


def skeleton(names: list[str]) -> str:
    """Return a document without sentences."""
    return "# Benchmarks\n\n" + "\n".join(f"## {n}\n\n{marked(n, '')}\n" for n in names)


def _cells_of(cells: pd.DataFrame, publication: Publication, setting: str) -> pd.DataFrame:
    run = publication.description.settings[setting]
    level = cells.index.get_level_values
    return cells[(level("protocol") == run.protocol) & (level("setting") == run.setting)]


def _comparison(cells: pd.DataFrame, publication: Publication) -> str:
    """Return counts, differences with their reasons (folded), and what was not run."""
    if cells.empty:
        return ""
    lines = []
    counts, differing, *gaps = sections(compare(cells, publication), publication)
    _, sentences, rows = counts
    lines += [markdown(*rows) if rows else "", "", *(f"- {text}" for text in sentences), ""]
    _, notes, rows = differing
    if rows:
        lines += [
            f"<details><summary>What differs ({len(rows[1])})</summary>\n",
            markdown(*rows),
            "",
            *(f"{note}\n" for note in notes),
            "</details>\n",
        ]
    for title, texts, _ in gaps:
        if title == WIDE_TITLE:
            continue  # The sentences count them; the files of `compare` list them.
        # The document has a section per setting.
        kept = [text for text in texts if not text.startswith("Settings of which")]
        lead = f"{title}: " if title == NOT_JUDGED_TITLE else ""
        lines += [f"- {lead}{text}" for text in kept]
    return "\n".join(lines)


def _runs(frame: pd.DataFrame) -> str:
    counts = frame.groupby(["protocol", "setting"], sort=True).agg(
        experiments=("key", "size"), datasets=("dataset", "nunique"), labels=("label", "nunique")
    )
    rows = [
        [str(protocol), str(setting), *(str(n) for n in row)]
        for (protocol, setting), row in zip(counts.index, counts.to_numpy(), strict=True)
    ]
    statuses = ", ".join(f"{n} {status}" for status, n in frame["status"].value_counts().items())
    provenance = tabulate(frame)
    chosen = provenance["item"].isin(["cpu", "os", "versions.pyod", "versions.scikit-learn"])
    return "\n".join(
        [
            f"{len(frame)} experiments: {statuses}.",
            "",
            markdown(["protocol", "setting", "experiments", "data sets", "variants"], rows),
            "",
            markdown(
                ["", "value", "experiments"],
                [[str(v) for v in row] for row in provenance[chosen].itertuples(index=False)],
            ),
        ]
    )
