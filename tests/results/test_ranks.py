"""Ranks and tests: one form of each algorithm at a time, corrected over all that is compared."""

import numpy as np
import pytest
from scipy import stats

from results.aggregate import make_cells
from results.metrics import EXACT_METRICS
from results.published import paper
from results.records.frame import from_records
from results.reproduction.ranks import FIELDS, block_of_tests, families, pairs, rankings
from results.statistics.rank_tests import holm
from tests.results.support import make_record

DATASETS = list(paper.datasets().index)
FORMS = ("oneclassrf", "oneclassrf_text", "iforest", "lof", "orca", "orca_clean")


def values(seed):
    rng = np.random.default_rng(seed)
    return {(name, data): round(0.5 + 0.4 * rng.random(), 3) for name in FORMS for data in DATASETS}


def cells_of(table, protocols=("paper", "clean"), settings=("novelty",)):
    records = [
        make_record(data, name, protocol=protocol, setting=setting, roc=value, pr=1 - value)
        for (name, data), value in table.items()
        for protocol in protocols
        for setting in settings
    ]
    return make_cells(from_records(records).frame)


def column(text, row, place):
    line = next(line for line in text.splitlines() if line.startswith(f"| {row} "))
    return float(line.split("|")[place])


@pytest.mark.parametrize("seed", range(3))
def test_a_rank_counts_one_form_of_each_algorithm(seed):
    table = values(seed)
    text = rankings(cells_of(table)).split("\n\nPR,")[0]
    for place, forms in ((2, FIELDS["as run"]), (4, FIELDS["other forms"])):
        names = [name for name in forms if name in FORMS]
        assert len(names) == 4
        for name, row in zip(names, ("OneClassRF", "iForest", "LOF", "Orca"), strict=True):
            ranks = [
                1 + sum(table[other, data] > table[name, data] for other in names)
                for data in DATASETS
            ]
            assert column(text, row, place) == pytest.approx(np.mean(ranks), abs=0.005)


def test_another_form_that_was_not_run_has_no_column():
    table = {key: value for key, value in values(0).items() if key[0] in FIELDS["as run"]}
    assert "other forms" not in rankings(cells_of(table))
    assert "other forms" not in block_of_tests(cells_of(table))


@pytest.mark.parametrize("seed", range(2))
def test_friedman_s_p_values_are_corrected_over_settings_and_metrics(seed):
    table = values(seed)
    found = families(cells_of(table, ("clean",), ("novelty", "outlier")))
    assert [(f.field, f.setting, f.metric) for f in found] == [
        (field, setting, metric)
        for field in FIELDS
        for setting in ("novelty", "outlier")
        for metric in EXACT_METRICS
    ]
    for field, forms in FIELDS.items():
        rows = [[table[name, data] for data in DATASETS] for name in forms if name in FORMS]
        p = stats.friedmanchisquare(*rows).pvalue
        mine = [f for f in found if f.field == field]
        assert [f.comparison.friedman[1] for f in mine] == pytest.approx([p] * 4)
        # Four equal p values: Holm multiplies them by four.
        assert [f.friedman_holm for f in mine] == pytest.approx([min(1, 4 * p)] * 4)


def test_pairs_of_all_forms_are_corrected_together():
    table = values(5)
    for data in DATASETS:
        table["orca_clean", data] = table["orca", data] + 0.01 + 0.0001 * DATASETS.index(data)
    found = pairs(cells_of(table, ("clean",)), "clean", "novelty", "roc_auc")
    assert len(found) == 15
    assert found["holm"].tolist() == pytest.approx(holm(found["p"].to_numpy()).tolist())
    (row,) = found[(found["first"] == "orca") & (found["second"] == "orca_clean")].to_dict(
        "records"
    )
    assert row["wins"] == "0/0/12"
    assert row["p"] == pytest.approx(2 / 2**12)
    assert row["holm"] == pytest.approx(15 * 2 / 2**12)
    text = block_of_tests(cells_of(table))
    assert "Pairs with both forms, 15 (paper) and 15 (clean) per setting and metric" in text
    assert "Orca (clean) |" in text


def test_an_algorithm_without_every_data_set_is_not_tested():
    table = values(0)
    del table["lof", "http"]
    (first, *_) = families(cells_of(table, ("clean",)))
    assert list(first.comparison.values) == ["oneclassrf", "iforest", "orca"]
    assert first.comparison.n_datasets == 12


def test_without_records_of_the_grid_there_is_nothing_to_test():
    cells = make_cells(from_records([make_record(protocol="mine")]).frame)
    assert block_of_tests(cells).startswith("Nothing to show")
    assert rankings(cells).startswith("Nothing to show")
