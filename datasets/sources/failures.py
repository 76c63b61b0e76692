"""Tell failures that pass (a server is busy, a connection drops) from those that last."""

from __future__ import annotations

import http.client
import re
import socket
import urllib.error
import zipfile
from collections.abc import Iterator
from typing import Any

import requests
import urllib3

from datasets.errors import SourceFailed

# Seconds without a byte after which a connection counts as dropped.
STALL_SECONDS = 10.0

# 408 and 429 ask to come back; 5xx are the server's own troubles.
_PASSING_STATUS = re.compile(r"^(408|429|5\d\d)$")
# The openml package tells the status of a response that is not its XML only in its message.
_STATUS_IN_MESSAGE = re.compile(r"Status code: (\d{3})")
# OpenML's own codes of passing failures: 107 is a database that cannot be reached.
_PASSING_OPENML = {107}

_DROPPED = (
    requests.ConnectionError,
    requests.exceptions.ChunkedEncodingError,
    requests.Timeout,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    urllib.error.URLError,
    ConnectionError,
    TimeoutError,
    socket.gaierror,
)
_DAMAGED = (zipfile.BadZipFile, EOFError)


def set_time_outs(seconds: float) -> None:
    """Give every request of this process a time-out, also those whose client sets none."""
    socket.setdefaulttimeout(seconds)
    send = requests.Session.send

    def impatient(session: requests.Session, *args: Any, **kwargs: Any) -> requests.Response:
        if kwargs.get("timeout") is None:  # requests would wait for ever
            kwargs["timeout"] = seconds
        return send(session, *args, **kwargs)

    requests.Session.send = impatient  # type: ignore[method-assign, assignment]


def classify(error: BaseException) -> SourceFailed:
    """Turn what a client raised into one line that says whether another attempt may succeed.

    Parameters
    ----------
    error : exception
        Raised by openml, scikit-learn, pooch, or by reading what they got.
    """
    for link in _chain(error):
        if isinstance(link, SourceFailed):
            return link
        status = _status(link)
        if status is not None:
            passing = bool(_PASSING_STATUS.match(str(status)))
            return SourceFailed(f"HTTP status {status}", passing=passing)
        code = getattr(link, "code", None)
        if type(link).__module__.startswith("openml") and isinstance(code, int):
            reason = f"OpenML says: {_line(link)} (code {code})"
            return SourceFailed(reason, passing=code in _PASSING_OPENML)
        if isinstance(link, _DAMAGED) or type(link).__name__ == "OpenMLHashException":
            return SourceFailed(f"the download is damaged: {_line(link)}", passing=True)
        if isinstance(link, _DROPPED):
            return SourceFailed(_line(link), passing=True)
    return SourceFailed(f"{type(error).__name__}: {_line(error)}")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those that caused it: clients wrap what went wrong."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that an exception is about, or None."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return error.response.status_code
    if isinstance(error, urllib.error.HTTPError):
        return error.code
    if type(error).__module__.startswith("openml"):
        match = _STATUS_IN_MESSAGE.search(str(error))
        if match:
            return int(match.group(1))
    return None


def _line(error: BaseException) -> str:
    """Return an exception's message in one line of bounded length."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."
