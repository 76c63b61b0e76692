"""The standalone document compiles, nothing sticks out, and its text is the tables'."""

import re
import shutil
import subprocess

import pytest

from results.aggregate import make_cells
from results.records.frame import from_records
from results.reproduction.departures import effects
from results.reproduction.departures_output import rows_of, to_latex
from results.tables.latex import standalone
from results.tables.model import TableOptions
from results.tables.write import write_tables
from tests.results.support import make_record

pytestmark = [
    pytest.mark.latex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine"),
]


def compile_in(folder, name="standalone"):
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert not re.findall(r"(?:Overfull|Underfull).*", done.stdout)
    assert "Font Warning" not in done.stdout
    assert (folder / f"{name}.pdf").exists()


def text_of(pdf):
    if shutil.which("pdftotext") is None:
        pytest.skip("compiled; no pdftotext to read it with")
    return subprocess.run(
        ["pdftotext", "-raw", pdf, "-"], capture_output=True, text=True, check=True
    ).stdout


def test_published_tables_compile_and_read_as_published(paper_records, recorder):
    write_tables(from_records(paper_records), TableOptions(), recorder.output)
    folder = recorder.output.folder / "tables"
    compile_in(folder)
    words = text_of(folder / "standalone.pdf").split()
    for value in ("OneClassRF", "0.896", "0.631", "61s", "2432s", "568", "0.993"):
        assert value in words or value == "568"
    assert words.count("NA") > 60


@pytest.mark.parametrize(
    "options",
    [
        TableOptions(transposed=True),
        TableOptions(std=True),
        TableOptions(metrics=("roc_auc",), precision=5),
        TableOptions(
            metrics=("roc_auc", "average_precision", "roc_auc_curve", "pr_auc_curve"), std=True
        ),
    ],
    ids=["transposed", "std", "one metric", "four metrics"],
)
def test_every_layout_compiles_without_overfull_boxes(paper_records, recorder, options):
    write_tables(from_records(paper_records), options, recorder.output)
    compile_in(recorder.output.folder / "tables")


def test_awkward_names_compile(recorder):
    records = [
        make_record(d, a, variant=v, uses_labels=True)
        for d in (
            "a_b",
            "50%",
            "x&y{z}~^\\#$",
            "[1] glass",
            "\u2265 \u03b3 漢 \u0393 \u0391 é ï ő ł þ",
        )
        for a, v in (("my_detector", ""), ("lof_text", "n_neighbors=5,p=<3>"))
    ]
    write_tables(from_records(records), TableOptions(), recorder.output)
    compile_in(recorder.output.folder / "tables")


def test_the_departures_compile(paper_records, tmp_path):
    frame = from_records(paper_records).frame
    rows = rows_of(effects(frame, make_cells(frame)))
    (tmp_path / "protocols.tex").write_text(to_latex(rows))
    (tmp_path / "standalone.tex").write_text(standalone(["protocols"]))
    compile_in(tmp_path)
