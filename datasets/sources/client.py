"""One attempt at one source, in a process of its own: `python -m datasets.sources.client`.

The parent (`datasets.sources.remote`) writes the request as one JSON line on standard input, keeps
that pipe open, and kills this process when nothing comes any more. Other people's clients have
time-outs of their own, or none; a process can be killed whatever it waits for. Lines of JSON on
standard output tell the bytes received so far and, last, the outcome.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from datasets.sources import NETWORK
from datasets.sources.failures import classify

# How often the parent is told how much has come.
_BEAT_SECONDS = 0.25


class Received:
    """Counts the bytes that this process receives over sockets.

    Every client here reads through `socket.SocketIO` in the end, TLS included. Not all of them tell
    how far they are, and without that a slow download could not be told from one that stands still.
    """

    def __init__(self) -> None:
        self.bytes = 0
        readinto = socket.SocketIO.readinto

        def counting(stream: socket.SocketIO, buffer: Any) -> int | None:
            n = readinto(stream, buffer)
            self.bytes += n or 0
            return n

        socket.SocketIO.readinto = counting  # type: ignore[method-assign, assignment]


def main() -> int:
    """Serve the request on standard input."""
    # Clients print; what they print is not for the parent.
    outcome, sys.stdout = sys.stdout, sys.stderr
    lock = threading.Lock()

    def tell(message: dict[str, Any]) -> None:
        with lock:
            print(json.dumps(message), file=outcome, flush=True)

    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    received = Received()

    def beat() -> None:
        while True:
            time.sleep(_BEAT_SECONDS)
            tell({"received": received.bytes})

    threading.Thread(target=beat, daemon=True).start()
    folder = Path(request["folder"])
    try:
        fetch = NETWORK[request["source"]["kind"]]()
        table = fetch(request["source"], request["target"], request["access"], folder)
        # Not at the top: the parent's request decides whether Arrow is needed at all.
        import pyarrow.parquet as pq

        pq.write_table(table, folder / "table.parquet")
    except Exception as error:  # noqa: BLE001 (every failure of a client is told to the parent)
        failure = classify(error)
        tell({"failed": failure.reason, "passing": failure.passing})
    else:
        tell({"done": True, "received": received.bytes})
    return 0


def _die_with_parent() -> None:
    """End this process when the parent's end of the pipe closes, however the parent ended."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
