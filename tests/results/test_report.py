"""The report: self-contained, complete, and working in a real browser."""

import html
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

from results.records.frame import from_records
from results.report.build import build_report
from results.report.html_table import sort_key
from tests.results.support import make_record, with_curves

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


def some_records():
    rng = np.random.default_rng(0)
    records = [
        with_curves(
            make_record(
                d, a, split=s, setting=t, roc=r, config={"n_splits": 2}, uses_labels=a == "orca"
            ),
            rng,
        )
        for a, r in (("oneclassrf", 0.9), ("iforest", 0.8), ("lof", 0.7), ("orca", 0.65))
        for d, shift in (("pima", 0), ("wilt", 1), ("adult", 2))
        for t in ("novelty", "outlier")
        for s in range(2)
        if (d, a) != ("wilt", "lof")
        for r in [r - 0.01 * shift]
    ]
    records.append(make_record("wilt", "lof", status="timeout", config={"n_splits": 2}))
    records.append(
        make_record("pima", "ocsvm", status="error", reason="<script>alert(1)</script> & more")
    )
    return records


@pytest.fixture(scope="module")
def report():
    return build_report(from_records(some_records()))


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.ids, self.images, self.open = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            assert attrs["id"] not in self.ids
            self.ids.add(attrs["id"])
        self.targets += [attrs[a] for a in ("href", "src") if a in attrs]
        if tag == "img":
            self.images.append(attrs)
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_everything_is_inside_and_the_markup_is_balanced(report):
    links = Links()
    links.feed(report)
    assert not links.open
    for target in links.targets:
        assert target.startswith(("data:", "#"))
        if target.startswith("#"):
            assert target[1:] in links.ids
    assert len(links.images) > 10
    assert all(image["alt"] for image in links.images)
    assert "http://" not in re.sub(r"data:[^\"]*", "", report)
    assert "https://" not in re.sub(r"data:[^\"]*", "", report)


def test_it_shows_values_marks_failures_and_what_is_missing(report):
    assert '<td data-sort="0.900" class="best ">0.900</td>' in report or ">0.9" in report
    assert "LOF" in report
    assert "because of timeout" in report
    assert "Orca‡" in report
    assert "was given the labels" in report
    assert "not run (paper, ocsvm" in report


def test_reasons_are_escaped(report):
    assert "<script>alert" not in report
    assert "&lt;script&gt;alert(1)" in report


def test_same_records_same_report_whatever_their_order():
    chosen = ("pima", "lof", "novelty")
    records = [r for r in some_records() if (r.dataset, r.algorithm, r.setting) == chosen]
    assert len(records) == 2
    assert build_report(from_records(records)) == build_report(from_records(records[::-1]))


@pytest.mark.parametrize(
    "records",
    [
        [make_record()],
        [make_record(status="error")],
        [make_record("mine", "my_algorithm", setting="novelty", protocol="clean")],
    ],
)
def test_a_grid_of_one_cell_gives_a_report_too(records):
    assert "</html>" in build_report(from_records(records))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0.665†", "0.665"),
        ("NA", ""),
        ("--", ""),
        ("61s", "61"),
        ("-0.010", "-0.010"),
        ("+0.010", "0.010"),
        ("pima", "pima"),
        ("< 0.001", "0.001"),
        ("2/0/3", "2"),
    ],
)
def test_cells_sort_by_their_number(text, key):
    assert sort_key(text) == key


# What the browser is made to do: sort every table by every column both ways, look at every image,
# and report what went wrong in the title.
PROBE = """
<script>
window.addEventListener("load", () => {
  const wrong = [];
  for (const d of document.querySelectorAll("details")) d.open = true;
  for (const image of document.images) {
    if (!(image.complete && image.naturalWidth > 50 && image.clientWidth > 50)) wrong.push("small " + image.alt);
  }
  let sorted = 0;
  for (const table of document.querySelectorAll("table")) {
    const texts = () => Array.from(table.tBodies[0].rows, r => r.innerText).sort().join("|");
    const before = texts();
    const heads = table.tHead.rows[table.tHead.rows.length - 1].cells;
    for (let i = 0; i < heads.length; i++) for (const state of ["ascending", "descending"]) {
      heads[i].querySelector("button").click();
      if (heads[i].getAttribute("aria-sort") !== state) wrong.push("aria-sort");
      const keys = Array.from(table.tBodies[0].rows, r => r.cells[i].dataset.sort);
      const filled = keys.filter(k => k !== "");
      if (keys.slice(filled.length).some(k => k !== "")) wrong.push("marks are not last");
      const up = state === "ascending" ? 1 : -1;
      for (let j = 1; j < filled.length; j++) {
        const a = Number(filled[j - 1]), b = Number(filled[j]);
        const order = isNaN(a) || isNaN(b) ? filled[j - 1].localeCompare(filled[j]) : a - b;
        if (up * order > 0) wrong.push(table.caption.innerText + ": " + filled[j - 1] + ", " + filled[j]);
      }
      sorted++;
    }
    if (texts() !== before) wrong.push("rows changed");
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) wrong.push("page is " + wide + " px too wide");
  window.parent.document.title = "probe " + sorted + " sorted, " + document.images.length + " images, width " +
    innerWidth + ", wrong: " + (wrong.join("; ") || "nothing");
});
</script>
"""


def chromium(tmp_path, *arguments):
    return subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={tmp_path / 'profile'}", "--no-first-run", *arguments],
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


@pytest.mark.browser
@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser_figures_show_tables_sort_and_nothing_is_logged(report, tmp_path, width):
    probed = report.replace("</body>", PROBE + "</body>")
    page = tmp_path / "report.html"
    if width >= 500:
        page.write_text(probed, encoding="utf-8")
    else:  # chromium's window cannot be as narrow as a phone; a frame can
        page.write_text(
            f'<title>none</title><body style="margin:0"><iframe srcdoc="{html.escape(probed)}" '
            f'style="border:0" width="{width}" height="1500"></iframe>',
            encoding="utf-8",
        )
    done = chromium(
        tmp_path,
        f"--window-size={max(width, 500)},2000",
        "--virtual-time-budget=60000",
        "--dump-dom",
        page.as_uri(),
    )
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
    assert title, done.stderr
    assert title.group(1).endswith("wrong: nothing")
    assert f"{report.count('<img')} images, width {width}," in title.group(1)
    assert int(re.search(r"probe (\d+) sorted", title.group(1)).group(1)) > 100
    assert "CONSOLE" not in done.stderr


@pytest.mark.browser
@needs_browser
def test_printed_it_holds_every_column(report, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(report, encoding="utf-8")
    pdf = tmp_path / "report.pdf"
    chromium(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri())
    assert pdf.read_bytes().startswith(b"%PDF")
    if shutil.which("pdftotext"):
        text = subprocess.run(
            ["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True
        ).stdout
        for name in ("OneClassRF", "iForest", "LOF", "Orca‡", "cum. train time"):
            assert name in text
        assert "Box plots over the splits" in text
