"""Records are compared with published values only if they were made as the files say."""

from dataclasses import replace

import pytest

from results.records.frame import from_records
from results.reproduction.runs import as_filed, check_runs, comparable
from tests.results.support import make_record

#: What the files of a configuration folder say.
FILED = {
    "protocol/clean": "name: clean\ncut: {kind: random, train_size: 0.5}\nscaling: ${other}\n"
    "metrics: [roc_auc]\n",
    "dataset/pima": "name: pima\ntarget: class\ndescription: words\n",
    "algorithm/knn5": "_target_: baselines.PyODDetector\nparams: {n: 5, steps: [[a, {k: 1}]]}\n",
    "dataset/custom": "name: custom\ntarget: class\n",
    "algorithm/lof": "n: 5\n",
    "algorithm/orca": "_target_: baselines.Orca\nsearch: scan\n",
}


@pytest.fixture
def filed(publish, tmp_path):
    """Return a publication beside a folder of configuration."""
    for name, text in FILED.items():
        file = tmp_path / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    beside = {"A": "knn5", "B": "orca", "C": "unfiled"}
    return replace(publish({"pima": ["50.0"] * 4}, algorithms=beside), roots=(tmp_path,))


def made(
    algorithm="knn5", variant="", name="pima", protocol=(), dataset=(), parameters=(), **changes
):
    """Return a record made as the files of `filed` say, but for what is given."""
    own = {"_target_": "baselines.PyODDetector", "params": {"n": 5, "steps": [["a", {"k": 1}]]}}
    config = {
        "protocol": {"name": "clean", "cut": {"kind": "random", "train_size": 0.5}, "scaling": 1}
        | {"metrics": ["best_f1"]}
        | dict(protocol),
        "dataset": {"name": name, "target": "class", "description": "others"} | dict(dataset),
        "algorithm": own | dict(parameters),
    }
    return make_record(name, algorithm, protocol="clean", variant=variant, config=config, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"protocol": {"cut": {"kind": "random", "train_size": 0.6}}},
            r"records of protocol clean have cut.train_size=0.6, and clean.yaml has "
            r"cut.train_size=0.5: they do not measure the same as nobody",
        ),
        ({"protocol": {"resize": {"most": 9}}}, "resize.most=9, and clean.yaml has no resize.most"),
        ({"protocol": {"cut": {"kind": "random"}}}, "have no cut.train_size, and clean.yaml has"),
        ({"dataset": {"target": "x"}}, 'data set pima have target="x", and pima.yaml has target='),
        ({"dataset": {"drop_columns": ["age"]}}, "and pima.yaml has no drop_columns"),
        (
            {"parameters": {"params": {"n": 7, "steps": [["a", {"k": 1}]]}}},
            "algorithm knn5 have params.n=7, and knn5.yaml has params.n=5",
        ),
        (  # of features, 5 is a number and 5.0 would be a share
            {"parameters": {"params": {"n": 5.0, "steps": [["a", {"k": 1}]]}}},
            "algorithm knn5 have params.n=5.0, and knn5.yaml has params.n=5",
        ),
        (
            {"variant": "params.n=7", "parameters": {"params": {"n": 7}}},
            r"algorithm knn5\(params.n=7\) have no params.steps, and",
        ),
    ],
)
def test_what_is_not_as_its_file_says_is_not_compared(filed, changes, words):
    """Under the plain names, as they are where all was changed alike, or a file after the run."""
    frame = from_records([made(**changes)]).frame
    with pytest.raises(ValueError, match=words):
        check_runs(frame, filed)
    kept, (remark,) = comparable(frame, filed)
    assert kept.empty
    assert remark.startswith("not compared: 1 experiments; records of ")


@pytest.mark.parametrize(
    "record",
    [
        made(),
        made(variant="params.n=7", parameters={"params": {"n": 7, "steps": [["a", {"k": 1}]]}}),
        made(
            variant="params.steps.0.1.k=2",
            parameters={"params": {"n": 5, "steps": [["a", {"k": 2}]]}},
        ),
        made("orca", parameters={"_target_": "baselines.Orca", "search": "boxes", "params": None}),
        made("unfiled", parameters={"n": 3}),
        made("lof", parameters={"n": 3}),
        made(name="custom", dataset={"target": "x"}),
        make_record("pima", protocol="clean", config={"protocol": {"name": "clean"}}),
    ],
    ids=[
        "as filed",
        "variant",
        "variant in a list",
        "faster",
        "no file",
        "no column",
        "no data set",
        "does not say",
    ],
)
def test_what_is_as_its_file_says_is_compared(filed, record):
    frame = from_records([record]).frame
    assert check_runs(frame, filed) == []
    assert len(comparable(frame, filed)[0]) == 1


@pytest.mark.parametrize(
    ("changed", "column", "name"),
    [
        ({"protocol": {"cap": 1}}, "protocol", "clean"),
        ({"dataset": {"drop_columns": ["a"]}}, "dataset", "pima"),
        ({"parameters": {"params": {"n": 7, "steps": [["a", {"k": 1}]]}}}, "label", "knn5"),
    ],
)
def test_what_its_file_says_keeps_the_plain_name_however_little_was_run(
    filed, changed, column, name
):
    """A file that was changed, and run anew: most records may be of what it said before."""
    both = [made(split=0), *(made(split=split, **changed) for split in range(3))]
    frame = from_records(both, as_filed=as_filed(filed.roots)).frame
    assert (frame[column] == name).sum() == 1
    assert len(from_records(both).frame.query(f"{column} == @name")) == 3
    check_runs(frame, filed)
    (kept,) = frame.loc[frame[column] == name, "split"]
    assert kept == 0
