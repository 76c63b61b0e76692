"""``results/REPRODUCTION.md``: numbers regenerated, sentences kept.

The file holds blocks between markers::

    <!-- generated: summary -->
    ...
    <!-- end: summary -->

A rerun replaces what stands between the markers of each known block and nothing else. Why a cell
differs is written by hand in ``results/published/goix2016/reasons.csv`` and printed with the cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from results.output import Output
from results.published import paper
from results.records.frame import Experiments
from results.reproduction.blocks import make_blocks

FILE_NAME = "REPRODUCTION.md"
_BLOCK = re.compile(r"<!-- generated: (\S+) -->\n(.*?)<!-- end: \1 -->", re.DOTALL)
_README_ONLY = frozenset({"replay_summary", "standings"})
_SKELETON = """# Do the paper's tables hold?

A value counts as reproduced when it lies within .02 of ours or within two standard errors of the
difference between the means, whichever is more.

## The published tables, replayed

{replay}

### The same splits for all

Each algorithm on the splits of each of the six streams: beside the published value the one on its
own stream's splits, and mean and range on those of the five others; then ranks, 1 for the best.

{crossed}

### Forests that cannot be replayed

Replayed splits, and forests of our own that differ in their seed only. The spread is one standard
deviation over the seeds.

{forest_seeds}

## How strict the criteria are

{criterion}

## What was run, on what, in how long

{machine}

{missing}

## Novelty detection (Table 2)

{table2}

## Outlier detection (the supplementary table)

{tableS1}

## What differs

{summary}

{differs}

Differences that only two standard errors cover, where above .05 or explained:

{wide}

## The effect of the choice of the anomalies

Where there are more anomalies than a tenth of the normal points, a random subset of them is kept.
Each row draws several subsets: the spread is that of the means over the splits, one standard
deviation, and the distance that of the published value, in spreads.

{subsets}

## The effect of the departures

{departures}

## The clean protocol

{clean}

{repeats}

{rankings}

{tests}

## What the paper concludes from Table 2

{conclusions}
"""


def update(text: str, blocks: Mapping[str, str]) -> tuple[str, list[str]]:
    """Replace the generated blocks of a text.

    Returns
    -------
    text : str
    problems : list of str
        Markers of unknown blocks, and blocks that the text has no markers for, unless it has
        markers for one of them only.
    """
    found = [match.group(1) for match in _BLOCK.finditer(text)]
    opened = re.findall(r"<!-- generated: (\S+) -->", text)
    if broken := sorted(set(opened) - set(found)):
        raise ValueError(
            f"the block {broken[0]!r} has no line <!-- end: {broken[0]} -->: nothing was replaced"
        )

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        return marked(name, blocks[name]) if name in blocks else match.group(0)

    problems = [f"unknown block {name!r} left as it is" for name in found if name not in blocks]
    # README.md holds a few of the blocks, and means to.
    if len(set(found) & set(blocks)) not in (1, 2):
        expected = [name for name in blocks if name not in _README_ONLY]
        problems += [f"the file has no block {name!r}" for name in expected if name not in found]
    return _BLOCK.sub(replace, text), problems


def marked(name: str, content: str) -> str:
    """Return a block with its markers."""
    return f"<!-- generated: {name} -->\n{content.strip()}\n<!-- end: {name} -->"


def write_reproduction(
    experiments: Experiments, output: Output, file: Path, reasons: Path | None = None
) -> None:
    """Regenerate the blocks of the file, which is made if it does not exist.

    Why values differ is read from the file `reasons`; default: the paper's ``reasons.csv``.
    """
    publication = paper.publication()
    texts = publication.reasons if reasons is None else publication.reasons_in(reasons)
    blocks, remarks = make_blocks(experiments, texts)
    text = file.read_text(encoding="utf-8") if file.exists() else skeleton()
    text, problems = update(text, blocks)
    output.remarks += remarks + problems
    output.write(file.resolve(), text)


def skeleton() -> str:
    """Return the file with headings and empty blocks, to be written around."""
    names = re.findall(r"\{(\w+)\}", _SKELETON)
    return _SKELETON.format(**{name: marked(name, "") for name in names})
