"""One attempt at one source, in a process of its own: `python -m datasets.sources.client`.

The parent (`datasets.sources.remote`) writes the request as one JSON line on standard input, keeps
that pipe open, and kills this process when its time is over. Other people's clients have time-outs
of their own, or none; a process can be killed whatever it waits for. The answer is one JSON object
on standard output; it has no `reason` if all went well.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from datasets.sources.failures import STALL_SECONDS, classify, set_time_outs


def main() -> int:
    """Serve the request on standard input."""
    # Clients print on standard output, which only the answer may use.
    stdout, sys.stdout = sys.stdout, sys.stderr
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    set_time_outs(min(STALL_SECONDS, request["access"]["timeout"]))
    answer: dict[str, Any] = {}
    folder = Path(request["folder"])
    try:
        # Only the module of this kind: together the clients take seconds to import.
        module = importlib.import_module(f"datasets.sources.{request['source']['kind']}")
        table = module.fetch(request["source"], request["target"], request["access"], folder)
        if table is not None:
            # Not at the top: a client that fails does not need Arrow.
            import pyarrow.parquet as pq

            pq.write_table(table, folder / "table.parquet")
    except Exception as error:  # noqa: BLE001 (every failure of a client is told to the parent)
        failure = classify(error)
        answer = {
            "reason": failure.reason,
            "passing": failure.passing,
            "misfit": failure.misfit,
        }
    print(json.dumps(answer), file=stdout, flush=True)
    return 0


def _die_with_parent() -> None:
    """End this process when the parent's end of the pipe closes, however the parent ended."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
