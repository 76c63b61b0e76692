"""Messages between the supervisor, a zygote and an experiment: pickles, one packet each.

A packet socket delivers a message whole or not at all, so a process that is killed while it
reports cannot leave half a message in the way of the next.
"""

from __future__ import annotations

import array
import pickle
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runners.experiment import Limits
from runners.scores import Scores

_LARGEST = 1 << 20


@dataclass(frozen=True)
class Task:
    """One experiment, as its process gets it.

    Attributes
    ----------
    config : mapping
        The cell's resolved configuration.
    split : int
    limits : Limits
    code : str or None
        Digest of the user's own code when the run began; see `runners.own_code`.
    indices : str or None
        Digest of the protocol's file of row numbers then.
    """

    config: Mapping[str, Any]
    split: int
    limits: Limits
    code: str | None = None
    indices: str | None = None


@dataclass(frozen=True)
class Result:
    """The outcome of an experiment: the fields of its record that depend on the run.

    Attributes
    ----------
    status : str
        One of `results.records.statuses.STATUSES`.
    curves : mapping of str to str
        Encoded, as `results.records.encoding.Curves` holds them.
    scores : Scores or None
        Of the test points, if they are to be kept.

    The other attributes are those of a `results.records.record.Record`.
    """

    status: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    curves: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    fit_seconds: float | None = None
    fit_cpu_seconds: float | None = None
    score_seconds: float | None = None
    score_cpu_seconds: float | None = None
    peak_memory_mb: float | None = None
    uses_labels: bool = False
    reason: str | None = None
    traceback: str | None = None
    scores: Scores | None = None


@dataclass(frozen=True)
class Ready:
    """The zygote has done what it was last told to do.

    Attributes
    ----------
    advice : tuple of str
        What the user ought to know of where compiled kernels are kept.
    """

    advice: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """The zygote cannot do what it was last told to do."""

    traceback: str


@dataclass(frozen=True)
class WarmUp:
    """Ask the zygote to import packages, and to compile their kernels or load them from the cache.

    Attributes
    ----------
    packages : frozenset of str
        Their names; not every one has kernels.
    """

    packages: frozenset[str]


@dataclass(frozen=True)
class Hold:
    """Ask the zygote for a holder, which answers at the socket that comes with this message.

    Attributes
    ----------
    algorithm : mapping or None
        What the first experiment runs: compiled before the fork, for all holders to come.
    """

    algorithm: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Cut:
    """How the splits of a cell are made: parts of its configuration."""

    setting: Mapping[str, Any]
    protocol: Mapping[str, Any]
    seed: int
    n_splits: int


@dataclass(frozen=True)
class Check:
    """Ask the zygote to try an algorithm's, a data set's or a protocol's part of a configuration.

    It does so in a process of its own, which answers at the socket that comes with this message,
    and before it compiles the kernels.

    Attributes
    ----------
    algorithm : mapping or None
        Built, and not fitted.
    narrowest : tuple of (str, int) or None
        The data with the fewest features that it will be fitted on, where these are known.
    data : Load or None
        Loaded, and let go.
    cuts : tuple of Cut
        Of each the first split that can be made is made, of the data.
    on_data : mapping of str to mapping
        Algorithms by their labels, which are held to the number of features of the data.
    splitter : Cut or None
        The splitter of its protocol is built.
    """

    algorithm: Mapping[str, Any] | None = None
    narrowest: tuple[str, int] | None = None
    data: Load | None = None
    cuts: tuple[Cut, ...] = ()
    on_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    splitter: Cut | None = None


@dataclass(frozen=True)
class Checked:
    """What came of a `Check`.

    Attributes
    ----------
    problem : str or None
        What is wrong with what was tried; None if it may be run.
    notes : tuple of str
        What is suspicious about the data.
    of_splits : tuple of str
        What protocols do to them that a user may not expect.
    """

    problem: str | None = None
    notes: tuple[str, ...] = ()
    of_splits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kill:
    """Ask for the death of a holder (its process id), or of the running experiment (None)."""

    pid: int | None = None


@dataclass(frozen=True)
class Hello:
    """A holder runs and waits for its data set."""

    pid: int


@dataclass(frozen=True)
class Load:
    """Ask a holder to load a data set.

    Attributes
    ----------
    dataset, data : mapping
        Groups of a configuration.
    content : str or None
        Digest of the user's file that the data come from when the run began.
    """

    dataset: Mapping[str, Any]
    data: Mapping[str, Any] | None
    content: str | None = None


@dataclass(frozen=True)
class Loaded:
    """A holder has loaded its data set of so many bytes."""

    size: int


@dataclass(frozen=True)
class NoData:
    """A holder could not load its data set: the outcome of every experiment on it."""

    result: Result


@dataclass(frozen=True)
class Phase:
    """An experiment enters a phase: ``fit``, ``score`` or ``evaluate``.

    Attributes
    ----------
    name : str
    began : float
        When, in seconds on the clock that all processes share, `processes.monotonic`.
    """

    name: str
    began: float


@dataclass(frozen=True)
class Usage:
    """How an experiment's process ended.

    Attributes
    ----------
    status : int
        As from `os.wait4`.
    peak_bytes : int or None
        Largest memory beyond what it held before fitting; None if fitting did not begin.
    exceeded : bool
        Whether it was killed for exceeding its memory limit.
    oom : bool or None
        Whether the kernel killed a process meanwhile because memory ran out; None if unknown.
    cpu_seconds : float or None
        Processor time of the process, user and system, since it was forked; None if unknown.
    """

    status: int = 0
    peak_bytes: int | None = None
    exceeded: bool = False
    oom: bool | None = None
    cpu_seconds: float | None = None


Message = (
    Task
    | Result
    | Ready
    | Failed
    | WarmUp
    | Hold
    | Check
    | Checked
    | Kill
    | Hello
    | Load
    | Loaded
    | NoData
    | Phase
    | Usage
)


class ClosedError(Exception):
    """The other end is gone."""


class OrderError(RuntimeError):
    """A message came that has no meaning at this point: a mistake in this program."""

    def __init__(self, message: Message):
        super().__init__(f"unexpected message {type(message).__name__}")


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected ends."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LARGEST)
    return ours, theirs


def send(end: socket.socket, message: Message, descriptors: tuple[int, ...] = ()) -> None:
    """Send one message.

    Raises
    ------
    ClosedError
        If the other end is gone.
    """
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    try:
        end.sendmsg([data], rights if descriptors else [])
    except (BrokenPipeError, ConnectionResetError) as error:
        raise ClosedError from error


def receive(end: socket.socket) -> tuple[Message, list[int]]:
    """Wait for one message and return it with the descriptors that came along.

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
    message: Message = pickle.loads(data)
    return message, list(descriptors)
