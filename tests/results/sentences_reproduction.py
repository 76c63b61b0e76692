"""The sentences of REPRODUCTION.md, and of the reasons in its tables, that hold numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare

from results.published import paper
from results.reproduction.criterion import REPLAYED_EXACTLY
from results.reproduction.replay import EXACT, NOT_RUN
from results.statistics.rank_tests import holm
from tests.results import facts
from tests.results.facts import cell, effect, mean, printed
from tests.results.sentences import Sentence, d, per_cent, signed, word

#: Neither measured nor computed: names, settings, definitions and what the paper prints.
ALLOWED = [
    # Protocols, tables and criteria by definition.
    "the twelve data sets", "on all twelve data sets", "Twelve data sets do not suffice", "ten splits",
    "two standard errors", "two standard deviations", "by two standard errors", "within .02 or", "allows .02 or", "Beyond .02 and two standard errors",
    "above .05 or explained", "By chance alone about one value in twenty", "Two means", "between two means",
    "beyond two spreads", "more anomalies than a tenth of the normal points",
    "No test tells these three apart", "two forms of one algorithm", "the time limit of 1800 s", "the two tables",
    "Table 2", "S1", "**Five data sets**", "ties at three decimals", "with five features and without its rule",
    # The program and the stream of 2016.
    "tables of 2016", "forests of 2016", "the curves of 2016", "over 60 other splits (seeds 10 to 15)", "rows in 2016", "machines of 2016", "two public revisions",
    "in double", "each of the six algorithms", "each of the six streams", "the five others", "among the six, 1 for",
    "over the six streams", "no two columns", "these two is not", "LSAD's two values on forestcover",
    "differences of .001 can lie", "among ten candidates", "the two programs of Orca", "in 2016 these stood",
    # Parameters as they are set.
    "gamma = 1 / n_features and nu = .5", "with 20 neighbours", "n/8 scores", "c(1) = 1", "with 100 trees per forest; 3000",
    "the 500 centres", "compares two runs", "Orca's two departures", "its two handicaps", "two-core machine",
]  # fmt: skip
ALLOWED_REASONS = [
    "over the 60 splits of seed=10 to seed=15", "splits of seed 0", "means over ten of those", "within two of those",
    "within about two of those", "the 500 random centres", "more than 30 minutes", "in 2016",
]  # fmt: skip

#: What the authors' own figure prints.
ALLOWED_REPLAY = ["the authors' own figure says .277", "rows in 2016"]


def _subset(dataset: str) -> tuple[int, int]:
    """How many anomalies are kept, and how many there are."""
    rows = paper.datasets().loc[dataset]
    anomalies = round(rows["n_samples"] * rows["anomaly_percent"] / 100)
    return (rows["n_samples"] - anomalies) // 10, anomalies


def _subset_sizes() -> tuple[int, ...]:
    return tuple(
        n for name in ("arrhythmia", "ionosphere", "pima", "spambase") for n in _subset(name)
    )


def _replayed() -> tuple[str, ...]:
    table = facts.replayed()
    ran = table[table["verdict"] != NOT_RUN]
    return str(len(table)), str(len(ran)), str((ran["verdict"] == EXACT).sum())


def _range(values: list[float], digits: int = 2) -> tuple[str, str]:
    return d(min(map(abs, values)), digits), d(max(map(abs, values)), digits)


def _moved(name: str, algorithm: str, setting: str = "novelty") -> tuple[str, str, str, str]:
    roc, pr = (effect(name, algorithm, kind, setting) for kind in ("roc", "pr"))
    return d(roc.first), d(roc.second), d(pr.first), d(pr.second)


_TOLERANCE = paper.publication().description.tolerance
_RULE = "points outside the training box"
_CAP = "anomalies in novelty detection"
_AREA = "area"
_SIX = ("oneclassrf", "iforest", "ocrfsampling", "lof", "orca", "lsad")


def _area(label: str, dataset: str | None = None) -> float:
    """What exact average precision is less than the interpolated area, novelty detection."""
    table = facts.column(label)
    change = table["average_precision"] - table["pr_auc_curve"]
    return float(change.mean() if dataset is None else change[dataset])


def _gain(label: str, dataset: str = "annthyroid") -> float:
    return cell(dataset, label, "roc", "clean") - cell(dataset, label, "roc", "paper")


def _train_time(label: str, protocol: str = "paper") -> float:
    part = facts.column(label, protocol)
    return float((part["fit_seconds"] + (part["score_seconds"] if label == "orca" else 0)).sum())


def _printed_time(column: str) -> float:
    table = paper.train_times().query("setting == 'novelty'").set_index("column")["seconds"]
    return float(table[column])


def _wins(protocol: str) -> dict[str, int]:
    table = facts.ranks.values_of(facts.cells(), protocol, "novelty", facts.metric(protocol, "roc"))
    table = table[[name for name in facts.ranks.FIELDS["as run"] if name in table]].round(3)
    return table.eq(table.max(axis=1), axis=0).sum().to_dict()


REPRODUCTION = [
    Sentence("told_apart", "the twelve data sets tell OneClassRF from RFC at most, not from the {} others that have a value on all of them", lambda: (word(len(facts.family().comparison.mean_ranks) - 2),), lambda: not any(protocol == "clean" and "oneclassrf" in pair for protocol, *pair in _survivors()) and {other for kind in ("roc", "pr") for setting in ("novelty", "outlier") for other in _far_in_rank(kind, setting, "oneclassrf")} == {"rfc"}),
    Sentence("replayed", "Of the {} printed values whose randomness can be replayed, {} were, and {} of these come out to all digits", _replayed),
    Sentence("orca_replayed", "{} of Orca's {} values on the other data sets come out to the digit", lambda: _orca_replayed()[:2]),
    Sentence("orca_open", "Its {} values on shuttle do not", lambda: (word(_orca_replayed()[2]),)),
    Sentence("orca_splits", "their ROC areas in novelty detection have a mean of {} and a standard deviation of {}, and means over ten of them lie between {} and {}. The published mean of {} needs no other reason than its splits", lambda: (*_orca_shuttle()[:2], *(d(v) for v in _orca_tens()), d(printed("Orca", "shuttle", "roc"))), lambda: _orca_tens()[0] < printed("Orca", "shuttle", "roc") < _orca_tens()[1]),
    Sentence("ocrf_seeds", "Of OCRFsampling's {} values {} lie within two spreads and {} within .02", lambda: _seeds("OCRFsampling"), lambda: {(row["dataset"], row["metric"]) for row in _far_seeds()} == {("ionosphere", "roc_auc_2016"), ("ionosphere", "pr_auc_2016"), ("arrhythmia", "roc_auc_2016")}),
    Sentence("ocrf_ionosphere", "the {} values of ionosphere, by up to {}, and the ROC area of arrhythmia in novelty detection", lambda: (word(sum(row["dataset"] == "ionosphere" for row in _far_seeds())), d(max(row["far"] for row in _far_seeds()))), lambda: [row["setting"] for row in _far_seeds() if row["dataset"] == "arrhythmia"] == ["novelty"]),
    Sentence("rfc_seeds", "Of RFC's {} values {} lie within two spreads, and all within .02", lambda: _seeds("RFC")[:2], lambda: len(set(_seeds("RFC")[::2])) == 1),
    Sentence("rfc_checks", "the farthest of its checks, spambase and wilt, lies {} away", lambda: (d(facts.seeds().query("column == 'RFC' and dataset in ('spambase', 'wilt')")["far"].max()),)),
    Sentence("forest_seeds", "forests of ours that differ in their seed only", lambda: (), lambda: set(facts.seeds()["n_seeds"]) == {10}),
    Sentence("rfc_own_signs", "With random splits RFC's PR areas lie above the published ones in {} of {} cells, by up to {}; on the splits of its own stream in {} of {} by the curves of 2016 and in {} by today's, and at most {} above", lambda: _rfc_above()),
    Sentence("compared", "All {} published values have one here", lambda: (len(facts.compared()),), lambda: int(paper.cells()[["roc_auc_curve", "pr_auc_curve"]].notna().sum().sum()) == len(facts.compared())),
    Sentence("wrong", "The tolerance within .02 or two standard deviations over the splits also passes the column of a wrong algorithm in {} % of the cells, and two standard errors pass one in {} %; `compare` allows .02 or two standard errors, which passes {} %", lambda: tuple(per_cent(facts.wrong(name)) for name in ("by_splits", "close", "tolerant")), lambda: (_TOLERANCE.absolute, _TOLERANCE.spreads, _TOLERANCE.spread_of) == (0.02, 2, "means")),
    Sentence("ocsvm_signs", "OCSVM's ROC areas here lie below the published ones in {} of {} cells (p = {} after Holm's correction)", lambda: (facts.sign("OCSVM")["below"], facts.sign("OCSVM")["below"] + facts.sign("OCSVM")["above"], d(facts.sign("OCSVM")["holm"])), lambda: facts.sign("OCSVM")["holm"] < 0.05),
    Sentence("ocsvm_replay", "gives {} of its values to the digit", lambda: (_all_or_count("OCSVM"),)),
    Sentence("rfc_signs", "RFC's PR areas lie above the published ones in {} of {} cells (p = {} before correction)", lambda: (facts.sign("RFC", "pr")["above"], facts.sign("RFC", "pr")["below"] + facts.sign("RFC", "pr")["above"], d(facts.sign("RFC", "pr")["p"], 2)), lambda: facts.sign("RFC", "pr")["holm"] > 0.05),
    Sentence("unsupervised", "Without them the method has a mean ROC area of {} instead of {}", lambda: (d(mean("ocrfsampling", "roc", setting="outlier")), d(mean("ocrfsampling_supervised", "roc", setting="outlier")))),
    Sentence("text_novelty", "In novelty detection, with five features and without that rule, as the text has it, the mean ROC area is {} instead of {}, and the mean PR area {} instead of {} (published {})", lambda: (d(mean("oneclassrf_text", "roc")), d(mean("oneclassrf", "roc")), d(mean("oneclassrf_text")), d(mean("oneclassrf")), d(printed("OneClassRF")))),
    Sentence("rule", "Without the rule alone the mean PR area is {}; with five features and the rule it is {}", lambda: (d(effect(_RULE, "oneclassrf").second), d(effect("features searched per node", "oneclassrf").second))),
    Sentence("c1", "The program's c(1) = 1 changes the PR area of http in outlier detection by {}, which is most of its distance, and no mean of another data set by more than {}", lambda: of_c1(), lambda: 2 * float(of_c1()[0]) > printed("OneClassRF", "http", "pr", "outlier") - cell("http", "oneclassrf", "pr", "paper", "outlier") > 0),
    Sentence("rfc_trees", "with 100 trees per forest; 3000 change the areas of ionosphere by {} at most", lambda: (d(max(abs(cell("ionosphere", "rfc_text", kind, "paper", setting) - cell("ionosphere", "rfc", kind, "paper", setting)) for kind in ("roc", "pr") for setting in ("novelty", "outlier"))),)),
    Sentence("train_time", "as low as isolation forest's under both protocols, as far as times of this machine tell", lambda: (), lambda: all(0.75 < _train_time("oneclassrf", protocol) / _train_time("iforest", protocol) < 1.1 for protocol in ("paper", "clean"))),
    Sentence("optimize", "with 0, as the text has it, the ROC area of wilt would be {} instead of {}", lambda: (d(cell("wilt", "ocrfsampling_text"), 2), d(cell("wilt", "ocrfsampling"), 2))),
    Sentence("wide", "on arrhythmia, ionosphere and pima single splits differ widely: on the first two our means lie up to {} above the published ones, on the last up to {} below", lambda: (d(max(map(_highest, ("arrhythmia", "ionosphere")))), d(-_lowest("pima"))), lambda: _lowest("arrhythmia") > 0 and _lowest("ionosphere") > 0 and _highest("pima") < 0),
    Sentence("differing", "Of the {} values {} do not, and of these the replay gives {} to the last digit or the one beside it", lambda: (len(facts.compared()), len(_all_differing()), int((_all_differing()["judged"] == REPLAYED_EXACTLY).sum())), lambda: _differing("OneClassRF") | _differing("LOF") | _differing("RFC") == {("spambase", "novelty", "pr"), ("http", "outlier", "pr")}),
    Sentence("iforest_differs", "but for adult, annthyroid, spambase and wilt, where the replay gives all digits but of one value", lambda: (), lambda: {name for name, *_ in _differing("iForest")} == {"adult", "annthyroid", "spambase", "wilt"} and sum(_rounds("iForest", *key) for key in _differing("iForest")) == len(_differing("iForest")) - 1),
    Sentence("ocrf_differs", "but for the ROC areas of arrhythmia and ionosphere in novelty detection", lambda: (), lambda: _differing("OCRFsampling") == {(name, "novelty", "roc") for name in ("arrhythmia", "ionosphere")}),
    Sentence("ocsvm_differs", "but for arrhythmia and the PR area of smtp in novelty detection", lambda: (), lambda: _differing("OCSVM") == {("smtp", "novelty", "pr"), *(("arrhythmia", s, k) for s in ("novelty", "outlier") for k in ("roc", "pr"))}),
    Sentence("orca_differs", "**Orca** comes out, but for shuttle in novelty detection and the ROC area of arrhythmia in outlier detection", lambda: (), lambda: _differing("Orca") == {("arrhythmia", "outlier", "roc"), *(("shuttle", "novelty", k) for k in ("roc", "pr"))}),
    Sentence("lsad_differs", "but for {} values: the PR area of http in novelty detection hangs on the curves of 2016, those of annthyroid, ionosphere and spambase", lambda: (word(len(_differing("LSAD"))),), lambda: {(name, kind) for name, _, kind in _differing("LSAD")} == {("http", "pr"), ("annthyroid", "pr"), ("ionosphere", "roc"), ("spambase", "pr")}),
    Sentence("ocsvm_arrhythmia", "The published ROC area of {} on arrhythmia is the work of one draw of the anomalies: it is {} when replayed, and {} on average over other draws", lambda: (d(printed("OCSVM", "arrhythmia", "roc")), d(facts.replay("OCSVM", "arrhythmia"), 5), d(float(facts.spreads().query("algorithm == 'ocsvm' and dataset == 'arrhythmia' and setting == 'novelty' and metric == 'roc_auc_curve'")["mean"].iloc[0])))),
    Sentence("lof_wilt", "With the text's 5, the ROC area of wilt would be {} instead of {}", lambda: (d(cell("wilt", "lof_text"), 2), d(cell("wilt", "lof"), 2))),
    Sentence("lof_outlier", "outlier detection would lose {} on average", lambda: (d(-effect("neighbours of LOF", "lof", "roc", "outlier").change, 2),)),
    Sentence("orca_novelty", "In novelty detection keeping one range for both parts gains {} in ROC and {} in PR on average, keeping every score {} and {}, the two together {} and {}", lambda: tuple(d(abs(effect(name, "orca", kind).change), 2) for name in ("ranges that rescale Orca's test points", "scores that Orca reports", "Orca") for kind in ("roc", "pr"))),
    Sentence("orca_outlier", "In outlier detection keeping every score gains {} in ROC, but one range for both parts loses {}", lambda: (d(effect("scores that Orca reports", "orca", "roc", "outlier").change, 2), d(-effect("ranges that rescale Orca's test points", "orca", "roc", "outlier").change, 2))),
    Sentence("subset_sizes", "{} of {} on arrhythmia, {} of {} on ionosphere, {} of {} on pima, {} of {} on spambase", _subset_sizes),
    Sentence("ocsvm_draws", "{} and {} spreads in ROC", lambda: tuple(f"{v:.1f}" for v in sorted(facts.distances("ocsvm", "arrhythmia"), reverse=True))),
    Sentence("ocrf_draws", "up to {} spreads", lambda: (f"{max(v for name in ('arrhythmia', 'ionosphere') for kind in ('roc', 'pr') for v in facts.distances('ocrfsampling', name, kind)):.1f}",), lambda: set(facts.spreads().query("abs(distance) > 2.1")["algorithm"].str.removesuffix("_supervised")) == {"ocsvm", "ocrfsampling"}),
    Sentence("labels", "Without the labels OCRFsampling's Table S1 falls from {} to {} in ROC and from {} to {} in PR", lambda: _moved("training labels for OCRFsampling", "ocrfsampling_supervised", "outlier")),
    Sentence("cap", "The cap on the anomalies takes {} to {} off the mean PR area in novelty detection of each of the {} algorithms tried, over the {} data sets that it applies to", lambda: (*_range(facts.changes(_CAP)), word(len(facts.changes(_CAP))), word(len(effect(_CAP, "lof").datasets)))),
    Sentence("interpolated", "by exact average precision OneClassRF's PR areas in novelty detection are lower by {} on average and by {} on arrhythmia, and without the rule the interpolated ones are lower by {}", lambda: (d(-_area("oneclassrf"), 2), d(-_area("oneclassrf", "arrhythmia"), 2), d(-effect(_RULE, "oneclassrf").change, 2))),
    Sentence("lsad_ties", "LSAD, which clips its scores, loses {}", lambda: (d(-_area("lsad"), 2),)),
    Sentence("scaling", "Standardising test and training points together costs OCSVM {}, LOF {} and LSAD {} in ROC on annthyroid, in novelty detection", lambda: tuple(d(_gain(name), 2) for name in ("ocsvm", "lof", "lsad"))),
    Sentence("repeats_shuttle", "Dropping the repetition of shuttle's training part changes OneClassRF, iForest and LOF by {} at most. It changes Orca in opposite directions in the two settings, by {} and {} in ROC; over ten splits a mean of Orca's has a standard error of about {}", lambda: (d(max(abs(effect("repeated rows of shuttle", name, kind, setting).change) for name in ("oneclassrf", "iforest", "lof") for kind in ("roc", "pr") for setting in ("novelty", "outlier"))), *(signed(effect("repeated rows of shuttle", "orca", "roc", setting).change, 2) for setting in ("novelty", "outlier")), d(_orca_spread() / 10**0.5))),
    Sentence("repeats_http", "{} % of http's normal test rows stand in train, and in outlier detection {} % of its test anomalies", lambda: (per_cent(facts.repeated("http")), per_cent(facts.repeated("http", "anomalies", "outlier")))),
    Sentence("repeats_others", "On smtp it is {} % and {} %", lambda: (per_cent(facts.repeated("smtp")), per_cent(facts.repeated("smtp", "anomalies", "outlier")))),
    Sentence("gains", "On annthyroid OCSVM gains {} in ROC, LOF {} and LSAD {} in novelty detection", lambda: tuple(d(_gain(name), 2) for name in ("ocsvm", "lof", "lsad")), lambda: all(abs(_gain(name)) < 0.05 for name in ("oneclassrf", "iforest", "orca", "ocrfsampling"))),
    Sentence("ap_lead", "OneClassRF's lead in the PR column of novelty detection is gone: its mean average precision is {}, OCRFsampling's {}, LOF's {} and Orca's {}; among the algorithms as run that have a value on all twelve data sets its mean rank is {} where LOF's is {}", lambda: (*(d(mean(name, "pr", "clean")) for name in ("oneclassrf", "ocrfsampling", "lof", "orca")), *(f"{facts.rank(name):.2f}" for name in ("oneclassrf", "lof")))),
    Sentence("orca_clean", "Orca without its two handicaps has {} in mean average precision in novelty detection, against {} with them, and is ahead on all twelve data sets (p = {} after Holm's correction)", lambda: (d(mean("orca_clean", "pr", "clean")), d(mean("orca", "pr", "clean")), d(facts.pair("orca", "orca_clean")["holm"])), lambda: facts.pair("orca", "orca_clean")["wins"] == "0/0/12"),
    Sentence("orca_http", "So run, it can fail where anomalies come in tight groups and the training part holds some: {} in ROC on http in outlier detection", lambda: (d(cell("http", "orca_clean", "roc", "clean", "outlier"), 2),)),
    Sentence("text_clean", "OneClassRF as the text has it has a mean average precision of {} in novelty detection ({} as run), and of {} in outlier detection ({} as run)", lambda: tuple(d(mean(name, "pr", "clean", setting)) for setting in ("novelty", "outlier") for name in ("oneclassrf_text", "oneclassrf"))),
    Sentence("friedman", "Under both protocols RFC makes what Friedman's test finds among the seven algorithms as run. After Holm's correction over the four families, p is {} to {} under the paper's protocol and {} to {} under the clean one; without RFC it is {} or more and {} or more: no difference among the other six survives", lambda: (*(d(f(friedman(p, False))) for p in ("paper", "clean") for f in (min, max)), *(d(min(friedman(p)), 2) for p in ("paper", "clean"))), lambda: all(min(friedman(p)) > 0.05 for p in ("paper", "clean")) and all(len(facts.family(kind, p, setting).comparison.values.columns) == 7 for kind in ("roc", "pr") for p in ("paper", "clean") for setting in ("novelty", "outlier"))),
    Sentence("critical", "with seven algorithms and twelve data sets two mean ranks must differ by {}, of at most 6, to be told apart by Nemenyi's test, as RFC's is in novelty detection by ROC from those of OneClassRF, LOF and LSAD", lambda: (f"{facts.family().comparison.critical_difference:.2f}",), lambda: set(_far_in_rank("roc", "novelty", "rfc")) == {"oneclassrf", "lof", "lsad"}),
    Sentence("survives", "What survives the correction over all pairs of forms, {} under the paper's protocol and {} under the clean one, is Orca without its handicaps against Orca with them, in novelty detection (p = {} and {}), and, by the interpolated PR area of the paper's protocol alone, OneClassRF against isolation forest (p = {})", lambda: (_pairs("paper"), _pairs("clean"), *(d(facts.pair("orca", "orca_clean", "pr", p)["holm"]) for p in ("paper", "clean")), d(facts.pair("oneclassrf", "iforest", "pr", "paper")["holm"])), lambda: _survivors() == {("clean", "orca", "orca_clean"), ("paper", "orca", "orca_clean"), ("paper", "oneclassrf", "iforest")}),
    Sentence("not_survives", "OneClassRF is not shown to be behind Orca without its handicaps by average precision ({} against {}; p = {} before correction), nor ahead of isolation forest by ROC (p = {}, {} after)", lambda: (d(mean("oneclassrf", "pr", "clean")), d(mean("orca_clean", "pr", "clean")), d(facts.pair("oneclassrf", "orca_clean")["p"], 2), d(facts.pair("oneclassrf", "iforest", "roc")["p"], 2), d(facts.pair("oneclassrf", "iforest", "roc")["holm"], 2)), lambda: facts.pair("oneclassrf", "orca_clean")["holm"] > 0.05),
    Sentence("pr_rule", "among the algorithms as run, and only there: Orca without its handicaps has {}. These areas reward tied scores, of which the rule for points outside the box makes many: without the rule the mean is {} instead of {}", lambda: (d(mean("orca_clean")), d(effect(_RULE, "oneclassrf").second), d(effect(_RULE, "oneclassrf").first))),
    Sentence("five", "{} here, {} under the clean protocol, where LOF has {}", lambda: (word(_wins("paper")["oneclassrf"]), word(_wins("clean")["oneclassrf"]), word(_wins("clean")["lof"]))),
    Sentence("orca_time", "Orca took {} times OneClassRF's time in the paper; with its scoring, which is its work, it takes {} times as long here, and {} times under the clean protocol", lambda: (round(_printed_time("Orca") / _printed_time("OneClassRF")), *(round(_train_time("orca", p) / _train_time("oneclassrf", p)) for p in ("paper", "clean")))),
    Sentence("trees", "Of the variants tried in novelty detection, forests of five trees come nearest in both areas taken together (the larger distance counts), with {} and {} (published {} and {})", lambda: (*(d(_trial("ocrfsampling(n_estimators=5)", kind)) for kind in ("roc", "pr")), *(d(printed("OCRFsampling", "ionosphere", kind)) for kind in ("roc", "pr"))), lambda: _nearest_trial() == "ocrfsampling(n_estimators=5)"),
]  # fmt: skip


def _all_or_count(column: str) -> str:
    table = facts.replayed().reset_index()
    ran = table[(table["column"] == column) & (table["verdict"] != NOT_RUN)]
    exact = int((ran["verdict"] == EXACT).sum())
    return f"all {exact}" if exact == len(ran) else f"{exact} of {len(ran)}"


def _seeds(column: str) -> tuple[int, int, int]:
    """How many values there are, within two spreads over forest seeds, and within .02."""
    table = facts.seeds().query("column == @column")
    return len(table), int((table["spreads"].abs() <= 2).sum()), int((table["far"] <= 0.02).sum())


def _far_seeds() -> list[dict[Any, Any]]:
    return facts.seeds().query("column == 'OCRFsampling' and far > 0.02").to_dict("records")


def _rfc_above() -> tuple[str, ...]:
    """How often and how far RFC's PR areas lie above: random splits, its stream on both curves."""
    sign, table = facts.sign("RFC", "pr"), facts.compared()
    random = table[(table["column"] == "RFC") & (table["metric"] == "pr_auc_curve")]["difference"]
    areas = facts.frame("replay").query("protocol == 'replayed_splits_rfc'")
    means = areas.groupby(["setting", "dataset"])[["pr_auc_2016", "pr_auc_curve"]].mean()
    printed_areas = paper.cells().query("column == 'RFC'").set_index(["setting", "dataset"])
    above = means.sub(printed_areas["pr_auc_curve"].reindex(means.index), axis=0)
    counts = (above > 0).sum()
    n = sign["above"] + sign["below"]
    assert len(above) == n
    return (
        *(sign["above"], n, d(random.max())),
        *(counts["pr_auc_2016"], n, counts["pr_auc_curve"], d(above.to_numpy().max())),
    )


def _sampling(dataset: str) -> Any:
    """OCRFsampling's values on a data set, ours less the published ones."""
    return facts.compared().query("column == 'OCRFsampling' and dataset == @dataset")["difference"]


def _highest(dataset: str) -> float:
    return float(_sampling(dataset).max())


def _lowest(dataset: str) -> float:
    return float(_sampling(dataset).min())


def _all_differing() -> pd.DataFrame:
    """What does not come out, by the tolerance of `compare`."""
    return facts.compared().query("verdict == 'differs'")


def _differing(column: str) -> set[tuple[str, ...]]:
    """The same of one column: data set, setting, area."""
    table = _all_differing().query("column == @column")
    kinds = table["metric"].str.removesuffix("_auc_curve")
    return set(zip(table["dataset"], table["setting"], kinds, strict=True))


def _rounds(column: str, dataset: str, setting: str, kind: str) -> bool:
    """Whether the replay gives all printed digits."""
    return facts.replayed().loc[(setting, dataset, column, f"{kind}_auc_2016"), "verdict"] == EXACT


def of_c1(exact: bool = False) -> tuple[str, str]:
    """What `published_depth` changes: the PR area of http, and the most on other data sets."""
    metrics = facts.METRICS["clean" if exact else "paper"]
    changes = {
        (kind, setting): facts.column("oneclassrf(scoring=published_depth)", "paper", setting)[name]
        - facts.column("oneclassrf", "paper", setting)[name]
        for kind, name in zip(("roc", "pr"), metrics, strict=True)
        for setting in ("novelty", "outlier")
    }
    others = max(float(change.drop("http").abs().max()) for change in changes.values())
    return d(float(changes["pr", "outlier"]["http"]), 4), d(others, 4)


def _orca_replayed() -> tuple[int, int, int]:
    """How many values are exact and how many there are, shuttle apart; how many are not there."""
    table = facts.replayed().reset_index().query("column == 'Orca'")
    exact, there = table["verdict"] == EXACT, table["dataset"] == "shuttle"
    return int((exact & ~there).sum()), int((~there).sum()), int((~exact & there).sum())


def _orca_tens() -> tuple[float, float]:
    """The lowest and the highest mean ROC area of a seed's ten splits of shuttle."""
    means = (
        facts.splits("shuttle", "orca", "roc", "paper", "novelty", "trials")
        .reshape(-1, 10)
        .mean(axis=1)
    )
    return float(means.min()), float(means.max())


def _orca_spread() -> float:
    return float(facts.splits("shuttle", "orca", "roc", "paper", "novelty", "trials").std(ddof=1))


def _pairs(protocol: str) -> int:
    return len(facts.all_pairs(protocol, "novelty", facts.metric(protocol, "roc")))


def _far_in_rank(kind: str, setting: str, label: str) -> list[str]:
    """Whom Nemenyi's test tells from an algorithm under the clean protocol."""
    comparison = facts.family(kind, "clean", setting).comparison
    distances = (comparison.mean_ranks - comparison.mean_ranks[label]).abs()
    return list(distances.index[distances > comparison.critical_difference])


def friedman(protocol: str, without_rfc: bool = True, field: str = "as run") -> list[float]:
    """Friedman's p of the four families of a protocol after Holm's correction, ROC first."""
    blocks = [
        facts.family(kind, protocol, setting, field).comparison.values
        for kind in ("roc", "pr")
        for setting in ("novelty", "outlier")
    ]
    if without_rfc:
        blocks = [block.drop(columns="rfc") for block in blocks]
    raw = [friedmanchisquare(*(block[name] for name in block)).pvalue for block in blocks]
    return list(map(float, holm(np.array(raw))))


def _survivors() -> set[tuple[str, str, str]]:
    return {
        (protocol, row["first"], row["second"])
        for protocol in facts.METRICS
        for setting in ("novelty", "outlier")
        for name in facts.METRICS[protocol]
        for row in facts.all_pairs(protocol, setting, name).to_dict("records")
        if row["holm"] < 0.05
    }


def _trial(label: str, kind: str) -> float:
    return float(facts.splits("ionosphere", label, kind, "paper", "novelty", "trials").mean())


def _nearest_trial() -> str:
    """The variant whose larger distance, of both areas, is the smallest."""
    table = facts.frame("trials").query("dataset == 'ionosphere' and setting == 'novelty'")
    labels = [name for name in table["label"].unique() if name.startswith("ocrfsampling")]

    def distance(label: str) -> float:
        return max(
            abs(_trial(label, k) - printed("OCRFsampling", "ionosphere", k)) for k in ("roc", "pr")
        )

    return min(labels, key=distance)


#: They have reasons of their own; the others share the reason of a data set.
_APART = ("ocsvm", "ocrfsampling", "ocrfsampling_supervised")


def _draws(dataset: str) -> tuple[str, ...]:
    """How many are kept, and the range of the spreads over draws, by ROC and by PR."""
    ranges = [facts.draw_spread(dataset, kind, _APART) for kind in ("roc", "pr")]
    return (str(_subset(dataset)[0]), *(d(v, 2) for found in ranges for v in found))


def _within(dataset: str, spreads: float) -> bool:
    table = facts.spreads()
    chosen = (table["dataset"] == dataset) & ~table["algorithm"].isin(_APART)
    return bool((table[chosen]["distance"].abs() <= spreads).all())


def _lsad_http(kind: str) -> tuple[list[float], list[float]]:
    """LSAD's areas on http, outlier detection: splits of the better kind, and the others."""
    areas = facts.splits("http", "lsad", kind, "paper", "outlier").tolist()
    return [v for v in areas if v > 0.4], [v for v in areas if v <= 0.4]


def _orca_shuttle() -> tuple[str, ...]:
    roc, pr = (
        facts.splits("shuttle", "orca", k, "paper", "novelty", "trials") for k in ("roc", "pr")
    )
    assert len(roc) == 60
    return d(roc.mean()), d(roc.std(ddof=1)), d(pr.mean()), d(pr.std(ddof=1))


def _orca_chance() -> float:
    roc = facts.splits("shuttle", "orca", "roc", "paper", "novelty", "trials")
    return facts.bootstrap_at_least(cell("shuttle", "orca"), roc)


_DRAWN = "Which {} of the {} anomalies are kept. Drawn once for all splits, as in the paper, that draw gives means over ten splits a standard deviation of {} to {} (ROC) and {} to {} (PR)"
REASONS = [
    Sentence("adult", "it prints {}, the authors' own figure shows {}; the replay gives {}", lambda: (d(printed("iForest", "adult")), ".277", d(facts.replay("iForest", "adult", "pr"), 5))),
    *(Sentence(f"replay_{name}", f"The splits and the {what} of the published run: replayed, {name} has {{}}", lambda column=column, name=name, kind=kind, setting=setting: (d(facts.replay(column, name, kind, setting), 5),)) for name, what, column, kind, setting in (("wilt", "forests", "iForest", "roc", "novelty"), ("annthyroid", "forests", "iForest", "pr", "novelty"), ("annthyroid", "kernels", "LSAD", "pr", "outlier"))),
    Sentence("orca_shuttle", "the ROC area is {} with a standard deviation of {} and the PR area {} with {}", _orca_shuttle, lambda: abs(printed("Orca", "shuttle", "roc") - 0.878) < 0.141 and abs(printed("Orca", "shuttle") - 0.740) < 0.256),
    Sentence("orca_chance", "reach theirs, a ROC area of {}, with probability {}", lambda: (d(cell("shuttle", "orca")), d(_orca_chance()))),
    Sentence("lsad_replay", "on the splits and kernels of the published run the areas are {} and {}", lambda: (d(facts.replay("LSAD", "http"), 5), d(facts.replay("LSAD", "http", "pr"), 5))),
    Sentence("lsad_curves", "on today's curves those of the same scores are {} and {}", lambda: (d(facts.replay_today("LSAD", "http")), d(facts.replay_today("LSAD", "http", "pr")))),
    Sentence("lsad_http", "In the {} splits where none is, the areas are {} (ROC) and {} (PR) on average; in the {} where one or more are, they are {} and {}", lambda: tuple(v for i in (0, 1) for v in (word(len(_lsad_http("roc")[i])), *(d(sum(_lsad_http(k)[i]) / len(_lsad_http(k)[i]), 2) for k in ("roc", "pr"))))),
    Sentence("lsad_one", "one split of that kind in ten gives {} and {}, published {} and {}", lambda: (*(d((sum(_lsad_http(k)[0]) / len(_lsad_http(k)[0]) + 9 * sum(_lsad_http(k)[1]) / len(_lsad_http(k)[1])) / 10, 2) for k in ("roc", "pr")), *(d(printed("LSAD", "http", k, "outlier")) for k in ("roc", "pr")))),
    Sentence("leaf", "the areas are {} and, ROC, {}; published {} and {}", lambda: (*(d(cell("http", "oneclassrf(scoring=published_depth)", k, setting="outlier")) for k in ("pr", "roc")), *(d(printed("OneClassRF", "http", k, "outlier")) for k in ("pr", "roc")))),
    Sentence("ocsvm", "The draw of {} of the {} anomalies that the random stream of the published run makes, an unusually lucky one: replayed, the areas are {} / {} and {} / {} (ROC / PR, novelty and outlier detection)", lambda: (*map(str, _subset("arrhythmia")), *(d(facts.replay("OCSVM", "arrhythmia", k, s), 5) for s in ("novelty", "outlier") for k in ("roc", "pr")))),
    Sentence("ocsvm_far", "Over other draws the published areas lie {} to {} (ROC) and {} to {} (PR) spreads away", lambda: tuple(f"{v:.1f}" for k in ("roc", "pr") for v in sorted(facts.distances("ocsvm", "arrhythmia", k)))),
    Sentence("ocrf_arrhythmia", "Over other draws the published values lie {} to {} spreads below ours", lambda: tuple(f"{v:.1f}" for v in _extremes("arrhythmia"))),
    Sentence("ocrf_ionosphere", "Over the choice of the anomalies the published ROC areas lie {} to {} spreads below ours", lambda: tuple(f"{v:.1f}" for v in _extremes("ionosphere", ("roc",)))),
    *(Sentence(name, _DRAWN.format("{}", _subset(name)[1], *["{}"] * 4), lambda name=name: _draws(name), lambda name=name, n=n: _within(name, n)) for name, n in (("arrhythmia", 2), ("ionosphere", 1), ("pima", 2), ("spambase", 2.1))),
    Sentence("smtp", "smtp holds {} anomalies among {} rows", lambda: (30, paper.datasets().loc["smtp", "n_samples"]), lambda: facts.frame("").query("dataset == 'smtp' and setting == 'outlier' and status == 'ok'").eval("n_anomalies_train + n_anomalies_test").eq(30).all()),
]  # fmt: skip


def _extremes(dataset: str, kinds: tuple[str, ...] = ("roc", "pr")) -> tuple[float, float]:
    found = [v for kind in kinds for v in facts.distances("ocrfsampling", dataset, kind)]
    return min(found), max(found)
