"""Collections: one YAML, many data sets; files at addresses, held to their sha256."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hydra.errors import HydraException

from datasets import DataError, DataUnavailable, content_key, load
from datasets.cli import main
from datasets.collections import collections, read_collection
from datasets.configuration import CONF, compose

ROOT = Path(__file__).resolve().parents[2]
TABLE = "a,b,label\n1,2.5,ok\n2,3.5,ok\n3,4.5,ok\n4,-1,odd\n"


@pytest.fixture
def folder(tmp_path):
    """Three tables, and what is not a table of the collection."""
    sets = tmp_path / "sets"
    (sets / "more").mkdir(parents=True)
    for name in ("one", "two.b", "three_old"):
        (sets / f"{name}.csv").write_text(TABLE)
    (sets / "notes.txt").write_text("nothing")
    (sets / "more" / "four.csv").write_text(TABLE)
    return sets


@pytest.fixture
def describe(tmp_path):
    """Write a YAML; return its path and the override that puts its folder on the search path."""

    def write(text, name="mine"):
        path = tmp_path / "own" / "dataset" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path, f"hydra.searchpath=[file://{tmp_path / 'own'}]"

    return write


def test_members_are_the_files_that_match(folder, describe):
    path, search = describe(
        f"name: mine\ncollection:\n  path: {folder}/{{member}}.csv\n  exclude: ['*_old']\n"
        "target: label\nanomalies: [odd]\n"
    )
    collection = read_collection(path)
    assert list(collection.members) == ["one", "two.b"]
    cfg = compose([search, "dataset=mine/two.b"])
    dataset = load(cfg["dataset"], cfg["data"])
    assert (dataset.name, dataset.X.shape, dataset.n_anomalies) == ("mine_two.b", (4, 2), 1)


def test_an_excluded_name_that_is_no_member_is_refused(folder, describe):
    path, _ = describe(
        f"name: mine\ncollection:\n  path: {folder}/{{member}}.csv\n  exclude: ['x*', onee]\n"
        "target: label\nanomalies: [odd]\n"
    )
    with pytest.raises(DataError, match=r"exclude names 'onee', .* did you mean one"):
        read_collection(path)


def test_a_pattern_may_have_folders_and_members_may_be_listed(folder, describe):
    path, _ = describe(
        f"name: mine\ncollection:\n  path: {folder}/more/{{member}}.csv\n  names: 'x-{{member}}'\n"
        "anomalies: [odd]\n"
    )
    assert read_collection(path).members["four"]["name"] == "x-four"
    path, _ = describe(
        f"collection:\n  path: {folder}/{{member}}.csv\n  members: [one]\nanomalies: [odd]\n",
        "other",
    )
    assert list(read_collection(path).members) == ["one"]
    assert read_collection(path).members["one"]["name"] == "other_one"


def test_a_zip_file_is_a_folder(folder, describe, tmp_path):
    with zipfile.ZipFile(tmp_path / "sets.zip", "w") as archive:
        for file in folder.glob("*"):
            if file.is_file():
                archive.write(file, f"in/{file.name}")
    path, search = describe(
        f"name: z\ncollection:\n  path: {tmp_path}/sets.zip/in/{{member}}.csv\nanomalies: [odd]\n",
        "z",
    )
    assert list(read_collection(path).members) == ["one", "three_old", "two.b"]
    definition = compose([search, "dataset=z/one"])["dataset"]
    assert load(definition).X.shape == (4, 2)
    assert content_key(definition) == hashlib.sha256(TABLE.encode()).hexdigest()
    definition["sources"][0]["path"] = f"{tmp_path}/sets.zip/in/gone.csv"
    with pytest.raises(DataError, match=r"no in/gone\.csv in .*sets\.zip"):
        load(definition)
    with pytest.raises(DataError, match=r"no in/gone\.csv in .*sets\.zip"):
        content_key(definition)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pth: x", r"unknown key collection\.pth; did you mean path"),
        ("path: x.csv", r"collection\.path holds \{member\} once"),
        ("{}", r"exactly one of collection\.path and collection\.url"),
        (
            "path: nowhere/{member}.csv",
            r"no file matches collection\.path, nowhere/\{member\}\.csv",
        ),
        ("path: nowhere.zip/{member}.csv", r"there is no file nowhere\.zip"),
        ("url: 'http://x/{file}.csv'", r"collection\.members maps each name to its sha256"),
        ("url: 'http://x'\n  members: {a: {size: 3}}", r"members\.a is a sha256, or"),
        ("path: 'x/{member}'\n  names: all", r"collection\.names holds \{member\}"),
    ],
)
def test_a_collection_that_is_not_valid(text, message, describe):
    path, search = describe(f"name: mine\ncollection:\n  {text}\nanomalies: [odd]\n")
    with pytest.raises(DataError, match=message):
        read_collection(path)
    with pytest.raises(HydraException, match=message):
        compose([search, "dataset=mine/a"])


def test_the_collection_itself_is_no_data_set():
    with pytest.raises(DataError, match=r"'adbench' is a collection; .*dataset=adbench/MEMBER"):
        load(compose(["dataset=adbench"])["dataset"])
    with pytest.raises(HydraException, match=r"has no data set 'cardoi'; did you mean cardio"):
        compose(["dataset=adbench/cardoi"])


def test_the_projects_collections_are_valid():
    from datasets.definition import Definition

    found = {collection.name: collection for collection in collections()}
    assert {name: len(c.members) for name, c in found.items()} == {"adbench": 43, "odds": 17}
    names = [member["name"] for c in found.values() for member in c.members.values()]
    assert len(set(names)) == len(names)
    assert not set(names) & {path.stem for path in (CONF / "dataset").glob("*.yaml")}
    for collection in found.values():
        for member in collection.members.values():
            assert Definition.from_mapping(member).pinned


def test_the_command_line_lists_members(folder, describe, capsys):
    _, search = describe(
        f"name: mine\ncollection:\n  path: {folder}/{{member}}.csv\nanomalies: [odd]\n"
    )
    assert main([search, "dataset=mine"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "mine_one",
        "mine_three_old",
        "mine_two.b",
    ]
    assert main([search, "dataset=mine/one,pima"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["mine_one", "pima"]


# --- files at addresses ---


@pytest.fixture
def content():
    sink = io.BytesIO()
    np.savez(sink, X=np.arange(8.0).reshape(4, 2) ** 2, y=[0, 0, 0, 1])
    return sink.getvalue()


@pytest.fixture
def at(server, content):
    def definition(*paths, sha256=None, **keys):
        source = {
            "kind": "url",
            "url": [server.url + path for path in paths],
            "sha256": sha256 or hashlib.sha256(content).hexdigest(),
        }
        return {"name": "n", "anomalies": [1], "target": "y", "sources": [source | keys]}

    return definition


def test_a_file_is_downloaded_kept_and_not_asked_for_again(
    server, at, content, data, helpers, tmp_path
):
    server.add("/a/x.npz", helpers["Reply"](content))
    definition = at("/a/x.npz", file="npz/x.npz")
    assert load(definition, data).origin == "url"
    assert (tmp_path / "home" / "npz" / "x.npz").read_bytes() == content
    again = load(definition, data)
    assert (again.origin, again.X.shape) == ("home (url)", (4, 2))
    assert server.requests["/a/x.npz"] == 1
    assert content_key(definition) == hashlib.sha256(content).hexdigest()


@pytest.mark.usefixtures("in_process")
def test_mirrors_are_asked_in_turn(server, at, content, data, helpers):
    server.add("/b/x.npz", helpers["Reply"](content))
    assert load(at("/a/x.npz", "/b/x.npz"), data).origin == "url"
    server.add("/b/x.npz", helpers["Reply"](b"", 404))
    data["home"] += "-other"
    with pytest.raises(DataUnavailable, match=r"/a/x\.npz: HTTP status 404; .*/b/x\.npz: HTTP"):
        load(at("/a/x.npz", "/b/x.npz"), data)


@pytest.mark.usefixtures("in_process")
def test_half_a_download_and_503_are_tried_again(server, at, content, data, helpers):
    reply = helpers["Reply"]
    server.add("/x.npz", reply(b"busy", 503), reply(content, truncated=True), reply(content))
    assert load(at("/x.npz"), data).origin == "url"
    assert server.requests["/x.npz"] == 3


@pytest.mark.usefixtures("in_process")
def test_another_file_is_refused(server, at, content, data, helpers, tmp_path):
    server.add("/x.npz", helpers["Reply"](content))
    with pytest.raises(
        DataUnavailable, match=rf"whose sha256 is [0-9a-f]{{64}}, {'0' * 64} expected"
    ):
        load(at("/x.npz", sha256="0" * 64), data | {"retries": 0})
    assert not list((tmp_path / "home").rglob("*.npz"))


@pytest.mark.usefixtures("in_process")
def test_a_damaged_file_of_the_home_is_said_and_fetched_again(
    server, at, content, data, helpers, tmp_path, caplog
):
    server.add("/x.npz", helpers["Reply"](content))
    stored = tmp_path / "home" / "x.npz"
    stored.parent.mkdir()
    stored.write_bytes(content[:-10])
    with pytest.raises(DataUnavailable, match="not asked"):
        load(at("/x.npz"), data | {"offline": True})
    assert "it is not used" in caplog.text
    assert load(at("/x.npz"), data).origin == "url"
    assert stored.read_bytes() == content


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"url": []}, "needs an address"),
        ({"url": "ftp://x/y.npz"}, "is not an http or https address"),
        ({"sha256": "abc"}, "is not a sha256: 64 hexadecimal digits"),
        ({"sha265": "abc"}, "sha265: unknown key; did you mean sha256"),
        ({"file": "../x.npz"}, "is not a path below the data home"),
    ],
)
def test_an_address_that_is_not_valid(keys, message, at):
    with pytest.raises(DataError, match=message):
        load(at("/x.npz", **keys))
