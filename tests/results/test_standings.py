"""Our algorithms among published columns, against counts by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from results.aggregate import make_cells
from results.published.description import Description
from results.published.publication import Publication
from results.published.values import read_values
from results.records.frame import from_records
from results.records.opening import Selection
from results.reproduction.comparison import compare
from results.reproduction.runs import as_filed, check_runs, comparable, not_run
from results.reproduction.standings import standing_rows, standings
from results.reproduction.standings_output import to_frame, to_markdown, write_standings
from tests.results.support import make_record

PRINTED = ["A", "B", "C", "D"]


def publisher(folder):
    """Return a maker of publications of values (data sets x printed columns, in per cent)."""

    def make(block, **changes):
        described = {
            "citation": "Nobody (2020)",
            "scale": "percent",
            "digits": 1,
            "form": "wide",
            "metrics": {"roc_auc": "AUC"},
            "settings": {"semi": {"setting": "novelty", "protocol": "clean", "splits": 1}},
            "datasets": "same",
            "algorithms": {"A": "lof"},
            "tolerance": {"absolute": 0.1},
        } | changes
        described["algorithms"] = dict.fromkeys(PRINTED) | described["algorithms"]
        if described["datasets"] != "same":
            described["datasets"] = dict.fromkeys(block) | described["datasets"]
        description = Description.model_validate(described)
        lines = [["dataset", *PRINTED], *([name, *row] for name, row in block.items())]
        path = folder / "values.csv"
        path.write_text("".join(f"{','.join(line)}\n" for line in lines))
        return Publication("nobody", folder, description, read_values(path, description), [])

    return make


@pytest.fixture
def publish(tmp_path):
    return publisher(tmp_path)


def random_block(seed, n=9):
    rng = np.random.default_rng(seed)
    # Few distinct values: ties are common.
    values = 50 + rng.integers(0, 8, size=(n, len(PRINTED)))
    return {f"d{i}": [f"{value}.0" for value in row] for i, row in enumerate(values)}


def runs(algorithms, block, seed, **changes):
    rng = np.random.default_rng(seed)
    return [
        make_record(
            dataset, name, protocol="clean", roc=(50 + rng.integers(0, 80) / 10 + 0.04) / 100, **changes
        )
        for name in algorithms
        for dataset in block
    ]  # fmt: skip


def by_hand(table):
    """Means, mean ranks and wins with loops alone; `table` is a list of rows."""
    n, k = len(table), len(table[0])
    ranks = [[0.0] * k for _ in range(n)]
    wins = [0] * k
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            higher = sum(other > value for other in row)
            equal = sum(other == value for other in row)
            ranks[i][j] = higher + (equal + 1) / 2
            wins[j] += higher == 0
    means = [sum(row[j] for row in table) / n for j in range(k)]
    return means, [sum(row[j] for row in ranks) / n for j in range(k)], wins


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_means_ranks_and_wins_are_those_by_hand(tmp_path_factory, seed):
    publish = publisher(tmp_path_factory.mktemp("published"))
    block = random_block(seed, n=14)  # all signs of fewer are tried, which takes longer
    records = runs(["oneclassrf", "orca"], block, seed)
    cells = make_cells(from_records(records).frame)
    found = standings(cells, publish(block), "semi", "roc_auc")
    assert found.ours == ["OneClassRF (ours)", "Orca (ours)"]
    ours = {(r.dataset, r.algorithm): round(100 * r.metrics["roc_auc"] + 1e-9, 1) for r in records}
    table = [
        [*map(float, row), ours[name, "oneclassrf"], ours[name, "orca"]]
        for name, row in block.items()
    ]
    (comparison,) = found.comparisons
    rows = standing_rows(comparison)
    means, ranks, wins = by_hand(table)
    for j, name in enumerate([*PRINTED, *found.ours]):
        assert rows.loc[name, "mean"] == pytest.approx(means[j])
        assert rows.loc[name, "mean_rank"] == pytest.approx(ranks[j])
        assert rows.loc[name, "wins"] == wins[j]
    columns = list(zip(*table, strict=True))
    assert comparison.friedman == pytest.approx(stats.friedmanchisquare(*columns))
    assert rows["mean_rank"].is_monotonic_increasing


def test_what_is_left_out_is_said(publish):
    block = random_block(0)
    records = runs(["oneclassrf", "lof"], list(block)[:6], 0)
    records += runs(["orca"], list(block)[:4], 0)
    records += [make_record("d0", "rfc", protocol="clean", status="timeout")]
    cells = make_cells(from_records(records).frame)
    mapped = {name: name for name in list(block)[:7]}
    found = standings(cells, publish(block, datasets=mapped), "semi", "roc_auc")
    assert found.ours == ["OneClassRF (ours)"]
    assert list(found.values.index) == list(block)[:6]
    assert found.left_out[:5] == [
        "Left out: LOF (A), which repeat a printed column; --algorithm NAME,... inserts them.",
        "Left out: Orca, not run on d4, d5.",
        "Left out: RFC, not run on d1, d2, d3, d4, d5.",
        "Left out: 2 data sets which are not here (d7, d8).",
        "Left out: 1 data sets which were not run (d6).",
    ]


def test_a_mean_over_fewer_splits_than_printed_is_left_out(publish):
    block = random_block(1)
    records = [
        replace(record, split=split, key=f"{split}{record.key[1:]}")
        for record in runs(["oneclassrf"], block, 1)
        for split in range(2 if record.dataset == "d0" else 3)
    ]
    publication = publish(
        block, settings={"semi": {"setting": "novelty", "protocol": "clean", "splits": 3}}
    )
    found = standings(make_cells(from_records(records).frame), publication, "semi", "roc_auc")
    assert list(found.values.index) == list(block)[1:]
    assert "Not judged: OneClassRF on d0, 2 of 3 splits." in found.left_out
    assert "Left out: 1 data sets on which none of ours has a value (d0)." in found.left_out


def test_algorithms_that_are_asked_for_are_inserted_whatever_they_were_run_on(publish):
    block = random_block(1)
    records = runs(["oneclassrf", "lof"], block, 1) + runs(["orca"], list(block)[:4], 1)
    cells = make_cells(from_records(records).frame)
    found = standings(cells, publish(block), "semi", "roc_auc", ("orca", "lof", "oneclassrf"))
    assert found.ours == ["Orca (ours)", "LOF (ours)", "OneClassRF (ours)"]
    common, complete = found.comparisons
    assert list(common.values.index) == ["d0", "d1", "d2", "d3"]
    assert common.left_out_datasets["d4"] == ["Orca (ours)"]
    assert "Orca (ours)" not in complete.values
    assert complete.n_datasets == 9


def test_a_cell_that_timed_out_takes_its_data_set_out_and_says_so(publish):
    block = random_block(2)
    records = [r for r in runs(["oneclassrf"], block, 2) if r.dataset != "d3"]
    records += [make_record("d3", "oneclassrf", protocol="clean", status="timeout")]
    found = standings(make_cells(from_records(records).frame), publish(block), "semi", "roc_auc")
    assert "d3" not in found.values.index
    assert "Left out: 1 data sets on which none of ours has a value (d3)." in found.left_out


def test_nothing_to_insert_says_what_there_is(publish):
    block = random_block(3)
    cells = make_cells(from_records(runs(["lof"], block, 3)).frame)
    with pytest.raises(ValueError, match=r"no algorithm to insert .*--algorithm; there are: lof"):
        standings(cells, publish(block), "semi", "roc_auc")


def test_a_published_value_that_is_not_available_leaves_its_column_out_of_one_comparison(publish):
    block = random_block(4) | {"d3": ["NA", "50.0", "51.0", "52.0"]}
    cells = make_cells(from_records(runs(["oneclassrf"], block, 4)).frame)
    common, complete = standings(cells, publish(block), "semi", "roc_auc").comparisons
    assert (common.n_datasets, complete.n_datasets) == (8, 9)
    assert "A" not in complete.values


def test_both_files_hold_the_same_numbers(publish, recorder):
    block = random_block(5)
    publication = publish(block)
    experiments = from_records(runs(["oneclassrf"], block, 5))
    (found,) = write_standings(experiments, recorder.output, publication)
    frame = to_frame(found).set_index("algorithm")
    assert frame.loc["OneClassRF (ours)", "origin"] == "ours"
    assert frame["wilcoxon_holm: OneClassRF (ours)"].notna().sum() == len(PRINTED)
    text = to_markdown(found, publication)
    for name, row in frame.iterrows():
        assert any(
            f" {name} |" in line and f" {row['mean_rank']:.2f} |" in line and f" {row['wins']} |" in line
            for line in text.splitlines()
        ), name  # fmt: skip
    assert "### OneClassRF (ours)" in text
    assert {path.name for path in recorder.output.written} == {
        "standings_nobody_semi_roc_auc.csv",
        "standings_nobody_semi_roc_auc.md",
    }


def test_the_selection_of_algorithms_is_what_is_inserted(publish, recorder):
    block = random_block(6)
    records = runs(["oneclassrf", "lof", "orca"], block, 6)
    experiments = from_records(records, Selection(algorithms=("lof",)))
    (found,) = write_standings(experiments, recorder.output, publish(block))
    assert found.ours == ["LOF (ours)"]


def test_runs_of_another_protocol_or_setting_are_refused_with_both_named(publish):
    publication = publish(random_block(7))
    for changes, named in (
        ({"protocol": "paper"}, r"protocol paper \(novelty\)"),
        ({"protocol": "clean", "setting": "outlier"}, r"protocol clean \(outlier\)"),
    ):
        frame = from_records([make_record("d0", **changes)]).frame
        with pytest.raises(ValueError, match=rf"made with protocol clean \(novelty\).*{named}"):
            check_runs(frame, publication)
    both = [make_record("d0", protocol="clean"), make_record("d0", protocol="paper")]
    (remark,) = check_runs(from_records(both).frame, publication)
    assert remark.startswith("left out: 1 experiments of protocol paper (novelty)")


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


def test_what_was_not_run_is_said_in_five_ways(publish):
    block = random_block(8)
    mapped = {name: name for name in list(block)[:4]}
    publication = publish(block, datasets=mapped, algorithms={"A": "lof", "B": "orca", "C": "lsad"})
    records = runs(["lof"], list(block)[:2], 8) + runs(["orca"], list(block)[:3], 8)
    table = compare(make_cells(from_records(records).frame), publication)
    assert not_run(table, publication) == [
        "Data sets that are not here (5): d4, d5, d6, d7, d8.",
        "Algorithms that are not here (1): D.",
        "Data sets of which nothing was run (semi, 1): d3.",
        "Algorithms of which nothing was run (semi, 1): lsad.",
        "Not run (semi, lof): d2.",
    ]


def test_values_are_compared_in_the_printed_scale_and_each_column_has_its_tolerance(publish):
    block = {"d0": ["70.0", "80.0", "1.0", "1.0"]}
    tolerances = {"B": {"absolute": 0.1, "spreads": 2, "spread_of": "ours"}}
    publication = publish(
        block, algorithms={"A": "lof", "B": ["orca", "orca_clean"]}, tolerances=tolerances
    )
    records = [
        make_record("d0", name, protocol="clean", split=split, roc=centre + 0.01 * (-1) ** split)
        for name, centre in (("lof", 0.71), ("orca", 0.81), ("orca_clean", 0.5))
        for split in range(10)
    ]
    table = compare(make_cells(from_records(records).frame), publication).set_index("algorithm")
    assert table.loc["lof", "ours"] == pytest.approx(71.0)
    assert table.loc["lof", "std"] == pytest.approx(100 * 0.01 * np.sqrt(10 / 9))
    assert table.loc["lof", "difference"] == pytest.approx(1.0)
    assert table["verdict"].to_dict() == {
        "lof": "differs",
        "orca": "reproduced",
        "orca_clean": "differs",
    }
    assert table["within"].tolist() == [False, False, False]
    assert table["as_run"].to_dict() == {"lof": True, "orca": True, "orca_clean": False}


def test_names_in_square_brackets_are_printed_whole(publish, recorder, monkeypatch):
    monkeypatch.setattr("tests.results.test_standings.PRINTED", ["A", "k-NN [bold]", "[/x]", "D"])
    block = random_block(9)
    write_standings(from_records(runs(["oneclassrf"], block, 9)), recorder.output, publish(block))
    printed = recorder.text.getvalue()
    assert "k-NN [bold]" in printed
    assert "[/x]" in printed
