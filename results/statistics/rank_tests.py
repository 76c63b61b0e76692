"""Rank tests and intervals over data sets, on the means over the paired splits (Demsar 2006)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import scikit_posthocs as sp
from scipy import stats

from results.aggregate import in_order, of_other_splits
from results.metrics import METRICS
from results.vocabulary import round_half_up

ALPHA = 0.05
#: Decimals at which two results tie in the win/tie/loss count, those of the tables.
TIE_DIGITS = 3
#: Up to this many data sets all 2**n signs of the differences are tried.
_ALL_SIGNS = 13


@dataclass(frozen=True)
class Comparison:
    """Several algorithms compared over the data sets that all of them finished.

    Attributes
    ----------
    title, metric : str
    values : DataFrame
        Data sets x algorithms, without gaps.
    left_out_datasets : dict of str to list of str
        Each data set that was left out, with the algorithms that have no value on it.
    left_out_algorithms : list of str
        Algorithms that this comparison does without: not run, or not finished, on every data set.
    friedman : tuple of (float, float) or None
        Statistic and p value; None with fewer than 3 algorithms or 2 data sets, or if all tie.
    mean_ranks : Series
        Rank 1 is best.
    critical_difference : float
        Of mean ranks by Nemenyi's test at 5 %; NaN if there is no test.
    """

    title: str
    metric: str
    values: pd.DataFrame
    left_out_datasets: dict[str, list[str]]
    left_out_algorithms: list[str]
    friedman: tuple[float, float] | None
    mean_ranks: pd.Series
    critical_difference: float

    @functools.cached_property
    def nemenyi(self) -> pd.DataFrame | None:
        """Return p values of all pairs; None without a Friedman test."""
        return None if self.friedman is None else _nemenyi(self.values)

    # With thirty algorithms there are hundreds of pairs, and not everybody looks at them.
    @functools.cached_property
    def wilcoxon_holm(self) -> pd.DataFrame | None:
        """Return p values of all pairs, Wilcoxon's signed-rank test with Holm's correction.

        None with one algorithm or one data set.
        """
        return wilcoxon_holm(self.values) if min(self.values.shape) >= 2 else None

    @property
    def n_datasets(self) -> int:
        """How many data sets are compared."""
        return len(self.values)

    @property
    def smallest_p(self) -> float:
        """The smallest p value that Wilcoxon's exact test can give, before any correction."""
        return 2.0 ** (1 - self.n_datasets)


def matrix(cells: pd.DataFrame, metric: str, algorithms: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return data sets x algorithms of one protocol and setting; NaN where there is no value.

    A mean over other splits than those that its data set usually has is none.
    """
    whole = cells[metric].mask(of_other_splits(cells))
    values = whole.droplevel(["protocol", "setting"]).unstack("label")
    # Noise of summation must not break ties between equal means.
    return values.reindex(columns=in_order(values.columns, algorithms)).sort_index().round(12)


def comparisons(
    values: pd.DataFrame, metric: str, run: Sequence[str] | None = None
) -> list[Comparison]:
    """Compare all algorithms on their common data sets, and the complete ones on every data set.

    Algorithms that did not finish some data sets force a choice: fewer data sets, or fewer
    algorithms. Both are made, and what was left out is in the result.

    Parameters
    ----------
    values : DataFrame
        As :func:`matrix`.
    metric : str
    run : sequence of str, optional
        The algorithms that were run on every data set; the others are left out.
    """
    values = values.dropna(axis=1, how="all")
    tried = values if run is None else values.loc[:, values.columns.isin(list(run))]
    chosen = [_compare(values, tried, "all algorithms, common data sets", metric)]
    complete = values.loc[:, values.notna().all()]
    if 2 <= complete.shape[1] < tried.shape[1]:
        chosen.append(_compare(values, complete, "algorithms that finished every data set", metric))
    return [comparison for comparison in chosen if comparison.values.size]


def _compare(everything: pd.DataFrame, values: pd.DataFrame, title: str, metric: str) -> Comparison:
    block = values.dropna()
    gaps = {
        str(dataset): [str(label) for label in values.columns[values.loc[dataset].isna()]]
        for dataset in values.index.difference(block.index)
    }
    ranks = block.rank(axis=1, ascending=not METRICS[metric].higher_is_better)
    n, k = block.shape
    tested = k >= 3 and n >= 2 and not (ranks.nunique(axis=1) == 1).all()
    return Comparison(
        title=title,
        metric=metric,
        values=block,
        left_out_datasets=gaps,
        left_out_algorithms=[str(c) for c in everything.columns.difference(values.columns)],
        friedman=_friedman(block) if tested else None,
        mean_ranks=ranks.mean(),
        critical_difference=critical_difference(k, n) if tested else math.nan,
    )


def _friedman(block: pd.DataFrame) -> tuple[float, float]:
    result = stats.friedmanchisquare(*(block[label] for label in block))
    return float(result.statistic), float(result.pvalue)


def _nemenyi(block: pd.DataFrame) -> pd.DataFrame:
    p_values = sp.posthoc_nemenyi_friedman(block.to_numpy())
    return pd.DataFrame(np.asarray(p_values), index=block.columns, columns=block.columns)


def critical_difference(n_algorithms: int, n_datasets: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of mean ranks.

    Examples
    --------
    Demsar (2006), table 5: q = 2.569 for four algorithms.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(1 - alpha, n_algorithms, np.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_datasets)))


def wilcoxon_holm(block: pd.DataFrame) -> pd.DataFrame:
    """Return p values of Wilcoxon's signed-rank test for all pairs, with Holm's correction.

    Zero differences are shared between the signs (``zsplit``), so that ties speak for equality.
    """
    pairs = list(combinations(block.columns, 2))
    raw = []
    for first, second in pairs:
        difference = (block[first] - block[second]).to_numpy()
        raw.append(signed_rank_p(difference))
    adjusted = holm(np.array(raw))
    table = pd.DataFrame(1.0, index=block.columns, columns=block.columns)
    for (first, second), p_value in zip(pairs, adjusted, strict=True):
        table.loc[first, second] = table.loc[second, first] = p_value
    return table


def signed_rank_p(difference: np.ndarray) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test, exact for few data sets."""
    if not difference.any():
        return 1.0
    difference = difference.round(12)
    magnitudes = np.abs(difference)
    tied = len(np.unique(magnitudes)) < len(magnitudes) or not magnitudes.all()
    method = "exact" if len(difference) <= 50 else "asymptotic"
    if tied:
        # The exact distribution knows neither ties nor zeros; for few data sets all signs can be
        # tried, and the normal approximation is poor.
        if len(difference) <= _ALL_SIGNS:
            return _all_signs_p(difference)
        method = "asymptotic"
    return float(stats.wilcoxon(difference, zero_method="zsplit", method=method).pvalue)


def _all_signs_p(difference: np.ndarray) -> float:
    """Return the p value of ``scipy.stats.wilcoxon`` with ``PermutationMethod`` and all signs.

    The same in one product of matrices: scipy calls its statistic once per sign pattern, and takes
    minutes over the pairs of thirty algorithms.
    """
    n = len(difference)
    ranks = stats.rankdata(np.abs(difference))
    positive = np.where(difference == 0, 0.5, difference > 0)
    patterns = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    # A zero is shared between the signs, whatever its sign would be.
    sums = np.where(difference == 0, 0.5, patterns) @ ranks
    observed = positive @ ranks
    tails = (np.mean(sums <= observed + 1e-9), np.mean(sums >= observed - 1e-9))
    return min(1.0, 2 * float(min(tails)))


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return Holm's step-down adjustment of p values.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    # Not statsmodels.stats.multitest.multipletests: each of its calls collects the garbage of the
    # whole process, which was half of the time of a document with hundreds of tests.
    order = np.argsort(p_values)
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def win_tie_loss(values: pd.DataFrame, metric: str, digits: int = TIE_DIGITS) -> pd.DataFrame:
    """Count ``wins/ties/losses`` of the row's algorithm, on the data sets that both finished.

    Values that are the same to `digits` decimals tie.
    """
    better = 1 if METRICS[metric].higher_is_better else -1
    labels = list(values.columns)
    table = pd.DataFrame("", index=labels, columns=labels)
    for first, second in combinations(labels, 2):
        both = values[[first, second]].dropna()
        signs = [
            np.sign(float(round_half_up(a, digits) - round_half_up(b, digits)))
            for a, b in both.to_numpy()
        ]
        wins, losses = signs.count(better), signs.count(-better)
        ties = len(signs) - wins - losses
        table.loc[first, second] = f"{wins}/{ties}/{losses}"
        table.loc[second, first] = f"{losses}/{ties}/{wins}"
    return table


def bootstrap_intervals(
    block: pd.DataFrame, n_resamples: int = 10_000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Percentile intervals by resampling data sets, the same ones for all algorithms.

    Resampling so few data sets that Wilcoxon's test cannot reach 1 - `level` gives their own values
    back: then there are no intervals.

    Parameters
    ----------
    block : DataFrame
        Data sets x algorithms, without gaps.

    Returns
    -------
    DataFrame
        Per algorithm: ``mean``, ``low``, ``high``, and the mean difference to the first algorithm
        with its interval (``difference``, ``difference_low``, ``difference_high``); NaN where
        there are no intervals.
    """
    data = block.to_numpy()
    rng = np.random.default_rng(seed)
    chosen = rng.integers(len(data), size=(n_resamples, len(data)))
    means = data[chosen].mean(axis=1)
    gaps = means - means[:, :1]
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(means, tails, axis=0)
    gap_low, gap_high = np.quantile(gaps, tails, axis=0)
    mean = data.mean(axis=0)
    if 2.0 ** (1 - len(data)) > 1 - level:
        low = high = gap_low = gap_high = np.full(len(mean), np.nan)
    return pd.DataFrame(
        {
            "mean": mean,
            "low": low,
            "high": high,
            "difference": mean - mean[0],
            "difference_low": gap_low,
            "difference_high": gap_high,
        },
        index=block.columns,
    )
