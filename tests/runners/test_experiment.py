"""The key of an experiment: everything that determines its outcome, and nothing else."""

import copy
from dataclasses import replace

import pytest

from runners.experiment import Cell


def changed(cell, path, value):
    config = copy.deepcopy(dict(cell.config))
    *groups, name = path.split(".")
    node = config
    for group in groups:
        node = node[group]
    node[name] = value
    return replace(cell, config=config)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("dataset.target", "other"),
        ("dataset.path", "other.csv"),
        ("algorithm.n_estimators", 7),
        ("algorithm.max_samples", None),
        ("setting.anomalies_in_train", True),
        ("protocol.cap.ratio", 0.2),
        ("protocol.name", "other"),
        ("seed", 1),
    ],
)
def test_what_determines_the_outcome_is_in_the_key(make_cell, path, value):
    cell = make_cell()
    assert changed(cell, path, value).key(0) != cell.key(0)
    assert changed(cell, path, value) != cell


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("dataset.sources", ["bundled"]),
        ("dataset.expected", {"samples": 3}),
        ("dataset.published", [1, 2, 3]),
        ("dataset.description", "words"),
        ("dataset.keep_classes", None),  # null is not given
        ("protocol.metrics", ["average_precision"]),
        ("timeout", 5.0),
        ("n_splits", 7),
        ("output", "elsewhere"),
        ("runner.n_jobs", 9),
        ("runner.memory_limit_gb", 1.0),
        ("data.home", "/elsewhere"),
        ("allow_labels", True),
    ],
)
def test_what_does_not_determine_the_outcome_is_not_in_the_key(make_cell, path, value):
    cell = make_cell()
    assert changed(cell, path, value).key(0) == cell.key(0)


@pytest.mark.parametrize("field", ["content", "code"])
def test_versions_of_files_are_in_the_key(make_cell, field):
    cell = make_cell()
    keys = {replace(cell, **{field: value}).key(0) for value in (None, "a" * 64, "b" * 64)}
    assert len(keys) == 3


def test_splits_and_names_of_algorithms_are_told_apart(make_cell):
    cell = make_cell(n_splits=10)
    assert len(set(cell.keys)) == 10
    assert make_cell(name="other").key(0) != cell.key(0)


def test_the_order_of_parameters_does_not_matter(make_cell):
    cell = make_cell()
    config = dict(reversed(list(cell.config.items())))
    config["protocol"] = dict(reversed(list(cell.config["protocol"].items())))
    assert replace(cell, config=config).key(0) == cell.key(0)


def test_keys_do_not_change_between_versions():
    # After a change of this digest no record is found any more: it must be on purpose.
    config = {
        "dataset": {"name": "pima", "target": "class", "sources": ["bundled"]},
        "algorithm": {"_target_": "sklearn.ensemble.IsolationForest", "max_samples": None},
        "setting": {"name": "novelty", "anomalies_in_train": False},
        "protocol": {"name": "paper", "cap": {"ratio": 0.1}, "metrics": ["roc_auc"]},
        "seed": 0,
        "n_splits": 10,
    }
    key = Cell("iforest", "", config).key(3)
    assert key == "232039ce3834fa256e0c15783c85146540a56075da2de9615889a02994a0615b"
