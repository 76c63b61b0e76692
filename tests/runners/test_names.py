"""Names and labels: each means one thing, or the run is refused before it begins."""

import json

import pytest

from runners import app
from runners.variants import variant_of
from tests.faults.sandbox import CONF


def labels(cells):
    return sorted(cell.label for cell in cells)


def test_swept_parameters_make_variants(composed):
    cells = composed("-m", "algorithm.max_features_node=1,5,null", "algorithm.gamma=1.0,0.5")
    # null and 1.0 are what the YAML says.
    assert labels(cells) == [
        "oneclassrf",
        "oneclassrf(gamma=0.5)",
        "oneclassrf(gamma=0.5,max_features_node=1)",
        "oneclassrf(gamma=0.5,max_features_node=5)",
        "oneclassrf(max_features_node=1)",
        "oneclassrf(max_features_node=5)",
    ]


def test_an_override_that_says_what_the_yaml_says_is_the_same_cell(composed):
    [plain] = composed("algorithm=lof")
    [same] = composed("algorithm=lof", "algorithm.n_neighbors=20")
    assert same == plain
    assert same.label == "lof"


def test_what_a_yaml_takes_from_elsewhere_is_always_shown(composed):
    [cell] = composed("algorithm=pyod", "detector=ECOD")
    assert cell.label == "pyod(detector=ECOD)"


def test_added_parameters_are_variants_too(composed):
    [cell] = composed("algorithm=healthy", "+algorithm.extra=true")
    assert cell.label == "healthy(extra=true)"


@pytest.mark.parametrize(
    ("name", "words"),
    [("a/b", "holds '/'"), (" ", "is empty"), ("x\x1fy", r"holds '\x1f'"), ("é\u2028x", "holds")],
)
def test_names_that_no_file_can_have_are_refused(refusal, tmp_path, own_group, name, words):
    (tmp_path / "mine.csv").write_text("a,label\n1,0\n2,1\n")
    definition = {"name": name, "path": str(tmp_path / "mine.csv"), "anomalies": [1]}
    search = own_group("dataset/own", json.dumps(definition))
    line = refusal(search, "dataset=own")
    assert "the name of a dataset" in line
    assert words in line


def test_a_name_with_a_byte_that_is_not_unicode_is_refused(capsys, tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("a,label\n1,0\n2,1\n")
    arguments = ["dataset=custom", f"data.path={table}", "data.anomalies=[1]"]
    assert app.main([*arguments, 'dataset.name="caf\udce9"', f"output={tmp_path}/o"]) == 2
    assert "which is not a character" in capsys.readouterr().err


def test_an_algorithm_in_a_folder_of_its_group_is_refused(refusal, own_group):
    search = own_group("algorithm/deep/own", "_target_: sklearn.ensemble.IsolationForest\n")
    assert "'deep/own' holds '/'" in refusal(search, "algorithm=deep/own")


@pytest.mark.parametrize(
    "name",
    ["dataset/pima", "algorithm/lof", "grid/paper", "protocol/clean", "setting/novelty"],
)
@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("by_flag", [False, True])
def test_a_file_that_the_project_s_would_shadow_is_refused(
    refusal, tmp_path, own_group, name, chosen, by_flag
):
    search = [own_group(name, "name: x\n")]
    if by_flag:
        search = ["--config-dir", str(tmp_path / "mine")]
    group, _, option = name.partition("/")
    line = refusal(*search, *([f"{group}={option}"] if chosen else []))
    assert str(tmp_path / "mine" / f"{name}.yaml") in line
    assert str(app.ROOT / "conf" / f"{name}.yaml") in line


@pytest.mark.parametrize(
    ("given", "meant"), [("mine", "mine/conf"), ("mine/conf/grid", "mine/conf"), ("other", None)]
)
@pytest.mark.parametrize("by_flag", [False, True])
def test_a_folder_without_groups_is_refused(refusal, tmp_path, given, meant, by_flag):
    (tmp_path / "mine" / "conf" / "grid").mkdir(parents=True)
    (tmp_path / "mine" / "conf" / "grid" / "own.yaml").write_text("seed: 1\n")
    (tmp_path / "other" / "notes").mkdir(parents=True)
    folder = tmp_path / given
    named = ["--config-dir", str(folder)] if by_flag else [f"hydra.searchpath=[file://{folder}]"]
    line = refusal(*named)
    assert f"{folder} has none of the folders dataset, algorithm, setting, protocol" in line
    assert line.endswith(f"did you mean {tmp_path / meant}?" if meant else "are looked for")


@pytest.mark.parametrize("given", ["timeout=5", "seed=1,2"])
def test_a_folder_with_the_name_of_a_key_that_is_set_is_refused(
    refusal, composed, tmp_path, own_group, given
):
    """Hydra would take the key for the choice of a file in that folder."""
    key = given.partition("=")[0]
    search = own_group("algorithm/mine", "_target_: sklearn.svm.OneClassSVM\n")
    (tmp_path / "mine" / key).mkdir()
    line = refusal(search, given)
    assert f"{tmp_path / 'mine' / key} is a folder, so that Hydra takes {key}= for" in line
    assert composed(search, "dataset=pima", "algorithm=mine")


def test_a_name_in_two_folders_of_the_user_s_is_refused(refusal, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder / "dataset").mkdir(parents=True)
        (tmp_path / folder / "dataset" / "mine.yaml").write_text("name: mine\n")
    search = f"hydra.searchpath=[{tmp_path / 'one'},file://{tmp_path / 'two'}]"
    line = refusal(search)
    assert str(tmp_path / "one" / "dataset" / "mine.yaml") in line
    assert str(tmp_path / "two" / "dataset" / "mine.yaml") in line


@pytest.mark.parametrize("by_file", [False, True])
def test_data_under_the_name_of_a_data_set_of_the_project_are_refused(
    refusal, tmp_path, own_group, by_file
):
    (tmp_path / "mine.csv").write_text("a,label\n1,0\n2,1\n")
    text = f"name: pima\npath: {tmp_path}/mine.csv\nanomalies: [1]\n"
    given = [own_group("dataset/own", text), "dataset=own"]
    if not by_file:
        given = ["dataset=custom", f"data.path={tmp_path}/mine.csv", "data.anomalies=[1]"]
        given += ["dataset.name=pima"]
    line = refusal(*given)
    assert "the name 'pima' is that of" in line


PIPELINE = """
_target_: sklearn.pipeline.Pipeline
steps:
  - [scale, {_target_: sklearn.preprocessing.StandardScaler}]
  - [forest, {_target_: sklearn.ensemble.IsolationForest, n_estimators: 10}]
"""


def test_sweeping_a_nested_parameter_names_only_that(composed, own_group):
    search = own_group("algorithm/own", PIPELINE)
    names = labels(
        composed("-m", search, "algorithm=own", "algorithm.steps.1.1.n_estimators=10,20")
    )
    assert names == ["own", "own(steps.1.1.n_estimators=20)"]
    added = composed("-m", search, "algorithm=own", "+algorithm.steps.1.1.max_samples=8")
    assert labels(added) == ["own(steps.1.1.max_samples=8)"]


def test_sweeping_a_nested_object_gives_short_labels_that_stay(composed, own_group):
    search = own_group("algorithm/own", PIPELINE)
    swept = "algorithm.steps=[[a,{_target_:a.B,n:1}]],[[a,{_target_:a.B,n:2}]],[[b,{_target_:c.D}]]"
    first = labels(composed("-m", search, "algorithm=own", swept))
    assert len(set(first)) == 3
    assert all(len(name) < 30 for name in first)
    assert all(name.startswith("own(steps=list~") for name in first)
    assert labels(composed("-m", search, "algorithm=own", swept)) == first
    replaced = composed("-m", search, "algorithm=own", "algorithm.steps.1.1._target_=a.B,a.C")
    assert [name.partition("~")[0] for name in labels(replaced)] == [
        *("own(steps.1.1=B", "own(steps.1.1=C")
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("[1,2]", "[1, 2]"),
        ("null", "null"),
        ("text", "text"),
        ("0.5", "0.5"),
        ("a" * 60, "a" * 40 + "~"),
    ],
)
def test_plain_values_are_shown_as_they_are(composed, value, shown):
    [cell] = composed("algorithm=healthy", f"algorithm.seconds={value}")
    assert cell.label.startswith(f"healthy(seconds={shown}")


def test_two_data_sets_with_one_name_are_refused(refusal, tmp_path, own_group):
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(f"a,label\n1,0\n{len(name)},1\n")
        text = f"name: mine\npath: {tmp_path}/{name}.csv\nanomalies: [1]\n"
        search = own_group(f"dataset/{name}", text)
    (tmp_path / "two.csv").write_text("a,label\n1,0\n5,1\n")
    line = refusal("-m", search, "dataset=one,two", "algorithm=lof")
    assert "have the name 'mine'" in line
    paths = [f"data.path={tmp_path}/one.csv,{tmp_path}/two.csv", "data.anomalies=[1]"]
    assert "have the name 'custom'" in refusal("-m", "dataset=custom", *paths)


@pytest.mark.parametrize(
    ("name", "arguments", "owner"),
    [
        ("pima", ["dataset=wilt", "dataset.name=pima"], "pima.yaml"),
        ("odds_cardio", ["dataset=wilt", "dataset.name=odds_cardio"], "odds.yaml"),
        ("pima", ["dataset=own"], "pima.yaml"),
        ("adb_cardio", ["dataset=own"], "adbench.yaml"),
        # A member of a collection of one's own.
        ("pima", ["dataset=many/pima"], "pima.yaml"),
        ("pima", ["-m", "dataset=glob(many/*)"], "pima.yaml"),
    ],
)
def test_the_project_s_names_are_its_data_sets(
    refusal, own_group, tmp_path, name, arguments, owner
):
    (tmp_path / "pima.csv").write_text("a,label\n1,0\n2,1\n")
    own_group("dataset/own", f"name: {name}\npath: {tmp_path}/pima.csv\nanomalies: [1]\n")
    search = own_group(
        "dataset/many",
        f"collection:\n  names: '{{member}}'\n  path: {tmp_path}/{{member}}.csv\nanomalies: [1]\n",
    )
    line = refusal(search, *arguments)
    assert f"the name {name!r} is that of" in line
    assert owner in line
    if arguments[-1] == "dataset=own":
        assert line.startswith(str(tmp_path / "mine" / "dataset" / "own.yaml"))


def test_a_data_set_of_ours_may_be_called_otherwise(composed):
    [cell] = composed("dataset=wilt", "dataset.name=wilt_again", "algorithm=lof")
    assert cell.dataset == "wilt_again"


PROTOCOL = "cut: {kind: random}\nmetrics: [roc_auc]\n"


@pytest.mark.parametrize(
    ("file", "text", "arguments"),
    [
        ("protocol/mine", f"name: paper\n{PROTOCOL}", ["protocol=mine"]),
        ("protocol/mine", f"name: minelike\n{PROTOCOL}", ["protocol=mine"]),
        ("protocol/mine", f"name: mine\n{PROTOCOL}", ["protocol=paper", "protocol.name=mine"]),
        (
            "setting/mine",
            "name: novelty\nanomalies_in_train: false\n",
            ["-m", "setting=mine,outlier"],
        ),
    ],
)
def test_a_name_unlike_its_file_is_refused(refusal, own_group, file, text, arguments):
    line = refusal(own_group(file, text), *arguments, "algorithm=lof")
    group, _, value = arguments[-1 if arguments[0] == "-m" else 0].partition("=")
    assert f"{group}.name is " in line
    assert f"{group}/{value.split(',')[0]}.yaml" in line


def test_the_name_of_a_protocol_may_say_more_than_its_file(composed, own_group):
    search = own_group("protocol/mine", f"name: mine_${{seed}}\n{PROTOCOL}")
    cells = composed("-m", search, "protocol=mine", "seed=0,1", "algorithm=lof")
    assert [cell.protocol for cell in cells] == ["mine_0", "mine_1"]


@pytest.mark.parametrize("name", ["lof(n_neighbors=5)", "lof,own", "lof=1", "lof\u2021"])
def test_algorithms_whose_labels_could_be_those_of_others_are_refused(refusal, own_group, name):
    text = "_target_: sklearn.neighbors.LocalOutlierFactor\nnovelty: true\n"
    search = own_group(f"algorithm/{name}", text)
    line = refusal("-m", search, f'algorithm="{name}",lof')
    assert f"algorithm/{name}.yaml: the name holds" in line


VALUES = ["1", "1.0", "true", "'1'", "'true'", "'null'", "null", "'[1, 2]'", "[1,2]", "'x,y=2'"]


def test_different_parameters_have_different_labels(composed):
    swept = f"algorithm.seconds={','.join(VALUES)}"
    cells = composed("-m", "algorithm=healthy", swept)
    assert len({cell.label for cell in cells}) == len(VALUES)
    pair = composed("-m", "algorithm=healthy", "algorithm.seconds='x,y=2',x", "+algorithm.y=2,3")
    assert len({cell.label for cell in pair}) == 4


@pytest.mark.parametrize(
    ("own", "given", "variant"),
    [
        ({"n": 1}, {"n": True}, "n=true"),
        ({"n": 1}, {"n": 1.0}, "n=1.0"),
        ({"n": float("nan")}, {"n": float("nan")}, ""),
        ({"n": [1, 2]}, {"n": [1, True]}, "n.1=true"),
        ({"n": "a"}, {}, "n=absent"),
        ({"n": "a"}, {"n": "absent"}, 'n="absent"'),
        ({"n": "a"}, {"n": "1e5"}, 'n="1e5"'),
        ({"n": "a"}, {"n": ""}, 'n=""'),
        ({"n": "a"}, {"n": "log2"}, "n=log2"),
    ],
)
def test_values_that_are_equal_are_not_always_the_same(own, given, variant):
    assert variant_of(own, given) == variant


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            [f"+algorithm.{'x' * 40}{i}=1" for i in range(50)],
            "characters, and 2000 are the most",
        ),
        (["seed=9223372036854775808"], "seed"),
        (["n_splits=2147483648"], "n_splits"),
        (["algorithm.seconds=9223372036854775808"], "a whole number beyond 64 bits"),
        (["algorithm.seconds=" + "[" * 60 + "]" * 60], "nested more than 50 levels deep"),
        (["dataset.name=" + "x" * 501], "and 500 are the most"),
        (["protocol.name=paper_" + "x" * 501], "and 500 are the most"),
    ],
)
@pytest.mark.parametrize("sweep", [[], ["-m"]])
def test_what_no_record_could_hold_is_refused_before_a_run(refusal, arguments, words, sweep):
    given = ["--config-dir", str(CONF), "algorithm=healthy", "protocol=paper"]
    assert words in refusal(*sweep, *given, *arguments)
