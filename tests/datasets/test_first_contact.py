"""Files of users: row numbers, labels and features are read right, or refused with what reads them."""

from __future__ import annotations

import logging
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from datasets import DataError, load
from datasets.errors import UsageError
from datasets.mistakes import parse_overrides
from datasets.own_folders import check_dataset_name, shipped
from tests.datasets.support import own


def shuffled(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.random((60, 2)), columns=["a", "b"])
    return frame.assign(label=[0] * 50 + [1] * 10).sample(frac=1, random_state=seed)


# --- row numbers ---


@pytest.mark.parametrize("target", ["label", None])
def test_the_index_that_parquet_carries_goes(target, tmp_path):
    shuffled().to_parquet(tmp_path / "my.parquet")
    dataset = own(tmp_path / "my.parquet", target=target)
    assert dataset.feature_names == ("a", "b")
    assert dataset.n_anomalies == 10


def test_an_index_with_a_name_goes_unless_the_yaml_names_it(tmp_path):
    shuffled().set_index("a").to_parquet(tmp_path / "my.parquet")
    assert own(tmp_path / "my.parquet").feature_names == ("b",)
    kept = own(tmp_path / "my.parquet", keep_columns=["a", "b"], target="label")
    assert kept.feature_names == ("a", "b")


def test_several_levels_of_an_index_go(tmp_path):
    frame = shuffled().assign(lot=1, part=range(60)).set_index(["lot", "part"])
    frame.to_parquet(tmp_path / "my.parquet")
    assert own(tmp_path / "my.parquet").feature_names == ("a", "b")


def test_the_index_of_a_file_in_the_data_home_goes(tmp_path):
    shuffled().to_parquet(tmp_path / "openml-7.parquet")
    yaml = {"name": "mine", "openml": 7, "anomalies": [1]}
    dataset = load(yaml, {"home": str(tmp_path), "offline": True})
    assert dataset.feature_names == ("a", "b")


@pytest.mark.parametrize("order", ["shuffled", "sorted", "sampled"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_an_index_saved_as_a_column_is_refused(order, suffix, tmp_path):
    frame = shuffled() if order != "sorted" else shuffled().sort_index()
    frame = frame.iloc[::2] if order == "sampled" else frame
    path = tmp_path / f"my.{suffix}"
    if suffix == "parquet":
        frame.reset_index(names="Unnamed: 0").to_parquet(path)
    else:
        frame.to_csv(path, sep="\t" if suffix == "tsv" else ",")
    with pytest.raises(
        DataError, match=r"'Unnamed: 0' numbers the rows.*drop_columns=\["
    ) as caught:
        own(path)
    assert """'++dataset.drop_columns=["Unnamed: 0"]'""" in str(caught.value)
    assert own(path, drop_columns=["Unnamed: 0"]).feature_names == ("a", "b")
    assert own(path, drop_columns=[0]).feature_names == ("a", "b")
    assert own(path, keep_columns=[0, 1]).feature_names == ("Unnamed: 0", "a")


def test_all_levels_of_an_index_are_named_at_once(tmp_path):
    frame = shuffled().assign(x=range(60), y=range(60, 0, -1)).set_index(["x", "y"])
    frame.to_csv(tmp_path / "my.csv", index_label=["", ""])
    with pytest.raises(DataError, match=r"'Unnamed: 0', 'Unnamed: 1' number the rows"):
        own(tmp_path / "my.csv")


def test_a_last_column_that_numbers_the_rows_is_no_label(write):
    text = "label,a,\n" + "\n".join(f"{i % 2},{i * i},{i}" for i in range(9)) + "\n"
    with pytest.raises(DataError, match=r"last column, 'Unnamed: 2', numbers the rows"):
        own(write(text))
    assert own(write(text), target="label", drop_columns=[1]).feature_names == ("a",)


def test_a_column_without_name_that_measures_something_stays(write):
    assert own(write(",label\n.5,0\n7,0\n2,1\n")).feature_names == ("Unnamed: 0",)


@pytest.mark.parametrize("order", ["rising", "falling", "shuffled"])
def test_a_column_that_numbers_the_rows_in_any_order_is_noted(order, write, caplog):
    numbers = np.arange(5, 65)
    if order != "rising":
        numbers = numbers[::-1] if order == "falling" else np.random.default_rng(0).permutation(60)
    rows = [f"{n},{n * n % 7},{int(i % 9 == 0)}" for i, n in enumerate(numbers.tolist())]
    own(write("id,a,label\n" + "\n".join(rows) + "\n"))
    [_, note] = caplog.messages
    assert "the column 'id' " in note
    assert "the row" in note


def test_what_gives_the_labels_away_is_noted(write, caplog):
    rng = np.random.default_rng(0)
    lines = [f"{rng.random()},{i},{i >= 40},{5 - 2 * (i >= 40)},{i >= 40:d}" for i in range(50)]
    own(write("noise,id,flag,less,label\n" + "\n".join(lines) + "\n"))
    notes = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(notes) == 3
    assert "'id', 'flag', 'less' alone tells all anomalies from all normal rows" in notes[1]
    assert "the column 'id' is the number of the row" in notes[2]
    caplog.clear()
    own(write("a,label\n1,0\n2,1\n3,0\n5,1\n"))
    assert caplog.messages == [
        "data set 'mine': 1 feature: 'a'; left out: nothing; "
        "label 'label': anomalies: '1' (2); normal: '0' (2)"
    ]


def test_labels_that_nobody_listed_are_said_to_count_as_the_other_kind(write, caplog):
    """A misjudged label changes every result, and nothing else shows it."""
    lines = [f"{i * i},{'ill' if i < 2 else 'very ill' if i < 5 else 'well'}" for i in range(12)]
    own(write("a,state\n" + "\n".join(lines) + "\n"), anomalies=["ill"])
    said = "label 'state': anomalies: 'ill' (2); normal: 'very ill' (3), 'well' (7)"
    assert caplog.messages[0].endswith(f"; {said}")


def test_an_index_that_was_saved_is_named_among_what_was_left_out(tmp_path, caplog):
    frame = pd.DataFrame({"a": [3.0, 7.0, 7.0], "label": [0, 1, 0]}, index=[2, 0, 1])
    frame.to_parquet(path := tmp_path / "my.parquet")
    assert own(path).feature_names == ("a",)
    left_out = "'__index_level_0__' (index saved with the data)"
    (message,) = caplog.messages
    assert message.startswith(f"data set 'mine': 1 feature: 'a'; left out: {left_out}; label ")
    caplog.clear()
    frame.rename_axis("id").to_parquet(path)
    own(path, keep_columns=["a"])
    assert "left out: 'id' (index saved with the data)" in caplog.messages[0]


def test_more_anomalies_than_normal_points_are_noted(write, caplog):
    path = write("a,label\n1,0\n3,1\n9,0\n5,1\n4,1\n")
    own(path)
    [_, note] = caplog.messages
    assert "more anomalies (3) than normal points (2): are the labels the other way" in note
    caplog.clear()
    own(path, anomalies=[0])
    assert len(caplog.messages) == 1


def test_advice_on_a_comma_is_for_files_of_text_only(tmp_path):
    path = tmp_path / "my.parquet"
    pd.DataFrame({"a": ["1,5", "-,25"], "label": [0, 1]}).to_parquet(path)
    with pytest.raises(DataError, match=r"'a' holds text \('1,5' in row 0\)"):
        own(path)


def overriding(pattern, caught):
    """Return the key and the list of an override in a message, as a shell hands it to Hydra."""
    [word] = shlex.split(re.search(pattern, str(caught.value))[1])
    [override] = parse_overrides([word])
    return override.key_or_group, [str(getattr(v, "text", v)) for v in override.value()]


def test_the_override_that_drops_rows_or_columns_can_be_pasted(write):
    path = write("a,it's,label\n1,x,-\n2,y,b c\n3,z,1\n")
    with pytest.raises(DataError) as caught:
        own(path)
    assert overriding(r"with (\S+) \(drop_columns", caught) == ("dataset.drop_columns", ["it's"])
    with pytest.raises(DataError) as caught:
        own(path, missing_labels=["b c"], drop_columns=["it's"])
    assert overriding(r"\(('.+) on the command", caught) == ("dataset.drop_classes", ["b c"])


# --- labels ---


@pytest.mark.parametrize("name", ["None", "NA", "null", "n/a", "nan", "NaN", "N/A", "?", "<NA>"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_class_may_be_called_anything_but_nothing(name, suffix, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2, 3], "label": [name, "x", "x"]})
    path = tmp_path / f"my.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    assert own(path, anomalies=[name]).y.tolist() == [1, 0, 0]
    with pytest.raises(DataError, match=r"1 of 3 labels are missing.*drop_classes"):
        own(path, anomalies=["x"], missing_labels=[name])
    with pytest.raises(DataError, match=r"all 2 rows are anomalies"):
        own(path, anomalies=["x"], missing_labels=["-"], drop_classes=[name])


def test_only_an_empty_label_is_missing(write):
    with pytest.raises(
        DataError, match=r"2 of 4 labels are missing in column 'label' \(the first in row \d"
    ):
        own(write("a,label\n1,0\n2,\n3, \n4,1\n"))


@pytest.mark.parametrize("written", ["1.00", "1", "1.", "1e0", " 1 ", "+1.0"])
def test_numbers_are_the_same_label_however_they_are_spelled(written, write):
    assert own(write(f"a,label\n1,0\n2,{written}\n")).y.tolist() == [0, 1]


@pytest.mark.parametrize(("label", "other"), [("yes", "no"), ("Yes", "No"), ("on", "off")])
def test_booleans_of_yaml_mean_the_labels_that_are_spelled_so(label, other, write):
    path = write(f"a,label\n1,{other}\n2,{label}\n")
    assert own(path, anomalies=[True]).y.tolist() == [0, 1]
    assert own(path, anomalies=None, normal=[False]).y.tolist() == [0, 1]


def test_a_boolean_that_means_two_labels_is_to_be_quoted(write):
    path = write("a,label\n1,x\n2,yes\n3,on\n")
    with pytest.raises(DataError, match=r"label 'true' of anomalies does not occur.*quote"):
        own(path, anomalies=[True])


def test_null_in_a_list_of_labels_is_to_be_quoted(write):
    with pytest.raises(DataError, match=r"anomalies lists labels; got None; quote"):
        own(write("a,label\n1,null\n2,x\n"), anomalies=[None])


def test_forty_thousand_labels_end_in_the_error_about_them(write):
    text = "a,label\n" + "\n".join(f"{i},l{i}" for i in range(40_000)) + "\n"
    with pytest.raises(DataError, match=r"label '1' of anomalies does not occur.* and 39988 more"):
        own(write(text))


# --- features ---


def test_all_columns_that_cannot_be_features_are_named_at_once(write):
    lines = [f"{i},x{i},{'12o' if i == 5 else i},{'' if i > 7 else i},{i % 2}" for i in range(9)]
    path = write("a,my text,typo,gap,label\n" + "\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        own(path)
    said = str(caught.value)
    assert "3 of 4 columns cannot be features" in said
    assert "column 'my text' holds text ('x0' in row 0)" in said
    assert "column 'typo' holds text ('12o' in row 5)" in said
    assert "column 'gap' has 1 of 9 values missing (the first in row 8)" in said
    override = re.search(r"'\+\+(dataset\.drop_columns=\[.*\])'", said)
    assert override is not None
    assert override[1] == 'dataset.drop_columns=["my text",typo,gap]'


def test_wrong_columns_and_wrong_labels_are_named_at_once(write):
    path = write("a,b,label\n1,x,good\n2,y,bad\n")
    wrong = r"'b' holds text .*Besides, the label '1' of anomalies does not occur; .*'bad', 'good'"
    with pytest.raises(DataError, match=wrong):
        own(path)
    wrong = (
        r"drop_columns names 'c'.* Besides, with anomalies \['bad', 'good'\] all 2 rows are anom"
    )
    with pytest.raises(DataError, match=wrong):
        own(path, drop_columns=["c"], anomalies=["bad", "good"])


def test_the_key_that_an_error_names_works(write):
    from datasets.configuration import compose

    path = write('"my, text","5",null,a,label\nx,y,z,1,0\nx,y,z,2,1\n')
    common = ["dataset=custom", f"data.path={path}", "data.anomalies=[1]"]
    with pytest.raises(DataError) as caught:
        load(compose(common)["dataset"])
    override = re.search(r"'(\+\+dataset\.drop_columns=\[.*\])'", str(caught.value))
    assert override is not None
    assert load(compose([*common, override[1]])["dataset"]).feature_names == ("a",)


def test_rows_are_those_of_the_file_when_classes_are_dropped(write):
    path = write("a,label\n1,x\n2,x\n3,0\nfour,1\n5,0\n")
    with pytest.raises(DataError, match=r"'four' in row 3"):
        own(path, drop_classes=["x"])


@pytest.mark.parametrize("mark", ["?", " ?", '"?"', "NA", ""])
def test_missing_values_are_missing_however_they_are_marked(mark, write):
    with pytest.raises(DataError, match=r"'b' has 1 of 2 values missing \(the first in row 1"):
        own(write(f"a,b,label\n1, 2,0\n3,{mark},1\n"))


def test_numbers_kept_as_text_are_said_to_be(tmp_path):
    pd.DataFrame({"a": ["1", "2"], "label": [0, 1]}).to_parquet(tmp_path / "my.parquet")
    with pytest.raises(DataError, match=r"holds its numbers as text \('1' in row 0\)"):
        own(tmp_path / "my.parquet")


def test_a_name_may_be_longer_than_any_file_s(tmp_path):
    name = "long" * 100
    check_dataset_name(name, "mine", tmp_path / "mine.yaml")
    assert shipped(name) is None
    with pytest.raises(UsageError, match="the name 'pima' is that of"):
        check_dataset_name("pima", "mine", tmp_path / "mine.yaml")
