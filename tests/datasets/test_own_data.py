"""Bring your own: formats, options, and one clear error for each thing that can be wrong."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from datasets import DataError, load
from datasets.configuration import compose
from tests.datasets.support import own

TABLE = """a,b,label
1,2.5,0
2,3.5,0
3,4.5,0
4,-1,1
"""


def write(tmp_path, text, name="my.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def check(dataset):
    assert dataset.X.tolist() == [[1, 2.5], [2, 3.5], [3, 4.5], [4, -1]]
    assert dataset.y.tolist() == [0, 0, 0, 1]
    assert dataset.feature_names == ("a", "b")


def test_csv(tmp_path):
    check(own(write(tmp_path, TABLE), target="label"))


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators(separator, tmp_path):
    check(own(write(tmp_path, TABLE.replace(",", separator))))


def test_gzipped_csv_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "my.csv.gz"
    path.write_bytes(gzip.compress(TABLE.encode("utf-8-sig")))
    check(own(path))


def test_parquet(tmp_path):
    path = tmp_path / "my.parquet"
    pd.read_csv(write(tmp_path, TABLE)).to_parquet(path)
    check(own(path))


def test_arff(tmp_path):
    head = "@RELATION r\n@ATTRIBUTE a REAL\n@ATTRIBUTE b REAL\n@ATTRIBUTE label {0,1}\n@DATA\n"
    check(own(write(tmp_path, head + TABLE.split("\n", 1)[1], "my.arff")))


def test_the_label_column_may_be_anywhere(tmp_path):
    dataset = own(write(tmp_path, "label,a\n1,5\n0,6\n"), target="label")
    assert dataset.y.tolist() == [1, 0]
    assert dataset.feature_names == ("a",)


@pytest.mark.parametrize(
    ("labels", "anomalies"),
    [("0 0 1", [1]), ("0 0 1", ["1"]), ("n n w", ["w"]), ("n n w", "w"), ("0.0 0.0 1.0", [1])],
)
def test_labels_are_compared_as_they_are_spelled(labels, anomalies, tmp_path):
    lines = "\n".join(f"{i},{label}" for i, label in enumerate(labels.split()))
    dataset = own(write(tmp_path, "a,label\n" + lines + "\n"), anomalies=anomalies)
    assert dataset.y.tolist() == [0, 0, 1]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arff"])
@pytest.mark.parametrize("written", ["True", "true", "TRUE"])
@pytest.mark.parametrize("listed", [True, "True", "true", "TRUE"])
def test_booleans_are_one_label_however_they_are_written(suffix, written, listed, tmp_path):
    no = {"True": "False", "true": "false", "TRUE": "FALSE"}[written]
    path = tmp_path / f"my.{suffix}"
    if suffix == "csv":
        write(tmp_path, f"a,label\n1,{no}\n2,{written}\n")
    elif suffix == "parquet":
        pd.DataFrame({"a": [1, 2], "label": [no, written]}).to_parquet(path)
    else:
        head = f"@RELATION r\n@ATTRIBUTE a REAL\n@ATTRIBUTE label {{{no},{written}}}\n@DATA\n"
        write(tmp_path, head + f"1,{no}\n2,{written}\n", "my.arff")
    assert own(path, anomalies=[listed]).y.tolist() == [0, 1]


def test_normal_labels_may_be_named_instead(tmp_path):
    assert own(write(tmp_path, TABLE), anomalies=None, normal=[0]).y.tolist() == [0, 0, 0, 1]


def test_the_command_lines_options(tmp_path):
    path = write(tmp_path, TABLE)
    overrides = [f"data.path={path}", "data.target=label", "data.anomalies=[1]"]
    cfg = compose(["dataset=custom", *overrides])
    check(load(cfg["dataset"], cfg["data"]))


def test_six_lines_of_yaml_in_a_users_folder(tmp_path):
    path = write(tmp_path, TABLE)
    (tmp_path / "conf" / "dataset").mkdir(parents=True)
    (tmp_path / "conf" / "dataset" / "mine.yaml").write_text(
        f"name: mine\npath: {path}\ntarget: label\nanomalies: [1]\ndrop_columns: [b]\n"
        "min_distinct: 2\n"
    )
    cfg = compose(["dataset=mine", f"hydra.searchpath=[file://{tmp_path}/conf]"])
    dataset = load(cfg["dataset"], cfg["data"])
    assert dataset.name == "mine"
    assert dataset.feature_names == ("a",)


WIDE = """a,text,gap,flat,b,label
1,x,,7,2,good
2,y,3,7,3,good
3,z,4,7,2,odd
4,z,4,7,2,bad
"""


@pytest.mark.parametrize(
    ("options", "features"),
    [
        ({"keep_columns": ["b", "a"]}, ("b", "a")),
        ({"keep_columns": [0, 4]}, ("a", "b")),
        ({"drop_columns": ["text", "gap"]}, ("a", "flat", "b")),
        ({"drop_columns": [1], "drop_missing_columns": True}, ("a", "flat", "b")),
        ({"drop_columns": [1], "drop_missing_columns": True, "min_distinct": 2}, ("a", "b")),
        ({"drop_columns": [1], "drop_missing_columns": True, "min_distinct": 3}, ("a",)),
    ],
)
def test_columns(options, features, tmp_path, caplog):
    dataset = own(write(tmp_path, WIDE), anomalies=["bad"], **options)
    assert dataset.feature_names == features
    assert dataset.X.flags.c_contiguous
    said, _, left_out = caplog.messages[0].partition("; left out: ")
    assert said == f"data set 'mine': {len(features)} features: {str(features)[1:-1]}".replace(
        "1 features: 'a',", "1 feature: 'a'"
    )
    assert {name for name in ("a", "text", "gap", "flat", "b") if repr(name) in left_out} == {
        *("a", "text", "gap", "flat", "b")
    } - {*features}
    assert ("'gap' (values missing)" in left_out) == ("drop_missing_columns" in options)
    assert ("distinct values)" in left_out) == ("min_distinct" in options)


@pytest.mark.parametrize(
    ("options", "y"),
    [({"drop_classes": ["odd"]}, [0, 0, 1]), ({"keep_classes": ["good", "bad"]}, [0, 0, 1])],
)
def test_classes(options, y, tmp_path):
    dataset = own(write(tmp_path, WIDE), anomalies=["bad"], keep_columns=["a"], **options)
    assert dataset.y.tolist() == y
    assert dataset.X[:, 0].tolist() == [1, 2, 4]
    assert dataset.rows.tolist() == [0, 1, 3]


def test_missing_values_of_dropped_rows_do_not_matter(tmp_path):
    text = "a,label\n1,g\n,odd\n3,b\n"
    dataset = own(write(tmp_path, text), anomalies=["b"], drop_classes=["odd"])
    assert dataset.X[:, 0].tolist() == [1, 3]


def test_booleans_are_numbers(tmp_path):
    dataset = own(write(tmp_path, "a,label\ntrue,0\nfalse,0\ntrue,1\n"))
    assert dataset.X[:, 0].tolist() == [1, 0, 1]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("number", [2**53 + 1, 2**53 + 3, -(2**53) - 1, 2**63, 2**64 - 1])
def test_integers_that_are_no_floats_become_the_nearest(suffix, number, tmp_path):
    path = write(tmp_path, f"a,label\n{number},0\n2,1\n")
    if suffix == "parquet":
        frame = pd.read_csv(path)
        path = tmp_path / "my.parquet"
        frame.to_parquet(path)
    assert own(path).X[0, 0] == float(number)


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        ("a,label\nred,0\n2,1\n", {}, r"column 'a' holds text \('red' in row 0\)"),
        (
            "a,label\n2020-01-31,0\n2020-02-01,1\n",
            {},
            r"column 'a' holds dates .*'2020-01-31' in row 0",
        ),
        (
            "a,b,label\n1,,0\n2,3,1\n",
            {},
            r"column 'b' has 1 of 2 values missing \(the first in row 0\)",
        ),
        (
            "a,b,label\n1,?,0\n2,3,1\n",
            {},
            r"column 'b' has 1 of 2 values missing \(the first in row 0\)",
        ),
        ("a,label\n1,0\ninf,1\n", {}, "column 'a' holds an infinite value in row 1"),
        ("a,label\n1,0\n2,\n", {}, "1 of 2 labels are missing in column 'label'"),
        (TABLE, {"target": "y"}, "no label column 'y'; the columns are 'a', 'b', 'label'"),
        (TABLE, {"anomalies": [7]}, "label '7' of anomalies does not occur.*'0', '1'"),
        (TABLE, {"anomalies": [0, 1]}, "all 4 rows are anomalies; the labels are '0', '1'"),
        (TABLE, {"anomalies": None, "normal": [0, 1]}, "all 4 rows are normal"),
        (TABLE, {"drop_classes": [1]}, "label '1' of anomalies does not occur"),
        (TABLE, {"drop_classes": [0]}, "1 rows are left, and at least 2 are needed"),
        (TABLE, {"drop_classes": [9]}, "label '9' of drop_classes does not occur"),
        ("a,label\n", {}, "0 rows are left"),
        ("", {}, "has no header line"),
        ("a,b,a\n1,2,0\n", {}, "column name 'a' occurs 2 times"),
        (TABLE, {"drop_columns": ["c"]}, "drop_columns names 'c', which is not a feature"),
        (TABLE, {"keep_columns": ["label"]}, "keep_columns names 'label', which is not a feature"),
        (TABLE, {"keep_columns": [0, "a"]}, "keep_columns lists the column 'a' 2 times"),
        (TABLE, {"keep_columns": ["b", "b", "b"]}, "keep_columns lists the column 'b' 3 times"),
        (TABLE, {"drop_columns": [0, "a"]}, "drop_columns lists the column 'a' 2 times"),
        (TABLE, {"drop_columns": [2]}, "position 2, but features are counted from 0 to 1"),
        (TABLE, {"drop_columns": ["a", "b"]}, "no feature is left"),
        (TABLE, {"min_distinct": 9}, "no feature is left"),
    ],
)
def test_one_clear_error_each(text, changes, message, tmp_path):
    with pytest.raises(DataError, match=message) as caught:
        own(write(tmp_path, text), **changes)
    assert "data set 'mine'" in str(caught.value)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "arff"])
def test_a_file_that_is_not_what_its_name_says(suffix, tmp_path):
    path = tmp_path / f"my.{suffix}"
    path.write_bytes(bytes(range(128, 256)) * 4)
    with pytest.raises(DataError, match=rf"my\.{suffix}"):
        own(path)


def test_no_such_file(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*my\.csv"):
        own(tmp_path / "my.csv")


def test_an_unknown_format(tmp_path):
    with pytest.raises(DataError, match=r"my\.xlsx is not one of \.csv, .*\.parquet, \.arff"):
        own(write(tmp_path, "", "my.xlsx"))


def test_parquet_with_a_name_twice(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, tmp_path / "my.parquet")
    with pytest.raises(DataError, match="column name 'a' occurs 2 times"):
        own(tmp_path / "my.parquet")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": None}, "needs a name"),
        ({"path": None}, "no source; give data.path=FILE"),
        ({"openml": 3}, "give a path or an OpenML id, not both"),
        ({"anomalies": None}, "exactly one of anomalies and normal"),
        ({"normal": [0]}, "exactly one of anomalies and normal"),
        ({"anomalies": []}, "is empty"),
        ({"anomalies": {"a": 1}}, "anomalies is a list"),
        (
            {"drop_column": ["a"]},
            "unknown key 'drop_column'; did you mean drop_columns.* Valid keys are .*drop_columns",
        ),
        ({"drop_columns": ["a"], "keep_columns": ["b"]}, "keep_columns or drop_columns, not both"),
        ({"min_distinct": "many"}, "min_distinct is a non-negative integer; got 'many'"),
        ({"drop_missing_columns": 1}, "drop_missing_columns is true or false"),
        ({"sources": [{"id": 3}], "path": None}, "a source is a mapping with a kind"),
        ({"sources": ["ftp"], "path": None}, "there is no kind of source 'ftp'"),
        ({"expected": {"samples": 3}}, "expected has the keys samples, features"),
    ],
)
def test_a_definition_that_is_not_valid(changes, message, tmp_path):
    yaml = {"name": "mine", "path": str(write(tmp_path, TABLE)), "anomalies": [1]}
    with pytest.raises(DataError, match=message):
        load(yaml | changes)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"source": "ftp"},
            "data.source must be one of bundled, home, openml, sklearn, uci, url, file",
        ),
        ({"hoem": "x"}, "data: unknown key 'hoem'; valid keys are .*home"),
    ],
)
def test_data_options_that_are_not_valid(data, message, tmp_path):
    with pytest.raises(DataError, match=message):
        load({"name": "m", "path": str(write(tmp_path, TABLE)), "anomalies": [1]}, data)


def test_arrays_are_read_only_and_typed(tmp_path):
    dataset = own(write(tmp_path, TABLE))
    assert dataset.X.dtype == np.float64
    assert dataset.y.dtype == np.int8
    with pytest.raises(ValueError, match="read-only"):
        dataset.X[0, 0] = 1
