"""The committed tables of the published run are what its packed records give, byte for byte."""

from pathlib import Path

import pytest

from results.cli import main

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
PACKED = sorted(PUBLISHED.glob("*.parquet"))


@pytest.mark.skipif(not PACKED, reason="no run is published yet")
def test_tables_are_regenerated_from_the_packed_records(tmp_path):
    assert main(["tables", "--records", str(PUBLISHED), "--output", str(tmp_path)]) == 0
    committed = {path.name: path.read_bytes() for path in (PUBLISHED / "tables").glob("table*")}
    assert any(name.startswith("table2_novelty") for name in committed)
    for name, content in committed.items():
        assert (tmp_path / "tables" / name).read_bytes() == content, name


@pytest.mark.skipif(not PACKED, reason="no run is published yet")
def test_the_published_run_fits_and_names_no_folder_of_a_machine():
    assert sum(path.stat().st_size for path in PUBLISHED.rglob("*") if path.is_file()) < 20e6
    from results.pack import read_packed, without_paths

    for path in PACKED:
        for record in read_packed(path):
            assert without_paths(record) == record
