"""Real HTTP servers on loopback: OpenML's API, its object store, UCI's zip files, Figshare."""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import threading
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.bundled import FOLDER as BUNDLED
from datasets.configuration import compose
from datasets.sources import failures, probe, remote


@dataclass
class Reply:
    """One answer of a server."""

    body: bytes = b""
    status: int = 200
    content_type: str = "text/plain; charset=utf-8"
    # Promise the whole body, send half of it and close.
    truncated: bool = False
    # Wait before answering; send the body a byte at a time with this pause.
    wait: float = 0.0
    drip: float = 0.0


@dataclass
class Server:
    """Answers each path with its replies in turn; the last one is repeated."""

    replies: dict[str, list[Reply]] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    url: str = ""
    stopped: threading.Event = field(default_factory=threading.Event)

    def add(self, path: str, *replies: Reply) -> None:
        self.replies[path] = list(replies)

    def reply(self, path: str, *, count: bool) -> Reply:
        replies = self.replies.get(path)
        if replies is None:
            return Reply(b"no such thing", 404)
        n = self.requests[path]
        if count:
            self.requests[path] += 1
        return replies[min(n, len(replies) - 1)]


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._head(server.reply(self._path(), count=False))

        def do_GET(self) -> None:
            reply = server.reply(self._path(), count=True)
            server.stopped.wait(reply.wait)
            self._head(reply)
            if reply.truncated:
                self.wfile.write(reply.body[: len(reply.body) // 2])
                self.close_connection = True
            elif reply.drip:
                for byte in reply.body:
                    if server.stopped.wait(reply.drip):
                        return
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
            else:
                self.wfile.write(reply.body)

        def _path(self) -> str:
            return self.path.split("?")[0]

        def _head(self, reply: Reply) -> None:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            # The object store's client asks for these.
            self.send_header("ETag", f'"{hashlib.md5(reply.body).hexdigest()}"')
            self.send_header("Last-Modified", formatdate(usegmt=True))
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is what some tests are about."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on loopback."""
    state = Server()
    http = _Quiet(("127.0.0.1", 0), _handler(state))
    state.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield state
    state.stopped.set()
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test inherits what another learnt about a host, nor a proxy of the machine."""
    monkeypatch.setattr(probe, "_unreachable", {})
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def data(server: Server, tmp_path: Path) -> dict[str, Any]:
    """The group `data` for a machine whose every server is the one on loopback."""
    return {
        "home": str(tmp_path / "home"),
        "openml_server": f"{server.url}/api/v1/xml",
        "uci_url": f"{server.url}/static/public",
        "sklearn_url": f"{server.url}/files",
        "backoff": 0.05,
        "timeout": 60.0,
    }


@pytest.fixture
def definition() -> Callable[..., dict[str, Any]]:
    """The resolved YAML of a data set, changed."""

    def of(name: str, *overrides: str, **changes: Any) -> dict[str, Any]:
        return compose([f"dataset={name}", *overrides])["dataset"] | changes

    return of


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run clients in the test's process: importing them takes seconds.

    For tests of what they make of what they get, and of what is tried again.
    """

    def attempt(server: str, request: dict[str, Any], limit: float) -> Any:
        folder = Path(request["folder"])
        try:
            probe.probe(server)
            client = importlib.import_module(f"datasets.sources.{request['source']['kind']}")
            table = client.fetch(request["source"], request["target"], request["access"], folder)
        except Exception as error:  # noqa: BLE001 (as the client's process does)
            return failures.classify(error), 0.0
        if table is not None:
            pq.write_table(table, folder / "table.parquet")
        return None, 0.0

    monkeypatch.setattr(remote, "_attempt", attempt)
    monkeypatch.setenv("OPENML_SKIP_PARQUET", "false")  # a second attempt changes it


def bundled(name: str) -> pd.DataFrame:
    return pd.read_parquet(BUNDLED / f"{name}.parquet")


@pytest.fixture
def frame() -> Callable[[str], pd.DataFrame]:
    """A bundled table as a frame."""
    return bundled


def to_arff(frame: pd.DataFrame, relation: str) -> bytes:
    lines = [f"@RELATION {relation}", ""]
    for name in frame.columns[:-1]:
        lines.append(f"@ATTRIBUTE '{name}' REAL")
    labels = sorted(frame.iloc[:, -1].astype(str).unique())
    quoted = ",".join(f"'{label}'" for label in labels)
    lines.append(f"@ATTRIBUTE '{frame.columns[-1]}' {{{quoted}}}")
    lines += ["", "@DATA"]
    return ("\n".join(lines) + "\n" + frame.to_csv(header=False, index=False)).encode()


def to_parquet(frame: pd.DataFrame) -> bytes:
    sink = io.BytesIO()
    table = frame.assign(**{frame.columns[-1]: frame.iloc[:, -1].astype(str).astype("category")})
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), sink)
    return sink.getvalue()


@dataclass
class OpenML:
    """Lets a server speak OpenML's API for one data set."""

    server: Server

    @property
    def arff_path(self) -> str:
        return "/data/v1/download/1/table.arff"

    @property
    def parquet_path(self) -> str:
        return "/datasets/0000/0001/table.pq"

    @staticmethod
    def description_path(identity: int) -> str:
        return f"/api/v1/xml/data/{identity}"

    def offer(
        self,
        identity: int,
        name: str,
        version: int,
        frame: pd.DataFrame,
        *,
        parquet: bool = False,
        target: str = "class",
    ) -> None:
        arff = to_arff(frame, name)
        link = f"<oml:parquet_url>{self.server.url}{self.parquet_path}</oml:parquet_url>"
        description = f"""<?xml version="1.0"?>
<oml:data_set_description xmlns:oml="http://openml.org/openml">
  <oml:id>{identity}</oml:id>
  <oml:name>{name}</oml:name>
  <oml:version>{version}</oml:version>
  <oml:description>as served by a test</oml:description>
  <oml:format>ARFF</oml:format>
  <oml:upload_date>2014-04-06T23:19:24</oml:upload_date>
  <oml:licence>Public</oml:licence>
  <oml:url>{self.server.url}{self.arff_path}</oml:url>
  {link if parquet else ""}
  <oml:file_id>1</oml:file_id>
  <oml:default_target_attribute>{target}</oml:default_target_attribute>
  <oml:visibility>public</oml:visibility>
  <oml:status>active</oml:status>
  <oml:md5_checksum>{hashlib.md5(arff).hexdigest()}</oml:md5_checksum>
</oml:data_set_description>"""
        self.server.add(self.description_path(identity), Reply(description.encode()))
        self.server.add(self.arff_path, Reply(arff))
        self.server.add(f"/api/v1/xml/data/features/{identity}", Reply(_features(frame)))
        self.server.add(f"/api/v1/xml/data/qualities/{identity}", Reply(_qualities(frame)))
        if parquet:
            self.server.add(self.parquet_path, Reply(to_parquet(frame)))


def _features(frame: pd.DataFrame) -> bytes:
    features = []
    for j, name in enumerate(frame.columns):
        is_label = name == frame.columns[-1]
        values = "".join(
            f"<oml:nominal_value>{value}</oml:nominal_value>"
            for value in (frame[name].unique() if is_label else ())
        )
        features.append(
            f"<oml:feature><oml:index>{j}</oml:index><oml:name>{name}</oml:name>"
            f"<oml:data_type>{'nominal' if is_label else 'numeric'}</oml:data_type>{values}"
            f"<oml:is_target>{str(is_label).lower()}</oml:is_target>"
            "<oml:is_ignore>false</oml:is_ignore>"
            "<oml:is_row_identifier>false</oml:is_row_identifier>"
            "<oml:number_of_missing_values>0</oml:number_of_missing_values></oml:feature>"
        )
    head = '<oml:data_features xmlns:oml="http://openml.org/openml">'
    return (head + "".join(features) + "</oml:data_features>").encode()


def _qualities(frame: pd.DataFrame) -> bytes:
    return (
        '<oml:data_qualities xmlns:oml="http://openml.org/openml"><oml:quality>'
        f"<oml:name>NumberOfInstances</oml:name><oml:value>{len(frame)}</oml:value>"
        "</oml:quality></oml:data_qualities>"
    ).encode()


@pytest.fixture
def openml_api(server: Server) -> OpenML:
    """OpenML's API on the server."""
    return OpenML(server)


def to_zip(members: dict[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return sink.getvalue()


def to_lines(frame: pd.DataFrame, separator: str = ",", header: bool = False) -> bytes:
    return frame.to_csv(sep=separator, header=header, index=False).encode()


@pytest.fixture
def uci(server: Server) -> Callable[[str, dict[str, bytes]], str]:
    """Offers a zip file as UCI's archive does; returns its path on the server."""

    def offer(archive: str, members: dict[str, bytes]) -> str:
        path = f"/static/public/{archive}"
        server.add(path, Reply(to_zip(members), content_type="application/zip"))
        return path

    return offer


@pytest.fixture
def unused_url() -> str:
    """A URL at which nobody listens."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def helpers() -> dict[str, Callable[..., Any]]:
    """Builders of contents, and the reply class, for tests (test folders are not packages)."""
    return {
        "Reply": Reply,
        "zip": to_zip,
        "lines": to_lines,
        "arff": to_arff,
        "parquet": to_parquet,
    }


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file of data and returns its path."""

    def to(text, name="my.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return to
