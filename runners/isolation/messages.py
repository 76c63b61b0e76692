"""Messages between the supervisor, a zygote and an experiment: pickles, one packet each.

A packet socket delivers a message whole or not at all, so a process that is killed while it
reports cannot leave half a message in the way of the next.
"""

from __future__ import annotations

import array
import pickle
import socket
from typing import Any

_LARGEST = 1 << 20


class ClosedError(Exception):
    """The other end is gone."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected ends."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LARGEST)
    return ours, theirs


def send(
    end: socket.socket, kind: str, body: Any = None, descriptors: tuple[int, ...] = ()
) -> None:
    """Send one message.

    Raises
    ------
    ClosedError
        If nobody will read it.
    """
    data = pickle.dumps((kind, body), protocol=pickle.HIGHEST_PROTOCOL)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    try:
        end.sendmsg([data], rights if descriptors else [])
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ClosedError from error


def receive(end: socket.socket) -> tuple[str, Any, list[int]]:
    """Wait for one message and return its kind, its body and the descriptors that came with it.

    Raises
    ------
    ClosedError
        If the other end is gone.
    """
    try:
        data, descriptors, _, _ = socket.recv_fds(end, _LARGEST, 4, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError as error:
        raise ClosedError from error
    if not data:
        raise ClosedError
    kind, body = pickle.loads(data)
    return kind, body, list(descriptors)
