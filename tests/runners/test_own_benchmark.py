"""The files that conf/README.md shows whole: written as they stand, they are a benchmark."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from results.published.publication import load_publication

README = Path(__file__).resolve().parents[2] / "conf" / "README.md"


@pytest.fixture
def mine(tmp_path):
    """The files of the document, below tmp_path, and tables that they describe."""
    text = README.read_text(encoding="utf-8").replace("/data/", f"{tmp_path}/data/")
    found = re.findall(r"`mine/([\w/.]+\.yaml)`.*?```yaml\n(.*?)```", text, re.DOTALL)
    assert [Path(name).parts[0] for name, _ in found] == [
        *("dataset", "dataset", "protocol", "algorithm", "published", "grid", "algorithm")
    ]
    for name, content in found:
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_text(content)
    values = re.findall(r"```csv\n(.*?)```", text, re.DOTALL)
    (tmp_path / "mine" / "published" / "wafers2021" / "values.csv").write_text(values[0])
    rng = np.random.default_rng(0)
    for name in ("lab", "plants/north", "plants/south", "plants/test1"):
        frame = pd.DataFrame(rng.random((60, 2)), columns=["a", "b"]).assign(lot="x")
        path = tmp_path / "data" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.assign(verdict=["fine"] * 50 + ["scratched", "cracked"] * 5).to_csv(path, index=False)
    return tmp_path / "mine"


def test_the_grid_has_its_cells(mine, composed):
    cells = composed(f"hydra.searchpath=[file://{mine}]", "grid=wafers2021")
    assert [(cell.dataset, cell.algorithm) for cell in cells] == [
        ("plant_north", "lof"),
        ("plant_north", "iforest"),
        ("plant_south", "lof"),
        ("plant_south", "iforest"),
    ]
    assert {(cell.setting, cell.protocol, cell.n_splits) for cell in cells} == {
        ("outlier", "wafers2021", 3)
    }
    single = composed(f"hydra.searchpath=[file://{mine}]", "dataset=lab", "algorithm=lof")
    assert single[0].dataset == "lab"


def test_a_setting_of_an_algorithm_is_an_algorithm_of_a_grid(mine, composed):
    cells = composed(
        *("-m", f"hydra.searchpath=[file://{mine}]", "grid=wafers2021", "dataset=pima"),
        "algorithm=oneclassrf,ocrf_d4,iforest",
    )
    plain, shallow, _ = [cell.config["algorithm"] for cell in cells]
    assert [cell.label for cell in cells] == ["oneclassrf", "ocrf_d4", "iforest"]
    assert shallow == {**plain, "max_depth": 4}


def test_the_published_table_names_what_the_grid_runs(mine, composed):
    publication = load_publication("wafers2021", [mine])
    cells = composed(f"hydra.searchpath=[file://{mine}]", "grid=wafers2021")
    description = publication.description
    assert set(description.datasets.values()) == {cell.dataset for cell in cells}


def test_a_splitter_that_says_how_many_splits_it_makes_is_run_on_all_of_them(tmp_path, composed):
    text = README.read_text(encoding="utf-8")
    [folds] = re.findall(r"```yaml\n(name: five_folds\n.*?)```", text, re.DOTALL)
    (tmp_path / "protocol").mkdir()
    (tmp_path / "protocol" / "five_folds.yaml").write_text(folds)
    named = [f"hydra.searchpath=[file://{tmp_path}]", "protocol=five_folds", "setting=outlier"]
    [cell] = composed("dataset=pima", "algorithm=iforest", *named)
    assert cell.n_splits == 5
    [cell] = composed("dataset=pima", "algorithm=iforest", *named, "n_splits=2")
    assert cell.n_splits == 2
