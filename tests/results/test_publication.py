"""A folder of published numbers: what is read, and every mistake that is refused by name."""

import pytest

from results.published.publication import load_publication
from tests.results.publications import DESCRIPTION, LONG, WIDE, changed, write

SEMI = {"setting": "novelty", "protocol": "clean"}


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
        (
            {"datasets": {"Pima Indians": "pima", "Wilt": "pima", "Elsewhere": None}},
            "datasets: 'Pima Indians' and 'Wilt' are both 'pima'",
        ),
        (
            {"algorithms": {"k-NN": "lof", "IF": {"semi": ["lof", "iforest"]}}},
            "algorithms: 'k-NN' and 'IF' are both 'lof'",
        ),
        (
            {"settings": {"semi": {"setting": "novelty", "protocol": "clean", "splits": 0}}},
            "settings.semi.splits: .*greater than or equal to 1",
        ),
        (
            {"settings": {"semi": SEMI, "unsup": SEMI}},
            "settings: 'semi' and 'unsup' are both 'novelty, clean'",
        ),
        ({"algorithms": {"IF": []}}, "algorithms.IF: .*at least 1"),
        ({"algorithms": {"IF": "iforest()"}}, r"no algorithm is called 'iforest\(\)' in tables"),
        ({"algorithms": {"IF": ["iforest(64)"]}}, r"no algorithm is called 'iforest\(64\)'"),
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
        ("scale: percent\nsplits: 010\n", "line 2: YAML reads 010 as 8; write the number"),
        ("tolerance: {absolute: 1:30.5}\n", "line 1: YAML reads 1:30.5 as 90.5"),
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
        ({"datasets": DESCRIPTION["datasets"] | {"Pima": "adult"}}, r"'Pima' of datasets .* does not occur; .*Pima Indians"),
        ({"algorithms": DESCRIPTION["algorithms"] | {"kNN": "lof"}}, r"'kNN' of algorithms .* does not occur"),
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
        (
            "45.5,1.5,4.4\n",
            "45.5,1.5\n",
            "line 5: . fields, and the header has .: dataset, algorithm",
        ),
        ("45.5,1.5,4.4\n", "45.5,1.5,4.4,\n", "line 5: . fields, and the header has"),
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
    with pytest.raises(ValueError, match=r"no value of AUC exceeds 1 .*are they fractions\?"):
        load_publication(str(write(tmp_path / "a", description, fractions)))
    as_fraction = description | {"scale": "fraction"}
    assert len(load_publication(str(write(tmp_path / "b", as_fraction, fractions))).values) == 2
    with pytest.raises(ValueError, match=r"70.1 is outside 0 to 1 \(scale: fraction\)"):
        load_publication(str(write(tmp_path / "c", changed(scale="fraction"))))
    one = "\n".join(line.rpartition(",")[0] + ",0.5" for line in LONG.splitlines()[1:])
    one = f"{LONG.splitlines()[0]}\n{one}\n"
    with pytest.raises(ValueError, match="no value of AP exceeds 1"):
        load_publication(str(write(tmp_path / "d", values=one)))


def test_more_digits_than_any_value_has_are_refused(tmp_path):
    tolerance = {"absolute": 0.1}
    with pytest.raises(ValueError, match=r"have 1 decimals at most, and digits .* is 2"):
        load_publication(str(write(tmp_path, changed(digits=2, tolerance=tolerance))))


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
