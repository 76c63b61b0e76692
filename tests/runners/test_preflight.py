"""Configurations that a grid must not begin with: each named, with what would be right."""

import hashlib
import os
import shutil
import textwrap
import time
from dataclasses import replace

import numpy as np
import pytest

from datasets.bundled import FOLDER as BUNDLED
from datasets.errors import UsageError
from results.records.store import RecordStore
from runners.grid import _Grid, run_grid
from runners.isolation.pool import POOL
from runners.preflight import HeldNotes, check_inputs, check_shared, say_notes
from runners.schedule import Plan


@pytest.fixture
def _no_workers():
    POOL.close()
    yield
    POOL.close()


def table(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    return path


def with_data(cell, **changes):
    dataset = cell.config["dataset"] | {k: str(v) for k, v in changes.items()}
    return replace(cell, config={**cell.config, "dataset": dataset}, content="0" * 64)


@pytest.mark.usefixtures("_no_workers")
def test_data_are_checked_before_kernels_are_compiled(make_cell, tmp_path):
    rows = "".join(f"{i},x{i % 3},{'odd' if i < 5 else 'even'}\n" for i in range(40))
    cell = with_data(make_cell(), path=table(tmp_path, "a,b,label\n" + rows))
    with pytest.raises(UsageError, match="'b'"):
        run_grid([cell])
    # The zygote that checked has imported everything and compiled nothing.
    assert len(POOL._free) == 1
    assert not POOL.started
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target": "nowhere"}, "nowhere"),
        ({"anomalies": "none of them"}, "none of them"),
    ],
)
def test_a_definition_that_does_not_fit_the_file_is_refused(make_cell, changes, words):
    cell = make_cell()
    dataset = cell.config["dataset"] | changes
    if "anomalies" in changes:
        dataset["anomalies"] = [changes["anomalies"]]
    wrong = replace(cell, config={**cell.config, "dataset": dataset}, content="0" * 64)
    with pytest.raises(UsageError, match=words):
        check_inputs([cell, wrong])


class RefusesParameter:
    def __init__(self, k=1):
        if k > 1:
            raise ValueError("k must not be larger than 1")


class EndsTheProcess:
    def __init__(self):
        os._exit(3)


class Hangs:
    def __init__(self):
        time.sleep(3600)


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [
        ({"_target_": "no.such.Class"}, "'no.such.Class' cannot be imported"),
        ({"_target_": "sklearn.svm.OneClassSVM", "nuu": 1}, "no parameter 'nuu'"),
        ({"_target_": f"{__name__}.RefusesParameter", "k": 2}, "ValueError: k must not be larger"),
        ({"_target_": "sklearn.cluster.DBSCAN"}, "DBSCAN has no method score_samples"),
        ({"_target_": "os.getcwd"}, "str has no method fit"),
        (
            {"_target_": "sklearn.svm.OneClassSVM", "_partial_": True},
            "has no method fit",
        ),
        (
            {"_target_": "baselines.PyODDetector", "detector": "NoSuch"},
            "PyOD has no detector 'NoSuch'",
        ),
        (
            {"_target_": "baselines.PyODDetector", "detector": "ecodd"},
            "no detector 'ecodd'; near it are ECOD",
        ),
        (
            {
                "_target_": "sklearn.pipeline.Pipeline",
                "steps": [["x", {"_target_": "sklearn.svm.NoSuch"}]],
            },
            "NoSuch",
        ),
    ],
)
def test_an_algorithm_that_cannot_be_built_is_refused(make_cell, algorithm, words):
    cell = make_cell(name="mine")
    wrong = replace(cell, config={**cell.config, "algorithm": algorithm})
    with pytest.raises(UsageError, match=rf"^algorithm mine: .*{words}") as caught:
        check_inputs([cell, wrong])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        ({"_target_": "sklearn.model_selection.ShuffleSplt"}, "has no attribute ShuffleSplt"),
        ({"_target_": "no.such.Splitter"}, r"No module named 'no'; the folder .* PYTHONPATH"),
        ({"_target_": "sklearn.model_selection.ShuffleSplit", "tset_size": 0.3}, "tset_size"),
        ({"_target_": "sklearn.model_selection.KFold", "n_splits": 1}, "n_splits=1"),
        (
            {"_target_": "sklearn.model_selection.KFold"},
            "makes 5 splits, and 10 are .*: n_splits=5",
        ),
        ({"_target_": "sklearn.svm.OneClassSVM"}, "has no method split"),
    ],
)
def test_a_splitter_that_cannot_be_built_is_refused(make_cell, cut, words):
    cell = make_cell(n_splits=10)
    protocol = cell.config["protocol"] | {"cut": cut}
    wrong = replace(cell, config={**cell.config, "protocol": protocol})
    with pytest.raises(UsageError, match=rf"^protocol clean: protocol.cut: .*{words}"):
        check_inputs([cell, wrong])


PIMA = "dataset=pima algorithm=lof"


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (f"{PIMA} output=one,two", "share output, .*; these have output=one and output=two: run"),
        (f"{PIMA} runner.n_jobs=1,2", r"these have runner\.n_jobs=1 and runner\.n_jobs=2"),
        (
            "dataset=pima,wilt algorithm=lof output=out/${dataset.name}",
            "have output=out/pima and output=out/w",
        ),
        (f"{PIMA} timeout=5,10", "^pima lof novelty paper is there twice, with timeout=5 and with"),
        (f"{PIMA} data.home=one,two", "data.home=one and with data.home=two, on which no result"),
        ("dataset=pima,pima algorithm=lof n_splits=2,3", None),
        ("dataset=pima algorithm=lof,pyod detector=KNN,LOF", None),
        ("dataset=pima,wilt algorithm=lof runner.memory_limit_gb=1 seed=0,1", None),
    ],
)
def test_a_sweep_over_what_has_no_effect_is_refused(composed, overrides, words):
    cells = composed("-m", *overrides.split())
    if words is None:
        check_shared(cells)
    else:
        with pytest.raises(UsageError, match=words):
            check_shared(cells)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["algorithm=oneclassrf", "algorithm.max_features_tree=6"], "=6 is greater .* features, 5"),
        (["algorithm=ocrfsampling", "algorithm.krsm=6"], "krsm=6 is more than the 5 features"),
        (["algorithm=oneclassrf", "algorithm.max_features_tree=5"], None),
    ],
)
def test_more_features_than_some_data_have_are_refused_before_a_run(composed, overrides, words):
    cells = composed("-m", "dataset=pima,wilt,ionosphere", *overrides)
    if words is None:
        check_inputs(cells)
        return
    with pytest.raises(UsageError, match=rf"^algorithm {cells[0].algorithm}\(.*: wilt: .*{words}"):
        check_inputs(cells)


def test_more_features_than_own_data_have_are_refused_before_a_run(make_cell, tmp_path):
    rows = "".join(f"{i},{i % 7},{'odd' if i < 5 else 'even'}\n" for i in range(40))
    cell = with_data(make_cell("ocrf.OneClassRF"), path=table(tmp_path, "a,b,label\n" + rows))
    cell.config["algorithm"]["max_features_tree"] = 3
    with pytest.raises(UsageError, match=r"^algorithm oneclassrf\(.*number of features, 2"):
        check_inputs([replace(cell, variant="max_features_tree=3", algorithm="oneclassrf")])


@pytest.mark.parametrize("size", [0.01, 0.95])
def test_data_that_leave_no_split_are_refused_once(make_cell, tmp_path, size):
    rows = "".join(f"{i},{'odd' if i < 2 else 'even'}\n" for i in range(40))
    cell = with_data(make_cell(n_splits=10), path=table(tmp_path, "a,label\n" + rows))
    protocol = {**cell.config["protocol"], "cut": {"kind": "random", "train_size": size}}
    cell = replace(cell, config={**cell.config, "protocol": protocol})
    if size > 0.5:
        check_inputs([cell])  # some of its splits have an anomaly to be tested
        return
    words = (
        "^protocol clean, novelty: no split can be made: split 0 of .*: no training point is left"
    )
    with pytest.raises(UsageError, match=words):
        check_inputs([cell])


@pytest.mark.parametrize("name", ["EndsTheProcess", "Hangs"])
def test_what_a_check_cannot_tell_is_left_to_the_experiments(make_cell, name):
    algorithm = {"_target_": f"{__name__}.{name}"}
    cell = make_cell(name="mine", preparation_timeout=5.0 if name == "Hangs" else 600.0)
    check_inputs([replace(cell, config={**cell.config, "algorithm": algorithm})])


@pytest.mark.parametrize(
    "overrides",
    [
        ["dataset=glob(*)", "protocol=paper,clean"],
        ["dataset=glob([adbench/*,odds/*])"],
        ["grid=replayed"],
    ],
)
def test_the_project_s_own_are_not_checked(composed, monkeypatch, overrides):
    monkeypatch.setattr("runners.preflight.POOL", None)
    cells = composed("-m", *overrides)
    assert len(cells) >= 24
    check_inputs(cells)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("anomalies=[typo]", "label 'typo' of anomalies does not occur; the labels are 'tested_n"),
        ("target=klass", "no label column 'klass'; the columns are 'preg', "),
        ("drop_columns=[nope]", "drop_columns names 'nope', which is not a feature; the features"),
        ("keep_columns=[9]", "keep_columns has the position 9"),
        ("drop_classes=[sick]", "label 'sick' of drop_classes does not occur"),
        ("anomalies=[tested_negative]", "500 anomalies, 268 expected; if .* dataset.expected=null"),
    ],
)
def test_a_changed_definition_of_a_bundled_data_set_is_refused(composed, override, words):
    cells = composed("dataset=pima", "algorithm=iforest", f"dataset.{override}")
    with pytest.raises(UsageError, match=words) as caught:
        check_inputs(cells)
    assert "cannot be loaded" not in str(caught.value)


def test_a_bundled_data_set_may_be_changed_on_purpose(composed, caplog):
    changes = ["dataset.anomalies=[tested_negative]", "dataset.expected=null"]
    cells = composed("dataset=pima", "algorithm=iforest", *changes)
    with HeldNotes():
        check_inputs(cells)
        assert caplog.messages == [], "said before it is known that the run begins"
        say_notes()
    [columns, note, capped] = caplog.messages
    assert capped == (
        "data set 'pima': 500 anomalies beside 268 normal rows; protocol 'paper' keeps 0.1 for each "
        "of these, drawn at random (protocol.cap.ratio=null keeps all)"
    )
    assert "8 features: 'preg', " in columns
    assert "more anomalies (500) than normal points (268)" in note


def test_features_of_files_at_addresses_are_said_as_those_of_files_at_hand(
    composed, tmp_path, own_group, caplog
):
    """A sha256 pins the file, not what the user's own YAML makes of it."""
    (tmp_path / "a.csv").write_text("lot,x,flat,label\n" + "5,1,0,0\n7,9,0,0\n6,9,0,1\n" * 9)
    digest = hashlib.sha256((tmp_path / "a.csv").read_bytes()).hexdigest()
    text = f"""
    name: mine
    collection: {{url: "http://127.0.0.1:9/{{file}}.csv", file: "{{file}}.csv", members: {{a: {digest}}}}}
    anomalies: [1]
    drop_columns: [lot]
    min_distinct: 2
    """
    group = own_group("dataset/mine", textwrap.dedent(text))
    arguments = ["-m", group, "dataset=mine/a", "algorithm=iforest", f"data.home={tmp_path}"]
    check_inputs(composed(*arguments, "protocol.cap.ratio=0.5"))
    assert caplog.messages == [
        "data set 'mine_a': 1 feature: 'x'; left out: 'lot' (drop_columns), 'flat' (fewer than 2 "
        "distinct values); label 'label': anomalies: '1' (9); normal: '0' (18)"
    ]


@pytest.mark.parametrize("stored", ["member", "openml", "custom"])
def test_a_definition_that_does_not_fit_the_data_home_is_refused(
    composed, tmp_path, own_group, stored
):
    home = tmp_path / "home"
    home.mkdir()
    if stored != "member":
        shutil.copy(BUNDLED / "pima.parquet", home / "openml-37.parquet")
        arguments = ["dataset=custom", "data.openml=37", "data.anomalies=[typo]"]
        if stored == "openml":
            text = "name: mine\nopenml: 37\nanomalies: [typo]\n"
            arguments = [own_group("dataset/mine", text), "dataset=mine"]
    else:
        np.savez(home / "a.npz", X=np.arange(12.0).reshape(6, 2), y=[0, 0, 0, 0, 1, 1])
        digest = hashlib.sha256((home / "a.npz").read_bytes()).hexdigest()
        text = f"""
        name: mine
        collection: {{url: "http://127.0.0.1:9/{{file}}.npz", members: {{a: {digest}}}}}
        anomalies: [typo]
        """
        arguments = ["-m", own_group("dataset/mine", textwrap.dedent(text)), "dataset=mine/a"]
    cells = composed(*arguments, "algorithm=iforest", f"data.home={home}", "data.offline=true")
    with pytest.raises(UsageError, match="label 'typo' of anomalies does not occur") as caught:
        check_inputs(cells)
    # The file in which the mistake stands, if there is one.
    file = "" if stored == "custom" else f"{tmp_path / 'mine' / 'dataset' / 'mine.yaml'}: "
    assert str(caught.value).startswith(f"{file}data set ")


def test_an_algorithm_that_cannot_be_built_is_refused_with_its_file(composed, tmp_path, own_group):
    where = own_group("algorithm/mine", "_target_: sklearn.cluster.DBSCAN\n")
    file = tmp_path / "mine" / "algorithm" / "mine.yaml"
    with pytest.raises(UsageError, match=rf"^{file}: algorithm mine: .*no method score_samples"):
        check_inputs(composed(where, "dataset=pima", "algorithm=mine"))


def test_own_data_under_the_paper_s_protocol_are_noted(composed, tmp_path, capsys):
    path = table(tmp_path, "a,label\n" + "".join(f"{i},{int(i > 30)}\n" for i in range(40)))
    own = ["dataset=custom", f"data.path={path}", "data.anomalies=[1]"]

    def noted(*arguments):
        cells = composed(*arguments)
        capsys.readouterr()
        _Grid(cells, Plan([], [], {}, []), RecordStore(tmp_path), cells[0].config["runner"]).run()
        return [line for line in capsys.readouterr().out.splitlines() if "Note: " in line]

    [line] = noted(*own)
    assert "'custom' under protocol=paper" in line
    assert line.endswith(": protocol=clean algorithm=oneclassrf_text")
    [line] = noted(*own, "algorithm=lof")
    assert line.endswith(": protocol=clean")
    assert noted(*own, "protocol=clean") == []
    assert noted("dataset=pima", "dataset.expected=null", "dataset.drop_columns=[0]") == []
