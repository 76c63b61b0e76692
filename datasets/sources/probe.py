"""Find out in seconds whether a server can be reached, and remember the hosts that cannot."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from urllib.parse import urlsplit

from datasets.errors import SourceFailed

# Seconds to establish a connection; finding the address of a name gets as many again.
_CONNECT_SECONDS = 5.0
# Seconds for which a host that could not be reached is not tried again. Without this memory a
# machine with no network would wait for the same host once per data set.
_REMEMBER_SECONDS = 300.0
_unreachable: dict[str, tuple[float, str]] = {}


def probe(url: str) -> None:
    """Open and close a connection to a server.

    Raises
    ------
    SourceFailed
        If the server refuses the connection, which may pass, or cannot be reached.
    """
    parts = urlsplit(url)
    if parts.hostname is None:
        raise SourceFailed(f"{url!r} is not a URL")
    proxies = urllib.request.getproxies()
    if parts.scheme in proxies and not urllib.request.proxy_bypass(parts.hostname):
        return  # only the proxy knows whether the server can be reached
    since, reason = _unreachable.get(parts.netloc, (-_REMEMBER_SECONDS, ""))
    if time.monotonic() - since < _REMEMBER_SECONDS:
        raise SourceFailed(reason)
    error = _connect((parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)))
    if isinstance(error, ConnectionRefusedError):
        raise SourceFailed(f"{parts.netloc} refuses the connection", passing=True)
    if error is not None:
        reason = f"{parts.netloc} cannot be reached: {error}"
        _unreachable[parts.netloc] = (time.monotonic(), reason)
        raise SourceFailed(reason)


def _connect(address: tuple[str, int]) -> OSError | None:
    """Try to connect; return the error, or None.

    In a thread, because the time-out of a connection leaves out the time in which its name is
    looked up, and that can be half a minute.
    """
    outcome: list[OSError | None] = []

    def attempt() -> None:
        try:
            socket.create_connection(address, timeout=_CONNECT_SECONDS).close()
            outcome.append(None)
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(2 * _CONNECT_SECONDS)
    if not outcome:
        return TimeoutError(f"its name was not found in {2 * _CONNECT_SECONDS:g} s")
    return outcome[0]
