"""scikit-learn's real fetchers against a server on loopback."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pytest

from datasets import DataUnavailable, load
from datasets.sources import sklearn as source

KDD_PATH, COVTYPE_PATH = "/files/5976045", "/files/5976039"

# duration, protocol, service, flag, source bytes, destination bytes, 5 columns, logged_in, 29 more.
KDD_ROW = "{},tcp,{},SF,{},{},0,0,0,0,0,{}," + ",".join(["0"] * 29) + ",{}."


def kdd(n_http=30, n_smtp=9):
    rng = np.random.default_rng(0)
    lines = []
    for service, n in (("http", n_http), ("smtp", n_smtp), ("ftp", 5)):
        for i in range(n):
            label = "normal" if i % 5 else ("back" if i % 2 else "phf")
            duration, sent, received = rng.integers(0, 5000, 3)
            lines.append(KDD_ROW.format(duration, service, sent, received, int(i % 7 != 3), label))
    return gzip.compress(("\n".join(lines) + "\n").encode())


@pytest.fixture
def accept(server, monkeypatch, helpers):
    """Serve a content in place of the real one, whose checksum the fetcher knows."""

    def offer(module, path, content):
        monkeypatch.setattr(
            module,
            "ARCHIVE",
            module.ARCHIVE._replace(
                url=server.url + path, checksum=hashlib.sha256(content).hexdigest()
            ),
        )
        server.add(path, helpers["Reply"](content))

    monkeypatch.setattr(source, "_require_memory", lambda gigabytes: None)
    return offer


@pytest.mark.parametrize(("subset", "n"), [("http", 30), ("smtp", 9)])
@pytest.mark.usefixtures("in_process")
def test_kddcup99_is_the_same_from_both_sources(
    subset, n, accept, uci, data, definition, tmp_path, server
):
    import sklearn.datasets._kddcup99 as module

    from datasets.definition import Definition
    from datasets.preprocessing import preprocess

    accept(module, KDD_PATH, kdd())
    uci("130/kdd+cup+1999+data.zip", {"kddcup.data.gz": kdd()})
    table = source.fetch(
        {"fetcher": "kddcup99", "subset": subset}, "labels", {"sklearn_url": None}, tmp_path
    )
    yaml = definition(subset, expected=None)
    fetched = preprocess(table, Definition.from_mapping(yaml), "sklearn")
    from_uci = load(yaml, data | {"source": "uci"})
    assert fetched.X.shape == (sum(i % 7 != 3 for i in range(n)), 3)
    assert 0 < fetched.n_anomalies < len(fetched.y) / 2
    np.testing.assert_allclose(fetched.X, from_uci.X, rtol=1e-14)
    np.testing.assert_array_equal(fetched.y, from_uci.y)


def test_covtype(accept, tmp_path, definition, server):
    import sklearn.datasets._covtype as module

    from datasets.definition import Definition
    from datasets.preprocessing import preprocess

    table = np.arange(9 * 55).reshape(9, 55)
    table[:, 54] = [1, 2, 2, 4, 7, 2, 2, 2, 3]
    content = gzip.compress("\n".join(",".join(map(str, row)) for row in table).encode())
    accept(module, COVTYPE_PATH, content)
    got = source.fetch({"fetcher": "covtype"}, "Cover_Type", {"sklearn_url": None}, tmp_path)
    dataset = preprocess(
        got, Definition.from_mapping(definition("forestcover", expected=None)), "sklearn"
    )
    np.testing.assert_array_equal(dataset.X, table[[1, 2, 3, 5, 6, 7], :10])
    assert dataset.y.tolist() == [0, 0, 1, 0, 0, 0]
    assert dataset.feature_names[0] == "Elevation"


def forced(data):
    return data | {"source": "sklearn"}


@pytest.mark.usefixtures("in_process")
def test_503_is_tried_again_and_wrong_content_is_refused(server, data, definition, helpers):
    reply = helpers["Reply"]
    server.add(COVTYPE_PATH, reply(b"busy", 503), reply(b"something else"))
    with pytest.raises(DataUnavailable, match=r"sklearn: .*SHA256 checksum .* differs"):
        load(definition("forestcover"), forced(data))
    assert server.requests[COVTYPE_PATH] == 2


def test_404_is_not_tried_again(server, data, definition, helpers):
    server.add(COVTYPE_PATH, helpers["Reply"](b"gone", 404))
    with pytest.raises(DataUnavailable, match="sklearn: HTTP status 404"):
        load(definition("forestcover"), forced(data))
    assert server.requests[COVTYPE_PATH] == 1


@pytest.mark.usefixtures("in_process")
def test_a_truncated_body_is_tried_again(server, data, definition, helpers):
    server.add(COVTYPE_PATH, helpers["Reply"](bytes(100000), truncated=True))
    with pytest.raises(DataUnavailable, match=r"retrieval incomplete.*\(tried 2 times\)"):
        load(definition("forestcover"), forced(data) | {"retries": 1})
    assert server.requests[COVTYPE_PATH] == 2


def test_little_memory_is_said_before_it_runs_out(monkeypatch, tmp_path):
    from datasets.errors import SourceFailed

    monkeypatch.setattr(source, "_KDD_GIGABYTES", 10**6)
    with pytest.raises(SourceFailed, match="needs about 1000000 GB of memory"):
        source.fetch({"fetcher": "kddcup99", "subset": "http"}, "labels", {}, tmp_path)
