"""What a level changes against the reference: paired over splits, tested over data sets."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd

from results.ablations.studies import Study
from results.metrics import EXACT_METRICS
from results.statistics.rank_tests import bootstrap_intervals, holm, signed_rank_p, win_tie_loss

JUDGED_BY = EXACT_METRICS[::-1]
_PAIR = ["dataset", "seed", "split"]


@dataclass(frozen=True)
class Effects:
    """One study in one setting.

    Attributes
    ----------
    means : dict of str to DataFrame
        Per metric: data sets x levels, mean over the splits that all levels finished.
    errors : dict of str to DataFrame
        Per metric: standard error of the mean paired difference to the reference.
    n_splits : Series
        Splits of each data set that the means are over.
    seconds : Series
        Processor time of fitting each level relative to the reference, as geometric mean over
        data sets; NaN for a level that was run with other code or on another kind of processor.
    summary : DataFrame
        One row per level and metric; see :func:`summarise`.
    """

    study: Study
    protocol: str
    setting: str
    means: dict[str, pd.DataFrame]
    errors: dict[str, pd.DataFrame]
    n_splits: pd.Series
    seconds: pd.Series
    summary: pd.DataFrame


def effects(frame: pd.DataFrame, study: Study) -> list[Effects]:
    """Return the effects of a study, one entry per protocol and setting that was run.

    A level that has no result on a data set has a gap there; of the splits of a data set only those
    count that every level with results on it finished.
    """
    chosen = study.select(frame[frame["status"] == "ok"])
    result = []
    for (protocol, setting), part in chosen.groupby(["protocol", "setting"], sort=True):
        if (part["level"] == study.reference).any() and part["level"].nunique() > 1:
            result.append(_effects(part, study, str(protocol), str(setting)))
    return result


def _effects(part: pd.DataFrame, study: Study, protocol: str, setting: str) -> Effects:
    order = [label for label in study.levels.values() if (part["level"] == label).any()]
    means, errors = {}, {}
    n_splits = pd.Series(dtype=int)
    for metric in JUDGED_BY:
        table = part.pivot(index=_PAIR, columns="level", values=metric)[order]
        # The splits of a data set that all its levels finished.
        finished = table.notna()
        tried = finished.groupby(level="dataset").transform("any")
        common = table[(finished | ~tried).all(axis=1)]
        groups = common.groupby(level="dataset")
        means[metric] = groups.mean().round(12)
        gaps = common.sub(common[study.reference], axis=0)
        errors[metric] = gaps.groupby(level="dataset").sem()
        n_splits = groups.size()
    seconds = part.groupby(["level", "dataset"])["fit_cpu_seconds"].mean().unstack("level")[order]
    made_by = part["provenance"].map(_made_by).groupby(part["level"]).agg(frozenset)
    seconds.loc[:, made_by[order] != made_by[study.reference]] = np.nan
    relative = seconds.div(seconds[study.reference], axis=0)
    summary = pd.concat(
        [summarise(means[metric], study.reference, metric) for metric in JUDGED_BY],
        ignore_index=True,
    )
    # The geometric mean treats half and twice the time alike.
    return Effects(
        study, protocol, setting, means, errors, n_splits, np.exp(np.log(relative).mean()), summary
    )


def _made_by(provenance: str) -> tuple[str, str]:
    made = json.loads(provenance)
    return str(made.get("commit")), str(made.get("cpu"))


def contrasts(effects: Effects, metric: str) -> pd.DataFrame:
    """Compare values of the study's contrast parameter, the other parameters being equal.

    Returns
    -------
    DataFrame
        As of :func:`summarise`, one row per pair: ``level`` against ``base``.
    """
    means = effects.means[metric]
    rows = []
    for level, base in effects.study.pairs:
        if {level, base} <= set(means.columns) and means[[level, base]].notna().all(
            axis=1
        ).sum() > 1:
            table = summarise(means[[base, level]], base, metric)
            rows.append(table[table["level"] == level].assign(base=base))
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def summarise(means: pd.DataFrame, reference: str, metric: str) -> pd.DataFrame:
    """Compare each level with the reference over the data sets that both finished.

    Parameters
    ----------
    means : DataFrame
        Data sets x levels.

    Returns
    -------
    DataFrame
        Per level: ``mean``, ``difference`` with its bootstrap interval over data sets (``low``,
        ``high``), ``wins_ties_losses`` at three decimals, ``p`` of Wilcoxon's signed-rank test
        and ``p_holm``, corrected for the number of levels; ``n_datasets``.
    """
    rows = []
    for level in means.columns:
        both = means[[reference, level]].dropna() if level != reference else means[[level]].dropna()
        row = {
            "metric": metric,
            "level": level,
            "n_datasets": len(both),
            "mean": both[level].mean(),
        }
        if level != reference and len(both) > 1:
            interval = bootstrap_intervals(both).loc[level]
            row |= {
                "difference": interval["difference"],
                "low": interval["difference_low"],
                "high": interval["difference_high"],
                "wins_ties_losses": win_tie_loss(both, metric).loc[level, reference],
                "p": signed_rank_p((both[reference] - both[level]).to_numpy()),
            }
        rows.append(row)
    table = pd.DataFrame(
        rows,
        columns=[
            "metric", "level", "n_datasets", "mean", "difference", "low", "high",
            "wins_ties_losses", "p",
        ],
    )  # fmt: skip
    tested = table["p"].notna()
    table["p_holm"] = np.nan
    table.loc[tested, "p_holm"] = holm(table.loc[tested, "p"].to_numpy(dtype=float))
    return table
