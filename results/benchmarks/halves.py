"""Parameters chosen on one half of the data sets and judged on the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from results.ablations.choice import candidate_gains
from results.ablations.effects import JUDGED_BY, Effects, summarise
from results.ablations.studies import Study
from results.metrics import METRICS
from results.statistics.rank_tests import holm
from results.tables.text import markdown
from results.vocabulary import SETTINGS, format_difference, format_number


@dataclass(frozen=True)
class Judged:
    """A level chosen on one half, and its gains on the other.

    Attributes
    ----------
    protocol, setting, metric : str
    chosen_on : str
        ``odd`` or ``even``: the places of the data sets in alphabetical order.
    n_candidates : int
    level : str
        The candidate with the largest mean gain there.
    gain_there : float
    gains : Series
        On the data sets of the other half.
    """

    protocol: str
    setting: str
    metric: str
    chosen_on: str
    n_candidates: int
    level: str
    gain_there: float
    gains: pd.Series


def judge(gains: pd.DataFrame, protocol: str, setting: str, metric: str) -> list[Judged]:
    """Choose on each half, by alphabetical parity, and judge on the other.

    Parameters
    ----------
    gains : DataFrame
        Data sets x candidates: differences to the reference. Candidates without a value on some
        data set are left out.

    Returns
    -------
    list of Judged
        Empty if there are fewer than 4 data sets, or no two candidates to choose from.
    """
    complete = gains.loc[:, gains.notna().all()].sort_index()
    if len(complete) < 4 or complete.shape[1] < 2:
        return []
    halves = {"odd": complete.iloc[::2], "even": complete.iloc[1::2]}
    judged = []
    for name, other in (("odd", "even"), ("even", "odd")):
        means = halves[name].mean()
        best = str(means.idxmax())
        judged.append(
            Judged(
                protocol, setting, metric, name, complete.shape[1], best, float(means[best]),
                halves[other][best],
            )
        )  # fmt: skip
    return judged


def judge_all(results: Mapping[Study, list[Effects]]) -> list[Judged]:
    """Judge under every protocol and setting in which studies were run, by each metric."""
    grids = sorted({(part.protocol, part.setting) for found in results.values() for part in found})
    judged = []
    for protocol, setting in grids:
        own = {
            study: [part for part in found if part.protocol == protocol]
            for study, found in results.items()
        }
        for metric in JUDGED_BY:
            gains = candidate_gains(own, setting, metric)
            judged += judge(gains, protocol, setting, metric)
    return judged


def judged_markdown(judged: list[Judged]) -> str:
    """Return one row per choice; p values are corrected for all of them."""
    tests = [_test(choice) for choice in judged]
    corrected = holm(np.array([p for p, _ in tests]))
    rows = [
        [
            choice.protocol,
            SETTINGS[choice.setting],
            METRICS[choice.metric].heading,
            choice.chosen_on,
            str(choice.n_candidates),
            choice.level,
            format_difference(choice.gain_there),
            format_difference(choice.gains.mean()),
            counts,
            format_number(p, 3),
            format_number(p_holm, 3),
        ]
        for choice, (p, counts), p_holm in zip(judged, tests, corrected, strict=True)
    ]
    headings = ["protocol", "", "by", "chosen on", "candidates", "chosen", "Δ there"]
    headings += ["Δ on the other half", "w/t/l", "p", "p (Holm)"]
    return (
        f"{markdown(headings, rows)}\n\nThe halves are the data sets at odd and at even places of "
        "the alphabet. Of all candidates the one with the largest mean gain on one half is taken, "
        "and tested on the other by Wilcoxon's signed-rank test over data sets; p (Holm): "
        f"corrected for the {len(rows)} rows."
    )


def _test(choice: Judged) -> tuple[float, str]:
    values = pd.DataFrame({"reference": 0.0 * choice.gains, "choice": choice.gains})
    row = summarise(values, "reference", choice.metric).set_index("level").to_dict("index")
    return float(row["choice"]["p"]), str(row["choice"]["wins_ties_losses"])
