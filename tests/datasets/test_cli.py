"""python -m datasets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from datasets.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("OCRF_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path / "home"


def words(text):
    return text.split()


def row(text, name):
    (line,) = [line for line in text.splitlines() if line.split()[:1] == [name]]
    return line.split()


def test_what_is_bundled_is_shown_and_what_is_missing_named(home, capsys):
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert row(out, "pima") == words("pima 768 8 34.90 % 768 x 8, 34.9 % bundled same")
    assert row(out, "http") == words("http 567498 x 3, 0.39 % not here")
    assert f"no http.parquet in {home}" in err
    assert "python -m datasets fetch" in err
    assert len([line for line in out.splitlines() if line.split()[-1:] == ["same"]]) == 5


@pytest.mark.mirror
def test_all_twelve_are_shown(data_home, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([f"data.home={data_home}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.split()[-1:] == ["same"]]) == 12


def test_another_table_is_named_and_the_status_says_so(home, capsys):
    home.mkdir()
    pd.DataFrame({"a": [1.0, 2.0], "class": ["n", "w"]}).to_parquet(home / "wilt.parquet")
    # The file is refused, so the data set is not here...
    assert main(["dataset=wilt"]) == 0
    assert "2 rows, 4839 expected" in " ".join(capsys.readouterr().err.split())
    # ...and a YAML whose Table 1 is another one is a difference.
    assert main(["dataset=pima", "dataset.published=[769,8,34.9]"]) == 1
    assert "DIFFERENT" in capsys.readouterr().out
    assert main(["dataset=pima", "dataset.published=[768,8,34.8]"]) == 1


def test_the_clean_protocol_shows_shuttle_unrepeated(home, capsys):
    assert main(["dataset=shuttle", "protocol=clean"]) == 0
    assert row(capsys.readouterr().out, "shuttle")[-1] == "unrepeated"


def test_own_data_are_shown(home, tmp_path, capsys):
    (tmp_path / "my.csv").write_text("a,label\n1,0\n2,0\n3,1\n")
    path = f"data.path={tmp_path}/my.csv"
    assert main(["dataset=custom", path, "data.anomalies=[1]"]) == 0
    assert row(capsys.readouterr().out, "custom") == words("custom 3 1 33.33 % file")
    assert main(["dataset=custom", path, "data.anomalies=[2]"]) == 2
    assert "'2' of anomalies does not occur" in " ".join(capsys.readouterr().err.split())
    assert main(["dataset=custom"]) == 2
    assert "data.path=FILE" in capsys.readouterr().err


def test_digest(home, capsys):
    assert main(["digest", "dataset=pima"]) == 0
    out = capsys.readouterr().out
    assert "samples: 768, features: 8, anomalies: 268" in out
    assert "digest: 12932c1c61e2f6db1359af08a1ecc1b6" in out
    assert "ordered_digest: " in out


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("dataset=wafers", r"hydra.searchpath=\[file://FOLDER\] adds options of your own"),
        ("dataset=odds_cardio", "^odds_cardio is dataset=odds/cardio$"),
        ("dataset=pma", "Could not find 'dataset/pma'; there are adbench, .*did you mean 'pima'"),
        ("dataset=adbench/cardoi", "no data set 'cardoi'; did you mean cardio"),
        ("dataset=pima dataset.taget=x", "taget"),
        ("data.timeuot=3", "timeuot"),
        ("dataset=[", "."),
    ],
)
def test_a_mistyped_word_is_said_in_one_line(word, said, home, capsys):
    assert main(word.split()) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert re.search(said, found.err)


@pytest.mark.parametrize("command", ["show", "fetch", "digest"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("name: pima\npath: {0}\nanomalies: [1]\n", "own.yaml: the name 'pima' is that of"),
        ("name: own\npathh: {0}\n", "own.yaml: data set 'own': unknown key 'pathh'"),
        ("name: [1\n", "own.yaml, line 2, column 1: not YAML: "),
        ("name: caf\udce9\n", "own.yaml: byte 9 is not UTF-8"),
        ("name: own\npath: ${{nowhere}}\n", "Interpolation key 'nowhere' not found"),
        ("name: x\ncollection: {{pathh: 1}}\n", "own.yaml: unknown key collection.pathh"),
        (
            "collection: {{path: '{1}/{{member}}.csv', names: '{{member}}'}}\nanomalies: [1]\n",
            "own.yaml: the name 'pima' is that of",
        ),
    ],
)
def test_mistakes_in_a_user_s_file_name_the_file(command, content, words, home, tmp_path, capsys):
    table = tmp_path / "pima.csv"
    table.write_text("a,label\n1,0\n2,1\n")
    path = tmp_path / "mine" / "dataset" / "own.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(content.format(table, tmp_path).encode(errors="surrogateescape"))
    assert main([command, "dataset=own", f"hydra.searchpath=[file://{tmp_path}/mine]"]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["show", "digest"])
def test_a_table_that_does_not_fit_names_the_file_that_describes_it(
    command, home, tmp_path, capsys
):
    table = tmp_path / "mine.csv"
    table.write_text("a,label\n1,0\nx,1\n")
    path = tmp_path / "mine" / "dataset" / "own.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(f"name: own\npath: {table}\nanomalies: [1]\n")
    assert main([command, "dataset=own", f"hydra.searchpath=[file://{tmp_path}/mine]"]) == 2
    assert f"{path}: data set 'own': 1 of 1 columns" in capsys.readouterr().err


def test_a_file_that_the_project_s_would_shadow_is_refused(home, tmp_path, capsys):
    path = tmp_path / "mine" / "dataset" / "pima.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("name: mine\n")
    assert main(["dataset=wilt", f"hydra.searchpath=[file://{tmp_path}/mine]"]) == 2
    assert f"{path}; only the first would be used" in capsys.readouterr().err


def test_a_collection_that_is_not_yaml_is_named(home, tmp_path, capsys):
    path = tmp_path / "mine" / "dataset" / "plants.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("name: plants\ncollection: {path: {member}.csv}\n")
    assert main(["dataset=plants/a", f"hydra.searchpath=[file://{tmp_path}/mine]"]) == 2
    assert f"{path}, line 2, column" in capsys.readouterr().err


@pytest.mark.parametrize("collection", ["odds", "plants"])
def test_a_file_that_a_member_of_a_collection_would_shadow_is_refused(
    home, tmp_path, capsys, collection
):
    folder = tmp_path / "mine" / "dataset"
    path = folder / collection / "cardio.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("name: mine\n")
    if collection == "plants":
        (tmp_path / "cardio.csv").write_text("a,b\n1,0\n2,1\n")
        (folder / "plants.yaml").write_text(
            f"name: plants\ncollection: {{path: '{tmp_path}/{{member}}.csv', members: [cardio]}}\n"
            "anomalies: [1]\n"
        )
    assert main(["dataset=wilt", f"hydra.searchpath=[file://{tmp_path}/mine]"]) == 2
    assert f"and {path} has its name; only the member" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("dataset=40685", "dataset=custom data.openml=40685"),
        ("data.path=/a=b.csv", "write 'data.path=\"/a=b.csv\"'"),
        ("hydra.searchpath=[/nowhere]", "there is no folder /nowhere"),
    ],
)
def test_overrides_are_read_as_the_runners_read_them(word, said, home, capsys):
    assert main(["dataset=pima", word] if "dataset" not in word else [word]) == 2
    assert said in capsys.readouterr().err


def test_fetch_fills_the_home_and_names_what_it_cannot_have(
    home, uci, server, frame, helpers, capsys
):
    uci("52/ionosphere.zip", {"ionosphere.data": helpers["lines"](frame("ionosphere"))})
    overrides = [
        f"++data.openml_server={server.url}/api/v1/xml",
        f"++data.uci_url={server.url}/static/public",
        "++data.retries=0",
    ]
    assert main(["fetch", "dataset=ionosphere", "data.source=uci", *overrides]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "ionosphere: uci" in out
    assert "1 of 1 data sets are at hand" in out
    assert (home / "ionosphere.parquet").exists()
    assert main(["fetch", "dataset=ionosphere", "data.source=uci", *overrides]) == 0
    assert server.requests["/static/public/52/ionosphere.zip"] == 1
    assert main(["fetch", "dataset=annthyroid", *overrides]) == 1
    said = capsys.readouterr()
    assert "annthyroid" in said.err
    assert "HTTP status 404" in said.err
    assert "0 of 1 data sets are at hand" in " ".join(said.out.split())


def test_fetch_removes_what_was_left_half_written(home, capsys):
    home.mkdir()
    (home / ".wilt-abc.tmp").write_bytes(b"half")
    assert main(["fetch", "dataset=pima"]) == 0
    assert not (home / ".wilt-abc.tmp").exists()


def test_without_a_network_every_server_is_given_up(home, unused_url, capsys):
    """Twelve data sets, every server refusing: each host is asked."""
    overrides = [
        f"++data.openml_server={unused_url}",
        f"++data.uci_url={unused_url}",
        f"++data.sklearn_url={unused_url}",
        "++data.backoff=0.1",
    ]
    assert main(["fetch", *overrides]) == 1
    assert "5 of 12 data sets are at hand" in " ".join(capsys.readouterr().out.split())


def test_as_a_module(home):
    done = subprocess.run(
        [sys.executable, "-m", "datasets", "dataset=pima"],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert row(done.stdout, "pima")[-1] == "same"
    assert done.stderr == ""


def test_what_was_read_of_own_data_is_no_warning_and_what_gives_labels_away_is(home, tmp_path):
    frame = pd.DataFrame({"a": [1.5, 1.2, 9.5, 1.1], "label": [0, 0, 1, 0]})
    frame.to_csv(tmp_path / "own.csv", index=False)
    own = ["dataset=custom", f"data.path={tmp_path / 'own.csv'}", "data.anomalies=[1]"]
    done = subprocess.run(
        [sys.executable, "-m", "datasets", *own],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"^INFO +data set .* 1 feature: ", done.stderr)
    assert re.search(r"^WARNING +data set .* alone ", done.stderr, re.MULTILINE)


def test_a_command_that_does_not_exist_is_refused_with_those_that_do(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fetsh"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "there is no command 'fetsh'; did you mean fetch?" in said
    assert "show, fetch, digest" in said
