"""Experiments of the same names but different options are never averaged together."""

import json
from dataclasses import replace

import numpy as np
import pytest

from results.aggregate import in_order, make_cells
from results.records.frame import exported, from_records, selected
from results.records.opening import Search, Selection, SelectionError
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


def version(content, started, roc, algorithm="iforest"):
    return [
        make_record(
            "own",
            algorithm,
            split=split,
            roc=roc,
            key=key_of(content, algorithm, split),
            provenance={"started": started, "content": content},
        )
        for split in range(5)
    ]


@pytest.mark.parametrize("first", [None, "0" * 64, "f" * 64])
def test_a_user_s_file_that_changed_leaves_nothing_of_its_earlier_version(first):
    old = [*version(first, "2026-01-01", 0.1), *version(first, "2026-01-02", 0.2, "lof")]
    new = version("a" * 64, "2026-06-01", 0.9)
    elsewhere = [make_record("pima", provenance={"started": "2025"})]
    experiments = from_records([*new, *old, *elsewhere])
    own = experiments.frame[experiments.frame["dataset"] == "own"]
    assert set(own["label"]) == {"iforest"}
    assert own["roc_auc"].tolist() == [0.9] * 5
    assert len(experiments.frame) == 6
    assert experiments.remarks == [
        "own: left out 10 experiments on another version of the file than that of the latest run"
    ]


def test_a_file_at_an_address_that_changed_leaves_nothing_of_its_earlier_version():
    """The sha256 of the new one stands in another definition of the data set."""

    def record(digest, algorithm, started):
        source = {"kind": "url", "url": f"https://example.org/{digest}", "sha256": digest * 64}
        return make_record(
            "own",
            algorithm,
            config={"dataset": {"name": "own", "sources": [source]}},
            provenance={"started": started, "content": digest * 64},
        )

    experiments = from_records([record("a", "lof", "2026-01"), record("b", "iforest", "2026-06")])
    assert set(experiments.frame["label"]) == {"iforest"}
    assert experiments.remarks == [
        "own: left out 1 experiments on another version of the file than that of the latest run"
    ]


def edited():
    """Return records of an algorithm whose file was edited between two data sets and a rerun."""
    return [
        make_record(
            dataset,
            "mine",
            key=key_of(dataset, k),
            config={"algorithm": {"_target_": "sklearn.neighbors.LOF", "k": k}},
            provenance={"started": started},
        )
        for dataset, k, started in (
            ("pima", 2, "2026-01"),
            ("wilt", 2, "2026-01"),
            ("pima", 50, "2026-06"),
        )
    ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("mine", {("pima", 2), ("wilt", 2), ("pima", 50)}),
        ("mine()", {("pima", 2), ("wilt", 2)}),
        ("mine(k=50)", {("pima", 50)}),
        ("mine(k=*)", {("pima", 50)}),
    ],
)
def test_an_algorithm_is_selected_by_the_name_that_tables_print(asked, expected):
    """Whatever is shown, packed, forgotten."""
    records = edited()
    selection = Selection(algorithms=(asked,))
    experiments = from_records(records, selection)
    told = [json.loads(text)["k"] for text in experiments.frame["config_algorithm"]]
    assert set(zip(experiments.frame["dataset"], told, strict=True)) == expected
    assert not [remark for remark in experiments.remarks if "no record" in remark]
    chosen = selected(records, Search(selection), "here")
    assert {(r.dataset, r.config["algorithm"]["k"]) for r in chosen} == expected


def test_an_algorithm_that_nothing_is_shown_under_is_no_selection():
    with pytest.raises(SelectionError, match=r"fits all of the selection .*mine\(k=7\)"):
        from_records(edited(), Selection(algorithms=("mine(k=7)",)))
    with pytest.raises(SelectionError, match="no record is shown under the names"):
        list(selected(edited(), Search(Selection(algorithms=("mine(k=7)",))), "here"))


def test_what_is_told_apart_is_exported_under_names_of_its_own():
    table = exported(from_records(edited()).frame)
    names = table[["dataset", "label"]].to_numpy().tolist()
    assert names == [["pima", "mine"], ["pima", "mine(k=50)"], ["wilt", "mine"]]


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


def test_a_file_of_splits_that_changed_leaves_nothing_of_its_earlier_version():
    def cut(indices, started, split, protocol="cut"):
        config = {"protocol": {"name": protocol, "metrics": ["roc_auc"]}}
        if indices:
            config["protocol"]["indices"] = "s.parquet"
        return make_record(
            split=split,
            protocol=protocol,
            key=key_of(indices, split, protocol),
            config=config,
            provenance={"started": started} | ({"indices": indices} if indices else {}),
        )

    few = replace(cut("a" * 64, "2026", 0), config={"n_splits": 1, "protocol": {"indices": "s"}})
    few = replace(few, provenance=few.provenance | {"splits": 3})
    [cell] = make_cells(from_records([few]).frame).to_dict("records")
    assert (cell["n_expected"], cell["partial"]) == (3, True)
    old = [cut("a" * 64, "2026-01", split) for split in range(4)]
    new = [cut("b" * 64, "2026-06", split) for split in range(2)]
    experiments = from_records([*new, *old, cut(None, "2025", 0, "paper")])
    assert sorted(experiments.frame["indices"].fillna("")) == ["", "b" * 64, "b" * 64]
    assert experiments.remarks == [
        "cut: left out 4 experiments on another version of the file of splits than that of the latest run"
    ]


def coded(code, started, roc, dataset="pima", n_splits=4, splitter=None):
    protocol = {"name": "paper"} | ({"splitter": {"_target_": splitter}} if splitter else {})
    return [
        make_record(
            dataset,
            "mine",
            split=split,
            roc=roc,
            key=key_of(code, started, dataset, split, splitter),
            config={"algorithm": {"_target_": "mine.Mine"}, "protocol": protocol},
            provenance={"started": started, "code": code},
        )
        for split in range(n_splits)
    ]


def test_code_that_changed_leaves_nothing_of_its_earlier_version():
    # Two splits before the sign was flipped, and one of another data set; four splits after.
    old = [*coded("a" * 64, "2026-01", 0.9, n_splits=6), *coded("a" * 64, "2026-01", 0.9, "wilt")]
    new = coded("b" * 64, "2026-06", 0.1)
    experiments = from_records([*old, *new, make_record(provenance={"started": "2025"})])
    mine = experiments.frame[experiments.frame["label"] == "mine"]
    assert set(mine["dataset"]) == {"pima"}
    assert mine["roc_auc"].tolist() == [0.1] * 4
    assert len(experiments.frame) == 5
    assert experiments.remarks == [
        "mine: left out 10 experiments on another version of the code than that of the latest run"
    ]


def test_what_supersedes_a_selected_experiment_need_not_be_selected():
    config = {"dataset": {"name": "own", "data": {"path": "own.csv"}}}
    of = {}
    for content, started, algorithm in (
        ("a", "2026-01", "lof"),
        ("a", "2026-01", "iforest"),
        ("b", "2026-06", "lof"),
    ):
        of[content, algorithm] = make_record(
            "own",
            algorithm,
            key=key_of(content, algorithm),
            config=config,
            provenance={"started": started, "content": content * 64},
        )
    everything = from_records(of.values())
    assert set(everything.frame["label"]) == {"lof"}
    with pytest.raises(SelectionError, match="own: left out 1 experiments on another version"):
        from_records(of.values(), Selection(algorithms=("iforest",)))
    chosen = from_records(of.values(), Selection(algorithms=("lof",)))
    assert chosen.frame["content"].tolist() == ["b" * 64]
    assert len(chosen.remarks) == 1


def test_code_that_changed_leaves_no_variant_of_its_earlier_version():
    def variant(power, code, started):
        config = {"algorithm": {"_target_": "mine.Mine", "power": power}}
        return make_record(
            algorithm="mine",
            variant=f"power={power}",
            key=key_of(power, code),
            config=config,
            provenance={"started": started, "code": code * 64},
        )

    records = [variant(1, "a", "2026-01"), variant(2, "a", "2026-01"), variant(1, "b", "2026-06")]
    assert from_records(records).frame["label"].tolist() == ["mine(power=1)"]


def test_code_of_a_splitter_is_no_version_of_the_algorithm():
    records = [
        *coded("a" * 64, "2026-01", 0.9),
        *coded("b" * 64, "2026-06", 0.8, "wilt", splitter="mine.Splitter"),
    ]
    assert len(from_records(records).frame) == 8


def test_an_edit_of_a_splitter_supersedes_every_algorithm_on_its_earlier_version():
    def on(algorithm, splitter_code, started, algorithm_code=None):
        digests = {"algorithm": algorithm_code, "protocol": splitter_code}
        codes = {f"code_{part}": code * 64 for part, code in digests.items() if code}
        return make_record(
            algorithm=algorithm,
            protocol="cut",
            key=key_of(algorithm, splitter_code, algorithm_code),
            config={
                "algorithm": {"_target_": f"{algorithm}.Mine"},
                "protocol": {"name": "cut", "cut": {"_target_": "cut.Splitter"}},
            },
            provenance={"started": started, "code": f"{splitter_code}{algorithm_code}"} | codes,
        )

    old, other = on("iforest", "a", "2026-01"), on("lof", "a", "2026-02")
    mine = on("mine", "b", "2026-06", "c")
    experiments = from_records([old, other, mine])
    assert experiments.frame["label"].tolist() == ["mine"]
    assert experiments.remarks == [
        "cut: left out 2 experiments on another version of the code than that of the latest run"
    ]
    # An algorithm that was edited, run under another protocol.
    elsewhere = replace(mine, protocol="paper", config={"algorithm": mine.config["algorithm"]})
    edited = {"started": "2026-07", "code": "d" * 64, "code_algorithm": "d" * 64}
    elsewhere = replace(elsewhere, key=key_of("elsewhere"), provenance=edited)
    assert from_records([mine, elsewhere]).frame["protocol"].tolist() == ["paper"]


def test_what_has_the_digest_of_all_code_alone_is_not_taken_for_another_version():
    earlier = coded("a" * 64, "2026-01", 0.9)
    later = [
        replace(record, provenance=record.provenance | {"code_algorithm": "a" * 64})
        for record in coded("a" * 64, "2026-06", 0.9, "wilt")
    ]
    assert len(from_records([*earlier, *later]).frame) == 8


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
    ("selection", "count"),
    [
        (Selection(algorithms=("iforest",)), 2),
        (Selection(algorithms=("iforest(max_samples=64)",)), 1),
        (Selection(algorithms=("iforest()",)), 1),
        (Selection(algorithms=("*()",)), 2),
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


def test_the_plain_form_of_an_algorithm_is_named_with_empty_brackets():
    everything = [
        make_record(),
        make_record(variant="max_samples=64"),
        make_record(algorithm="lof"),
        make_record(algorithm="orca", variant="k=3"),
    ]
    found = from_records(everything, Selection(algorithms=("lof()", "iforest()")))
    assert set(found.frame["label"]) == {"lof", "iforest"}
    assert in_order(found.frame["label"], found.selection.algorithms) == ["lof", "iforest"]
    assert not any("no record" in remark for remark in found.remarks)
    found = from_records(everything, Selection(algorithms=("iforest()", "orca()")))
    assert any("no record has algorithm 'orca()'" in remark for remark in found.remarks)


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
