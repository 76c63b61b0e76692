"""From the command line to cells: sweeps, variants, grids, mistakes."""

import hashlib
import shlex

import pandas as pd
import pytest

from datasets.mistakes import parse_overrides
from runners import app


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
def test_what_needs_quotes_is_refused_with_quotes_that_work(refusal, argument, suggested, sweep):
    line = refusal(*sweep, argument)
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
        ("dataset=[pima,wilt]", "one dataset at a time; -m dataset=pima,wilt runs several"),
        ("algorithm=['lof']", "one algorithm at a time; -m algorithm=lof runs several"),
        ("+dataset.name=x", "there is a dataset.name already; dataset.name=VALUE changes it"),
        ("protocol.metrics=[]", "protocol.metrics must be a list with an item"),
        ("+protocol.indices=x.csv", "a text that fits the pattern"),
        ("algorithm=pyod", "algorithm=pyod is a template: detector=NAME"),
        ("--multi", "there is no option --multi; did you mean --multirun?"),
        ("--config_dir=x", "there is no option --config_dir; did you mean --config-dir"),
        ("-x", "there is no option -x. The options are --config-dir"),
        ("--config-name=x", "Cannot find primary config 'x'"),
        ("data.target=${nowhere}", "Interpolation key 'nowhere' not found"),
    ],
)
def test_what_hydra_cannot_read_is_said_in_one_line(refusal, argument, words):
    assert words in refusal(argument)


@pytest.mark.parametrize("options", ["-m --cfg job", "-c job --multirun", "-r -m", "-i -m"])
def test_options_that_exclude_each_other_are_said_in_one_line(refusal, options):
    assert "exclude each other" in refusal("dataset=pima", *options.split())


@pytest.mark.parametrize("values", ["40685,40686", "pima,3"])
def test_numbers_are_no_names_in_a_sweep_either(refusal, values):
    assert "names" in refusal("-m", f"dataset={values}")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name: [1\n", "own.yaml, line 2, column 1: not YAML: "),
        (b"name: own\n\tpath: x\n", "own.yaml, line 2, column 1: not YAML: "),
        (b"name: own\nname: own\n", "found duplicate key name"),
        (b"name: caf\xe9\n", "own.yaml: byte 9 is not UTF-8"),
        (b"- a\n- b\n", "own.yaml holds no keys"),
        (b"# a comment: alone\n", "own.yaml: a data set needs a name"),
        (b"3\n", "own.yaml holds no keys"),
        (b"text\n", "own.yaml holds no keys"),
        (b"defaults: [nosuch]\nname: own\n", "In 'dataset/own': Could not load 'dataset/nosuch'"),
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
    refusal, tmp_path, own_group, content, words, sweep
):
    search = own_group("dataset/own", "")
    (tmp_path / "mine" / "dataset" / "own.yaml").write_bytes(content)
    assert words in refusal(*sweep, search, "dataset=own")


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


def test_the_file_of_row_numbers_belongs_to_the_key(composed, tmp_path, capsys):
    arguments = [
        "-m",
        "dataset=pima,wilt",
        "algorithm=lof",
        "protocol.cap=null",
        "protocol.repeats=source",
        f"+protocol.indices={tmp_path}/\\{{dataset\\}}.parquet",
    ]
    rows = pd.DataFrame({"split": [0, 0, 1, 1], "part": ["train", "test"] * 2, "row": 0})
    for name in ("pima", "wilt"):
        rows.to_parquet(tmp_path / f"{name}.parquet")
    before = {cell.dataset: cell for cell in composed(*arguments)}
    rows[:2].to_parquet(tmp_path / "pima.parquet")
    after = {cell.dataset: cell for cell in composed(*arguments)}
    assert after["wilt"].keys == before["wilt"].keys
    assert set(after["pima"].keys).isdisjoint(before["pima"].keys)
    digest = hashlib.sha256((tmp_path / "pima.parquet").read_bytes()).hexdigest()
    assert after["pima"].indices == digest
    assert [after[name].n_splits for name in ("pima", "wilt")] == [1, 2]
    [fewer] = (cell for cell in composed(*arguments, "n_splits=1") if cell.dataset == "wilt")
    assert (fewer.n_splits, fewer.splits) == (1, 2)
    assert app.main([*arguments, "n_splits=2"]) == app.USAGE_ERROR
    assert "has 1 split of 'pima', and 2 are asked for" in capsys.readouterr().err


def test_a_file_of_row_numbers_that_is_missing_is_said_before_anything_runs(tmp_path, capsys):
    arguments = ["dataset=pima", "protocol.cap=null", "protocol.repeats=source"]
    assert app.main([*arguments, f"+protocol.indices={tmp_path}/no.parquet"]) == 2
    assert "protocol.indices: " in capsys.readouterr().err


def test_a_configuration_that_hydra_would_not_find_is_named(refusal, own_group, tmp_path):
    search = own_group("dataset/own", "name: own\n")
    (tmp_path / "mine" / "dataset" / "own.yaml").rename(tmp_path / "mine" / "dataset" / "own.yml")
    assert "own.yml: configuration is read from files that end in .yaml" in refusal(search)


def test_a_group_that_a_file_makes_a_text_is_said_with_what_chooses_it(refusal, own_group):
    search = own_group("grid/own", "# @package _global_\ndataset: wilt\n")
    line = refusal(search, "grid=own")
    assert "`override /dataset: wilt`" in line
