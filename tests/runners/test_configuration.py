"""From the command line to cells: sweeps, variants, grids, mistakes."""

import hashlib
import itertools
import json
import shlex

import pytest

from runners import app
from runners.mistakes import parse_overrides


def labels(cells):
    return sorted(cell.label for cell in cells)


def test_one_cell_without_m(composed):
    [cell] = composed("dataset=wilt", "algorithm=lof", "setting=outlier", "n_splits=4")
    assert (cell.dataset, cell.algorithm, cell.setting) == ("wilt", "lof", "outlier")
    assert cell.protocol == "paper"
    assert cell.variant == ""
    assert cell.n_splits == 4
    assert cell.config["algorithm"]["n_neighbors"] == 20
    assert "hydra" not in cell.config


def test_a_sweep_is_one_grid(composed):
    cells = composed("-m", "dataset=pima,wilt", "algorithm=lof,iforest", "setting=novelty,outlier")
    assert len(cells) == 8
    assert len({cell.key(0) for cell in cells}) == 8


def test_the_flag_for_a_sweep_may_stand_anywhere(composed):
    assert len(composed("dataset=pima,wilt", "-m", "algorithm=lof")) == 2


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


def test_every_data_set_but_the_template(composed):
    cells = composed("-m", "dataset=glob(*)", "algorithm=lof")
    names = {cell.dataset for cell in cells}
    assert len(names) == 12
    assert "custom" not in names


@pytest.mark.parametrize(
    ("grid", "protocol", "overrides", "n_cells"),
    [
        ("paper", "paper", [], 12 * 8 * 2),
        ("clean", "clean", ["dataset=pima,http"], 2 * 8 * 2),
    ],
)
def test_the_grids_of_the_paper(composed, grid, protocol, overrides, n_cells):
    cells = composed(f"grid={grid}", *overrides)
    assert len(cells) == len(set(cells)) == n_cells
    assert {cell.protocol for cell in cells} == {protocol}
    assert {cell.config["timeout"] for cell in cells} == {1800}
    assert {cell.variant for cell in cells} == {""}


def test_a_grid_sweeps_by_itself_and_takes_overrides(composed):
    cells = composed("grid=paper", "algorithm=iforest,lof", "dataset=pima", "timeout=5")
    assert labels(cells) == ["iforest", "iforest", "lof", "lof"]
    assert {cell.config["timeout"] for cell in cells} == {5}


def test_the_default_grid_needs_only_bundled_data(composed):
    cells = composed("grid=benchmark")
    assert {cell.dataset for cell in cells} == {
        *("pima", "ionosphere", "spambase", "pendigits", "shuttle")
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["dataset=pimaa"], ["Could not find 'dataset/pimaa'", "ionosphere", "wilt"]),
        (["algorithm=iforst"], ["Could not find 'algorithm/iforst'", "iforest"]),
        (["-m", "setting=novelty,outliers"], ["'setting/outliers'", "outlier"]),
        (["algorithm.n_tree=3"], ["algorithm.n_tree", "Valid names in algorithm:", "n_estimators"]),
        (["-m", "algorithm.n_tree=3,4"], ["algorithm.n_tree", "n_estimators"]),
        (["n_split=3"], ["n_split", "Valid names in the configuration:", "n_splits"]),
        (["protocol.scale=all"], ["Valid names in protocol:", "scaling"]),
        (["timeout=-1"], ["timeout must be greater than 0, got -1"]),
        (["n_splits=0"], ["n_splits must be at least 1, got 0"]),
        (["runner.retry=some"], ["runner.retry must be one of failed, all"]),
        (["runner.backend=spark"], ["runner.backend must be one of threads, dask"]),
        (["runner.n_jobs=0"], ["n_jobs must be a whole number other than 0"]),
        (["runner.progress=loud"], ["runner.progress must be one of"]),
        (["+runner.n_job=1"], ["runner.n_job: unknown key; did you mean n_jobs?"]),
        (["+n_split=3"], ["n_split: unknown key; did you mean n_splits?"]),
        (["algorithm=iforst"], ["(did you mean 'iforest'?)"]),
        (["hydra/launcher=submitit_local"], ["launches the jobs of a sweep: add -m"]),
        (["hydra.searchpath=[file:///nowhere]"], ["there is no folder file:///nowhere"]),
        (["--config-dir", "/nowhere"], ["--config-dir: there is no folder /nowhere"]),
    ],
)
def test_mistakes_are_named_with_what_would_be_valid(tmp_path, capsys, arguments, expected):
    with_output = [*arguments, f"output={tmp_path}"]
    assert app.main(with_output) == app.USAGE_ERROR
    said = capsys.readouterr().err
    for words in expected:
        assert words in said
    assert "Traceback" not in said
    assert "Error executing job" not in said


def refusal(tmp_path, capsys, *arguments):
    """Return the single line that a command line is refused with."""
    assert app.main([*arguments, f"output={tmp_path / 'output'}"]) == app.USAGE_ERROR
    said = capsys.readouterr()
    assert said.out == ""
    assert not (tmp_path / "output").exists()
    [line] = said.err.splitlines()
    return line


@pytest.mark.parametrize("value", ["''", "null", "' '", ""])
def test_an_output_without_a_name_is_refused(capsys, value):
    assert app.main([f"output={value}"]) == app.USAGE_ERROR
    assert "output must be" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argument", "suggested"),
    [
        ("data.path=/a=b.csv", 'data.path="/a=b.csv"'),
        ("data.path=~/x.csv", 'data.path="~/x.csv"'),
        ("data.path=/é.csv", 'data.path="/é.csv"'),
        ("data.path=/a(1).csv", 'data.path="/a(1).csv"'),
        ("data.path=/a;b.csv", 'data.path="/a;b.csv"'),
        ('data.path=/a"b".csv', 'data.path="/a\\"b\\".csv"'),
        ("data.anomalies=[ä,1,b=c]", 'data.anomalies=["ä",1,"b=c"]'),
        ("+algorithm.name=ß", '+algorithm.name="ß"'),
    ],
)
@pytest.mark.parametrize("sweep", [[], ["-m"]])
def test_what_needs_quotes_is_refused_with_quotes_that_work(
    tmp_path, capsys, argument, suggested, sweep
):
    line = refusal(tmp_path, capsys, *sweep, argument)
    # In the quotes of a shell, to be pasted.
    [pasted] = shlex.split(line.partition("; write ")[2])
    assert pasted == suggested
    [override] = parse_overrides([pasted])
    expected = argument.partition("=")[2]
    value = override.value()
    if isinstance(value, list):
        value = f"[{','.join(map(str, value))}]"
    assert value == expected


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("dataset=40685", "dataset=custom data.openml=40685"),
        ("dataset=null", "the options of dataset are names"),
        ("grid=1.5", "the options of grid are names"),
        ("algorithm=true", "the options of algorithm are names"),
        ("n_splits", "'n_splits' lacks a value"),
        ("algorithm={a: 1}", "+algorithm.a=VALUE adds it"),
        ("=3", "overrides are NAME=VALUE"),
        ("data.anomalies=[1", "must come in pairs"),
        ("dataset=pima,wilt", "dataset=pima,wilt: several values need -m"),
        ("data.target=${nowhere}", "Interpolation key 'nowhere' not found"),
    ],
)
def test_what_hydra_cannot_read_is_said_in_one_line(tmp_path, capsys, argument, words):
    assert words in refusal(tmp_path, capsys, argument)


@pytest.mark.parametrize("values", ["40685,40686", "pima,3"])
def test_numbers_are_no_names_in_a_sweep_either(tmp_path, capsys, values):
    assert "names" in refusal(tmp_path, capsys, "-m", f"dataset={values}")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name: [1\n", "own.yaml, line 2, column 1: not YAML: "),
        (b"name: own\n\tpath: x\n", "own.yaml, line 2, column 1: not YAML: "),
        (b"name: own\nname: own\n", "found duplicate key name"),
        (b"name: caf\xe9\n", "own.yaml: byte 9 is not UTF-8"),
        (b"- a\n- b\n", "own.yaml holds no keys"),
        (b"", "own.yaml: a data set needs a name"),
        (b"name: own\npath: ${nowhere}\n", "dataset.path: Interpolation key 'nowhere' not found"),
        (b"name: own\npath: ???\n", "dataset.path: Missing mandatory value"),
        (
            b"name: own\npathh: x.csv\n",
            "own.yaml: data set 'own': unknown key 'pathh'; did you mean path",
        ),
    ],
)
@pytest.mark.parametrize("sweep", [[], ["-m"]])
def test_mistakes_in_a_user_s_file_name_the_file(
    tmp_path, capsys, own_group, content, words, sweep
):
    search = own_group("dataset/own", "")
    (tmp_path / "mine" / "dataset" / "own.yaml").write_bytes(content)
    assert words in refusal(tmp_path, capsys, *sweep, search, "dataset=own")


@pytest.mark.parametrize(
    ("name", "words"),
    [("a/b", "holds '/'"), (" ", "is empty"), ("x\x1fy", r"holds '\x1f'"), ("é\u2028x", "holds")],
)
def test_names_that_no_file_can_have_are_refused(tmp_path, capsys, own_group, name, words):
    (tmp_path / "mine.csv").write_text("a,label\n1,0\n2,1\n")
    definition = {"name": name, "path": str(tmp_path / "mine.csv"), "anomalies": [1]}
    search = own_group("dataset/own", json.dumps(definition))
    line = refusal(tmp_path, capsys, search, "dataset=own")
    assert "the name of a dataset" in line
    assert words in line


def test_a_name_with_a_byte_that_is_not_unicode_is_refused(capsys, tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("a,label\n1,0\n2,1\n")
    arguments = ["dataset=custom", f"data.path={table}", "data.anomalies=[1]"]
    assert app.main([*arguments, 'dataset.name="caf\udce9"', f"output={tmp_path}/o"]) == 2
    assert "which is not a character" in capsys.readouterr().err


def test_an_algorithm_in_a_folder_of_its_group_is_refused(tmp_path, capsys, own_group):
    search = own_group("algorithm/deep/own", OTHER)
    assert "'deep/own' holds '/'" in refusal(tmp_path, capsys, search, "algorithm=deep/own")


@pytest.mark.parametrize(
    "name",
    ["dataset/pima", "algorithm/lof", "grid/paper", "protocol/clean", "setting/novelty"],
)
@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("by_flag", [False, True])
def test_a_file_that_the_project_s_would_shadow_is_refused(
    tmp_path, capsys, own_group, name, chosen, by_flag
):
    search = [own_group(name, "name: x\n")]
    if by_flag:
        search = ["--config-dir", str(tmp_path / "mine")]
    group, _, option = name.partition("/")
    line = refusal(tmp_path, capsys, *search, *([f"{group}={option}"] if chosen else []))
    assert str(tmp_path / "mine" / f"{name}.yaml") in line
    assert str(app.ROOT / "conf" / f"{name}.yaml") in line


def test_a_name_in_two_folders_of_the_user_s_is_refused(tmp_path, capsys):
    for folder in ("one", "two"):
        (tmp_path / folder / "dataset").mkdir(parents=True)
        (tmp_path / folder / "dataset" / "mine.yaml").write_text("name: mine\n")
    search = f"hydra.searchpath=[{tmp_path / 'one'},file://{tmp_path / 'two'}]"
    line = refusal(tmp_path, capsys, search)
    assert str(tmp_path / "one" / "dataset" / "mine.yaml") in line
    assert str(tmp_path / "two" / "dataset" / "mine.yaml") in line


@pytest.mark.parametrize("by_file", [False, True])
def test_data_under_the_name_of_a_data_set_of_the_project_are_refused(
    tmp_path, capsys, own_group, by_file
):
    (tmp_path / "mine.csv").write_text("a,label\n1,0\n2,1\n")
    text = f"name: pima\npath: {tmp_path}/mine.csv\nanomalies: [1]\n"
    given = [own_group("dataset/own", text), "dataset=own"]
    if not by_file:
        given = ["dataset=custom", f"data.path={tmp_path}/mine.csv", "data.anomalies=[1]"]
        given += ["dataset.name=pima"]
    line = refusal(tmp_path, capsys, *given)
    assert "the name 'pima' is that of" in line


def test_a_changed_file_makes_new_experiments(composed, tmp_path):
    table = tmp_path / "mine.csv"
    keys = []
    for content in ("a,label\n1,0\n2,1\n", "a,label\n1,0\n3,1\n", "a,label\n1,0\n2,1\n"):
        table.write_text(content)
        [cell] = composed("dataset=custom", f"data.path={table}", "data.anomalies=[1]")
        keys.append(cell.keys)
    assert keys[0] == keys[2]
    assert not set(keys[0]) & set(keys[1])


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        (None, [], "No such file or directory"),
        ("a,label\n1,0\n2,1\n", ["data.openml=61"], "not both"),
        ("a,label\n1,0\n2,1\n", ["+dataset.targett=label"], "unknown key 'targett'"),
    ],
)
@pytest.mark.parametrize("sweep", [[], ["-m"]])
def test_a_data_set_that_is_wrong_is_refused(tmp_path, capsys, content, arguments, words, sweep):
    table = tmp_path / "mine.csv"
    if content is not None:
        table.write_text(content)
    given = ["dataset=custom", f"data.path={table}", "data.anomalies=[1]", *arguments]
    assert app.main([*sweep, *given, f"output={tmp_path / 'output'}"]) == app.USAGE_ERROR
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("sweep", [[], ["-m"]])
def test_a_template_is_run_only_when_it_is_filled_in(tmp_path, capsys, sweep):
    assert app.main([*sweep, "dataset=custom", f"output={tmp_path}"]) == app.USAGE_ERROR
    assert "data.path=FILE" in capsys.readouterr().err


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


def test_globs_leave_templates_out_until_they_are_filled_in(composed):
    names = {cell.algorithm for cell in composed("-m", "algorithm=glob(pyod*)")}
    assert "pyod_ecod" in names
    assert "pyod" not in names
    filled = composed("-m", "algorithm=glob(pyod*)", "detector=ABOD")
    assert {cell.algorithm for cell in filled} == names | {"pyod"}


@pytest.fixture
def own_group(tmp_path):
    """Return a function that writes a YAML file of a user's group, and the override to find it."""

    def write(name, text):
        path = tmp_path / "mine" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return f"hydra.searchpath=[file://{tmp_path / 'mine'}]"

    return write


def test_globs_match_what_lies_on_the_search_path(composed, own_group, tmp_path):
    (tmp_path / "mine.csv").write_text("a,label\n1,0\n2,1\n")
    own_group("dataset/s_own", f"name: s_own\npath: {tmp_path}/mine.csv\nanomalies: [1]\n")
    search = own_group(
        "dataset/zz_own", f"name: zz_own\npath: {tmp_path}/mine.csv\nanomalies: [1]\n"
    )
    found = {cell.dataset for cell in composed("-m", search, "dataset=glob(s*)")}
    assert found == {"s_own", "shuttle", "smtp", "spambase"}
    assert [cell.dataset for cell in composed("-m", search, "dataset=glob(zz*)")] == ["zz_own"]
    assert len(composed("-m", "dataset=glob([a*,p*],exclude=[ad*])")) == 4


OTHER = "_target_: sklearn.ensemble.IsolationForest\nn_estimators: 3\n"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (OTHER, ["algorithm=own,lof", "timeout=5,6"]),
        # An algorithm that changes more than itself is composed cell by cell.
        (
            "# @package _global_\ntimeout: 77\nalgorithm:\n  _target_: tests.faults.detectors.Healthy\n",
            ["algorithm=own,lof"],
        ),
        (
            "_target_: tests.faults.detectors.Healthy\nseed: ${seed}\nname: ${dataset.name}\n",
            ["algorithm=own", "seed=1,2"],
        ),
        (
            "_target_: tests.faults.detectors.Healthy\nname: ${hydra:runtime.choices.dataset}\n",
            ["algorithm=own"],
        ),
        (
            OTHER,
            ["algorithm=own", "algorithm.n_estimators=3,4", "+algorithm.contamination=0.1,0.2"],
        ),
        (OTHER, ["algorithm=own", "data.retries=1,2", "~protocol.cap"]),
        (OTHER, ["grid=modern", "algorithm=own", "setting=novelty"]),
    ],
)
def test_a_sweep_has_the_cells_of_its_single_jobs(composed, own_group, text, arguments):
    """What composes the parts of a sweep once must give what Hydra gives for each job."""
    search = own_group("algorithm/own", text)
    given = [search, "dataset=pima,wilt", *arguments]
    swept = composed("-m", *given)
    choices = [
        [f"{key}={value}" for value in values.split(",")] if values else [key]
        for key, _, values in (argument.partition("=") for argument in given[1:])
    ]
    single = [
        cell
        for job in itertools.product(*choices)
        for cell in composed(search, *job, "hydra.mode=RUN")
    ]
    assert [cell.config for cell in swept] == [cell.config for cell in single]
    assert [cell.keys for cell in swept] == [cell.keys for cell in single]
    assert [cell.label for cell in swept] == [cell.label for cell in single]


def test_globs_match_the_members_of_a_collection(composed, own_group, tmp_path):
    for name in ("one", "two", "other"):
        (tmp_path / f"{name}.csv").write_text("a,label\n1,0\n2,0\n3,1\n")
    search = own_group(
        "dataset/mine",
        f"name: mine\ncollection:\n  path: {tmp_path}/{{member}}.csv\nanomalies: [1]\n",
    )

    def chosen(value):
        return [
            cell.dataset for cell in composed("-m", search, f"dataset={value}", "algorithm=lof")
        ]

    assert chosen("glob(mine/*)") == ["mine_one", "mine_other", "mine_two"]
    assert chosen("glob([mine/o*,pim*],exclude=[mine/other])") == ["pima", "mine_one"]
    assert chosen("mine/two,odds/cardio,wilt") == ["mine_two", "odds_cardio", "wilt"]
    swept = composed("-m", search, "dataset=glob(mine/*)", "algorithm=lof,iforest", "seed=3")
    single = [
        composed(search, f"dataset=mine/{member}", f"algorithm={algorithm}", "seed=3")[0]
        for member in ("one", "other", "two")
        for algorithm in ("lof", "iforest")
    ]
    assert [cell.keys for cell in swept] == [cell.keys for cell in single]
    assert [cell.config for cell in swept] == [cell.config for cell in single]
    changed = ["dataset=glob(mine/*)", "algorithm=lof", "+dataset.min_distinct=2"]
    assert [c.config["dataset"]["min_distinct"] for c in composed("-m", search, *changed)] == [
        2
    ] * 3
    # A collection is not a data set, and a star does not reach into it.
    assert chosen("glob([m*,o*,ad*])") == ["adult"]


def test_the_file_of_row_numbers_belongs_to_the_key(composed, tmp_path):
    arguments = [
        "-m",
        "dataset=pima,wilt",
        "algorithm=lof",
        "protocol.cap=null",
        "protocol.repeats=source",
        f"+protocol.indices={tmp_path}/\\{{dataset\\}}.parquet",
    ]
    for name in ("pima", "wilt"):
        (tmp_path / f"{name}.parquet").write_bytes(b"first")
    before = {cell.dataset: cell for cell in composed(*arguments)}
    (tmp_path / "pima.parquet").write_bytes(b"second")
    after = {cell.dataset: cell for cell in composed(*arguments)}
    assert after["wilt"].keys == before["wilt"].keys
    assert set(after["pima"].keys).isdisjoint(before["pima"].keys)
    assert after["pima"].indices == hashlib.sha256(b"second").hexdigest()


def test_a_file_of_row_numbers_that_is_missing_is_said_before_anything_runs(tmp_path, capsys):
    arguments = ["dataset=pima", "protocol.cap=null", "protocol.repeats=source"]
    assert app.main([*arguments, f"+protocol.indices={tmp_path}/no.parquet"]) == 2
    assert "protocol.indices: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("dataset=glob([odds/*,pimaa])", "'pimaa' matches no dataset; did you mean pima?"),
        ("dataset=glob([ods/*,pima])", "'ods/*' matches no dataset; did you mean odds/*"),
        ("dataset=glob([p*],exclude=[pinn])", "'pinn' excludes nothing that is included"),
        ("dataset=glob([odds,pima])", "'odds' is a collection"),
        ("dataset=pima,glob(wlit*)", "'wlit*' matches no dataset"),
        ("algorithm=glob([lof,iforst])", "'iforst' matches no algorithm; did you mean iforest"),
    ],
)
def test_an_entry_of_a_glob_that_matches_nothing_is_named(tmp_path, capsys, argument, words):
    assert words in refusal(tmp_path, capsys, "-m", argument)


def test_globs_and_names_can_be_mixed(composed):
    given = ["dataset=glob([p*,wilt]),glob(wi*),adult", "algorithm=lof"]
    names = [cell.dataset for cell in composed("-m", *given)]
    assert names == ["pendigits", "pima", "wilt", "adult"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hydra:\n  mode: MULTI\n", "hydra.mode: Invalid value 'MULTI', expected one of"),
        ("hydra:\n  sweper: 1\n", "hydra.sweper: unknown key; did you mean sweeper or sweep?"),
    ],
)
def test_what_a_grid_has_wrong_in_hydra_s_keys_is_one_line(
    tmp_path, capsys, own_group, text, words
):
    search = own_group("grid/own", f"# @package _global_\n{text}")
    line = refusal(tmp_path, capsys, search, "grid=own")
    assert line.startswith("In 'grid/own': ")
    assert words in line


def test_two_data_sets_with_one_name_are_refused(tmp_path, capsys, own_group):
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(f"a,label\n1,0\n{len(name)},1\n")
        text = f"name: mine\npath: {tmp_path}/{name}.csv\nanomalies: [1]\n"
        search = own_group(f"dataset/{name}", text)
    (tmp_path / "two.csv").write_text("a,label\n1,0\n5,1\n")
    line = refusal(tmp_path, capsys, "-m", search, "dataset=one,two", "algorithm=lof")
    assert "have the name 'mine'" in line
    paths = [f"data.path={tmp_path}/one.csv,{tmp_path}/two.csv", "data.anomalies=[1]"]
    assert "have the name 'custom'" in refusal(tmp_path, capsys, "-m", "dataset=custom", *paths)
