"""Ask a server for a table: is it there at all? Then attempts in killable processes."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pyarrow as pa

from datasets.access import Access
from datasets.errors import SourceFailed
from datasets.home import read_parquet
from datasets.sources.failures import Failure

logger = logging.getLogger("datasets")

ROOT = Path(__file__).resolve().parents[2]
FIGSHARE = "https://ndownloader.figshare.com"

# What counts as progress within the time-out: less than this is a connection that stands still.
_LEAST_BYTES = 1024
_LEAST_CPU_SECONDS = 0.1
# Seconds to establish a connection.
_CONNECT_SECONDS = 5.0
# Seconds for which a host that could not be reached is not tried again: without this, a machine
# with no network would wait for the same host once per data set.
_REMEMBER_SECONDS = 300.0
_unreachable: dict[tuple[str, int], tuple[float, str]] = {}

Progress = Callable[[str], None]


class Patience:
    """The seconds that may go by in vain for one data set, over all of its sources.

    A download that gets on costs none, however long it takes.
    """

    def __init__(self, seconds: float = 40.0) -> None:
        self.seconds = seconds

    def spend(self, seconds: float) -> bool:
        """Take seconds away; return whether any are left."""
        self.seconds -= seconds
        return self.seconds > 0


def fetch_remote(
    source: Mapping[str, Any],
    target: str | None,
    access: Access,
    patience: Patience,
    progress: Progress | None = None,
) -> pa.Table:
    """Fetch a table from a network source.

    Parameters
    ----------
    source : mapping
        The source in the data set's YAML.
    target : str or None
        The label column.
    access : Access
        Servers, time-out, retries.
    patience : Patience
        Ends the attempts when it is lost.
    progress : callable, optional
        Told how far it is, several times a second.

    Raises
    ------
    SourceFailed
        With the last attempt's reason. A failure that passes (5xx, a time-out, a dropped
        connection) is tried again after a pause that doubles; one that lasts (404) is not.
    """
    kind = str(source["kind"])
    if access.offline:
        raise SourceFailed("not asked")
    attempt = 0
    while True:
        started = time.monotonic()
        failure, table = _attempt(source, target, access, attempt, progress)
        if table is not None:
            return table
        assert failure is not None
        attempt += 1
        if not failure.passing:
            raise SourceFailed(failure.reason)
        pause = access.backoff * 2 ** (attempt - 1)
        in_vain = min(time.monotonic() - started, access.timeout) + pause
        if attempt > access.retries or not patience.spend(in_vain):
            tries = "once" if attempt == 1 else f"{attempt} times"
            raise SourceFailed(f"{failure.reason} (tried {tries})")
        logger.warning("%s: %s; trying again in %g s", kind, failure.reason, pause)
        time.sleep(pause)


def _attempt(
    source: Mapping[str, Any],
    target: str | None,
    access: Access,
    attempt: int,
    progress: Progress | None,
) -> tuple[Failure | None, pa.Table | None]:
    """Try once; return either the failure or the table."""
    failure = _probe(_server(source, access))
    if failure is not None:
        return failure, None
    with tempfile.TemporaryDirectory(prefix="ocrf-", ignore_cleanup_errors=True) as folder:
        request = {
            "source": dict(source),
            "target": target,
            "folder": folder,
            "access": {
                "openml_server": access.openml_server,
                "uci_url": access.uci_url,
                "sklearn_url": access.sklearn_url,
                "timeout": access.timeout,
                "attempt": attempt,
            },
        }
        failure = _run_client(request, access.timeout, progress)
        if failure is not None:
            return failure, None
        return None, read_parquet(Path(folder) / "table.parquet", target)


def _server(source: Mapping[str, Any], access: Access) -> str:
    """Return the URL of the server that a source asks."""
    servers = {
        "openml": access.openml_server,
        "uci": access.uci_url,
        "sklearn": access.sklearn_url or FIGSHARE,
    }
    return servers[str(source["kind"])]


def _probe(url: str) -> Failure | None:
    """Open a connection to a server, so that a machine without a network finds out in seconds."""
    parts = urlsplit(url)
    if parts.hostname is None:
        return Failure(False, f"{url!r} is no URL")
    proxies = urllib.request.getproxies()
    if parts.scheme in proxies and not urllib.request.proxy_bypass(parts.hostname):
        return None  # whether the server can be reached is the proxy's knowledge
    address = (parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
    remembered = _unreachable.get(address)
    if remembered is not None and time.monotonic() - remembered[0] < _REMEMBER_SECONDS:
        return Failure(False, remembered[1])
    error = _connect(address)
    if isinstance(error, ConnectionRefusedError):
        return Failure(True, f"{parts.netloc} refuses the connection")
    if error is not None:
        reason = f"{parts.netloc} cannot be reached: {error}"
        _unreachable[address] = (time.monotonic(), reason)
        return Failure(False, reason)
    return None


def _connect(address: tuple[str, int]) -> OSError | None:
    """Try to connect; return the error, or None.

    In a thread, because the time-out of a connection leaves out the time in which its name is
    looked up, and that can be half a minute.
    """
    outcome: list[OSError | None] = []

    def connect() -> None:
        try:
            socket.create_connection(address, timeout=_CONNECT_SECONDS).close()
            outcome.append(None)
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(2 * _CONNECT_SECONDS)
    if not outcome:
        return TimeoutError(f"its name was not found in {2 * _CONNECT_SECONDS:g} s")
    return outcome[0]


def _run_client(
    request: Mapping[str, Any], timeout: float, progress: Progress | None
) -> Failure | None:
    """Run a client process until it is done or stands still."""
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
    messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
    stdout = process.stdout

    def listen() -> None:
        for line in stdout:
            messages.put(json.loads(line))
        messages.put(None)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return _watch(process, messages, timeout, progress)
    except BrokenPipeError:
        return Failure(False, "the client process ended before it was asked")
    finally:
        _kill(process)
        listener.join()
        process.stdin.close()
        process.stdout.close()


def _watch(
    process: subprocess.Popen[str],
    messages: queue.Queue[dict[str, Any] | None],
    timeout: float,
    progress: Progress | None,
) -> Failure | None:
    """Follow a client's messages; return None when it is done."""
    status = psutil.Process(process.pid)
    received, since, bytes_then, cpu_then = 0, time.monotonic(), 0, 0.0
    while True:
        try:
            message = messages.get(timeout=0.5)
        except queue.Empty:
            message = {}
        if message is None:
            code = process.wait()
            return Failure(False, f"the client process died (status {code}); out of memory?")
        if "done" in message:
            return None
        if "failed" in message:
            return Failure(bool(message["passing"]), str(message["failed"]))
        received = int(message.get("received", received))
        if progress is not None:
            progress(f"{received / 1e6:.1f} MB")
        now = time.monotonic()
        try:
            times = status.cpu_times()
        except psutil.NoSuchProcess:
            continue  # its last message is on its way
        cpu = times.user + times.system
        if received - bytes_then >= _LEAST_BYTES or cpu - cpu_then >= _LEAST_CPU_SECONDS:
            since, bytes_then, cpu_then = now, received, cpu
        elif now - since > timeout:
            return Failure(True, f"no answer for {timeout:g} s ({received} bytes had come)")


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a client and whatever it started, if it still runs."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):  # it ended in between
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
