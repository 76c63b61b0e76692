"""Files and folders that the documents name are there."""

import importlib
import re
from pathlib import Path

import pytest

from datasets.access import Access
from datasets.sources.kinds import NETWORK
from datasets.sources.remote import server_of
from results.records.statuses import STATUSES

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "README.md",
    *sorted(ROOT.glob("*/README.md")),
    *sorted(ROOT.glob("datasets/*/README.md")),
    *sorted(ROOT.glob("results/published/*/README.md")),
]
#: The reader's own folders, what a run leaves, and folders of other repositories.
ELSEWHERE = re.compile(r"(?:mine|output|npz|pyod2019/mat)(?:/|$)")
PATH = re.compile(r"[\w.-]+\.py|(?:[\w.-]+/)+[\w.-]*")


def absent(text, document):
    """Return the named paths that are not there.

    A name without a folder, after one with a folder on the same line, is in that folder.
    """
    found = []
    for line in re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).splitlines():
        places = [ROOT, document.parent]
        for name in re.findall(r"`([^`]+)`", line):
            if not PATH.fullmatch(name) or ELSEWHERE.match(name):
                continue
            roots = [ROOT, document.parent] if "/" in name else places
            path = next((root / name for root in roots if (root / name).exists()), None)
            if path is None:
                found.append(name)
            elif "/" in name:
                places = [path if path.is_dir() else path.parent]
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_in_documents_exist(document):
    assert absent(document.read_text(encoding="utf-8"), document) == []


def test_a_path_that_does_not_exist_is_found():
    text = (
        "| `records/frame.py`, `pack.py`, `aggregate.py` |\n`aggregate.py`, `nowhere/`, `mine/x.py`"
    )
    assert absent(text, ROOT / "results" / "README.md") == ["aggregate.py", "nowhere/"]


def test_every_module_of_the_results_is_in_its_table():
    text = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    rooms = text[text.index("## Where things are") :]
    places = [ROOT / "results", ROOT / "results" / "records", ROOT / "results" / "published"]
    names = {path.name for place in places for path in place.glob("[a-z]*.py")}
    folders = {f"{path.parent.name}/" for path in (ROOT / "results").glob("*/__init__.py")}
    assert {name for name in names | folders if name not in rooms} == set()


ADDITIONS = [
    *(
        "a metric",
        "a splitting criterion",
        "a column of the tables",
        "a row of the tables",
        "a source of data",
    ),
    *("a status", "a data set, a collection", "an algorithm", "a protocol"),
]


@pytest.mark.parametrize("addition", ADDITIONS)
def test_names_that_an_addition_touches_are_in_the_files_beside_them(addition):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [row] = [line for line in text.splitlines() if line.startswith(f"| {addition} |")]
    files, names, folder = [], [], ROOT
    for name in re.findall(r"`([^`]+)`", row):
        if "/" in name:
            folder = (ROOT / name) if name.endswith("/") else (ROOT / name).parent
            files.append(ROOT / name)
        elif name.endswith(".py"):
            files.append(folder / name)
        elif name.isidentifier():
            names.append(name)
    assert files
    assert all(path.exists() for path in files)
    sources = "".join(path.read_text(encoding="utf-8") for path in files if path.suffix == ".py")
    assert [name for name in names if not re.search(rf"\b{name}\b", sources)] == []


@pytest.mark.parametrize("kind", NETWORK)
def test_a_kind_that_a_server_serves_has_a_module_and_an_address(kind):
    source = {"kind": kind, "url": "https://example.org/x.csv"}
    assert server_of(source, Access.from_mapping({})).startswith("https://")
    assert callable(importlib.import_module(f"datasets.sources.{kind}").fetch)


def test_a_file_that_two_documents_show_is_the_same_in_both():
    shown = {}
    for folder in ("conf", "datasets"):
        text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```yaml\n(name: (\w+)\n.*?)```", text, re.DOTALL)
        shown[folder] = {name: block for block, name in blocks}
    common = shown["conf"].keys() & shown["datasets"].keys()
    assert "plants" in common
    assert {name: shown["conf"][name] for name in common} == {
        name: shown["datasets"][name] for name in common
    }


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("document", ["results/README.md", "runners/README.md"])
def test_every_status_is_explained(status, document):
    assert f"`{status}`" in (ROOT / document).read_text(encoding="utf-8")
