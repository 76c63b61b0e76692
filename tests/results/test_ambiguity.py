"""Experiments of the same names but different options are never averaged together."""

import json

import pytest

from results.records.frame import from_records
from results.records.opening import Selection, SelectionError
from tests.results.support import key_of, make_record


def records(protocol_extra=None, n=2, **changes):
    config = {"protocol": {"name": "paper", "cap": {"drawn": "per_split"}} | (protocol_extra or {})}
    return [make_record(split=i, config=config, **changes) for i in range(n)]


def test_an_overridden_protocol_is_listed_apart_and_the_usual_one_keeps_its_name():
    experiments = from_records(
        [
            *records(n=3),
            *records({"cap": {"drawn": "once"}}),
            *records({"cap": {"drawn": "once"}}, dataset="wilt"),
            *records(n=3, dataset="wilt"),
        ]
    )
    assert sorted(set(experiments.frame["protocol"])) == ["paper", "paper(cap.drawn=once)"]
    assert len(experiments.frame) == 10
    assert any("cap.drawn=once" in remark for remark in experiments.remarks)


def test_an_option_that_is_a_list_is_spelled_with_its_own_characters():
    apart = {"columns": ["10 °C"]}
    experiments = from_records([*records(n=3), *records(apart)])
    assert 'paper(columns=["10 °C"])' in set(experiments.frame["protocol"])


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


@pytest.mark.parametrize("latest", [5, 7])
def test_of_two_versions_of_a_file_run_alike_the_latest_keeps_the_name(latest):
    both = [
        make_record(
            "wilt",
            "mine",
            config={"algorithm": {"k": k}},
            provenance={"started": f"2026-01-0{1 + (k == latest)}T00:00:00+00:00"},
        )
        for k in (5, 7)
    ]
    frame = from_records(both).frame.set_index("label")
    assert json.loads(frame.loc["mine", "config_algorithm"]) == {"k": latest}


def test_an_override_for_one_algorithm_only_is_listed_apart():
    """The two would otherwise stand in one table and be ranked against each other."""
    both = [*records(n=3), *records({"cap": {"drawn": "once"}}, algorithm="lof")]
    experiments = from_records(both)
    assert set(zip(experiments.frame["label"], experiments.frame["protocol"], strict=True)) == {
        ("iforest", "paper"),
        ("lof", "paper(cap.drawn=once)"),
    }
    assert any("cap.drawn=once" in remark for remark in experiments.remarks)


def test_a_data_set_overridden_for_one_algorithm_only_is_listed_apart():
    both = [
        make_record(algorithm=a, split=s, config={"dataset": {"name": "pima", "repeat": r}})
        for a, r, n in (("iforest", True, 3), ("lof", False, 1))
        for s in range(n)
    ]
    assert sorted(set(from_records(both).frame["dataset"])) == ["pima", "pima(repeat=false)"]


def test_of_two_files_under_one_name_neither_is_the_usual_one():
    of = {}
    for path, started in (("a.csv", "2026-01"), ("b.csv", "2026-06")):
        for algorithm in ("lof", "iforest")[: 1 if path == "b.csv" else 2]:
            of[path, algorithm] = make_record(
                "custom",
                algorithm,
                key=key_of(path, algorithm),
                config={"dataset": {"name": "custom", "path": path}},
                provenance={"started": started, "content": path[0] * 64},
            )
    frame = from_records(of.values()).frame
    assert sorted(frame["dataset"].unique()) == ["custom(path=a.csv)", "custom(path=b.csv)"]
    alone = from_records([of["a.csv", "lof"], of["a.csv", "iforest"]]).frame
    assert set(alone["dataset"]) == {"custom"}


@pytest.mark.parametrize("later_key", ["0", "f"])
def test_of_twins_the_later_one_counts_whatever_their_keys(later_key):
    twins = [
        make_record(roc=roc, key=key * 64, provenance={"started": started})
        for roc, key, started in ((0.7, later_key, "2026-02"), (0.3, "8", "2026-01"))
    ]
    for order in (twins, twins[::-1]):
        assert from_records(order).frame["roc_auc"].tolist() == [0.7]


def test_the_same_experiment_twice_counts_once():
    experiments = from_records([make_record(), make_record(key="f" * 64, roc=0.7)])
    assert experiments.frame["roc_auc"].tolist() == [0.7]
    assert any("twice" in remark for remark in experiments.remarks)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("paper", {"paper"}),
        ("paper(cap.drawn=once)", {"paper(cap.drawn=once)"}),
        ("paper*", {"paper", "paper(cap.drawn=once)"}),
    ],
)
def test_names_told_apart_can_be_selected(pattern, names):
    everything = [*records(n=3), *records({"cap": {"drawn": "once"}})]
    frame = from_records(everything, Selection(protocols=(pattern,))).frame
    assert set(frame["protocol"]) == names


def test_a_told_apart_name_that_is_not_there_is_refused():
    with pytest.raises(SelectionError, match="selection"):
        from_records(records(), Selection(protocols=("paper(cap.drawn=once)",)))
