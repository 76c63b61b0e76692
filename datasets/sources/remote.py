"""Ask a server for a table: an attempt is a process that can be killed, all share one limit."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa

from datasets.access import Access
from datasets.errors import SourceFailed
from datasets.home import read_parquet
from datasets.sources.probe import probe

logger = logging.getLogger("datasets")

ROOT = Path(__file__).resolve().parents[2]
FIGSHARE = "https://ndownloader.figshare.com"


def fetch_remote(source: Mapping[str, Any], target: str | None, access: Access) -> pa.Table:
    """Fetch a table from a network source.

    Parameters
    ----------
    source : mapping
        The source in the data set's YAML.
    target : str or None
        The label column.
    access : Access
        Servers, time limit, retries.

    Raises
    ------
    SourceFailed
        With the last attempt's reason.
    """
    with asked(source, target, access) as folder:
        return read_parquet(folder / "table.parquet", target)


@contextlib.contextmanager
def asked(source: Mapping[str, Any], target: str | None, access: Access) -> Iterator[Path]:
    """Ask a source until it serves; yield the folder in which its client left what it got.

    A passing failure (5xx, a dropped connection, a damaged download) is tried again after a pause
    that doubles. A lasting one (404) is not. All attempts and pauses share `access.timeout` seconds
    of waiting; the time in which a client computes does not count.
    """
    if access.offline:
        raise SourceFailed("not asked")
    left = access.timeout
    with tempfile.TemporaryDirectory(prefix="ocrf-", ignore_cleanup_errors=True) as top:
        for attempt in range(access.retries + 1):
            folder = Path(top) / str(attempt)
            folder.mkdir()
            request = {
                "source": dict(source),
                "target": target,
                "folder": str(folder),
                "access": asdict(access) | {"home": str(access.home), "attempt": attempt},
            }
            failure, waited = _attempt(server_of(source, access), request, left)
            if failure is None:
                yield folder
                return
            if not failure.passing:
                raise failure
            pause = access.backoff * 2**attempt
            left -= waited + pause
            if attempt == access.retries or left <= 0:
                tries = "once" if attempt == 0 else f"{attempt + 1} times"
                raise SourceFailed(f"{failure.reason} (tried {tries})")
            logger.warning("%s: %s; trying again in %g s", source["kind"], failure, pause)
            time.sleep(pause)


def server_of(source: Mapping[str, Any], access: Access) -> str:
    """Return the URL of the server that a source asks."""
    if source["kind"] == "url":
        return str(source["url"])
    servers = {
        "openml": access.openml_server,
        "uci": access.uci_url,
        "sklearn": access.sklearn_url or FIGSHARE,
    }
    return servers[str(source["kind"])]


def _attempt(
    server: str, request: Mapping[str, Any], limit: float
) -> tuple[SourceFailed | None, float]:
    """Run a client process; return its failure, if any, and for how many seconds it has waited."""
    try:
        probe(server)
    except SourceFailed as failure:
        return failure, 0.0
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-m", "datasets.sources.client"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        start_new_session=True,  # a group of its own, to be killed with what it starts
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        try:
            with contextlib.suppress(BrokenPipeError):  # its exit status tells more
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
            waited, expired = _wait(process, limit)
            # The answer is one line: the pipe holds it until the process has ended.
            answer = "" if expired else process.stdout.read()
        finally:
            _kill(process)
    if expired:
        whole = request["access"]["timeout"]
        return SourceFailed(f"no answer in {whole:g} s (data.timeout)", passing=True), waited
    if not answer:
        reason = f"the client process died (status {process.returncode}); out of memory?"
        return SourceFailed(reason), waited
    failed = json.loads(answer)
    return (SourceFailed(**failed) if failed else None), waited


def _wait(process: subprocess.Popen[str], limit: float) -> tuple[float, bool]:
    """Wait for a process; return its waiting time, and whether that went beyond the limit."""
    status, started, waited = psutil.Process(process.pid), time.monotonic(), 0.0
    while process.poll() is None:
        times = status.cpu_times()
        waited = time.monotonic() - started - times.user - times.system
        if waited > limit:
            return waited, True
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    return waited, False


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a client and whatever it started, if it still runs."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):  # it ended in between
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
