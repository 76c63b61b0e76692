"""The schema of the configuration: what is misspelt is refused, key by key and value by value."""

import copy
import functools
import itertools

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from datasets.configuration import CONF
from datasets.protocols import protocol_from
from datasets.strict import Invalid, check
from runners import app
from runners.schema import Data, checked, ignored

BASES = {
    "paper": ["dataset=shuttle", "protocol=paper"],
    "forest": ["dataset=arrhythmia", "algorithm=oneclassrf_text", "protocol=clean_distinct"],
    "neighbours": ["dataset=adult", "algorithm=lof", "setting=outlier", "protocol=pyod2019"],
    "bootstrap": [
        *("dataset=smtp", "algorithm=pyod_knn", "setting=outlier", "protocol=dte2024_unsup"),
        "runner=dask",
    ],
    "order": ["dataset=wilt", "algorithm=ocsvm", "protocol=dte2024_semi"],
    "baseline": ["dataset=forestcover", "algorithm=rfc", "protocol=clean"],
    "stratified": ["dataset=http", "algorithm=pyod_gmm", "setting=outlier", "protocol=adbench"],
    "streams": [
        *("dataset=arrhythmia", "algorithm=pyod_inne", "protocol=replayed_splits"),
        "protocol.generator.stream=ocsvm",
    ],
}
# Texts, where any is valid, and what is open by nature.
FREE = {
    *("name", "description", "archive", "subset", "comment", "strip", "target", "version"),
    *("members", "columns", "digest", "ordered_digest", "origin", "scheduler", "n_jobs"),
    *("openml_server", "uci_url", "sklearn_url", "home", "path", "output", "random_state"),
    "stream",  # looked up with the setting, see tests/runners/test_replay.py
}


def composed(overrides):
    """Compose a whole configuration; the grid's own sweeper and launcher are not needed."""
    plugins = ["hydra/sweeper=basic", "hydra/launcher=basic"]
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        return OmegaConf.to_container(compose("config", [*plugins, *overrides]), resolve=True)


@functools.cache
def base(name):
    return composed(BASES[name])


def leaves(node, path=()):
    """Yield every key of nested groups and lists of groups, with its value."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(node, dict):
            yield (*path, key), value
        if isinstance(value, dict) or (isinstance(value, list) and dict in map(type, value)):
            yield from leaves(value, (*path, key))


def parent(config, path):
    for part in path[:-1]:
        config = config[part]
    return config


KEYS = [(name, path) for name in BASES for path, _ in leaves(base(name)) if "recode" not in path]
VALUES = [
    (name, path, value)
    for name in BASES
    for path, value in leaves(base(name))
    if not (FREE | {"recode", "keep"}) & set(path[:-1]) and path[-1] not in FREE
]


def dotted(path):
    return ".".join(map(str, path))


def test_there_are_enough_cases():
    assert len(KEYS) + len(VALUES) > 500


@pytest.mark.parametrize("name", BASES)
def test_what_is_spelt_right_is_accepted(name):
    assert checked(base(name))["n_splits"] in (3, 5, 10)


@pytest.mark.parametrize(
    ("name", "path"), KEYS, ids=lambda v: v if isinstance(v, str) else dotted(v)
)
def test_a_misspelt_key_is_refused(name, path):
    config = copy.deepcopy(base(name))
    group = parent(config, path)
    if "keep" in path[:-1] and "columns" not in parent(config, path[:-1]):
        pytest.skip("the file names its columns")
    misspelt = {f"{key}x" if key == path[-1] else key: value for key, value in group.items()}
    group.clear()
    group.update(misspelt)
    with pytest.raises(Invalid, match=rf"{path[-1]}|_target_"):
        checked(config)


@pytest.mark.parametrize(
    ("name", "path", "value"), VALUES, ids=lambda v: dotted(v) if isinstance(v, tuple) else None
)
def test_a_wrong_value_is_refused(name, path, value):
    config = copy.deepcopy(base(name))
    takes_any_text = value is None or isinstance(value, list)
    wrong = {"no": "such group"} if takes_any_text else "nonsense"
    if isinstance(value, str):
        wrong = f"{value}x"
    parent(config, path)[path[-1]] = wrong
    with pytest.raises(Invalid):
        checked(config)


def test_all_mistakes_are_said_at_once(capsys, tmp_path):
    arguments = ["n_split=3", "protocol.scalling.kind=none", "algorithm.n_tree=4", "timeout=-1"]
    assert app.main([*arguments, f"output={tmp_path / 'output'}"]) == app.USAGE_ERROR
    said = capsys.readouterr().err
    assert "n_split: unknown key; did you mean n_splits?" in said
    assert "protocol.scalling: unknown key; did you mean scaling?" in said
    assert "algorithm.n_tree: unknown key" in said
    assert "timeout must be greater than 0, got -1" in said
    assert not (tmp_path / "output").exists()


PROTOCOL = {"name": "own", "metrics": ["roc_auc"]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cut": {"kind": "none"}}, "test_rows must be all"),
        ({"cut": {"kind": "none", "of": "normal"}, "test_rows": "all"}, "of says nothing"),
        ({"cut": {"kind": "stratified", "of": "normal"}}, "cannot be stratified"),
        ({"cut": {"by": "train_test_split"}}, "generator.kind: legacy"),
        ({"cut": {"kind": "in_order", "by": "train_test_split"}}, "not in_order"),
        ({"cut": {"test_size": 0.4}}, "test_size is for by: train_test_split"),
        ({"cut": {"train_size": 1.0}}, "leaves no rest"),
        ({"cut": {"_target_": "KFold"}}, "_target_"),
        ({"generator": {"seeded": "per_dataset"}}, "is for kind: legacy"),
        ({"generator": {"kind": "legacy"}, "cap": {"drawn": "once"}}, "seeded must be per_dataset"),
        ({"seeds": [1, 2], "cap": {"drawn": "once"}}, "seeds must be left out"),
        ({"seeds": [1, 1]}, "twice"),
        ({"seeds": [2**32]}, "less than 4.29"),
        ({"resize": {"least": 10, "most": 5}}, "least is 10"),
        ({"resize": {"least": 10}, "cap": {"drawn": "once"}}, "resize.drawn"),
        ({"indices": "splits.csv"}, "indices"),
        ({"indices": "s.parquet", "cap": {"ratio": 0.1}}, "cap cannot be"),
        ({"indices": "s.parquet", "test_rows": "all"}, "test_rows cannot be"),
        ({"train_anomalies": "kept"}, "which is setting=outlier"),
        ({"metrics": ["roc_auk"]}, "did you mean roc_auc"),
        ({"metrics": ["roc_auc", "roc_auc"]}, "metrics holds roc_auc twice"),
        ({"recorded": ["roc_auc", "roc_auc"]}, "recorded holds roc_auc twice"),
        ({"recorded": ["f2"]}, "there is no metric 'f2'"),
    ],
)
def test_steps_that_make_no_sense_together_are_refused(changes, words):
    with pytest.raises(Invalid, match=words):
        checked(base("paper") | {"protocol": PROTOCOL | changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_splits": 6}, "n_splits=6, but protocol 'dte2024_semi' has 5 seeds"),
        ({"seed": 1}, "seed=1 changes nothing: protocol 'dte2024_semi' has seeds of its own"),
        ({"setting": {"name": "novelty", "anomalies_in_train": True}}, "not what novelty"),
        ({"setting": {"name": "outlier", "anomalies_in_train": True}}, "which is setting=novelty"),
        ({"algorithm": {"_target_": "baselines.PyODDetector", "detector": "EKOD"}}, "'EKOD'"),
        (
            {
                "algorithm": {
                    "_target_": "baselines.PyODDetector",
                    "detector": "KNN",
                    "params": {"n_neighbours": 3},
                }
            },
            "no parameter n_neighbours",
        ),
        ({"algorithm": {"_target_": "sklearn.svm.OneClassVSM"}}, "cannot be imported"),
        (
            {
                "algorithm": {
                    "_target_": "baselines.PyODDetector",
                    "detector": "KNN",
                    "training_scores": True,
                }
            },
            "training_scores: true .* protocol 'dte2024_semi' tests others",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(changes, words):
    with pytest.raises(Invalid, match=words):
        checked(base("order") | changes)


@pytest.mark.parametrize("key", ["normal", "drop_columns", "separator"])
def test_keys_of_a_data_set_among_those_of_data_are_said_to_be_elsewhere(key):
    with pytest.raises(Invalid, match=rf"^data: {key} is a key of the data set: dataset.{key}$"):
        check(Data, {key: ["ok"]}, "data")


@pytest.mark.parametrize(
    ("steps", "setting", "fits"),
    [
        ({"cut": {"kind": "none"}, "test_rows": "all"}, "outlier", True),
        ({"cut": {"kind": "none"}, "test_rows": "all"}, "novelty", False),
        ({"test_rows": "all"}, "outlier", False),
        ({}, "outlier", False),
        ({"indices": "s.parquet"}, "outlier", True),
        ({"cut": {"_target_": "a.Splitter"}, "test_rows": "all"}, "outlier", True),
    ],
)
def test_training_scores_need_a_test_part_that_trained(steps, setting, fits):
    protocol = protocol_from({"name": "own", "metrics": ["roc_auc"]} | steps)
    assert protocol.may_test_what_trains(setting == "outlier") == fits


def test_what_only_a_template_takes_is_not_ignored(capsys):
    assert ignored(base("order")) == []
    assert ignored(base("order") | {"detector": "ECOD"}) == [
        "detector is for algorithm=pyod; this algorithm does not take it"
    ]
    assert app.main(["dataset=pima", "data.path=x.csv"]) == app.USAGE_ERROR
    assert "data.path is for dataset=custom" in capsys.readouterr().err
    assert app.main(["-m", "algorithm=lof,iforest", "detector=ECOD"]) == app.USAGE_ERROR
    assert "detector is for algorithm=pyod" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        *(("n_splits", value, "n_splits must be") for value in (0, 2.5, "all", True)),
        *(("timeout", v, "timeout must be") for v in (0, "soon", True, float("inf"), None)),
        *(("seed", value, "seed must be") for value in (-1, 1.5)),
        ("allow_labels", "maybe", "allow_labels must be true or false"),
        ("output", " ", "output"),
    ],
)
def test_a_wrong_option_of_the_run_is_named(key, value, words):
    with pytest.raises(Invalid, match=words):
        checked(base("paper") | {key: value})


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("backend", "spark", "must be one of threads, dask, got 'spark'"),
        ("n_jobs", 0, "other than 0"),
        ("n_jobs", "two", "must be a whole number"),
        ("threads_per_experiment", 0, "at least 1"),
        ("memory_limit_gb", -1.0, "greater than 0"),
        ("retry", "some", "one of failed, all"),
        ("progress", "loud", "one of auto, live, plain, none"),
        ("scheduler", "tcp://a:1", "scheduler is for backend: dask"),
        ("scheduler", "nonee", "'nonee' is not an address such as tcp://host:8786"),
    ],
)
def test_a_wrong_option_of_the_runner_is_named(key, value, words):
    config = base("paper")
    with pytest.raises(Invalid, match=words):
        checked(config | {"runner": config["runner"] | {key: value}})


@pytest.mark.parametrize(
    ("name", "key", "value", "words"),
    [
        ("stratified", "target", "labelz", "target names 'labelz', .*did you mean labels"),
        ("neighbours", "keep_columns", ["agee", "fnlwgt"], "keep_columns names 'agee'"),
    ],
)
def test_names_that_a_source_does_not_have_are_refused(name, key, value, words):
    """Where it lists its columns; of other files only loading tells."""
    config = copy.deepcopy(base(name))
    config["dataset"][key] = value
    with pytest.raises(Invalid, match=words):
        checked(config)


def test_numbers_and_texts_are_not_mixed_as_names():
    """JSON, in which records are written, could not sort them."""
    config = copy.deepcopy(base("order"))
    openml = next(s for s in config["dataset"]["sources"] if s != "home" and s["kind"] == "openml")
    openml["recode"] = {1: "n", "2q": "w"}
    with pytest.raises(Invalid, match=r"dataset.sources.1.recode has numbers and texts as names"):
        checked(config)


def test_a_key_that_other_values_are_taken_from_is_the_users_own():
    config = base("paper") | {"mine": 3}
    with pytest.raises(Invalid, match="mine: unknown key"):
        checked(config)
    assert checked(config, ["mine"])["mine"] == 3


def test_every_shipped_protocol_is_valid():
    names = [path.stem for path in (CONF / "protocol").glob("*.yaml")]
    for name in ("replayed", "replayed_splits"):
        names.remove(name)  # take the stream of an algorithm, which the grid or the user chooses
    for name, setting in itertools.product(names, ("novelty", "outlier")):
        config = composed([f"protocol={name}", f"setting={setting}"])
        fixed = {"dte2024_semi": "novelty", "dte2024_unsup": "outlier", "pyod2019": "outlier"}
        fixed["adbench"] = "outlier"
        if fixed.get(name, setting) == setting:
            assert checked(config)["protocol"]["name"] == name
        else:
            with pytest.raises(Invalid, match=f"which is setting={fixed[name]}"):
                checked(config)
