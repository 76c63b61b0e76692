"""The real openml package against a server on loopback that speaks its API."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from datasets import DataError, DataUnavailable, check_definition, load


def forced(data):
    return data | {"source": "openml"}


@pytest.mark.parametrize("parquet", [False, True], ids=["arff", "parquet"])
def test_a_published_data_set_is_served_and_stored(
    parquet, openml_api, server, data, definition, frame, request
):
    if parquet:  # the other one comes from a process of its own
        request.getfixturevalue("in_process")
    openml_api.offer(37, "diabetes", 1, frame("pima"), parquet=parquet)
    dataset = load(definition("pima"), forced(data))
    assert dataset.origin == "openml"
    bundled = load(definition("pima"), {"source": "bundled"})
    np.testing.assert_array_equal(dataset.X, bundled.X)
    np.testing.assert_array_equal(dataset.y, bundled.y)
    used, unused = openml_api.arff_path, openml_api.parquet_path
    if parquet:
        used, unused = unused, used
    assert server.requests[used] >= 1
    assert server.requests[unused] == 0
    asked = dict(server.requests)
    again = load(definition("pima"), forced(data))
    assert again.origin == "home (openml)"
    assert server.requests == asked


@pytest.mark.usefixtures("in_process")
def test_labels_can_be_recoded(openml_api, data, definition):
    frame = pd.DataFrame({"a": np.arange(8.0), "class": [1, 1, 1, 1, 1, 1, 2, 2]})
    openml_api.offer(7, "wilt", 2, frame)
    wilt = definition("wilt", expected=None)
    source = wilt["sources"][1]
    wilt["sources"] = [source | {"id": 7, "shape": [8, 2]}]
    assert load(wilt, data).y.tolist() == [0] * 6 + [1] * 2


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", "another", r"has the name 'diabetes', 'another' expected"),
        ("version", 3, r"has the version 1, 3 expected"),
        ("shape", [768, 10], r"has 768 rows and 9 columns, 768 and 10 expected"),
    ],
)
@pytest.mark.usefixtures("in_process")
def test_a_wrong_id_is_caught(key, value, message, openml_api, data, definition, frame):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    source = {"kind": "openml", "id": 37, key: value}
    with pytest.raises(DataUnavailable, match=message):
        load(definition("pima", sources=[source]), data)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "klass"}, r"has no column 'klass' for the labels; .*'plas', .*'class'"),
        ({"anomalies": ["sick"]}, r"the label 'sick' of anomalies does not occur"),
        ({"drop_columns": ["nope"]}, r"drop_columns names 'nope'"),
        ({"recode": {"tested_positve": "yes"}}, r"recode names the label 'tested_positve'"),
        ({"shape": [768, 10]}, r"has 768 rows and 9 columns, 768 and 10 expected"),
    ],
)
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.usefixtures("in_process")
def test_a_definition_that_does_not_fit_what_is_served_is_refused(
    own, changes, message, openml_api, server, data, definition, frame
):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    source = {"kind": "openml", "id": 37}
    changes = dict(changes)
    for key in ("recode", "shape"):
        source |= {key: changes.pop(key)} if key in changes else {}
    pima = definition("pima", sources=[source], **changes)
    if own:
        del pima["expected"]
    with pytest.raises(DataError, match=message):
        check_definition(pima, data)
    check_definition(definition("pima"), data)


@pytest.mark.usefixtures("in_process")
def test_data_that_no_source_has_are_no_mistake_of_their_definition(data, definition):
    pima = definition("pima", sources=[{"kind": "openml", "id": 37}], anomalies=["sick"])
    with pytest.raises(DataUnavailable):
        check_definition(pima, data)


@pytest.mark.usefixtures("in_process")
def test_a_data_set_without_a_label_of_its_own_needs_a_target(openml_api, data, definition, frame):
    openml_api.offer(37, "diabetes", 1, frame("pima"), target="")
    mine = {"name": "mine", "openml": 37, "anomalies": ["tested_positive"]}
    with pytest.raises(DataError, match=r"names no label column; name one with target"):
        check_definition(mine, data)
    check_definition(mine | {"target": "class"}, data)


@pytest.mark.usefixtures("in_process")
def test_wrong_content_is_refused_with_both_numbers(openml_api, data, definition, frame, tmp_path):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    changed = frame("pima")
    changed.loc[5, "plas"] += 1
    openml_api.offer(37, "diabetes", 1, changed)
    expected = definition("pima")["expected"]["digest"]
    with pytest.raises(DataUnavailable, match=rf"digest is [0-9a-f]{{32}}, {expected} expected"):
        load(definition("pima"), forced(data))
    assert not list((tmp_path / "home").glob("*"))


@pytest.mark.usefixtures("in_process")
def test_fewer_rows_are_refused_with_both_numbers(openml_api, data, definition, frame):
    openml_api.offer(37, "diabetes", 1, frame("pima").iloc[:-1])
    sources = [{"kind": "openml", "id": 37}]
    with pytest.raises(DataUnavailable, match="767 rows, 768 expected"):
        load(definition("pima", sources=sources), data)


@pytest.mark.parametrize(
    ("what", "body"),
    # The package takes the first for XML of its own, and fails on the second.
    [("description", b"<html>busy</html>"), ("data", b"busy")],
)
@pytest.mark.usefixtures("in_process")
def test_503_is_tried_again(what, body, openml_api, server, data, definition, frame, helpers):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    path = openml_api.description_path(37) if what == "description" else openml_api.arff_path
    server.replies[path].insert(0, helpers["Reply"](body, 503))
    assert load(definition("pima"), forced(data)).origin == "openml"
    assert server.requests[path] == 2


@pytest.mark.usefixtures("in_process")
def test_503_for_good_ends_after_the_retries(openml_api, server, data, definition, frame, helpers):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    path = openml_api.description_path(37)
    server.add(path, helpers["Reply"](b"busy", 503))
    with pytest.raises(DataUnavailable, match=r"openml: HTTP status 503 \(tried 2 times\)"):
        load(definition("pima"), forced(data) | {"retries": 1})
    assert server.requests[path] == 2


@pytest.mark.parametrize("what", ["description", "data"])
@pytest.mark.usefixtures("in_process")
def test_404_is_not_tried_again(what, openml_api, server, data, definition, frame, helpers):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    path = openml_api.description_path(37) if what == "description" else openml_api.arff_path
    server.add(path, helpers["Reply"](b"<html>no such page</html>", 404))
    with pytest.raises(DataUnavailable, match="HTTP status 404"):
        load(definition("pima"), forced(data))
    assert server.requests[path] == 1


@pytest.mark.usefixtures("in_process")
def test_an_unknown_id_is_not_tried_again(openml_api, server, data, definition, helpers):
    path = openml_api.description_path(37)
    body = (
        b'<oml:error xmlns:oml="http://openml.org/openml">'
        b"<oml:code>111</oml:code><oml:message>Unknown dataset</oml:message></oml:error>"
    )
    server.add(path, helpers["Reply"](body, 412))
    with pytest.raises(DataUnavailable, match=r"Unknown dataset.*code 111"):
        load(definition("pima"), forced(data))
    assert server.requests[path] == 1


@pytest.mark.usefixtures("in_process")
def test_a_truncated_body_is_tried_again(
    openml_api, server, data, definition, frame, helpers, caplog
):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    whole = server.replies[openml_api.arff_path][0]
    cut = helpers["Reply"](whole.body, truncated=True)
    server.add(openml_api.arff_path, cut, whole)
    assert load(definition("pima"), forced(data)).origin == "openml"
    assert "trying again" in caplog.text


@pytest.mark.usefixtures("in_process")
def test_a_damaged_download_is_tried_again(openml_api, server, data, definition, frame, helpers):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    whole = server.replies[openml_api.arff_path][0]
    # A whole response of the wrong bytes: only the checksum tells.
    server.add(openml_api.arff_path, helpers["Reply"](whole.body[:-500]), whole)
    assert load(definition("pima"), forced(data)).origin == "openml"


@pytest.mark.usefixtures("in_process")
def test_parquet_that_cannot_be_had_gives_way_to_arff(
    openml_api, server, data, definition, frame, helpers
):
    openml_api.offer(37, "diabetes", 1, frame("pima"), parquet=True)
    server.add(openml_api.parquet_path, helpers["Reply"](b"no", 404))
    assert load(definition("pima"), forced(data)).origin == "openml"
    assert server.requests[openml_api.arff_path] == 1


def test_a_server_that_stalls_is_given_up(openml_api, server, data, definition, frame, helpers):
    openml_api.offer(37, "diabetes", 1, frame("pima"))
    whole = server.replies[openml_api.arff_path][0]
    server.add(openml_api.arff_path, helpers["Reply"](b"late", wait=60), whole)
    with pytest.raises(DataUnavailable, match=r"no answer in 1 s|Read timed out"):
        load(definition("pima"), forced(data) | {"timeout": 1.0, "retries": 0})
    assert load(definition("pima"), forced(data)).origin == "openml"


@pytest.mark.usefixtures("in_process")
def test_own_data_by_id(openml_api, server, data, frame):
    openml_api.offer(61, "own", 1, frame("ionosphere"))
    own = {"name": "mine", "openml": 61, "anomalies": ["b"]}
    first, second = load(own, data), load(own, data)
    assert (first.X.shape, first.n_anomalies) == ((351, 34), 126)
    assert (first.origin, second.origin) == ("openml", "home (openml)")
    assert server.requests[openml_api.description_path(61)] == 1
