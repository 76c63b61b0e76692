"""The keys that tell versions of a user's own table apart."""

import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets import DataError, content_key
from datasets.configuration import compose
from datasets.home import DataHome

TABLE = "a,b,label\n1,2.5,0\n2,3.5,0\n4,-1,1\n"


def test_the_key_of_a_file_follows_its_content(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text(TABLE)
    yaml = {"name": "mine", "path": str(path), "anomalies": [1]}
    first = content_key(yaml)
    assert first == content_key(yaml)
    path.write_text(TABLE + "5,6,0\n")
    assert content_key(yaml) != first
    assert content_key(compose(["dataset=pima"])["dataset"]) is None
    with pytest.raises(DataError, match="No such file"):
        content_key(yaml | {"path": str(tmp_path / "no.csv")})


def test_other_sources_make_another_key_where_the_table_is_held_to_nothing(tmp_path):
    """The list of sources is no part of a key: the project's own all serve one table."""
    yaml, data = {"name": "mine", "anomalies": [1]}, {"home": str(tmp_path)}

    def key(number, **changes):
        return content_key(yaml | {"sources": [{"kind": "openml", "id": number}]} | changes, data)

    assert key(37) != key(40)
    expected = {"samples": 9, "features": 2, "anomalies": 1, "digest": "0" * 32}
    assert key(37, expected=expected) == key(40, expected=expected) == "0" * 32
    assert content_key(yaml | {"openml": 37}, data) is None  # the key `openml` is part of it
    pima = compose(["dataset=pima"])["dataset"]
    assert content_key(pima, data) is content_key({**pima, "expected": None}, data) is None
    assert content_key({**pima, "sources": ["home"]}, data) is None
    assert content_key({**pima, "expected": None, "sources": ["home"]}, data) is not None


def test_a_table_put_by_hand_into_the_data_home_makes_a_key_of_its_own(tmp_path):
    yaml = {"name": "mine", "anomalies": [1], "openml": 37}
    home, data = DataHome(tmp_path), {"home": str(tmp_path)}
    assert content_key(yaml, data) is None
    table = pa.table({"a": [1.0, 2.0], "class": [0, 1]})
    pq.write_table(table, home.path("openml-37"))
    first = content_key(yaml, data)
    assert first == hashlib.sha256(home.path("openml-37").read_bytes()).hexdigest()
    pq.write_table(table.slice(1), home.path("openml-37"))
    assert content_key(yaml, data) not in (None, first)
    assert content_key({"name": "mine", "anomalies": [1], "openml": 38}, data) is None
    # The project's data sets are held to a digest, and what a server sent to its own.
    pima = compose(["dataset=pima"])["dataset"]
    pq.write_table(table, home.path("pima"))
    assert content_key(pima, data) is None
    assert content_key({**pima, "expected": None}, data) is not None
    home.store("openml-37", table, "openml", "somewhere")
    assert content_key(yaml, data) is None
