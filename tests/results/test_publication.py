"""A folder of published numbers: what is read, and every mistake that is refused by name."""

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
from tests.results.support import make_record, write_fast

DESCRIPTION = {
    "citation": "Nobody (2020): A benchmark",
    "scale": "percent",
    "digits": 1,
    "metrics": {
        "roc_auc": {"value": "AUC", "spread": "sd"},
        "average_precision": "AP",
    },
    "settings": {"semi": {"setting": "novelty", "protocol": "clean"}},
    "datasets": {"Pima Indians": "pima", "Wilt": "wilt", "Elsewhere": None},
    "algorithms": {"k-NN": "pyod_knn", "IF": ["iforest", "iforest(max_samples=64)"]},
    "tolerance": {"absolute": 0.1},
}
LONG = """dataset,algorithm,AUC,sd,AP
Pima Indians,k-NN,70.1,0.5,50
Pima Indians,IF,68.0,,40.2
Wilt,k-NN,NA,NA,
Wilt,IF,45.5,1.5,4.4
Elsewhere,k-NN,99.9,0,99
"""
WIDE = """setting,dataset,metric,k-NN,IF
semi,Pima Indians,AUC,70.1,68.0
semi,Pima Indians,sd,0.5,
semi,Pima Indians,AP,50,40.2
semi,Wilt,AUC,NA,45.5
semi,Wilt,sd,NA,1.5
semi,Wilt,AP,,4.4
semi,Elsewhere,AUC,99.9,
semi,Elsewhere,sd,0,
semi,Elsewhere,AP,99,
"""


def write(folder, description=DESCRIPTION, values=LONG, reasons=None):
    folder.mkdir(parents=True, exist_ok=True)
    text = (
        description
        if isinstance(description, str)
        else yaml.safe_dump(description, sort_keys=False)
    )
    (folder / "published.yaml").write_text(text, encoding="utf-8")
    (folder / "values.csv").write_text(values, encoding="utf-8")
    if reasons is not None:
        (folder / "reasons.csv").write_text(reasons, encoding="utf-8")
    return folder


def changed(**keys):
    return {name: value for name, value in (DESCRIPTION | keys).items() if value is not None}


def test_a_folder_is_read(tmp_path):
    publication = load_publication(str(write(tmp_path / "nobody2020")))
    assert publication.name == "nobody2020"
    assert publication.columns == ["k-NN", "IF"]
    assert publication.datasets == {"Pima Indians": "pima", "Wilt": "wilt", "Elsewhere": None}
    cells = publication.values.set_index(["dataset", "column", "metric"])
    assert cells.loc[("Pima Indians", "k-NN", "roc_auc"), ["published", "spread"]].tolist() == [
        70.1,
        0.5,
    ]
    # NA is printed; an empty field is not.
    assert cells.loc[("Wilt", "k-NN", "roc_auc"), "published"] != 70.1
    assert ("Wilt", "k-NN", "average_precision") not in cells.index
    assert set(publication.values["setting"]) == {"semi"}


def test_long_and_wide_tables_hold_the_same(tmp_path):
    wide = changed(form="wide")
    tables = [
        load_publication(str(write(tmp_path / name, description, text))).values
        for name, description, text in (("a", DESCRIPTION, LONG), ("b", wide, WIDE))
    ]
    keys = ["setting", "dataset", "column", "metric"]
    long, wide = (table.set_index(keys).sort_index() for table in tables)
    assert long.equals(wide)


def test_a_wide_table_of_one_metric_needs_no_column_for_it(tmp_path):
    here = {"Pima Indians": "pima", "Wilt": "wilt"}
    description = changed(form="wide", metrics={"roc_auc": "AUC"}, datasets=here)
    text = "dataset,k-NN,IF\nPima Indians,70.1,68.0\nWilt,50.0,45.5\n"
    values = load_publication(str(write(tmp_path / "a", description, text))).values
    assert values["published"].tolist() == [70.1, 68.0, 50.0, 45.5]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"tolerence": {"absolute": 1}}, r"tolerence: unknown key; .*did you mean tolerance\?"),
        ({"citation": None}, "citation: missing"),
        ({"scale": "percents"}, "scale: Input should be 'fraction' or 'percent', got 'percents'"),
        ({"digits": "1"}, "digits: Input should be a valid integer, got '1'"),
        ({"digits": -1}, "digits: .*greater than or equal to 0"),
        ({"form": "broad"}, "form: Input should be 'long' or 'wide'"),
        ({"metrics": {"roc": "AUC"}}, "metrics: there is no metric 'roc'; there are: roc_auc"),
        ({"metrics": {}}, "metrics: .*at least 1"),
        (
            {"metrics": {"roc_auc": {"value": "AUC", "std": "sd"}}},
            "metrics.roc_auc.std: unknown key; there are: value, spread",
        ),
        (
            {"metrics": {"roc_auc": "AUC", "average_precision": "AUC"}},
            "metrics: 'AUC' is named twice",
        ),
        (
            {"settings": {"semi": {"setting": "novel", "protocol": "clean"}}},
            r"settings.semi.setting: there is no setting 'novel'; .*did you mean novelty\?",
        ),
        ({"settings": {"semi": {"setting": "novelty"}}}, "settings.semi.protocol: missing"),
        ({"settings": {}}, "settings: .*at least 1"),
        ({"datasets": "identical"}, "datasets.*'same'"),
        ({"algorithms": {"IF": []}}, "algorithms.IF: .*at least 1"),
        (
            {"algorithms": {"IF": {"unsup": "iforest"}}},
            r"algorithms.IF: there is no setting 'unsup'; there are: \*, semi",
        ),
        ({"tolerance": {"absolute": -0.1}}, "tolerance.absolute: .*greater than or equal to 0"),
        ({"tolerance": {"absolute": 0.0}}, "absolute is 0, and rounding with digits: 1 alone makes"),
        ({"tolerance": {"absolute": "much"}}, "tolerance.absolute: .*valid number, got 'much'"),
        (
            {"tolerance": {"absolute": 0.1, "spread": 2}},
            "tolerance.spread: unknown key; there are: absolute, spreads, spread_of",
        ),
        (
            {"metrics": {"roc_auc": "AUC"}, "tolerances": {"IF": {"absolute": 1, "spread_of": "published"}}},
            "spread_of is 'published', and no metric has a column of spreads",
        ),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_of_the_description_is_named(tmp_path, keys, message):
    folder = write(tmp_path / "nobody2020", changed(**keys))
    with pytest.raises(ValueError, match=rf"nobody2020/published\.yaml: .*{message}"):
        load_publication(str(folder))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scale: percent\nscale: fraction\n", "duplicate key"),
        ("[1, 2]", "a mapping of keys is expected"),
        ("scale: [", "published.yaml"),
        ("", "citation: missing"),
    ],
)
def test_a_file_that_is_not_a_description_is_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        load_publication(str(write(tmp_path / "a", text)))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"settings": {"semi": {"setting": "novelty", "protocol": "claen"}}}, r"no protocol 'claen' in conf.*did you mean clean\?"),
        ({"algorithms": DESCRIPTION["algorithms"] | {"IF": "iforst"}}, r"no algorithm 'iforst' in conf.*did you mean iforest\?"),
        ({"algorithms": DESCRIPTION["algorithms"] | {"IF": "iforst(max_samples=64)"}}, "no algorithm 'iforst'"),
        ({"datasets": DESCRIPTION["datasets"] | {"Pima": "pima"}}, r"'Pima' of datasets .* does not occur; .*Pima Indians"),
        ({"algorithms": DESCRIPTION["algorithms"] | {"kNN": "pyod_knn"}}, r"'kNN' of algorithms .* does not occur"),
        ({"datasets": DESCRIPTION["datasets"] | {"Wilt": "wlit"}}, r"no data set 'wlit' in conf, nor among the records; did you mean wilt\?"),
        ({"tolerances": {"kNN": {"absolute": 1}}}, "'kNN' of tolerances .* does not occur"),
    ],
)  # fmt: skip
def test_names_that_stand_for_nothing_are_refused(tmp_path, keys, message):
    with pytest.raises(ValueError, match=message):
        load_publication(str(write(tmp_path / "a", changed(**keys))))


def test_a_setting_that_does_not_occur_is_refused(tmp_path):
    two = DESCRIPTION["settings"] | {"unsup": {"setting": "outlier", "protocol": "clean"}}
    description = changed(settings=two, form="wide")
    with pytest.raises(ValueError, match=r"'unsup' of settings .* does not occur"):
        load_publication(str(write(tmp_path / "a", description, WIDE)))
    with pytest.raises(ValueError, match="line 1: there is no column 'setting'"):
        load_publication(str(write(tmp_path / "b", changed(settings=two))))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("70.1,", "70.12,", "line 2, k-NN, AUC: 70.12 has more digits than the 1"),
        ("70.1,", "seventy,", "line 2, k-NN, AUC: 'seventy' is not a number"),
        ("70.1,", "nan,", "'nan' is not a number"),
        ("70.1,", "100.1,", r"100.1 is outside 0 to 100 \(scale: percent\)"),
        ("70.1,", "-70.1,", "-70.1 is outside 0 to 100"),
        ("45.5,1.5,4.4\n", "45.5,1.5\n", "line 5: the columns must be dataset, algorithm"),
        ("45.5,1.5,4.4\n", "45.5,1.5,4.4,\n", "line 5: the columns must be"),
        ("Wilt,IF", "Pima Indians,IF", "line 5: semi, Pima Indians, IF, AUC is also on line 3"),
        ("AUC,sd", "auc,sd", "line 1: there is no column 'AUC'"),
        ("Wilt,IF", "Wlit,IF", r"line 5: 'Wlit' is not in datasets .*mean Wilt\?.*'Wlit': null"),
        ("Wilt,IF", "Wilt,IFF", r"line 5: 'IFF' is not in algorithms .*mean IF\?.*'IFF': null"),
        (",AP\n", ",AP,rows\n", "line 1: the column 'rows' is neither a metric"),
        (",AP\n", ",AP,AP\n", "line 1: the column name 'AP' is empty or given twice"),
    ],
)
def test_a_wrong_line_of_values_is_named(tmp_path, old, new, message):
    assert old in LONG
    folder = write(tmp_path / "nobody2020", values=LONG.replace(old, new))
    if new.endswith((",rows\n", ",AP,AP\n")):
        text = LONG.replace("\n", ",1\n").replace(old.replace("\n", ",1\n"), new)
        write(folder, values=text)
    with pytest.raises(ValueError, match=rf"nobody2020/values\.csv.*{message}"):
        load_publication(str(folder))


def test_a_wrong_setting_or_metric_of_a_wide_table_is_named(tmp_path):
    for old, new, message in (
        ("semi,Wilt,AUC", "sup,Wilt,AUC", "line 5: 'sup' is not in settings of the description"),
        ("semi,Wilt,AUC", "semi,Wilt,auc", "line 5: 'auc' is not in metrics of the description"),
    ):
        folder = write(tmp_path / "a", changed(form="wide"), WIDE.replace(old, new))
        with pytest.raises(ValueError, match=message):
            load_publication(str(folder))


def test_fractions_that_are_said_to_be_per_cents_are_refused_and_the_reverse(tmp_path):
    fractions = "dataset,algorithm,AUC\nWilt,IF,0.9\nWilt,k-NN,1\n"
    description = changed(metrics={"roc_auc": "AUC"}, datasets={"Wilt": "wilt"})
    with pytest.raises(ValueError, match=r"no value exceeds 1 .*are they fractions\?"):
        load_publication(str(write(tmp_path / "a", description, fractions)))
    as_fraction = description | {"scale": "fraction"}
    assert len(load_publication(str(write(tmp_path / "b", as_fraction, fractions))).values) == 2
    with pytest.raises(ValueError, match=r"70.1 is outside 0 to 1 \(scale: fraction\)"):
        load_publication(str(write(tmp_path / "c", changed(scale="fraction"))))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("semi,Wilt,pyod_knn,roc_auc,why\n", None),
        ("*,W*,*,*,why\n", None),
        ("novelty,Wilt,*,*,why\n", "line 2: setting 'novelty' is none of semi"),
        ("*,wilt,*,*,why\n", "line 2: dataset 'wilt' is none of Pima Indians, Wilt"),
        ("*,*,IF,*,why\n", "line 2: algorithm 'IF' is none of pyod_knn, iforest"),
        ("*,*,*,pr_auc_curve,why\n", "line 2: metric 'pr_auc_curve' is none of roc_auc"),
    ],
)
def test_a_reason_for_nothing_is_refused(tmp_path, line, message):
    text = "setting,dataset,algorithm,metric,reason\n" + line
    folder = write(tmp_path / "a", reasons=text)
    if message is None:
        assert [r.reason for r in load_publication(str(folder)).reasons] == ["why"]
        return
    with pytest.raises(ValueError, match=message):
        load_publication(str(folder))


def test_a_publication_is_found_by_name_by_path_and_below_a_search_folder(tmp_path):
    folder = write(tmp_path / "mine" / "published" / "nobody2020")
    assert load_publication("nobody2020", [tmp_path / "mine"]).folder == folder
    assert load_publication(str(folder)).name == "nobody2020"
    assert {"goix2016"} < set(publication_names([tmp_path / "mine"]))
    with pytest.raises(
        FileNotFoundError, match=r"no publication and no folder 'goix2106'.*goix2016"
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
    assert Tolerance(absolute=0.5).allowed(9.0, 9.0) == 0.5
    ours = Tolerance(absolute=0.5, spreads=2)
    assert ours.allowed(1.0, 9.0) == 2.0
    assert ours.allowed(0.1, 9.0) == 0.5
    assert ours.allowed(nan, 9.0) == 0.5
    assert Tolerance(absolute=0.5, spreads=2, spread_of="published").allowed(9.0, 1.0) == 2.0


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
    where += ["--searchpath", str(tmp_path / "mine")]
    assert main(["compare", *where]) == 0
    out = capsys.readouterr().out
    assert "ROC: 2 of 3 published values with one here are reproduced (66.7 %)" in out
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
