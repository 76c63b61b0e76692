"""What is committed of the published run is what its packed records give, byte for byte."""

import shutil
from pathlib import Path

import pytest

from results.cli import main
from results.published import paper
from results.records.frame import load_experiments
from results.records.pack import read_packed, without_folders
from results.reproduction.blocks import make_blocks
from results.reproduction.document import FILE_NAME, update

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results" / "runs"
PACKED = sorted(PUBLISHED.glob("*.parquet"))


@pytest.mark.skipif(not PACKED, reason="no run is published yet")
@pytest.mark.parametrize(
    ("records", "options"), [(PUBLISHED, []), (PUBLISHED / "trials", ["--transposed"])]
)
def test_tables_are_regenerated_from_the_packed_records(tmp_path, records, options):
    assert main(["tables", *options, "--records", str(records), "--output", str(tmp_path)]) == 0
    folder = records / "tables"
    paths = [*folder.glob("table*"), *folder.glob("standalone.tex")]
    committed = {path.name: path.read_bytes() for path in paths}
    assert any(name.startswith("table2_novelty") for name in committed)
    for name, content in committed.items():
        assert (tmp_path / "tables" / name).read_bytes() == content, name


@pytest.fixture(scope="module")
def blocks():
    """Return the blocks of the documents, as `make published` writes them, one after the other."""
    folders = {path.parent for path in PUBLISHED.glob("*/*.parquet")}
    apart = {PUBLISHED / name for name in ("ablations", "trials", "benchmarks")}
    experiments = load_experiments(PUBLISHED, *sorted(folders - apart))
    found, _ = make_blocks(experiments, paper.publication().reasons)
    return found


@pytest.mark.skipif(not PACKED, reason="no run is published yet")
@pytest.mark.parametrize("document", [PUBLISHED.parent / FILE_NAME, ROOT / "README.md"])
def test_the_blocks_of_the_documents_are_regenerated_from_the_packed_records(blocks, document):
    text = document.read_text(encoding="utf-8")
    updated, problems = update(text, blocks)
    assert updated == text
    assert problems == []


@pytest.mark.skipif(not PACKED, reason="no run is published yet")
def test_the_ablations_are_regenerated_from_the_packed_records(tmp_path, monkeypatch):
    # The figures take most of the time, and are not committed.
    monkeypatch.setattr("results.ablations.document.draw", lambda found: None)
    monkeypatch.setattr("results.ablations.document.render", lambda figure, kind: b"")
    document = PUBLISHED.parent / "ABLATIONS.md"
    file = tmp_path / document.name
    shutil.copyfile(document, file)
    named = ["--records", str(PUBLISHED / "ablations"), "--file", str(file)]
    assert main(["ablations", *named, "--output", str(tmp_path)]) == 0
    assert file.read_text(encoding="utf-8") == document.read_text(encoding="utf-8")


@pytest.mark.skipif(not PACKED, reason="no run is published yet")
def test_the_published_run_fits_and_names_no_folder_of_a_machine():
    # Of the figures one is committed; `make published` draws the others, and the report, anew.
    drawn = {path for path in PUBLISHED.glob("figures/*") if path.name != "comparison.png"}
    kept = [p for p in PUBLISHED.rglob("*") if p.is_file() and p.name != "report.html"]
    kept = [path for path in kept if path not in drawn]
    assert sum(path.stat().st_size for path in kept) < 20e6
    for path in sorted(PUBLISHED.rglob("*.parquet")):
        for record in read_packed(path):
            assert without_folders(record) == record
