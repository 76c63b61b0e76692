"""The sentences of README.md that hold numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

from tests.results import facts
from tests.results.facts import cell, mean
from tests.results.sentences import Sentence, d
from tests.results.sentences_reproduction import friedman, of_c1

ROOT = Path(__file__).parents[2]
#: Names, versions, the example whose output is tested, and how many of what there are.
ALLOWED = [
    "Brault, Chiapino, 2016", "and two more: Livernoche et al. (ICLR 2024,", "PyOD's of 2019", "Two commands", "Python 3.11 or newer",
    "Python 3.11 to 3.13", "The tables of 2016", "does it for three bundled data sets", "the paper's twelve data sets",
    "with s(x) close to 1 for anomalies", "sums exactly to log2 s(x)", "So row 715", "row 4", "two to three times as long as scores",
    "grid under three protocols", "The default threshold, s(x) = 0.5",
    "a mean of 1",
    "A weight of 2 equals the row twice only",
    "sets it so that 5 % of the training rows",
]  # fmt: skip


@cache
def _healthy() -> pd.DataFrame:
    table = pd.read_parquet(ROOT / "datasets" / "bundled" / "pima.parquet")
    return table[table["class"] == "tested_negative"]


def _row(number: int) -> pd.Series:
    return pd.read_parquet(ROOT / "datasets" / "bundled" / "pima.parquet").loc[number]


#: The algorithms that finished all twelve data sets, and further forms of them.
SIX = ("oneclassrf", "oneclassrf_text", "ocrfsampling", "lof", "orca", "orca_clean", "lsad")

README = [
    Sentence("ap", "OneClassRF's lead in the paper's mean PR area of novelty detection comes from interpolating between tied scores. With all columns finished it remains by the paper's areas and protocol (as run, {} to OCRFsampling's {}), not by exact ones: its average precision is {}, OCRFsampling's {}, LOF's {}, Orca's {} and isolation forest's {}, which leads in outlier detection ({}) among the algorithms that finished all twelve.", lambda: (d(mean("oneclassrf")), d(mean("ocrfsampling")), *(d(mean(name, "pr", "clean")) for name in ("oneclassrf", "ocrfsampling", "lof", "orca", "iforest")), d(mean("iforest", "pr", "clean", "outlier"))), lambda: _lead_is_gone() and all(mean("iforest", "pr", "clean", "outlier") >= mean(name, "pr", "clean", "outlier") for name in SIX)),
    Sentence("friedman", "Without RFC, whose mean rank is the last, Friedman's test finds no difference among these (p, corrected, is {} or more)", lambda: (d(min(_friedman()), 2),), lambda: min(_friedman()) > 0.05 and all(facts.family(kind, setting=setting).comparison.mean_ranks.idxmax() == "rfc" for kind in ("roc", "pr") for setting in ("novelty", "outlier"))),
    Sentence("orca", "Two choices of the original run, one of them not in the text, held Orca back in novelty detection: without them its average precision is {} instead of {}, the one difference between forms that survives correction (p = {}). In outlier detection it falls from {} to {}, because of http ({} to {})", lambda: (d(mean("orca_clean", "pr", "clean")), d(mean("orca", "pr", "clean")), d(facts.pair("orca", "orca_clean")["holm"]), *(d(mean(name, "pr", "clean", "outlier")) for name in ("orca", "orca_clean")), *(d(cell("http", name, "pr", "clean", "outlier")) for name in ("orca", "orca_clean"))), lambda: facts.pair("orca", "orca_clean")["holm"] < 0.05),
    Sentence("text", 'As the text has it, without `out_of_bounds="maximal"`, a rule that only the published runs used, OneClassRF has {} in novelty detection ({} as run) and {} in outlier detection ({} as run)', lambda: tuple(d(mean(name, "pr", "clean", setting)) for setting in ("novelty", "outlier") for name in ("oneclassrf_text", "oneclassrf"))),
    Sentence("c1", "our tables leave out the last, which changes one mean of the paper's areas by {} (http, outlier detection; {} by average precision) and others by {} at most ({})", lambda: (of_c1()[0], of_c1(exact=True)[0], of_c1()[1], of_c1(exact=True)[1])),
    Sentence("insulin", "an amount of insulin that {} % of the healthy women exceed", lambda: (f"{100 * (_healthy()['insu'] > _row(715)['insu']).mean():.1f}",)),
    Sentence("pedigree", "a single healthy woman", lambda: (), lambda: (_healthy()["pedi"] > _row(4)["pedi"]).sum() == 1),
    Sentence("zero", "{} % of the healthy women have an insulin of 0", lambda: (f"{100 * (_healthy()['insu'] == 0).mean():.0f}",)),
]  # fmt: skip


def _lead_is_gone() -> bool:
    """It leads by interpolated areas, OCRFsampling's next, and is behind that by exact ones."""
    as_run = [name for name in SIX if name not in ("oneclassrf", "oneclassrf_text", "orca_clean")]
    areas = {name: mean(name) for name in as_run}
    return bool(
        mean("oneclassrf") > max(areas.values())
        and max(areas, key=areas.__getitem__) == "ocrfsampling"
        and mean("ocrfsampling", "pr", "clean") > mean("oneclassrf", "pr", "clean")
    )


def _friedman() -> list[float]:
    return [p for field in ("as run", "other forms") for p in friedman("clean", field=field)]
