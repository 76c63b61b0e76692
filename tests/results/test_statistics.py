"""Statistics against textbook values, independent implementations and what they must leave out."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs as sp
from scipy import stats
from statsmodels.stats.multitest import multipletests

from results.aggregate import make_cells
from results.records.frame import from_records
from results.statistics.rank_tests import (
    bootstrap_intervals,
    comparisons,
    critical_difference,
    holm,
    matrix,
    signed_rank_p,
    wilcoxon_holm,
    win_tie_loss,
)
from results.statistics.write import sections, sentences, write_statistics
from tests.results.support import make_record


def random_block(seed, n=12, k=4):
    rng = np.random.default_rng(seed)
    values = rng.random((n, 1)) + 0.1 * rng.normal(size=(n, k)) + 0.05 * np.arange(k)
    return pd.DataFrame(values, columns=list("abcdefgh")[:k], index=[f"d{i:02}" for i in range(n)])


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (8, 3.031), (10, 3.164)])
def test_critical_difference_has_demsar_s_quantiles(k, q):
    n = 17
    assert critical_difference(k, n) == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * n)), abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_wilcoxon_holm_equals_scikit_posthocs(seed):
    block = random_block(seed)
    melted = block.melt(var_name="algorithm", value_name="score")
    theirs = sp.posthoc_wilcoxon(
        melted, val_col="score", group_col="algorithm", zero_method="zsplit", p_adjust="holm"
    )
    pd.testing.assert_frame_equal(
        wilcoxon_holm(block), theirs.loc[block.columns, block.columns], check_names=False
    )


def signs_tried(difference):
    """The p value of the signed-rank test by its definition: every sign equally likely."""
    ranks = stats.rankdata(np.abs(difference))
    nonzero = difference != 0
    shared = ranks[~nonzero].sum() / 2
    observed = ranks[difference > 0].sum() + shared
    sums = [
        ranks[nonzero][list(signs)].sum() + shared
        for signs in product([False, True], repeat=int(nonzero.sum()))
    ]
    low = np.mean([s <= observed + 1e-9 for s in sums])
    high = np.mean([s >= observed - 1e-9 for s in sums])
    return min(1.0, 2 * min(low, high))


@pytest.mark.parametrize(
    "difference",
    [
        [0.1, 0.1, 0.05, 0.02, 0.01],
        [0.1, -0.1, 0.05, 0.0, 0.01, 0.02],
        [0.1, 0.1, 0.1, -0.1, 0.1, 0.1, 0.0, 0.0],
        [0.3, 0.1 + 0.2, 0.05, 0.02],  # equal but for rounding
    ],
)
def test_tied_differences_of_few_data_sets_are_tested_exactly(difference):
    difference = np.array(difference)
    block = pd.DataFrame({"a": 0.5 + difference, "b": 0.5})
    expected = signs_tried(difference.round(12))
    assert wilcoxon_holm(block).loc["a", "b"] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_holm_equals_statsmodels(seed):
    p_values = np.random.default_rng(seed).random(12) ** 3
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1])


def test_equal_algorithms_have_p_one():
    block = random_block(0)
    block["twin"] = block["a"]
    assert wilcoxon_holm(block).loc["a", "twin"] == 1.0


def test_friedman_is_its_formula():
    block = random_block(1)
    n, k = block.shape
    ranks = block.rank(axis=1).mean()
    expected = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    comparison = comparisons(block, "roc_auc")[0]
    assert comparison.friedman[0] == pytest.approx(expected)
    assert comparison.friedman[1] == pytest.approx(stats.chi2.sf(expected, k - 1))


def test_nemenyi_agrees_with_the_critical_difference():
    comparison = comparisons(random_block(2), "roc_auc")[0]
    ranks = comparison.mean_ranks
    for a in ranks.index:
        for b in ranks.index:
            if a != b:
                apart = abs(ranks[a] - ranks[b]) > comparison.critical_difference
                assert (comparison.nemenyi.loc[a, b] < 0.05) == apart


def test_the_best_algorithm_has_the_lowest_rank():
    block = pd.DataFrame({"good": [0.9, 0.8, 0.7], "bad": [0.5, 0.4, 0.3], "ugly": [0.1, 0.1, 0.1]})
    assert comparisons(block, "roc_auc")[0].mean_ranks.to_dict() == {"good": 1, "bad": 2, "ugly": 3}


def test_missing_values_are_left_out_openly_and_both_ways():
    block = random_block(3)
    block.loc["d00", "b"] = np.nan
    block.loc["d01", ["b", "c"]] = np.nan
    common, complete = comparisons(block, "roc_auc")
    assert common.values.shape == (10, 4)
    assert common.left_out_datasets == {"d00": ["b"], "d01": ["b", "c"]}
    assert complete.values.shape == (12, 2)
    assert complete.left_out_algorithms == ["b", "c"]
    texts = " ".join(sentences(common) + sentences(complete))
    assert "Left out: d01 (no value for b, c)." in texts
    assert "Left out: b, c (not run, or not finished, on every data set)." in texts


def test_few_data_sets_are_said_to_prove_nothing():
    texts = sentences(comparisons(random_block(0, n=5), "roc_auc")[0])
    assert any("cannot give less than p = 0.063" in text for text in texts)


@pytest.mark.parametrize("shape", [(1, 4), (5, 2), (1, 2)])
def test_small_grids_have_no_friedman_test_and_say_so(shape):
    comparison = comparisons(random_block(0, *shape), "roc_auc")[0]
    assert comparison.friedman is None
    assert any("No Friedman test" in text for text in sentences(comparison))


def test_win_tie_loss_ties_at_the_printed_digits():
    values = pd.DataFrame({"a": [0.5, 0.6001, 0.7, np.nan], "b": [0.4, 0.6002, 0.8, 0.1]})
    table = win_tie_loss(values, "roc_auc")
    assert table.loc["a", "b"] == "1/1/1"
    assert table.loc["b", "a"] == "1/1/1"
    assert table.loc["a", "a"] == ""


def test_bootstrap_of_a_constant_is_a_point_and_of_paired_data_is_narrower():
    block = pd.DataFrame({"a": np.linspace(0.5, 0.9, 12)})
    block["b"] = block["a"] + 0.1
    intervals = bootstrap_intervals(block)
    assert intervals.loc["b", "difference_low"] == pytest.approx(0.1)
    assert intervals.loc["b", "difference_high"] == pytest.approx(0.1)
    assert intervals.loc["a", "high"] - intervals.loc["a", "low"] > 0.05


@pytest.mark.parametrize(("n", "has_intervals"), [(2, False), (5, False), (6, True)])
def test_so_few_data_sets_have_no_interval(n, has_intervals):
    """Of two data sets it would be the two values; Wilcoxon's test cannot reach .05 below six."""
    block = pd.DataFrame({"a": np.linspace(0.5, 0.9, n), "b": np.linspace(0.6, 0.8, n)})
    intervals = bootstrap_intervals(block)
    assert intervals[["mean", "difference"]].notna().all(axis=None)
    ends = intervals[["low", "high", "difference_low", "difference_high"]]
    assert (ends.notna() == has_intervals).all(axis=None)
    assert (signed_rank_p(np.ones(n)) < 0.05) == has_intervals


@pytest.mark.parametrize("seed", range(2))
def test_bootstrap_width_is_near_the_normal_one_for_many_data_sets(seed):
    values = np.random.default_rng(seed).normal(size=400)
    interval = bootstrap_intervals(pd.DataFrame({"a": values}), seed=seed).loc["a"]
    width = 2 * 1.96 * values.std() / np.sqrt(400)
    assert interval["high"] - interval["low"] == pytest.approx(width, rel=0.05)


def test_published_tables_rank_as_computed_by_hand(paper_records):
    first = next(sections(from_records(paper_records)))
    assert first.metric == "roc_auc_curve"
    assert [c.values.shape for c in first.comparisons] == [(5, 8), (12, 4)]
    assert list(first.comparisons[1].values.columns) == ["oneclassrf", "iforest", "orca", "lsad"]
    assert first.comparisons[0].mean_ranks["lsad"] == pytest.approx(2.8)
    # Table 2's ROC columns, OneClassRF against iForest: better on all but arrhythmia and pima.
    assert win_tie_loss(first.values, "roc_auc").loc["oneclassrf", "iforest"] == "10/0/2"


def test_matrix_has_a_gap_where_a_cell_timed_out():
    records = [make_record(), make_record("wilt", status="timeout"), make_record("wilt", "lof")]
    values = matrix(make_cells(from_records(records).frame), "roc_auc")
    assert values.isna().sum().sum() == 2
    assert list(values.columns) == ["iforest", "lof"]


def test_files_are_written_and_named(paper_records, recorder):
    write_statistics(from_records(paper_records), recorder.output)
    names = {path.name for path in recorder.output.written}
    assert "table2_novelty_roc_auc_curve.md" in names
    assert len(names) == 4
    text = recorder.output.written[0].read_text()
    assert "Critical" in text or "critical" in text
    assert "Left out: adult (no value for OCRFsampling, RFC)." in text


def test_a_tie_of_the_counts_that_is_a_difference_of_ranks_is_explained(recorder):
    both = [make_record(), make_record(algorithm="lof", roc=0.9001)]
    both += [make_record("wilt"), make_record("wilt", "lof", roc=0.9002)]
    write_statistics(from_records(both), recorder.output, ("roc_auc",))
    text = recorder.output.written[0].read_text()
    ranks, _, counts = text.partition("## Wins/ties/losses")
    assert re.search(r"\| LOF +\| +1\.00 \|", ranks)
    assert re.search(r"\| LOF +\| +0/2/0 \|", counts)
    for said in (counts, recorder.text.getvalue()):
        assert "Means that are the same to 3 decimals tie here" in said


def test_one_algorithm_alone_gives_a_remark(recorder):
    write_statistics(from_records([make_record()]), recorder.output)
    assert recorder.output.remarks
    assert not recorder.output.written


def test_a_metric_that_nothing_holds_is_named(recorder):
    both = [make_record(), make_record(algorithm="lof")]
    write_statistics(from_records(both), recorder.output, ("best_f1",))
    assert "no experiment holds best_f1" in recorder.output.remarks
    assert not any("two algorithms" in remark for remark in recorder.output.remarks)


@pytest.mark.parametrize("seed", range(8))
def test_all_signs_give_scipy_s_p_value(seed):
    rng = np.random.default_rng(seed)
    difference = rng.integers(-3, 4, size=rng.integers(2, 9)) / 10
    difference[0] = 0.1  # ties and zeros, but not zeros alone
    method = stats.PermutationMethod(n_resamples=2**9)
    expected = stats.wilcoxon(difference, zero_method="zsplit", method=method).pvalue
    block = pd.DataFrame({"a": difference, "b": 0.0})
    assert wilcoxon_holm(block).loc["a", "b"] == pytest.approx(expected, abs=1e-12)


def test_a_mean_over_other_splits_than_others_is_left_out_and_named(recorder):
    records = [
        make_record(dataset, name, split=split, roc=0.5 + 0.1 * i)
        for i, name in enumerate(("iforest", "lof", "ocsvm"))
        for dataset in ("pima", "wilt", "adult")
        for split in range(2 if (name, dataset) == ("lof", "wilt") else 3)
    ]
    write_statistics(from_records(records), recorder.output, ("roc_auc",))
    text = recorder.text.getvalue()
    assert "Left out: LOF on wilt, splits 0-1 of seed 0; others: 0-2 of seed 0." in text
    assert "2 algorithms on 3 data sets (adult, pima, wilt)." in text
    assert any("lof, novelty: 2 of 10 splits): wilt" in r for r in recorder.output.remarks)
    equal = [record for record in records if record.split < 2]
    (section,) = sections(from_records(equal), ("roc_auc",))
    assert section.unpaired == []
    assert section.values.notna().all(axis=None)
    later = [replace(r, split=r.split + 5) if r.algorithm == "lof" else r for r in equal]
    (section,) = sections(from_records(later), ("roc_auc",))
    assert list(section.values) == ["iforest", "ocsvm"]
    assert len(section.unpaired) == 3
