"""Which single level to use: the best one of all studies, and the effect of choosing it.

The best of many levels looks better than it is on the data sets that it was chosen on. So the
choice is made again for each data set from the others alone, and its effect there is what counts
(leave one data set out).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from results.ablations.effects import JUDGED_BY, Effects, summarise
from results.ablations.studies import Study
from results.metrics import METRICS
from results.tables.text import markdown
from results.vocabulary import SETTINGS, format_difference, format_number

BOTH = "both settings"


@dataclass(frozen=True)
class Choice:
    """The best level for one purpose.

    Attributes
    ----------
    purpose, metric : str
        A setting's name, or both.
    gains : DataFrame
        Data sets x candidates: differences to the reference.
    best : str
        The candidate with the largest mean gain.
    chosen : Counter
        How often each candidate was chosen when one data set was left out.
    held_out : Series
        Gain on each data set of the candidate chosen on the others.
    """

    purpose: str
    metric: str
    gains: pd.DataFrame
    best: str
    chosen: Counter[str]
    held_out: pd.Series


def candidate_gains(
    results: Mapping[Study, list[Effects]], setting: str, metric: str
) -> pd.DataFrame:
    """Return data sets x candidates (levels of all studies): differences to the reference."""
    columns: dict[str, pd.Series] = {}
    for study, found in results.items():
        for part in found:
            if part.setting != setting:
                continue
            means = part.means[metric]
            for level in means.columns.drop(study.reference):
                name = study.describe(level)
                # Several studies share levels; the first one shows them.
                columns.setdefault(name, means[level] - means[study.reference])
    return pd.DataFrame(columns)


def choose(gains: pd.DataFrame, purpose: str, metric: str) -> Choice | None:
    """Choose among the candidates that have a value on every data set that any of them has.

    Returns
    -------
    Choice or None
        None if there are fewer than 3 data sets, or no candidate.
    """
    complete = gains.loc[:, gains.notna().all()]
    if complete.shape[0] < 3 or complete.shape[1] == 0:
        return None
    chosen = {name: str(complete.drop(index=name).mean().idxmax()) for name in complete.index}
    held_out = pd.Series({name: complete.loc[name, level] for name, level in chosen.items()})
    return Choice(
        purpose, metric, complete, str(complete.mean().idxmax()), Counter(chosen.values()), held_out
    )


def choices(results: Mapping[Study, list[Effects]]) -> list[Choice]:
    """Choose for each setting and for both at once, by each metric."""
    made = []
    for metric in JUDGED_BY:
        tables = {setting: candidate_gains(results, setting, metric) for setting in SETTINGS}
        # Whoever does not know whether the training data are clean needs both.
        first, *others = tables.values()
        both = sum((table.reindex_like(first) for table in others), start=first) / len(tables)
        for purpose, gains in {**tables, BOTH: both}.items():
            choice = choose(gains, purpose, metric)
            if choice is not None:
                made.append(choice)
    return made


def choices_markdown(made: list[Choice]) -> str:
    """Return one row per purpose and metric."""
    rows = []
    for choice in made:
        best = choice.gains[choice.best]
        p, counts = _test(choice.held_out, choice.metric)
        rows.append(
            [
                SETTINGS.get(choice.purpose, choice.purpose),
                METRICS[choice.metric].heading,
                f"{len(choice.gains)} x {choice.gains.shape[1]}",
                choice.best,
                format_difference(best.mean()),
                format_difference(choice.held_out.mean()),
                counts,
                p,
                "; ".join(f"{name} ({n})" for name, n in choice.chosen.most_common()),
            ]
        )
    headings = [
        "",
        "by",
        "data sets x candidates",
        "best",
        "Δ",
        "Δ held out",
        "w/t/l",
        "p",
        "chosen",
    ]
    return markdown(headings, rows)


def _test(gains: pd.Series, metric: str) -> tuple[str, str]:
    table = summarise(
        pd.DataFrame({"reference": 0.0 * gains, "choice": gains}), "reference", metric
    )
    row = table.set_index("level").to_dict("index")["choice"]
    return format_number(float(row["p"]), 3), str(row["wins_ties_losses"])
