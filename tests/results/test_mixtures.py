"""What is mixed within a cell or a column is said."""

from dataclasses import replace

import numpy as np
import pytest

from results.aggregate import make_cells
from results.records.frame import from_records
from tests.results.support import make_record


def test_a_cell_run_with_several_versions_of_a_package_is_named():
    def made(dataset, split, numpy):
        versions = {"numpy": numpy, "scipy": "1.17"}
        return make_record(dataset, split=split, provenance={"versions": versions})

    mixed = [made(d, s, f"2.{s}") for d in ("pima", "wilt") for s in (3, 4)]
    alike = [made("glass", s, "2.4") for s in range(2)]
    remarks = from_records([*mixed, *alike]).remarks
    assert remarks == [
        "iforest (paper, novelty) was run with several versions, numpy 2.3, 2.4: pima, wilt"
    ]


def test_an_algorithm_whose_file_changed_between_data_sets_is_named():
    def of(n, dataset):
        return make_record(dataset, "mine", config={"algorithm": {"_target_": "a.B", "n": n}})

    remarks = from_records([of(20, "pima"), of(20, "glass"), of(5, "wilt")]).remarks
    words = (
        "algorithm mine (paper) was run with different options: n=20 on glass, pima; n=5 on wilt"
    )
    assert words in remarks
    assert from_records([of(20, "pima"), of(20, "wilt")]).remarks == []


def test_a_metric_that_a_part_of_a_cell_holds_has_no_mean_and_is_named():
    """As when `precision_at_n` is taken out of a protocol between two runs."""
    both = [make_record(split=split) for split in range(3)]
    both[0] = replace(both[0], metrics=both[0].metrics | {"precision_at_n": 0.5})
    experiments = from_records(both)
    [cell] = make_cells(experiments.frame).to_dict("records")
    assert (cell["roc_auc"], cell["n_ok"]) == (pytest.approx(0.9), 3)
    assert np.isnan(cell["precision_at_n"])
    assert experiments.remarks == [
        "no mean of precision_at_n, iforest (paper, novelty): 1 of 3 experiments hold it: pima"
    ]


@pytest.mark.parametrize(
    ("seeds", "changes", "n_shared"),
    [
        ((0, 1), {}, 2),
        ((0, 3), {}, 0),
        ((0, 1), {"seeds": [5, 6, 7]}, 0),
        ((0, 1), {"generator": {"kind": "seed_sequence"}}, 0),
    ],
)
def test_seeds_of_a_legacy_generator_with_splits_in_common_are_named(seeds, changes, n_shared):
    config = {"protocol": {"name": "paper", "generator": {"kind": "legacy"}} | changes}
    made = [make_record(seed=seed, split=s, config=config) for seed in seeds for s in range(3)]
    remarks = [text for text in from_records(made).remarks if "splits that other seeds" in text]
    assert len(remarks) == (n_shared > 0)
    assert all(f"{n_shared} experiments" in text for text in remarks)
