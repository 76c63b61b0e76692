"""Files and keys that look right and would be read wrong: each is refused, or read as meant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from datasets import DataError
from tests.datasets.support import own


def lines(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def random_rows(n=60, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2)).round(4)
    return [(*row, int(i >= n - 10)) for i, row in enumerate(X.tolist())]


# --- lists of columns and labels ---


def test_booleans_of_yaml_mean_the_columns_that_are_spelled_so(write):
    path = write("id,No,c,yes,label\n5,1,2,3,0\n7,4,5,6,1\n")
    assert own(path, drop_columns=[False, True]).feature_names == ("id", "c")
    assert own(path, keep_columns=[False, "c"]).feature_names == ("No", "c")


@pytest.mark.parametrize("names", ["a,b,c", "yes,on,c", "true,yes,c"])
def test_a_boolean_that_is_not_one_column_is_to_be_quoted(names, write):
    path = write(f"{names},label\n1,2,3,0\n4,5,6,1\n")
    with pytest.raises(DataError, match=r"drop_columns lists true, .* quote the name"):
        own(path, drop_columns=[True])


def test_positions_and_booleans_are_told_apart(write):
    """Python has it that 1 and true are equal."""
    path = write("a,b,yes,c,label\n5,1,2,3,0\n7,4,5,6,1\n")
    assert own(path, drop_columns=[1, True]).feature_names == ("a", "c")
    assert own(path, keep_columns=[True, 0]).feature_names == ("yes", "a")
    with pytest.raises(DataError, match=r"drop_columns lists the column 'yes' 2 times"):
        own(path, drop_columns=[2, True])


def test_null_among_columns_and_a_boolean_target_are_to_be_quoted(write):
    path = write("null,a,no\n1,2,0\n4,5,1\n")
    with pytest.raises(DataError, match=r"drop_columns lists columns; got None; quote"):
        own(path, drop_columns=[None])
    with pytest.raises(DataError, match=r"target is a text; got False; quote"):
        own(path, target=False)


def test_booleans_of_yaml_mean_missing_labels_too(write):
    path = write("a,label\n1,no\n2,x\n3,y\n")
    with pytest.raises(DataError, match=r"1 of 3 labels are missing .* lists 'no'"):
        own(path, anomalies=["x"], missing_labels=[False])


def test_a_number_that_is_a_name_and_a_position_is_to_be_quoted(write):
    path = write("1,2,3,label\n5,6,7,0\n8,9,1,1\n")
    with pytest.raises(DataError, match=r"lists 1, which is the name of a column and the position"):
        own(path, header=True, drop_columns=[1])
    with pytest.raises(DataError, match=r"""position 3, .* 0 to 2; quote it, '"3"'"""):
        own(path, header=True, drop_columns=[3])
    assert own(path, header=True, drop_columns=["1"]).feature_names == ("2", "3")
    assert own(path, header=True, drop_columns=[0]).feature_names == ("2", "3")
    counted = write("0,1,2,label\n5,6,7,0\n8,9,1,1\n")
    assert own(counted, drop_columns=[1]).feature_names == ("0", "2")


@pytest.mark.parametrize(
    ("written", "chosen", "expected"),
    [
        (("01", "1", "10"), "01", [1, 0, 0]),
        (("01", "1", "10"), 1, [0, 1, 0]),
        (("\uff11", "1", "2"), 1, [0, 1, 0]),
        (("1.00", "1", "2"), 1, [1, 1, 0]),
        (("-0", "0", "1"), 0, [1, 1, 0]),
    ],
)
def test_only_spellings_of_one_number_are_one_label(written, chosen, expected, write):
    path = write("a,label\n" + lines(enumerate(written)))
    assert own(path, anomalies=[chosen], target="label").y.tolist() == expected


# --- row numbers ---


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("lengths", [(50, 10), (30, 30), (20, 20, 20), (4,) * 15])
def test_row_numbers_that_begin_again_are_an_index(lengths, start, write):
    numbers = [i + start for n in lengths for i in range(n)]
    rows = [(i, *row) for i, row in zip(numbers, random_rows(), strict=True)]
    with pytest.raises(DataError, match=r"'Unnamed: 0' numbers the rows"):
        own(write(",a,b,label\n" + lines(rows)))
    rng = np.random.default_rng(0)
    if len(lengths) == 2:
        shuffled = [rows[i] for i in rng.permutation(60)]
        if lengths[0] != lengths[1]:
            with pytest.raises(DataError, match=r"'Unnamed: 0' numbers the rows"):
                own(write(",a,b,label\n" + lines(shuffled)))


def test_counts_and_flags_without_a_name_are_features(write):
    rng = np.random.default_rng(0)
    for values in (rng.integers(0, 2, 60), rng.poisson(3, 60), [0, 1] * 30):
        rows = [(v, *row) for v, row in zip(values, random_rows(), strict=True)]
        assert own(write(",a,b,label\n" + lines(rows))).X.shape == (60, 3)


def test_a_last_column_with_a_number_per_row_is_not_taken_for_labels(tmp_path):
    frame = pd.DataFrame(random_rows(), columns=["a", "b", "label"])
    frame = frame.sample(frac=1, random_state=0)
    frame.assign(row=frame.index).to_parquet(tmp_path / "my.parquet")
    with pytest.raises(DataError, match=r"last column, 'row', numbers the rows.*target"):
        own(tmp_path / "my.parquet")
    assert own(tmp_path / "my.parquet", target="label", drop_columns=["row"]).n_anomalies == 10


# --- numbers ---


@pytest.mark.parametrize("number", ["1,000", "1,234,567", "1,000.5", "1.000,5", "12 000"])
def test_separators_of_thousands_are_not_decimal_commas(number, write):
    path = write(f'a,b,label\n"{number}",1,0\n"900",2,1\n')
    with pytest.raises(DataError, match=r"row 0; remove the separators of thousands") as caught:
        own(path)
    assert "decimal" not in str(caught.value)


def test_commas_that_cannot_separate_thousands_are_decimal(write):
    with pytest.raises(DataError, match=r"decimal: \",\" .* reads it"):
        own(write("a;label\n1,000;0\n0,125;1\n"))


def test_whole_numbers_that_floats_cannot_tell_apart_are_refused(write):
    path = write(f"a,b,label\n{2**60},1,0\n{2**60 + 1},2,1\n")
    with pytest.raises(DataError, match=r"'a' has 2 distinct whole numbers, 1 as floats"):
        own(path)
    assert own(write(f"a,label\n{2**60},0\n{2**60 + 512},1\n")).X.shape == (2, 1)


# --- files without a header ---


@pytest.mark.parametrize(
    "first",
    [
        ",1.0,2.0,0",
        "?,1,x,0",
        "inf,nan,x,0",
        "tcp,0.5,http,0",
        "tcp,181,http,0",
        ",5,7,0",
        '"0.1","0.3","x","0"',
        "1e5,a,b,c",
    ],
)
def test_a_first_line_of_data_is_refused(first, write):
    path = write(f"{first}\n1,2,3,0\n4,5,6,1\n")
    with pytest.raises(DataError, match=r"holds numbers .*header: null .* reads it as data"):
        own(path)


@pytest.mark.parametrize("head", [",0,1,label", "label,0,1,2", '"5",my text,null,label', "a,b,c,0"])
def test_names_that_are_numbers_of_columns_or_quoted_are_names(head, write):
    path = write(f"{head}\n" + 4 * "0,2.5,3,0\n" + "1,5.5,6,1\n")
    dataset = own(path, target="label" if "label" in head else None)
    assert dataset.y.tolist() == [0, 0, 0, 0, 1]
    assert set(head.replace('"', "").split(",")) > set(dataset.feature_names) - {"Unnamed: 0"}


def test_any_column_of_a_file_without_header_may_be_the_label(write):
    path = write("5,1,7\n8,0,9\n4,0,2\n")
    for target in ("V2", "1", 1):
        dataset = own(path, header=None, target=target)
        assert dataset.X.tolist() == [[5, 7], [8, 9], [4, 2]]
        assert dataset.feature_names == ("V1", "V3")
        assert dataset.y.tolist() == [1, 0, 0]
    for target in ("class", "V3", "2"):
        assert own(path, header=None, target=target, anomalies=[7]).y.tolist() == [1, 0, 0]
    for target in ("zz", "V4", "3"):
        with pytest.raises(DataError, match=rf"no label column '{target}'.*V1 to V3"):
            own(path, header=None, target=target)


# --- layout ---


def test_an_index_saved_twice_is_named(tmp_path):
    path = tmp_path / "my.csv"
    pd.DataFrame(random_rows(), columns=["a", "b", "label"]).to_csv(path)
    pd.read_csv(path).to_csv(path)
    with pytest.raises(DataError, match=r"'Unnamed: 0\.1', 'Unnamed: 0' number the rows"):
        own(path)
    assert own(path, drop_columns=[0, 1]).feature_names == ("a", "b")


def test_blank_lines_before_the_header_are_skipped(write):
    assert own(write("\n \n\na,label\n1,0\n2,1\n")).X.tolist() == [[1], [2]]
    with pytest.raises(DataError, match="no header line"):
        own(write("\n\n"))


@pytest.mark.parametrize("name", ["my.txt", "my.dat", "MY.TXT"])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_text_files_are_delimited_text(name, separator, write):
    path = write("a,b,label\n1,2,0\n3,4,1\n".replace(",", separator), name)
    assert own(path).X.tolist() == [[1, 2], [3, 4]]


def test_fields_between_spaces_need_the_key(write):
    path = write("a b label\n1 2 0\n3 4 1\n", "my.txt")
    with pytest.raises(DataError, match=r"none of the separators.*separator: \" \" .* reads"):
        own(path)
    assert own(path, separator=" ").X.tolist() == [[1, 2], [3, 4]]


def test_decimal_commas_do_not_separate(write):
    path = write("1,5;-0,2;0\n2,5;0,3;0\n3,5;0,4;1\n")
    with pytest.raises(DataError, match=r"header: null"):
        own(path, decimal=",")
    assert own(path, decimal=",", header=None).X.tolist() == [[1.5, -0.2], [2.5, 0.3], [3.5, 0.4]]
    quoted = write('a,b,label\n"1,5",2,0\n"2,5",3,1\n')
    assert own(quoted, decimal=",").X.tolist() == [[1.5, 2], [2.5, 3]]


# --- ARFF and arrays ---


def test_arff_with_tabs_and_in_latin_1(write):
    text = "@relation\tr\n@attribute\ta\tnumeric\n@attribute\tlabel\t{ä,no}\n@data\n1,no\n2,ä\n"
    assert own(write(text, "my.arff"), anomalies=["ä"]).y.tolist() == [0, 1]
    path = write(text, "my.arff", encoding="latin-1")
    with pytest.raises(DataError, match=r"encoding utf-8.*encoding: latin-1 .* reads it"):
        own(path, anomalies=["ä"])
    assert own(path, anomalies=["ä"], encoding="latin-1").y.tolist() == [0, 1]
    with pytest.raises(DataError, match=r": decimal are for CSV files"):
        own(path, anomalies=["ä"], encoding="latin-1", decimal=",")


@pytest.mark.parametrize("kind", ["integer", "INTEGER [0, 9]", "numeric", "real"])
def test_no_number_of_arff_loses_its_fraction(kind, write):
    text = f"@relation r\n@attribute a {kind}\n@attribute label {{0,1}}\n@data\n1.5,0\n2,1\n"
    assert own(write(text, "my.arff")).X.tolist() == [[1.5], [2.0]]


def test_arrays_of_the_other_byte_order(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 0, 0, 1])
    for labels, anomalies in ((y.astype(">i4"), [1]), (np.array(["g", "b"])[y], ["b"])):
        swapped = labels.astype(labels.dtype.newbyteorder(">"))
        np.savez(tmp_path / "my.npz", X=X.astype(">f8"), y=swapped)
        dataset = own(tmp_path / "my.npz", anomalies=anomalies)
        np.testing.assert_array_equal(dataset.X, X)
        np.testing.assert_array_equal(dataset.y, y)


def test_sparse_matrices_of_matlab(tmp_path):
    import scipy.io
    import scipy.sparse

    X, y = np.eye(6)[:, :3], np.array([0, 0, 1, 0, 0, 1])
    content = {"X": scipy.sparse.csc_matrix(X), "y": scipy.sparse.csc_matrix(y[:, None])}
    scipy.io.savemat(tmp_path / "my.mat", content)
    dataset = own(tmp_path / "my.mat")
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y)
