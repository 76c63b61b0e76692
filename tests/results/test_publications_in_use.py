"""Folders of published numbers at work: found by name, compared with, and those that are shipped."""

import copy
import re
import shutil
from pathlib import Path

import pytest
import yaml

from results.aggregate import make_cells
from results.cli import main
from results.published import paper
from results.published.description import Description, Tolerance
from results.published.names import Names
from results.published.publication import load_publication, publication_names
from results.published.values import read_values
from results.records.frame import from_records
from results.reproduction.comparison import compare
from results.reproduction.comparison_output import to_markdown
from tests.results.publications import DESCRIPTION, changed, write
from tests.results.support import make_record, write_fast


def test_a_publication_is_found_by_name_by_path_and_below_a_search_folder(tmp_path):
    folder = write(tmp_path / "mine" / "published" / "nobody2020")
    assert load_publication("nobody2020", [tmp_path / "mine"]).folder == folder
    assert load_publication(str(folder)).name == "nobody2020"
    assert {"goix2016"} < set(publication_names([tmp_path / "mine"]))
    with pytest.raises(
        FileNotFoundError, match=r"no publication and no folder 'goix2106'.*goix2016.*--searchpath"
    ):
        load_publication("goix2106")
    with pytest.raises(FileNotFoundError, match=r"holds no published\.yaml"):
        load_publication(str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        load_publication("nobody2020", [tmp_path / "nowhere"])
    shutil.copytree(folder, tmp_path / "mine" / "published" / "goix2016")
    with pytest.raises(ValueError, match="two publications of one name"):
        load_publication("goix2016", [tmp_path / "mine"])


def test_names_of_one_s_own_configuration_and_of_records_are_known(tmp_path):
    here = DESCRIPTION["datasets"] | {"Wilt": "wafers"}
    described = changed(algorithms={"IF": "mine", "k-NN": None}, datasets=here)
    folder = write(tmp_path / "mine" / "published" / "a", described)
    with pytest.raises(ValueError, match="no algorithm 'mine' in conf, nor among the records"):
        load_publication(str(folder))
    with pytest.raises(ValueError, match="no data set 'wafers' in conf, nor among the records"):
        load_publication(str(folder), known={"algorithm": {"mine"}})
    recorded = {"algorithm": {"mine"}, "dataset": {"wafers"}}
    publication = load_publication(str(folder), known=recorded)
    assert publication.datasets == {"Pima Indians": "pima", "Wilt": "wafers", "Elsewhere": None}
    for group, name in (("dataset", "wafers"), ("algorithm", "mine")):
        (tmp_path / "mine" / group).mkdir()
        (tmp_path / "mine" / group / f"{name}.yaml").write_text(f"name: {name}\n")
    assert load_publication("a", [tmp_path / "mine"]).datasets["Wilt"] == "wafers"


@pytest.mark.parametrize("name", sorted(publication_names()))
def test_what_is_shipped_is_valid_and_every_value_is_read(name):
    publication = load_publication(name)
    described = publication.description
    assert len(publication.values) > 100
    values = publication.values["published"].dropna()
    assert values.between(0, described.factor).all()
    assert set(described.algorithms) <= set(publication.columns)


def test_the_paper_s_tables_are_complete():
    cells = paper.cells()
    assert len(cells) == 2 * 12 * 8
    assert not cells.duplicated(["setting", "dataset", "column"]).any()
    assert set(cells["dataset"]) == set(paper.datasets().index)
    assert paper.columns().query("as_run").groupby("setting")["column"].nunique().tolist() == [8, 8]


def test_the_tolerance_is_the_larger_of_its_two_bounds():
    nan = float("nan")
    assert Tolerance(absolute=0.5).allowed(9.0) == 0.5
    two = Tolerance(absolute=0.5, spreads=2)
    assert [two.allowed(spread) for spread in (1.0, 0.1, nan)] == [2.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("whose", "ours", "published", "expected"),
    [
        ("ours", 3.0, 8.0, 3.0),
        ("published", 3.0, 8.0, 8.0),
        ("published", 3.0, float("nan"), float("nan")),
        ("means", 3.0, 8.0, 5.0),  # sqrt(9 / 1 + 64 / 4)
        ("means", 4.0, float("nan"), 20**0.5),  # ours stands for what is not printed
        ("means", float("nan"), 8.0, float("nan")),
    ],
)
def test_a_tolerance_says_whose_spread_counts(whose, ours, published, expected):
    tolerance = Tolerance(absolute=0.5, spreads=2, spread_of=whose)
    assert tolerance.spread(ours, published, 1, 4) == pytest.approx(expected, nan_ok=True)


def test_reading_twice_gives_the_same(tmp_path):
    folder = write(tmp_path / "a")
    description = Description.model_validate(DESCRIPTION)
    first, second = (read_values(folder / "values.csv", description) for _ in range(2))
    assert first.equals(second)


def test_a_stranger_s_folder_end_to_end(tmp_path, capsys):
    folder = write(tmp_path / "mine" / "published" / "nobody2020", reasons=(
        "setting,dataset,algorithm,metric,reason\nsemi,Wilt,iforest,*,Drawn at random.\n"
    ))  # fmt: skip
    records = [
        make_record(dataset, algorithm, protocol="clean", split=split, roc=roc, pr=pr)
        for dataset, algorithm, roc, pr in (
            ("pima", "pyod_knn", 0.7015, 0.5),
            ("pima", "iforest", 0.6805, 0.402),
            ("wilt", "iforest", 0.50, 0.044),
            ("pima", "oneclassrf", 0.75, 0.6),
            ("wilt", "oneclassrf", 0.60, 0.1),
        )
        for split in range(10)
    ]
    write_fast(tmp_path / "records", records)
    where = ["--output", str(tmp_path), "--published", "nobody2020"]
    where += ["--searchpath", f"file://{tmp_path / 'mine'}"]
    assert main(["compare", *where]) == 0
    out = capsys.readouterr().out
    assert "ROC: 2 of 3 published values with one here are reproduced: 2 (66.7 %) within" in out
    assert "1. Drawn at random." in out
    assert "Data sets that are not here (1): Elsewhere." in out
    assert "Not run (semi, pyod_knn): Wilt." in out
    text = (tmp_path / "tables" / "comparison_nobody2020.md").read_text()
    assert "Nobody (2020): A benchmark." in text
    assert "per cent" in text
    assert main(["standings", *where]) == 0
    out = capsys.readouterr().out
    assert "OneClassRF (ours)" in out
    assert "iForest (iForest" not in out
    assert "which repeat a printed column" in out
    # The paper was made with another protocol.
    assert main(["compare", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(
        "error: the values of goix2016 were made with protocol paper (novelty, outlier), and the "
        "records were made with protocol clean (novelty): "
    )
    assert main(["standings", "--published", str(folder), "--output", str(tmp_path), "--metrics", "best_f1"]) == 2  # fmt: skip
    assert "nobody2020 does not print best_f1; it prints roc_auc" in capsys.readouterr().err


def test_the_example_of_the_documents_works_as_it_is_printed(tmp_path, capsys):
    text = (Path(__file__).parents[2] / "results" / "README.md").read_text(encoding="utf-8")
    example = text[text.index("### A table of one's own") :]
    blocks = re.findall(r"```(?:yaml|csv)\n(.*?)```", example, re.DOTALL)
    description, values, reasons = blocks[:3]
    folder = write(tmp_path / "mine" / "published" / "wafers2021", description, values, reasons)
    records = [
        make_record(dataset, algorithm, protocol="clean", setting="outlier", split=split, roc=roc)
        for dataset, algorithm, roc in (
            ("pima", "iforest", 0.674),
            ("wilt", "iforest", 0.5),
            ("pima", "oneclassrf", 0.7),
            ("wilt", "oneclassrf", 0.65),
        )
        for split in range(10)
    ]
    write_fast(tmp_path / "records", records)
    where = ["--output", str(tmp_path), "--searchpath", str(tmp_path / "mine")]
    assert main(["compare", "--published", "wafers2021", *where]) == 0
    out = capsys.readouterr().out
    assert "ROC: 1 of 2 published values with one here are reproduced" in out
    assert "Trees are drawn at random" in out
    assert main(["standings", "--published", str(folder), *where]) == 0
    assert "OneClassRF (ours)" in capsys.readouterr().out


def groups_of(plain, path=()):
    """Every mapping of a description whose keys are a closed vocabulary, with its path."""
    yield path, plain
    for name in ("tolerance",):
        yield (name,), plain[name]
    for name in ("metrics", "settings", "tolerances"):
        for key, value in plain.get(name, {}).items():
            if isinstance(value, dict):
                yield (name, key), value


@pytest.mark.parametrize("name", sorted(publication_names()))
def test_every_key_of_what_is_shipped_is_refused_when_it_is_misspelt(name):
    text = (publication_names()[name] / "published.yaml").read_text(encoding="utf-8")
    plain = yaml.safe_load(text)
    Description.model_validate(plain)
    for path, group in groups_of(plain):
        for key in group:
            wrong = copy.deepcopy(plain)
            inner = wrong
            for part in path:
                inner = inner[part]
            inner[f"{key}x"] = inner.pop(key)
            with pytest.raises(ValueError, match="Extra inputs are not permitted"):
                Description.model_validate(wrong)


def test_a_metric_that_was_not_recorded_is_marked(tmp_path):
    here = {"Pima Indians": "pima", "Wilt": "wilt"}
    described = changed(metrics={"roc_auc": "AUC", "precision_at_n": "AP"}, datasets=here)
    values = "dataset,algorithm,AUC,AP\nPima Indians,k-NN,70.1,50\nPima Indians,IF,68.0,40.2\nWilt,IF,1,2\n"
    publication = load_publication(str(write(tmp_path / "a", described, values)))
    cells = make_cells(from_records([make_record("pima", protocol="clean", roc=0.68)]).frame)
    table = compare(cells, publication).set_index(["dataset", "algorithm", "metric"])
    row = table.loc[("Pima Indians", "iforest", "precision_at_n")]
    assert (row["verdict"], row["mark"]) == ("ours NA", "--")
    assert (
        "Nothing." not in to_markdown(table.reset_index(), publication).partition("## What was")[0]
    )
    assert table.loc[("Pima Indians", "iforest", "roc_auc"), "mark"] == ""


@pytest.mark.parametrize(
    ("whose", "heading", "shown"),
    [
        ("published", "their spread", "0.5"),
        ("ours", "spread", "1.4"),
        ("means", "std. error", "1.1"),
    ],
)
def test_the_spread_beside_a_difference_is_the_one_it_was_judged_by(
    whose, heading, shown, tmp_path
):
    tolerance = {"absolute": 0.1, "spreads": 2, "spread_of": whose}
    publication = load_publication(str(write(tmp_path / "a", changed(tolerance=tolerance))))
    records = [
        make_record("pima", "pyod_knn", protocol="clean", split=i, roc=0.66 + i / 50)
        for i in range(2)
    ]
    run = publication.description.settings["semi"].model_copy(update={"splits": 2})
    publication.description.settings["semi"] = run
    text = to_markdown(compare(make_cells(from_records(records).frame), publication), publication)
    differs, _, cells = text.partition("## What was not run")
    for part in (differs, cells):
        assert f" {heading} |" in part
        (line,) = [line for line in part.splitlines() if " 70.1 |" in line]
        assert f" {shown} |" in line


def test_members_of_collections_are_configured_data_sets(tmp_path):
    here = list(load_publication("dte2024").datasets.values())
    assert (len(here), here.count(None)) == (57, 14)
    assert None not in load_publication("pyod2019").datasets.values()
    folder = tmp_path / "mine" / "dataset"
    folder.mkdir(parents=True)
    (folder / "wafers.yaml").write_text("collection: {path: '/data/{member}.csv'}\n")
    (folder / "other.yaml").write_text(
        "name: o\ncollection: {names: '{member} (o)', path: x, members: [a, b]}\n"
    )
    names = Names("dataset", [tmp_path / "mine"], ["pima"])
    assert [name in names for name in ("wafers_1", "a (o)", "pima")] == [True] * 3
    assert [name in names for name in ("wafers", "c (o)", "o_a")] == [False] * 3
