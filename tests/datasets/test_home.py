"""The data home: damage is noticed and mended, also by several processes at once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets import DataUnavailable, load
from datasets.errors import SourceFailed
from datasets.home import DataHome

ROOT = Path(__file__).parents[2]


@pytest.fixture
def table():
    return pa.table({"a": [1.0, 2.5], "class": ["n", "w"]})


@pytest.fixture
def home(tmp_path):
    return DataHome(tmp_path / "deep" / "home")


def test_what_is_stored_is_read(home, table):
    home.store("it", table, "uci", "2/it.zip")
    stored = home.read("it", None)
    assert stored.table.equals(table)
    assert stored.origin == "uci"
    assert set(json.loads(home.companion("it").read_text())) == {"sha256", "origin", "url"}
    assert sorted(p.name for p in home.folder.iterdir()) == [".lock", "it.json", "it.parquet"]


def test_labels_come_dictionary_encoded(home, table):
    home.store("it", table, "uci", "")
    assert pa.types.is_dictionary(home.read("it", "class").table["class"].type)


def test_nothing_there(home):
    with pytest.raises(SourceFailed, match=r"no it\.parquet in"):
        home.read("it", None)


def test_a_file_put_there_by_hand_needs_no_companion(home, table):
    home.folder.mkdir(parents=True)
    pq.write_table(table, home.path("it"))
    assert home.read("it", None).origin is None


def truncated(path):
    path.write_bytes(path.read_bytes()[:-20])


def altered(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def emptied(path):
    path.write_bytes(b"")


DAMAGES = [truncated, altered, emptied]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed_and_said(damage, home, table, caplog):
    home.store("it", table, "uci", "")
    damage(home.path("it"))
    with pytest.raises(SourceFailed, match="is damaged: its sha256"):
        home.read("it", None)
    assert "it.parquet is damaged" in caplog.text


@pytest.mark.parametrize("damage", [truncated, emptied])
def test_damage_is_noticed_without_a_companion(damage, home, table):
    home.folder.mkdir(parents=True)
    pq.write_table(table, home.path("it"))
    damage(home.path("it"))
    with pytest.raises(SourceFailed, match="is damaged: it is not a Parquet file"):
        home.read("it", None)


def test_an_unreadable_companion_is_damage(home, table):
    home.store("it", table, "uci", "")
    home.companion("it").write_text('{"sha256": ')
    with pytest.raises(SourceFailed, match="note of its sha256 is unreadable"):
        home.read("it", None)


@pytest.mark.usefixtures("in_process")
def test_a_damaged_file_is_fetched_again(uci, data, definition, frame, helpers, server):
    path = uci("52/ionosphere.zip", {"ionosphere.data": helpers["lines"](frame("ionosphere"))})
    yaml = definition("ionosphere", sources=definition("ionosphere")["sources"][1:])
    assert load(yaml, data).origin == "uci"
    assert load(yaml, data).origin == "home (uci)"
    altered(Path(data["home"]) / "ionosphere.parquet")
    assert load(yaml, data).origin == "uci"
    assert server.requests[path] == 2
    assert load(yaml, data).origin == "home (uci)"


@pytest.mark.usefixtures("in_process")
def test_another_table_put_there_by_hand_is_refused_and_set_aside(
    uci, data, definition, frame, helpers
):
    uci("52/ionosphere.zip", {"ionosphere.data": helpers["lines"](frame("ionosphere"))})
    home = Path(data["home"])
    home.mkdir()
    frame("ionosphere").iloc[:-1].to_parquet(home / "ionosphere.parquet")
    yaml = definition("ionosphere", sources=definition("ionosphere")["sources"][1:])
    assert load(yaml, data).origin == "uci"
    assert load(yaml, data).origin == "home (uci)"
    assert len(pd.read_parquet(home / "ionosphere.parquet.rejected")) == 350


@pytest.mark.usefixtures("in_process")
def test_a_folder_that_cannot_be_made_is_said_and_the_data_are_served(
    uci, data, definition, frame, helpers, tmp_path, caplog
):
    uci("52/ionosphere.zip", {"ionosphere.data": helpers["lines"](frame("ionosphere"))})
    # Works for root too, whom no permission stops.
    (tmp_path / "file").write_text("")
    data["home"] = str(tmp_path / "file" / "home")
    assert load(definition("ionosphere"), data | {"source": "uci"}).origin == "uci"
    assert "is not kept" in caplog.text


@pytest.mark.skipif(os.geteuid() == 0, reason="no permission stops root")
def test_a_read_only_home_is_read_without_permissions(home, table):
    _read_only(home, table)


def test_a_read_only_home_is_read(home, table, monkeypatch):
    """As root: opening anything for writing fails as on a read-only file system."""
    home.store("it", table, "uci", "")
    real_open = Path.open

    def read_only(path, mode="r", *args, **kwargs):
        if set(mode) & set("wax+"):
            raise OSError(30, "Read-only file system", str(path))
        return real_open(path, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", read_only)
    assert home.read("it", None).table.equals(table)
    truncated_note = home.companion("it")
    os.chmod(truncated_note, 0o644)
    os.truncate(truncated_note, 5)
    with pytest.raises(SourceFailed, match="is damaged"):
        home.read("it", None)


def _read_only(home, table):
    home.store("it", table, "uci", "")
    for path in home.folder.iterdir():
        path.chmod(0o444)
    home.folder.chmod(0o555)
    try:
        assert home.read("it", None).table.equals(table)
    finally:
        home.folder.chmod(0o755)


WRITER = """
import sys
import numpy as np, pyarrow as pa
from datasets.home import DataHome
from pathlib import Path
home = DataHome(Path(sys.argv[1]))
seed = int(sys.argv[2])
print("ready", flush=True)
for i in range(int(sys.argv[3])):
    rng = np.random.default_rng([seed, i])
    values = rng.normal(size=20000)
    values[0] = values[1:].sum()  # a table that can be told to be whole
    home.store("it", pa.table({"a": values}), "uci", f"{seed} {i}")
"""


def _writer(folder, seed, n):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(seed), str(n)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def whole(stored):
    values = stored.table["a"].to_numpy()
    return len(values) == 20000 and np.isclose(values[0], values[1:].sum())


def test_several_processes_fill_it_at_once(home):
    writers = [_writer(home.folder, seed, 40) for seed in range(3)]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        if home.path("it").exists():
            assert whole(home.read("it", None))
            reads += 1
        time.sleep(0.002)
    for writer in writers:
        writer.stdout.close()
        assert writer.returncode == 0
    assert reads > 0
    assert whole(home.read("it", None))
    assert not list(home.folder.glob(".*.tmp"))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_kill_9_while_writing_leaves_a_home_that_mends(seed, home, caplog):
    writer = _writer(home.folder, seed, 100000)
    assert writer.stdout.readline() == b"ready\n"
    time.sleep(0.05 + 0.07 * seed)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    # What is there is whole, or said to be damaged or missing; never something else.
    with contextlib.suppress(SourceFailed):
        assert whole(home.read("it", None))
    home.sweep()
    assert not list(home.folder.glob(".*.tmp"))
    home.store("it", pa.table({"a": [1.0]}), "uci", "")
    assert home.read("it", None).table.num_rows == 1


@pytest.mark.parametrize("step", ["first", "second"])
def test_death_between_any_two_steps_mends(step, home, table, monkeypatch):
    """Stop before the first or the second of the two renames, where a kill rarely falls."""
    home.store("it", table, "uci", "")
    replaced = []
    replace = Path.replace

    class Killed(BaseException):
        pass

    def dying(path, target):
        if len(replaced) == (0 if step == "first" else 1):
            raise Killed
        replaced.append(target)
        return replace(path, target)

    new = pa.table({"a": [3.0], "class": ["n"]})
    monkeypatch.setattr(Path, "replace", dying)
    with pytest.raises(Killed):
        home.store("it", new, "openml", "")
    monkeypatch.undo()
    if step == "first":
        assert home.read("it", None).table.equals(table)
    else:
        with pytest.raises(SourceFailed, match="damaged"):
            home.read("it", None)
    home.store("it", new, "openml", "")
    assert home.read("it", None).table.equals(new)


def test_two_loads_at_once_fill_it_together(uci, data, definition, frame, helpers):
    uci("52/ionosphere.zip", {"ionosphere.data": helpers["lines"](frame("ionosphere"))})
    yaml = definition("ionosphere", sources=definition("ionosphere")["sources"][1:])
    with ThreadPoolExecutor(2) as pool:
        got = list(pool.map(lambda _: load(yaml, data).X.shape, range(2)))
    assert got == [(351, 32)] * 2
    assert load(yaml, data).origin == "home (uci)"


def test_offline_asks_no_server(data, definition, server):
    with pytest.raises(DataUnavailable, match="uci: not asked"):
        load(definition("annthyroid"), data | {"offline": True})
    assert not server.requests
