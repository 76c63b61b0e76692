"""Experiments of the same names but different settings are never averaged together."""

import pytest

from results.experiments import from_records
from results.selection import Selection, SelectionError
from tests.results.support import make_record


def records(protocol_extra=None, n=2, **changes):
    config = {"protocol": {"name": "paper", "anomaly_subset": "per_split"} | (protocol_extra or {})}
    return [make_record(split=i, config=config, **changes) for i in range(n)]


def test_an_overridden_protocol_is_listed_apart_and_the_usual_one_keeps_its_name():
    experiments = from_records(
        [
            *records(n=3),
            *records({"anomaly_subset": "fixed"}),
            *records({"anomaly_subset": "fixed"}, dataset="wilt"),
            *records(n=3, dataset="wilt"),
        ]
    )
    assert sorted(set(experiments.frame["protocol"])) == ["paper", "paper(anomaly_subset=fixed)"]
    assert len(experiments.frame) == 10
    assert any("anomaly_subset=fixed" in remark for remark in experiments.remarks)


def test_a_data_set_that_follows_its_protocol_is_no_clash():
    """shuttle resolves differently under the clean protocol; there the protocol tells them apart."""
    both = [
        make_record(
            "shuttle",
            protocol=p,
            config={"dataset": {"name": "shuttle", "repeat": r}, "protocol": {"name": p}},
        )
        for p, r in (("paper", True), ("clean", False))
    ]
    experiments = from_records(both)
    assert set(experiments.frame["dataset"]) == {"shuttle"}
    assert not experiments.remarks


def test_an_overridden_data_set_is_listed_apart():
    both = [
        make_record("shuttle", split=s, config={"dataset": {"name": "shuttle", "repeat": r}})
        for r, n in ((True, 3), (False, 1))
        for s in range(n)
    ]
    assert sorted(set(from_records(both).frame["dataset"])) == ["shuttle", "shuttle(repeat=false)"]


def test_an_algorithm_whose_own_file_changed_is_listed_apart():
    both = [
        make_record(split=s, config={"algorithm": {"_target_": "x", "n_estimators": n}})
        for n, count in ((100, 3), (50, 2))
        for s in range(count)
    ]
    assert sorted(set(from_records(both).frame["label"])) == ["iforest", "iforest(n_estimators=50)"]


def test_the_same_experiment_twice_counts_once():
    experiments = from_records([make_record(), make_record(key="f" * 64, roc=0.7)])
    assert experiments.frame["roc_auc"].tolist() == [0.7]
    assert any("twice" in remark for remark in experiments.remarks)


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (Selection(algorithms=("iforest",)), 2),
        (Selection(algorithms=("iforest(max_samples=64)",)), 1),
        (Selection(algorithms=("i*", "lof")), 3),
        (Selection(datasets=("w*",)), 1),
        (Selection(seeds=("0",), settings=("novelty",), protocols=("paper",)), 3),
    ],
)
def test_selection(selection, count):
    everything = [
        make_record(),
        make_record(variant="max_samples=64"),
        make_record("wilt", "lof"),
    ]
    assert len(from_records(everything, selection).frame) == count


def test_a_selection_that_fits_nothing_names_what_there_is():
    with pytest.raises(SelectionError, match="no record has dataset 'pmia'; there are: pima"):
        from_records([make_record()], Selection(datasets=("pmia",)))
    with pytest.raises(SelectionError, match="all of the selection at once"):
        from_records(
            [make_record(), make_record("wilt", "lof")],
            Selection(datasets=("pima",), algorithms=("lof",)),
        )


def test_no_records_at_all_says_how_to_get_some():
    with pytest.raises(FileNotFoundError, match="python -m runners"):
        from_records([])


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("paper", {"paper"}),
        ("paper(anomaly_subset=fixed)", {"paper(anomaly_subset=fixed)"}),
        ("paper*", {"paper", "paper(anomaly_subset=fixed)"}),
    ],
)
def test_names_told_apart_can_be_selected(pattern, names):
    everything = [*records(n=3), *records({"anomaly_subset": "fixed"})]
    frame = from_records(everything, Selection(protocols=(pattern,))).frame
    assert set(frame["protocol"]) == names


def test_a_told_apart_name_that_is_not_there_is_refused():
    with pytest.raises(SelectionError, match="selection"):
        from_records(records(), Selection(protocols=("paper(anomaly_subset=fixed)",)))
