"""OneClassRF beyond the paper's data sets: counts, choices and ranks against ones by hand."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from results.ablations.effects import effects
from results.ablations.studies import STUDIES
from results.aggregate import make_cells
from results.benchmarks.document import skeleton, write_benchmarks
from results.benchmarks.duels import duels, duels_markdown
from results.benchmarks.exact import exact_markdown
from results.benchmarks.halves import judge, judge_all, judged_markdown
from results.benchmarks.placing import pair_tests, placing
from results.benchmarks.traits import (
    FILE as TRAITS_FILE,
)
from results.benchmarks.traits import (
    TRAITS,
    correlations,
    correlations_markdown,
    gains,
    read_traits,
)
from results.published.publication import load_publication
from results.records.frame import from_records
from results.statistics.rank_tests import comparisons, holm
from tests.results.support import make_record
from tests.results.test_ablations import gammas

mpl.use("agg")

#: A protocol of one seed, so that a cell of one split is whole.
ONE_SPLIT = {"n_splits": 1, "protocol": {"seeds": [0], "metrics": ["roc_auc"]}}
NAMES = tuple(read_traits().index)


def records(values, protocol="adbench", setting="outlier"):
    """Records of one split; `values` holds per algorithm one value per data set."""
    return [
        make_record(dataset, algorithm, protocol=protocol, setting=setting, roc=value, pr=value)
        for algorithm, row in values.items()
        for dataset, value in zip(NAMES, row, strict=False)
    ]


def cells_of(values, **names):
    return make_cells(from_records(records(values, **names)).frame)


def test_duels_are_over_the_data_sets_that_both_have():
    forest = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
    ours = [0.6, 0.7, 0.8, 0.9, 0.9]
    table = duels(cells_of({"iforest": forest, "oneclassrf": ours}))
    assert list(table["form"]) == ["oneclassrf"] * 2
    assert set(table["n_datasets"]) == {5}
    assert set(table["wins_ties_losses"]) == {"4/1/0"}
    assert table["reference_mean"].tolist() == pytest.approx([0.7, 0.7])
    assert table["difference"].tolist() == pytest.approx([0.08, 0.08])


def test_duels_are_corrected_for_all_protocols_forms_and_metrics():
    rng = np.random.default_rng(0)
    values = {name: rng.random(9) for name in ("iforest", "oneclassrf", "oneclassrf_text")}
    own = records(values) + records(values, protocol="clean", setting="novelty")
    table = duels(make_cells(from_records(own).frame))
    assert len(table) == 8
    np.testing.assert_allclose(table["p_holm"], holm(table["p"].to_numpy()))
    expected = stats.wilcoxon(values["oneclassrf"], values["iforest"]).pvalue
    assert table["p"].iloc[0] == pytest.approx(expected)
    assert "for the 8 rows" in duels_markdown(table)


@given(st.integers(0, 10_000), st.integers(4, 30), st.integers(2, 6))
def test_the_half_that_chooses_is_not_the_one_that_judges(seed, n, k):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        rng.normal(size=(n, k)), index=[f"d{i:02}" for i in rng.permutation(n)], columns=[f"c{j}" for j in range(k)]
    )  # fmt: skip
    ordered = table.sort_index()
    for choice, start in zip(judge(table, "p", "outlier", "roc_auc"), (0, 1), strict=True):
        own = [list(ordered.iloc[start::2][c]) for c in ordered]
        means = [sum(column) / len(column) for column in own]
        assert choice.level == f"c{means.index(max(means))}"
        assert choice.gain_there == pytest.approx(max(means))
        assert list(choice.gains.index) == list(ordered.index[1 - start :: 2])


def test_candidates_that_miss_a_data_set_are_not_chosen():
    table = pd.DataFrame(
        {"gap": [9, 9, 9, np.nan], "all": [1, 1, 1, 1.0], "worse": [0.0] * 4}, index=list("abcd")
    )
    assert {choice.level for choice in judge(table, "p", "outlier", "roc_auc")} == {"all"}
    assert judge(table.iloc[:3], "p", "outlier", "roc_auc") == []
    assert judge(table[["all"]], "p", "outlier", "roc_auc") == []


def test_a_level_that_gains_everywhere_is_chosen_by_both_halves():
    frame = from_records(list(gammas())).frame
    judged = judge_all({study: effects(frame, study) for study in STUDIES})
    assert {choice.level for choice in judged} == {"gamma=0.1"}
    # Two settings, two metrics, two halves.
    assert len(judged) == 8
    assert "for the 8 rows" in judged_markdown(judged)


def test_pairs_with_one_algorithm_are_corrected_for_their_number():
    rng = np.random.default_rng(3)
    block = pd.DataFrame(rng.random((12, 4)), columns=list("abcd"))
    (comparison,) = comparisons(block, "roc_auc")
    raw = [stats.wilcoxon(block["b"], block[o]).pvalue for o in "acd"]
    np.testing.assert_allclose(pair_tests(comparison, "b")[list("acd")], holm(np.array(raw)))


def test_the_placing_has_one_form_of_oneclassrf_in_the_field():
    values = load_publication("pyod2019")
    named = [name for name in values.datasets.values() if name is not None]
    own = [
        make_record(
            dataset,
            form,
            protocol="pyod2019",
            setting="outlier",
            metrics=dict.fromkeys(("roc_auc", "precision_at_n"), roc),
            config=ONE_SPLIT,
        )
        for form, roc in (("oneclassrf", 0.9999), ("oneclassrf_text", 0.0001))
        for dataset in named
    ]
    text = placing(make_cells(from_records(own).frame), values, "outlier")
    # Ten printed columns and ours; the other form would make the last place the twelfth.
    assert text.count("(ours)") == 5
    assert "OneClassRF (text) (ours): place 11 of 11" in text


def test_values_with_a_printed_spread_are_not_counted_as_exact():
    publication = load_publication("dte2024")
    printed = publication.values
    own = printed[(printed["setting"] == "semi") & (printed["column"] == "LOF")]
    roc = own[own["metric"] == "roc_auc"].set_index("dataset")
    ours = [
        make_record(
            publication.datasets[name], "lof", protocol="dte2024_semi", roc=row["published"] / 100,
            config=ONE_SPLIT,
        )
        for name, row in roc.iterrows()
        if publication.datasets[name] is not None
    ]  # fmt: skip
    n = sum(roc.loc[name, "spread"] == 0 for name in roc.index if publication.datasets[name])
    text = exact_markdown(make_cells(from_records(ours).frame), publication, "semi")
    assert f"{n} of {n}" in text
    assert 0 < n < len(ours)


def test_a_trait_that_decides_correlates_and_unknown_data_sets_do_not_count():
    traits = read_traits()
    order = traits["features"].rank(method="first") / 100
    values = {"iforest": [0.4] * len(NAMES), "oneclassrf": list(0.4 + order)}
    own = [*records(values), *(make_record("unknown", name, protocol="adbench", setting="outlier") for name in values)]  # fmt: skip
    cells = make_cells(from_records(own).frame)
    (gain,) = gains(cells, traits, "roc_auc").values()
    assert set(gain.index) == set(NAMES)
    table = correlations(cells, traits)
    assert len(table) == 2 * len(TRAITS)
    found = table.set_index(["metric", "trait"])["rho"]
    assert found["roc_auc", "features"] > 0.99
    expected = stats.spearmanr(traits["rows"], order).statistic
    assert found["roc_auc", "rows"] == pytest.approx(expected)
    assert f"Of {len(table)} correlations" in correlations_markdown(table)


def test_the_document_gets_its_numbers_and_keeps_its_sentences(tmp_path, recorder):
    rng = np.random.default_rng(0)
    values = {name: rng.random(len(NAMES)) for name in ("iforest", "oneclassrf", "oneclassrf_text")}
    own = records(values, protocol="dte2024_semi", setting="novelty")
    file = tmp_path / "mine.md"
    file.write_text(skeleton(["duels"]) + "\nMy sentence.\n")
    write_benchmarks(from_records(own), recorder.output, [load_publication("dte2024")], file)
    text = file.read_text()
    assert "My sentence." in text
    assert "corrected for the 4 rows" in text
    assert (tmp_path / "figures" / "traits.png").exists()
    write_benchmarks(from_records(own), recorder.output, [load_publication("dte2024")], file)
    assert file.read_text() == text
    write_benchmarks(from_records(own), recorder.output, [load_publication("dte2024")])
    assert "published numbers come out again" not in (tmp_path / "BENCHMARKS.md").read_text()


def test_the_shipped_file_is_read_from_where_it_is():
    assert set(read_traits(TRAITS_FILE)) == set(TRAITS)
