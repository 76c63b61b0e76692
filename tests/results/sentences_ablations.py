"""The sentences of ABLATIONS.md that hold numbers."""

from __future__ import annotations

from functools import cache

import pandas as pd

from results.statistics.rank_tests import signed_rank_p
from tests.results import facts
from tests.results.facts import contrast, fit_time, gains, level
from tests.results.sentences import Sentence, d, signed, word

#: Names, settings and definitions.
ALLOWED = [
    "the paper's twelve data sets", "one to three parameters", "a gamma below 1", "one of the four below 1", "twelve data sets",
    "Ten splits of each data set", "section 3",


    "two densities",
    "gamma = 1", "gamma = 10", "between 0.1 and 10", "of 128 rows or fewer",
    "with gamma = 0.1", "at 0.01", "at 30", "At 0.3", "at 0.3", "128 rows", "A gamma of 0.03", "those of gamma = 0.01", "A gamma of 0.3",
    "256 rows", "half of the rows", "half or all of them", "A depth of 8",
    "between 1 and 5 features per node",
    "2000 training and 2000 test rows, two splits", "the two others", "half of the values", "Two splits of small samples",
    "single differences of a hundredth",
]  # fmt: skip
S = ("novelty", "outlier")
_BELOW = ("0.01", "0.03", "0.1", "0.3")
_FEW = ("1, tree auto", "1, tree all", "2, tree auto", "2, tree all", "5, tree all")
_OUT = [f"gamma {g}, node {n}, out of bounds maximal" for g in ("1", "0.1") for n in ("5", "all")]


def _wins(text: str) -> str:
    return text.split("/")[0]


def _losses(text: str) -> str:
    return text.split("/")[2]


def _worst(study: str, name: str, kind: str = "pr") -> tuple[float, str]:
    """The largest loss on a data set over both settings, and where."""
    table = {s: gains(study, name, kind, s) for s in S}
    setting = min(S, key=lambda s: table[s].min())
    return float(table[setting].min()), str(table[setting].idxmin())


def _below_1() -> pd.Series:
    """The largest loss of each data set with a gamma below 1, over both settings."""
    return pd.concat([gains("gamma", n, "pr", s) for n in _BELOW for s in S], axis=1).min(axis=1)


def _both(study: str, name: str, kind: str = "pr") -> tuple[str, str]:
    return tuple(signed(level(study, name, "difference", kind, s)) for s in S)  # type: ignore[return-value]


def _largest(setting: str, names: tuple[str, ...]) -> float:
    return max(abs(level("features", f"node {n}", "difference", "pr", setting)) for n in names)


def _smallest_holm() -> float:
    return float(facts.all_tests()["all_holm"].min())


def _of_all(study: str, name: str, kind: str, setting: str) -> float:
    table = facts.all_tests()
    metric = facts.metric("clean", kind)
    p = level(study, name, "p", kind, setting)
    chosen = (
        (table["study"] == study)
        & (table["level"] == name)
        & (table["metric"] == metric)
        & (table["p"] == p)
    )
    return float(table[chosen]["all_holm"].iloc[0])


def _share_of_two() -> tuple[str, str]:
    g = gains("depth", "8", "pr", "outlier")
    splits = facts.ablations()["depth", "outlier"].n_splits
    return f"{100 * (g['shuttle'] + g['http']) / g.sum():.0f}", word(
        int(max(splits["shuttle"], splits["http"]))
    )


def _choice(purpose: str, kind: str) -> tuple[float, int, str]:
    """The gain held out, how often the most frequent candidate was chosen, and its name."""
    found = facts.chosen(purpose, facts.metric("clean", kind))
    name, count = found.chosen.most_common(1)[0]
    return float(found.held_out.mean()), count, name


def _choice_p(purpose: str, kind: str) -> float:
    """Wilcoxon's p of the gains held out."""
    return signed_rank_p(facts.chosen(purpose, facts.metric("clean", kind)).held_out.to_numpy())


def _best_and_worst(study: str, name: str, setting: str, kind: str, where: str) -> float:
    return float(gains(study, name, kind, setting)[where])


@cache
def _missing() -> pd.DataFrame:
    """The mean ROC AUC of each method, a line for each setting, pattern and share."""
    table = pd.read_csv(facts.RUNS / "missing.csv").drop(columns=["dataset", "split"])
    return table.groupby(["setting", "missing", "share"]).mean()


def _lead() -> pd.Series:
    """The rule's lead over the best of the other rules and of imputing medians, line by line."""
    table = _missing()
    return table["proportion"] - table[["majority", "better", "median"]].max(axis=1)


def _rounded_lead() -> pd.Series:
    table = _missing().round(3)
    return table["proportion"] - table[["majority", "better", "median"]].max(axis=1)


def _holes() -> pd.Series:
    return _missing().loc["outlier", "anomalies", 0.5]


ABLATIONS = [
    Sentence("missing", "to three decimals, its mean in {} of {} lines is at least that of the two others and of imputing medians, and in the other one it is {} below the best of them; where half of the values are missing in all rows, it is {} above the best of these in novelty and {} in outlier detection", lambda: ((_rounded_lead() >= 0).sum(), len(_lead()), d(-_rounded_lead().min()), *(d(_lead()[s, "all rows", 0.5]) for s in S)), lambda: (_rounded_lead() < 0).sum() == 1),
    Sentence("missing_novelty", "the rules score alike", lambda: (), lambda: bool((_missing().loc["novelty", "anomalies"][["proportion", "majority", "better"]].std(axis=1) < 0.0005).all())),
    Sentence("missing_holes", "isolates the holes themselves ({} against {} with half of the values missing)", lambda: (d(_holes()["IsolationForest"]), d(_holes()["proportion"]))),
    Sentence("nothing", "Over all {} tests of a level against the reference in this document the smallest p value after Holm's correction is {}: nothing that was tried is shown to differ", lambda: (len(facts.all_tests()), d(_smallest_holm(), 2)), lambda: _smallest_holm() > 0.05),
    Sentence("gamma03", "it changes average precision by {} in novelty and {} in outlier detection, loses at most {} on any data set by average precision ({}) and {} by ROC ({})", lambda: (*_both("gamma", "0.3"), d(-_worst("gamma", "0.3")[0]), _worst("gamma", "0.3")[1], d(-_worst("gamma", "0.3", "roc")[0]), _worst("gamma", "0.3", "roc")[1])),
    Sentence("gamma003", "changes it by {} and {}, but loses up to {} ({}) and by ROC {} ({})", lambda: (*_both("gamma", "0.03"), d(-_worst("gamma", "0.03")[0]), _worst("gamma", "0.03")[1], d(-_worst("gamma", "0.03", "roc")[0]), _worst("gamma", "0.03", "roc")[1])),
    Sentence("depth8", "A depth of 8 in outlier detection gains {} in average precision, with p = {} after Holm's correction within its own table and {} over all tests, and {} % of that gain are shuttle and http, which have {} splits or fewer", lambda: (d(level("depth", "8", "difference", "pr", "outlier")), d(level("depth", "8", "p_holm", "pr", "outlier")), d(_of_all("depth", "8", "pr", "outlier"), 2), *_share_of_two())),
    Sentence("subsample_p", "Sub-samples of 128 rows or fewer lose most clearly in novelty detection: p = {} or less by average precision within their table, {} or more over all tests", lambda: (d(max(level("subsample", n, "p_holm") for n in ("32", "64", "128"))), d(min(_of_all("subsample", n, "pr", "novelty") for n in ("32", "64", "128")), 2))),
    Sentence("held_out", "Choosing the best of all levels on eleven data sets and judging it on the twelfth gains {} in average precision over both settings (p = {}), with {} in {} of twelve cases; in outlier detection alone the same procedure changes it by {}, and by ROC in novelty detection by {}", lambda: (d(_choice("both settings", "pr")[0]), d(_choice_p("both settings", "pr"), 2), _choice("both settings", "pr")[2], word(_choice("both settings", "pr")[1]), signed(_choice("outlier", "pr")[0]), signed(_choice("novelty", "roc")[0]))),
    Sentence("gamma_range", "Average precision falls as gamma grows: from {} at 0.01 to {} at 30 in novelty detection (outlier detection: {} to {})", lambda: tuple(signed(level("gamma", n, "difference", "pr", s)) for s in S for n in ("0.01", "30"))),
    Sentence("gamma_wins", "At 0.3, {} of 12 data sets gain in novelty detection (p = {}, {} after Holm) and {} of 12 in outlier detection (p = {})", lambda: (_wins(level("gamma", "0.3", "wins_ties_losses")), d(level("gamma", "0.3", "p")), d(level("gamma", "0.3", "p_holm"), 2), _wins(level("gamma", "0.3", "wins_ties_losses", "pr", "outlier")), d(level("gamma", "0.3", "p", "pr", "outlier"), 2))),
    Sentence("gamma_gain", "At all four below 1 annthyroid, ionosphere and arrhythmia gain in both settings, forestcover and spambase in novelty detection; shuttle gains most evenly, {} to {} at all four in outlier detection", lambda: tuple(d(f(gains("gamma", n, "pr", "outlier")["shuttle"] for n in _BELOW), 2) for f in (min, max)), lambda: all(gains("gamma", n, "pr", s)[w] > 0 for n in _BELOW for s in S for w in ("annthyroid", "ionosphere", "arrhythmia")) and all(gains("gamma", n, "pr", "novelty")[w] > 0 for n in _BELOW for w in ("forestcover", "spambase"))),
    Sentence("gamma_roc", "By ROC the change at 0.3 is {} and {}", lambda: _both("gamma", "0.3", "roc")),
    Sentence("gamma_large", "by ROC {} of 12 data sets lose in novelty detection at 30 (p = {} after Holm within the table)", lambda: (_losses(level("gamma", "30", "wins_ties_losses", "roc")), d(level("gamma", "30", "p_holm", "roc")))),
    Sentence("gamma_drawn", "Drawing gamma per tree between 0.1 and 10, which the supplementary discusses, changes average precision by {} and {}, and loses at most {} of it on a data set, and {} by ROC", lambda: (*_both("gamma", "0.1 to 10"), *(d(-_worst("gamma", "0.1 to 10", kind)[0]) for kind in ("pr", "roc")))),
    Sentence("gamma_losers", "With one of the four below 1 smtp loses up to {}, pendigits up to {}, and no other data set more than {}", lambda: (*(d(-_below_1()[name]) for name in ("smtp", "pendigits")), d(-_below_1().drop(["smtp", "pendigits"]).min()))),
    Sentence("bounds_outlier", "In outlier detection it loses {} to {} on average, whatever the other parameters (p = {} to {} before correction), with the defaults most of all on smtp ({}), arrhythmia ({}), ionosphere ({}) and spambase ({})", lambda: (*_span([-contrast("out_of_bounds", n, "difference", "pr", "outlier") for n in _OUT]), *_span([contrast("out_of_bounds", n, "p", "pr", "outlier") for n in _OUT]), *(signed(_best_and_worst("out_of_bounds", _OUT[0], "outlier", "pr", w)) for w in ("smtp", "arrhythmia", "ionosphere", "spambase")))),
    Sentence("bounds_novelty", "In novelty detection the average lies between {} and {}, the sum of large gains (forestcover {}, http {}, annthyroid {}) and large losses (ionosphere {}, arrhythmia {}, spambase {})", lambda: (signed(min(contrast("out_of_bounds", n) for n in _OUT)), signed(max(contrast("out_of_bounds", n) for n in _OUT)), *(signed(_best_and_worst("out_of_bounds", _OUT[0], "novelty", "pr", w)) for w in ("forestcover", "http", "annthyroid", "ionosphere", "arrhythmia", "spambase")))),
    Sentence("naive1", "With gamma = 1 the naive approach changes average precision by {} and {}, with wide intervals ({} and {} of 12 data sets won, p = {} and {})", lambda: (*(signed(contrast("adversary", "adversary naive, gamma 1", "difference", "pr", s)) for s in S), *(_wins(contrast("adversary", "adversary naive, gamma 1", "wins_ties_losses", "pr", s)) for s in S), *(d(contrast("adversary", "adversary naive, gamma 1", "p", "pr", s), 2) for s in S))),
    Sentence("naive", "with gamma = 0.1 by {} and {}, with gamma = 10 by {} and {}", lambda: tuple(signed(contrast("adversary", f"adversary naive, gamma {g}", "difference", "pr", s)) for g in ("0.1", "10") for s in S)),
    Sentence("naive_worst", "On single data sets the naive approach loses up to {} ({}, average precision)", lambda: (d(-_worst("adversary", "adversary naive, gamma 1")[0]), _worst("adversary", "adversary naive, gamma 1")[1])),
    Sentence("entropy", "average precision changes by {} (novelty detection, {} of 12 data sets won, p = {}) and {} (outlier detection, p = {}) with gamma = 1, at {} times the fitting time", lambda: (signed(level("criterion", "criterion entropy, gamma 1")), _wins(level("criterion", "criterion entropy, gamma 1", "wins_ties_losses")), d(level("criterion", "criterion entropy, gamma 1", "p"), 2), signed(level("criterion", "criterion entropy, gamma 1", "difference", "pr", "outlier")), d(level("criterion", "criterion entropy, gamma 1", "p", "pr", "outlier"), 2), f"{fit_time('criterion', 'criterion entropy, gamma 1'):.1f}")),
    Sentence("density", "The mean of densities loses {} in average precision in novelty detection ({} of 12 data sets lost, p = {}, {} after Holm) and {} in ROC in outlier detection; the density of a typical cell loses {} and {} in average precision", lambda: (d(-level("scoring", "scoring density, depth auto")), _losses(level("scoring", "scoring density, depth auto", "wins_ties_losses")), d(level("scoring", "scoring density, depth auto", "p")), d(level("scoring", "scoring density, depth auto", "p_holm")), d(-level("scoring", "scoring density, depth auto", "difference", "roc", "outlier")), *(d(-level("scoring", "scoring typical_cell, depth auto", "difference", "pr", s)) for s in S))),
    Sentence("unbounded", "they take {} times the time, and change {} and {} with the depth score", lambda: (f"{fit_time('scoring', 'scoring depth, depth unbounded'):.1f}", *_both("scoring", "scoring depth, depth unbounded"))),
    Sentence("features", "no average differs by more than {} in average precision", lambda: (d(max(_largest(s, _FEW) for s in S)),)),
    Sentence("features_all", "All features everywhere (`node all, tree all`) loses {} in novelty detection and {} in outlier detection", lambda: tuple(d(-level("features", "node all, tree all", "difference", "pr", s)) for s in S)),
    Sentence("features_time", "takes {} of the fitting time", lambda: (d(fit_time("features", "node 1, tree auto"), 1),)),
    Sentence("shallow", "shallower trees lose on average (8: {}, 6: {}, 4: {}, 2: {} in average precision), deeper ones change {}", lambda: tuple(signed(level("depth", n)) for n in ("8", "6", "4", "2", "unbounded"))),
    Sentence("shallow_outlier", "With anomalies in the training data shallower trees gain on average: 8: {} ({} of 12 won), 6: {}, 4: {}, with wide intervals", lambda: (signed(level("depth", "8", "difference", "pr", "outlier")), _wins(level("depth", "8", "wins_ties_losses", "pr", "outlier")), *(signed(level("depth", n, "difference", "pr", "outlier")) for n in ("6", "4")))),
    Sentence("depth_time", "takes {} of the time", lambda: (d(fit_time("depth", "8"), 2),)),
    Sentence("subsample", "256 rows lose {} in average precision, 128 lose {} ({} of 12 data sets lost), and 32 lose {}; with half of the rows it changes by {}, with all of them by {} at {} times the time", lambda: (*(d(-level("subsample", n)) for n in ("256", "128")), _losses(level("subsample", "128", "wins_ties_losses")), d(-level("subsample", "32")), signed(level("subsample", "0.5")), signed(level("subsample", "all")), f"{fit_time('subsample', 'all'):.1f}")),
    Sentence("subsample_outlier", "In outlier detection small samples change little on average (between {} and {}), large ones lose: half of the rows {} ({} of 12 data sets lost, p = {} before correction), all of them {}", lambda: (signed(min(level("subsample", n, "difference", "pr", "outlier") for n in ("32", "64", "128", "256"))), signed(max(level("subsample", n, "difference", "pr", "outlier") for n in ("32", "64", "128", "256"))), signed(level("subsample", "0.5", "difference", "pr", "outlier")), _losses(level("subsample", "0.5", "wins_ties_losses", "pr", "outlier")), d(level("subsample", "0.5", "p", "pr", "outlier")), signed(level("subsample", "all", "difference", "pr", "outlier")))),
    Sentence("subsample_sets", "128 rows lose most on http ({} in novelty detection) and smtp ({} and {}), whose default sub-samples are thousands to tens of thousands of rows; with anomalies in the training data they gain on shuttle ({}) and annthyroid ({})", lambda: (signed(_best_and_worst("subsample", "128", "novelty", "pr", "http"), 2), *(signed(_best_and_worst("subsample", "128", s, "pr", "smtp"), 2) for s in S), *(signed(_best_and_worst("subsample", "128", "outlier", "pr", w), 2) for w in ("shuttle", "annthyroid")))),
]  # fmt: skip


def _span(values: list[float]) -> tuple[str, str]:
    return d(min(values)), d(max(values))
