"""How tables are written, CSV and ARFF: read right, or refused with the key that reads it."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from datasets import DataError, content_key
from tests.datasets.support import own


def test_a_header_of_numbers_is_refused(write):
    path = write("1,2.5,0\n2,3.5,0\n3,-1,1\n")
    with pytest.raises(DataError, match=r"holds numbers \(1, 2\.5, 0.*header: null .* reads it"):
        own(path)
    dataset = own(path, header=None)
    assert dataset.X.tolist() == [[1, 2.5], [2, 3.5], [3, -1]]
    assert dataset.y.tolist() == [0, 0, 1]
    assert own(path, header=None, target="V3").feature_names == ("V1", "V2")
    assert own(path, header=True).feature_names == ("1", "2.5")


def test_a_header_of_numbers_and_a_label_is_refused(write):
    path = write("1,2.5,good\n2,3.5,good\n3,-1,bad\n")
    with pytest.raises(DataError, match=r"header: null"):
        own(path, anomalies=["bad"])
    assert own(path, anomalies=["bad"], header=None).X.shape == (3, 2)


def test_columns_that_are_counted_are_names(write):
    assert own(write("0,1,label\n7,8,0\n9,10,1\n")).feature_names == ("0", "1")


def test_a_header_that_is_null_makes_another_key(write):
    path = write("1,2,0\n2,3,1\n3,-1,0\n4,4,1\n")
    yaml = {"name": "mine", "path": str(path), "anomalies": [1]}
    assert content_key(yaml | {"header": None}) != content_key(yaml | {"header": True})


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_the_separator_is_found_outside_quotes(separator, write):
    head = separator.join(['"width, mm; raw"', '"height|mm, raw; , ;"', "label"])
    path = write(f"{head}\n" + "\n".join(separator.join(row) for row in ("120", "341")) + "\n")
    dataset = own(path)
    assert dataset.feature_names == ("width, mm; raw", "height|mm, raw; , ;")
    assert dataset.X.tolist() == [[1, 2], [3, 4]]


def test_a_separator_can_be_named(write):
    path = write("a:b:label\n1:2:0\n3:4:1\n")
    assert own(path, separator=":").X.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(DataError, match=r"separator is one character; got '::'"):
        own(path, separator="::")


@pytest.mark.parametrize("zipped", [False, True])
def test_tsv(zipped, write, tmp_path):
    path = write("a, in mm\tb\tlabel\n1\t2\t0\n3\t4\t1\n", "my.tsv")
    if zipped:
        data = path.read_bytes()
        path = tmp_path / "my.tsv.gz"
        path.write_bytes(gzip.compress(data))
    assert own(path).feature_names == ("a, in mm", "b")


def test_decimal_commas(write):
    path = write("a;b;label\n1,5;2;0\n-,25;4;1\n")
    with pytest.raises(
        DataError,
        match=r"""'a' holds text \('1,5' in row 0; decimal: "," """
        r"""\('dataset.decimal=","' on the command line\) reads it""",
    ):
        own(path)
    assert own(path, decimal=",").X.tolist() == [[1.5, 2], [-0.25, 4]]
    powers = write("a;b;label\n1,5e-3;2;0\n2,5E3;4;1\n")
    with pytest.raises(DataError, match=r"""read 'a' with decimal: ",\""""):
        own(powers, target="label")
    mixed = write("a;b;c;d;label\n1,5;x;2,5;1;0\n2;y;0.5;3;1\n")
    advice = (
        r"must be numbers; read 'a' with decimal: \",\" .*; leave 'b', 'c' out with "
        r"'\+\+dataset.drop_columns=\[b,c\]'"
    )
    with pytest.raises(DataError, match=advice) as caught:
        own(mixed)
    assert "drop_missing_columns" not in str(caught.value)
    gaps = write("a;b;label\n1,5;x;0\n2;;1\n")
    with pytest.raises(
        DataError, match=r"drop_missing_columns: true .* leaves out those with miss"
    ):
        own(gaps)
    with pytest.raises(DataError, match=r"read 'a' with decimal: .*; take 'b' out of keep_columns"):
        own(mixed, keep_columns=["a", "b"])
    with pytest.raises(DataError, match=r"decimal is '\.' or ','"):
        own(path, decimal=";")


@pytest.mark.parametrize("mark", ["#", "%"])
def test_comment_lines(mark, write):
    path = write(f"{mark} measured in May\na,b,label\n1,2,0 \n{mark} pause\n3,4,1\n")
    with pytest.raises(DataError, match=f'begins with a comment .*comment: "{mark}" .* skips'):
        own(path)
    assert own(path, comment=mark).X.tolist() == [[1, 2], [3, 4]]


def test_a_header_that_begins_like_a_comment(write):
    assert own(write("#a,label\n1,0\n2,1\n"), header=True).feature_names == ("#a",)


def test_latin_1(write):
    path = write("größe,label\n1,0\n2,1\n", encoding="latin-1")
    with pytest.raises(
        DataError, match=r"not in the encoding utf-8.*encoding: latin-1 .* reads it"
    ):
        own(path)
    assert own(path, encoding="latin-1").feature_names == ("größe",)
    for encoding in ("latin-one", "rot13"):
        with pytest.raises(DataError, match=rf"no encoding '{encoding}'"):
            own(path, encoding=encoding)


def test_utf_16(write):
    path = write("größe,label\n1,0\n2,1\n", encoding="utf-16")
    with pytest.raises(DataError, match=r"encoding: utf-16 .* reads it"):
        own(path)
    assert own(path, encoding="utf-16").feature_names == ("größe",)


def test_a_layout_is_for_csv_files(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "label": [0, 1]}).to_parquet(tmp_path / "my.parquet")
    with pytest.raises(DataError, match=r"decimal, encoding are for CSV files"):
        own(tmp_path / "my.parquet", decimal=",", encoding="latin-1")


@pytest.mark.parametrize("rows", ["1,2,0,9\n3,4,1,9\n", "1,2,0,\n3,4,1,\n", "1,2,0\n3,4,1,9\n"])
def test_lines_with_a_field_too_many_are_refused(rows, write):
    with pytest.raises(DataError, match=r"more fields|Expected 3 fields in line 3, saw 4"):
        own(write("a,b,label\n" + rows))


ARFF = """@relation r
@attribute a real{a}
@attribute b {b}
@attribute outlier{labels}
@data
1,{first},no
2,{second},yes
"""


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"a": " [0, 10]"},
        {"a": " % in mm"},
        {"labels": " {yes, no} % the verdict"},
        {"b": "integer [1,9]"},
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_arff_in_its_spellings(changes, mark, write):
    values = {"a": "", "b": "numeric", "labels": "{yes,no}", "first": "3", "second": "4"} | changes
    dataset = own(write(mark + ARFF.format(**values), "my.arff"), anomalies=["yes"])
    assert dataset.X.tolist() == [[1, 3], [2, 4]]
    assert dataset.y.tolist() == [0, 1]


def test_dates_in_arff_are_named_as_such(write):
    text = ARFF.format(
        a="", b='date "yyyy-MM-dd"', labels="{yes,no}", first="2020-01-31", second="2020-02-01"
    )
    with pytest.raises(DataError, match=r"'b' holds dates or times \('2020-01-31' in row 0"):
        own(write(text, "my.arff"), anomalies=["yes"])
    assert own(write(text, "my.arff"), anomalies=["yes"], drop_columns=["b"]).X.shape == (2, 1)


def test_an_attribute_of_no_values_in_arff_is_named(write):
    text = ARFF.format(a="", b="numeric", labels=" {}", first="3", second="4")
    with pytest.raises(DataError, match=r"attribute outlier .* lists no values"):
        own(write(text, "my.arff"), anomalies=["yes"])
