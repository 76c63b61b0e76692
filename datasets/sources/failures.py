"""Tell failures that pass (a server is busy, a connection drops) from those that last."""

from __future__ import annotations

import http.client
import re
import socket
import urllib.error
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import requests
import urllib3

from datasets.errors import SourceFailed

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
    urllib.error.ContentTooShortError,
    ConnectionError,
    TimeoutError,
    socket.gaierror,
)


@dataclass(frozen=True)
class Failure:
    """Why an attempt failed.

    Attributes
    ----------
    passing : bool
        Whether another attempt may succeed.
    reason : str
        One line.
    """

    passing: bool
    reason: str


def classify(error: BaseException) -> Failure:
    """Classify what a client raised.

    Parameters
    ----------
    error : exception
        Raised by openml, scikit-learn, pooch, or by reading what they got.
    """
    for link in _chain(error):
        status = _status(link)
        if status is not None:
            passing = bool(_PASSING_STATUS.match(str(status)))
            return Failure(passing, f"HTTP status {status}")
        code = getattr(link, "code", None)
        if type(link).__module__.startswith("openml") and isinstance(code, int):
            return Failure(code in _PASSING_OPENML, f"OpenML says: {_line(link)} (code {code})")
        if type(link).__name__ == "OpenMLHashException":
            return Failure(True, f"the download is damaged: {_line(link)}")
        if isinstance(link, _DROPPED):
            return Failure(True, _line(link))
        if isinstance(link, urllib.error.URLError):
            return Failure(True, _line(link))
        if isinstance(link, zipfile.BadZipFile | EOFError):
            return Failure(True, f"the download is damaged: {_line(link)}")
    if isinstance(error, SourceFailed):
        return Failure(False, error.reason)
    return Failure(False, f"{type(error).__name__}: {_line(error)}")


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
