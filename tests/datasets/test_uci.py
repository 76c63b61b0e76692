"""Real pooch against a server on loopback that serves zip files like UCI's."""

from __future__ import annotations

import contextlib
import gzip
import socket
import time

import numpy as np
import pandas as pd
import pytest

from datasets import DataError, DataUnavailable, check_definition, load
from datasets.errors import SourceFailed
from datasets.sources import probe
from datasets.sources.uci import _decompress


def forced(data):
    return data | {"source": "uci"}


def same_table(dataset, definition):
    bundled = load(definition, {"source": "bundled"})
    np.testing.assert_array_equal(dataset.X, bundled.X)
    np.testing.assert_array_equal(dataset.y, bundled.y)


IONOSPHERE = "52/ionosphere.zip"


@pytest.fixture
def ionosphere(uci, frame, helpers):
    """Ionosphere as UCI serves it; the path on the server."""
    members = {"Index": b"files", "ionosphere.data": helpers["lines"](frame("ionosphere"))}
    return uci(IONOSPHERE, members)


def test_ionosphere(ionosphere, data, definition):
    dataset = load(definition("ionosphere"), forced(data))
    assert dataset.origin == "uci"
    same_table(dataset, definition("ionosphere"))


@pytest.mark.usefixtures("in_process")
def test_spambase(uci, data, definition, frame, helpers):
    uci("94/spambase.zip", {"spambase.data": helpers["lines"](frame("spambase"))})
    same_table(load(definition("spambase"), forced(data)), definition("spambase"))


@pytest.mark.usefixtures("in_process")
def test_pendigits_is_two_files_in_a_folder(uci, data, definition, frame, helpers):
    table = frame("pendigits")
    members = {
        "pen/pendigits.tra": helpers["lines"](table.iloc[:7494]).replace(b",", b", "),
        "pen/pendigits.tes": helpers["lines"](table.iloc[7494:]).replace(b",", b", "),
    }
    uci("81/pen+based+recognition+of+handwritten+digits.zip", members)
    same_table(load(definition("pendigits"), forced(data)), definition("pendigits"))


def compressed(text: bytes) -> bytes:
    """Compress as Unix's `compress` may: 9-bit codes of single bytes, the table emptied in time."""
    out = bytearray(b"\x1f\x9d\x90")
    for start in range(0, len(text), 247):
        # 247 bytes and the code that empties the table are a multiple of eight codes.
        codes = [*text[start : start + 247], 256]
        bits = sum(code << (9 * k) for k, code in enumerate(codes))
        out += bits.to_bytes((9 * len(codes) + 7) // 8, "little")
    return bytes(out)


@pytest.mark.usefixtures("in_process")
def test_shuttle_is_compressed_inside(uci, data, definition, frame, helpers):
    table = frame("shuttle")
    train = helpers["lines"](table.iloc[:43500], " ")
    test = helpers["lines"](table.iloc[43500:], " ")
    members = {"shuttle.trn.Z": compressed(train), "shuttle.tst": test}
    uci("148/statlog+shuttle.zip", members)
    shuttle = definition("shuttle", "protocol.repeats=published")
    same_table(load(shuttle, forced(data)), shuttle)


@pytest.mark.usefixtures("in_process")
def test_annthyroid_is_separated_by_spaces(uci, data, definition):
    rng = np.random.default_rng(0)
    lines = [
        " ".join([*(f"{value:.4g}" for value in rng.random(21)), str(label)]) + " \n"
        for label in [3] * 20 + [1, 2]
    ]
    members = {"ann-train.data": "".join(lines).encode(), "ann-test.data": lines[-1].encode()}
    uci("102/thyroid+disease.zip", members)
    dataset = load(definition("annthyroid", expected=None), forced(data))
    assert dataset.X.shape == (23, 6)
    assert dataset.n_anomalies == 3


@pytest.mark.usefixtures("in_process")
def test_adult_has_a_comment_and_dots(uci, data, definition):
    row = "39, {}, 77516, Bachelors, 13, Never, Adm, Not, White, Male, 2174, 0, 40, US, {}\n"
    train = row.format("State-gov", "<=50K") * 3 + row.format("?", ">50K")
    test = "|1x3 Cross validator\n" + row.format("Private", ">50K.") + row.format("?", "<=50K.")
    uci("2/adult.zip", {"adult.data": train.encode(), "adult.test": test.encode()})
    dataset = load(definition("adult", expected=None), forced(data))
    assert dataset.y.tolist() == [0, 0, 0, 1, 1, 0]
    assert dataset.feature_names[1] == "fnlwgt"
    assert dataset.X[0].tolist() == [39, 77516, 13, 2174, 0, 40]


@pytest.mark.usefixtures("in_process")
def test_arrhythmia_has_question_marks(uci, data, definition):
    table = pd.DataFrame(np.arange(20 * 280).reshape(20, 280) % 17, dtype=object)
    table.iloc[3, 12] = "?"
    table[5] = 1
    table[279] = [1] * 15 + [7] * 5
    text = table.to_csv(header=False, index=False).encode()
    uci("5/arrhythmia.zip", {"arrhythmia.data": text})
    dataset = load(definition("arrhythmia", expected=None), forced(data))
    assert dataset.X.shape == (20, 277)  # the one with a missing value and the constant one go
    assert dataset.n_anomalies == 5


@pytest.mark.usefixtures("in_process")
def test_wilt_has_a_header_and_its_label_first(uci, data, definition):
    header = "class,GLCM_pan,Mean_Green,Mean_Red,Mean_NIR,SD_pan\n"
    members = {
        "wilt/training.csv": (header + "w,1,2,3,4,5\nn,6,7,8,9,10\n").encode(),
        "wilt/testing.csv": (header + "n,11,12,13,14,15.5\n").encode(),
    }
    uci("285/wilt.zip", members)
    dataset = load(definition("wilt", expected=None), forced(data))
    assert dataset.feature_names == ("GLCM_pan", "Mean_Green", "Mean_Red", "Mean_NIR", "SD_pan")
    assert dataset.X[2].tolist() == [11, 12, 13, 14, 15.5]
    assert dataset.y.tolist() == [1, 0, 0]


@pytest.mark.usefixtures("in_process")
def test_covertype_keeps_two_classes_and_ten_columns(uci, data, definition):
    table = pd.DataFrame(np.arange(12 * 55).reshape(12, 55))
    table[54] = [1, 2, 2, 3, 4, 2, 2, 5, 6, 7, 2, 2]
    text = gzip.compress(table.to_csv(header=False, index=False).encode())
    uci("31/covertype.zip", {"covtype.data.gz": text})
    dataset = load(definition("forestcover", expected=None), forced(data))
    assert dataset.X.shape == (7, 10)
    assert dataset.y.tolist() == [0, 0, 1, 0, 0, 0, 0]
    assert dataset.X[2].tolist() == list(range(4 * 55, 4 * 55 + 10))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keep": {"Cover_Type": [2, 44]}}, "keep: 44 is no value of 'Cover_Type'"),
        ({"columns": None, "keep": {"Covr": [2]}}, "has no column 'Covr'"),
        ({"columns": ["a", "Cover_Type"], "keep": {}}, "has 11 columns, 2 expected"),
        ({"members": ["covtype.gz"]}, r"no covtype\.gz; it has covtype\.data\.gz"),
    ],
)
@pytest.mark.usefixtures("in_process")
def test_a_source_that_does_not_fit_what_is_served_is_refused(
    changes, message, uci, data, definition
):
    table = pd.DataFrame(np.arange(4 * 55).reshape(4, 55))
    table[54] = [2, 4, 2, 3]
    text = gzip.compress(table.to_csv(header=False, index=False).encode())
    uci("31/covertype.zip", {"covtype.data.gz": text})
    cover = definition("forestcover", expected=None)
    [source] = [s for s in cover["sources"] if not isinstance(s, str) and s["kind"] == "uci"]
    with pytest.raises(DataError, match=message):
        check_definition(cover | {"sources": [source | changes]}, data)
    check_definition(cover | {"sources": [source]}, data)


@pytest.mark.usefixtures("in_process")
def test_a_member_that_is_not_there_is_named(uci, data, definition):
    uci(IONOSPHERE, {"readme.txt": b"moved"})
    with pytest.raises(DataUnavailable, match=r"no ionosphere\.data; it has readme\.txt"):
        load(definition("ionosphere"), forced(data))


@pytest.mark.usefixtures("in_process")
def test_wrong_content_is_refused(uci, data, definition, frame, helpers):
    uci(IONOSPHERE, {"ionosphere.data": helpers["lines"](frame("ionosphere").iloc[1:])})
    with pytest.raises(DataUnavailable, match="350 rows, 351 expected"):
        load(definition("ionosphere"), forced(data))


def test_503_then_success(ionosphere, server, data, definition, helpers):
    server.replies[ionosphere].insert(0, helpers["Reply"](b"busy", 503))
    assert load(definition("ionosphere"), forced(data)).origin == "uci"
    assert server.requests[ionosphere] == 2


@pytest.mark.usefixtures("in_process")
def test_404_is_not_tried_again(ionosphere, server, data, definition, helpers):
    server.add(ionosphere, helpers["Reply"](b"gone", 404))
    with pytest.raises(DataUnavailable, match="uci: HTTP status 404"):
        load(definition("ionosphere"), forced(data))
    assert server.requests[ionosphere] == 1


@pytest.mark.parametrize("how", ["connection", "content"])
@pytest.mark.usefixtures("in_process")
def test_a_truncated_zip_is_tried_again(how, ionosphere, server, data, definition, helpers):
    whole = server.replies[ionosphere][0]
    cut = helpers["Reply"](whole.body, truncated=True)
    if how == "content":
        cut = helpers["Reply"](whole.body[: len(whole.body) // 2])
    server.add(ionosphere, cut, whole)
    assert load(definition("ionosphere"), forced(data)).origin == "uci"
    assert server.requests[ionosphere] == 2


def test_a_refused_connection(data, definition, unused_url):
    with pytest.raises(DataUnavailable, match=r"refuses the connection \(tried 3 times\)"):
        load(definition("ionosphere"), forced(data) | {"uci_url": unused_url})


def test_a_name_that_does_not_resolve_is_asked_once(data, definition, caplog):
    nowhere = forced(data) | {"uci_url": "http://no-such-host.invalid/static"}
    with pytest.raises(DataUnavailable, match=r"no-such-host\.invalid cannot be reached"):
        load(definition("ionosphere"), nowhere)
    assert "trying again" not in caplog.text
    assert list(probe._unreachable) == ["no-such-host.invalid"]


def test_a_host_that_swallows_packets_is_asked_once(data, definition, monkeypatch):
    monkeypatch.setattr(probe, "_CONNECT_SECONDS", 0.5)
    asked = []
    create = socket.create_connection
    monkeypatch.setattr(
        socket,
        "create_connection",
        lambda *args, **kwargs: asked.append(1) or create(*args, **kwargs),
    )
    with contextlib.ExitStack() as stack:
        # A listener whose queue is full: the kernel drops further connections.
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for name in ("annthyroid", "wilt"):
            with pytest.raises(DataUnavailable, match="cannot be reached: timed out"):
                load(definition(name), forced(data) | {"uci_url": url})
    assert len(asked) == 1


def test_what_cannot_be_reached_is_asked_again_after_a_while(data, definition, monkeypatch):
    host = "no-such-host.invalid"
    monkeypatch.setitem(probe._unreachable, host, (time.monotonic(), "down since noon"))
    with pytest.raises(DataUnavailable, match="down since noon"):
        load(definition("wilt"), forced(data) | {"uci_url": f"http://{host}"})
    # After a while it is asked again.
    long_ago = time.monotonic() - 2 * probe._REMEMBER_SECONDS
    monkeypatch.setitem(probe._unreachable, host, (long_ago, "down since noon"))
    with pytest.raises(DataUnavailable, match="cannot be reached"):
        load(definition("wilt"), forced(data) | {"uci_url": f"http://{host}"})


def test_a_resolver_that_hangs_is_given_up(data, definition, monkeypatch):
    monkeypatch.setattr(probe, "_CONNECT_SECONDS", 0.1)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: time.sleep(1) or [])
    with pytest.raises(DataUnavailable, match=r"its name was not found in 0\.2 s"):
        load(definition("annthyroid"), forced(data) | {"uci_url": "http://slow.invalid"})


def test_a_server_that_drips_meets_the_limit_on_the_whole(
    ionosphere, server, data, definition, helpers
):
    body = server.replies[ionosphere][0].body
    server.add(ionosphere, helpers["Reply"](body, drip=0.05))
    with pytest.raises(DataUnavailable, match=r"no answer in 2 s \(data\.timeout\) \(tried once\)"):
        load(definition("ionosphere"), forced(data) | {"timeout": 2.0})


def test_damage_inside_a_member_is_named():
    with pytest.raises(SourceFailed, match=r"shuttle\.trn\.Z is damaged: .*gzip"):
        _decompress(b"\x1f\x9d\x90\xff\xff\xff\xff", "shuttle.trn.Z")


@pytest.mark.usefixtures("in_process")
def test_sources_are_asked_in_turn_and_each_reason_is_told(ionosphere, server, data, definition):
    # OpenML's API is not offered: 404.
    sources = definition("ionosphere")["sources"]
    assert sources[:2] == ["bundled", "home"]
    dataset = load(definition("ionosphere", sources=sources[1:]), data)
    assert dataset.origin == "uci"
    offline = data | {"home": data["home"] + "-other", "offline": True}
    with pytest.raises(DataUnavailable) as caught:
        load(definition("ionosphere", sources=sources[1:]), offline)
    assert [source for source, _ in caught.value.reasons] == ["home", "openml", "uci"]
    assert "OCRF_DATA_HOME" in caught.value.hint
