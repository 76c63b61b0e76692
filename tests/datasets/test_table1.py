"""The twelve data sets against the paper's Table 1, and what is bundled of them."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

from datasets import load
from datasets.bundled import FOLDER as BUNDLED
from datasets.bundled import build
from datasets.configuration import compose, published_names
from datasets.digest import table_digest

# Table 1: samples, features, anomalies in percent.
TABLE_1 = {
    "adult": (48842, 6, 23.9),
    "annthyroid": (7200, 6, 7.42),
    "arrhythmia": (452, 164, 45.8),
    "forestcover": (286048, 10, 0.96),
    "http": (567498, 3, 0.39),
    "ionosphere": (351, 32, 35.9),
    "pendigits": (10992, 16, 10.4),
    "pima": (768, 8, 34.9),
    "shuttle": (85849, 9, 7.17),
    "smtp": (95156, 3, 0.03),
    "spambase": (4601, 57, 39.4),
    "wilt": (4839, 5, 5.39),
}
SHIPPED = ["ionosphere", "pendigits", "pima", "shuttle", "spambase"]


def test_there_are_twelve():
    assert published_names() == sorted(TABLE_1)


@pytest.mark.parametrize("name", TABLE_1)
def test_the_yaml_holds_table_1(name):
    yaml = compose([f"dataset={name}", "protocol=paper"])["dataset"]
    assert tuple(yaml["published"]) == TABLE_1[name]
    assert yaml["name"] == name


def check(name, data):
    dataset = load(compose([f"dataset={name}", "protocol=paper"])["dataset"], data)
    samples, features, percent = TABLE_1[name]
    assert dataset.X.shape == (samples, features)
    assert len(dataset.feature_names) == features
    decimals = 1 if percent >= 10 else 2
    assert round(100 * dataset.anomaly_rate, decimals) == percent
    return dataset


@pytest.mark.parametrize("name", SHIPPED)
def test_bundled(name):
    assert check(name, {"source": "bundled"}).origin == "bundled"


@pytest.mark.mirror
@pytest.mark.parametrize("name", TABLE_1)
def test_all_twelve(name, data_home):
    check(name, {"source": "home", "home": str(data_home)})


@pytest.mark.mirror
@pytest.mark.parametrize("name", SHIPPED)
def test_the_bundled_copy_is_the_published_table_to_the_bit(name, data_home):
    bundled = check(name, {"source": "bundled"})
    home = check(name, {"source": "home", "home": str(data_home)})
    stacked = [np.column_stack([d.X, d.y]) for d in (bundled, home)]
    ordered = [rows[np.lexsort(rows.T)] for rows in stacked]
    np.testing.assert_array_equal(*ordered)


@pytest.mark.mirror
def test_the_bundled_shuttle_has_the_published_row_order(data_home):
    frames = [pd.read_parquet(folder / "shuttle.parquet") for folder in (BUNDLED, data_home)]
    np.testing.assert_array_equal(*(frame.to_numpy(dtype=float) for frame in frames))


def test_shuttle_without_the_repeated_rows():
    yaml = compose(["dataset=shuttle", "protocol=clean"])["dataset"]
    dataset = load(yaml, {"source": "bundled"})
    assert dataset.X.shape == (49097, 9)
    assert round(100 * dataset.anomaly_rate, 2) == 7.15


def test_the_repeated_rows_of_shuttle_are_the_training_part():
    short, long = (
        load(compose(["dataset=shuttle", f"protocol={p}"])["dataset"], {"source": "bundled"})
        for p in ("clean", "paper")
    )
    np.testing.assert_array_equal(long.X[:49097], short.X)
    np.testing.assert_array_equal(long.X[49097:], short.X[:36752])
    np.testing.assert_array_equal(long.y[49097:], short.y[:36752])


@pytest.mark.parametrize("name", SHIPPED)
def test_bundled_files_are_the_ones_that_were_verified(name):
    origin = json.loads((BUNDLED / "ORIGINS.json").read_text())[name]
    content = (BUNDLED / f"{name}.parquet").read_bytes()
    assert hashlib.sha256(content).hexdigest() == origin["sha256"]
    assert origin["licence"]


def test_bundled_files_are_small():
    assert sum(path.stat().st_size for path in BUNDLED.glob("*.parquet")) < 1.5e6
    assert sorted(path.stem for path in BUNDLED.glob("*.parquet")) == SHIPPED
    assert sorted(build.BUILDERS) == sorted(build.ORIGINS) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_expected_digests_are_of_what_is_loaded(name):
    yaml = compose([f"dataset={name}", "protocol=clean"])["dataset"]
    dataset = load(yaml, {"source": "bundled"})
    assert table_digest(dataset.X, dataset.y) == yaml["expected"]["digest"]
    assert dataset.n_anomalies == yaml["expected"]["anomalies"]
