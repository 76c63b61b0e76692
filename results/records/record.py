"""A record: what one experiment left behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from results.records.encoding import Curves
from results.records.statuses import STATUSES
from results.records.validation import error_in

FORMAT: Final = 1

#: Parts of a configuration that never change an outcome. Where a data set comes from, and what it
#: is checked against, do not: the checks make sure that every source serves the same table.
NEUTRAL: Final[Mapping[str, frozenset[str]]] = {
    "dataset": frozenset(
        {"sources", "expected", "expected_repeated", "published", "description", "openml_server"}
    ),
    "protocol": frozenset({"metrics", "recorded"}),
}

#: Parts of a configuration that may name code of the user's own. A record's provenance has the
#: digest of all of it as ``code``, and of what a part names as ``code_<part>``.
PARTS_WITH_CODE: Final = ("algorithm", "protocol")

_DOTTED: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


# What a detector, its libraries and its user may write into.
_FREE: Final = ("reason", "traceback", "limits", "config", "provenance")
_encoded = json.JSONEncoder(ensure_ascii=False).encode


class RecordError(ValueError):
    """A record file cannot be read; the message says why."""


def valid_text(text: str) -> str:
    r"""Write out the lone surrogates of a text, which Python has in names that are not UTF-8.

    Examples
    --------
    >>> print(valid_text("caf\udce9.csv"))
    caf\udce9.csv
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def targets(value: Any, *, arguments: bool = False) -> list[str]:
    """Return every ``_target_`` in a configuration, and whatever else its arguments may name.

    A class may take a function by its name (``path`` of `hydra.utils.get_method`), or a file, so
    that every dotted text among the arguments of a target counts, and every path.

    Parameters
    ----------
    value : object
        A configuration or a part of it.
    arguments : bool
        Whether it is a part of a target's arguments.
    """
    found: list[str] = []
    _add_targets(value, arguments, found)
    return found


def _add_targets(value: Any, arguments: bool, found: list[str]) -> None:
    # Tables are made of the configurations of ten thousands of records.
    if isinstance(value, str):
        if arguments and ("/" in value or _DOTTED.fullmatch(value)):
            found.append(value)
    elif isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101 (a third of the time)
        arguments = arguments or "_target_" in value
        for item in value.values():
            _add_targets(item, arguments, found)
    elif isinstance(value, list | tuple):
        for item in value:
            _add_targets(item, arguments, found)


def _with_valid_texts(value: Any) -> Any:
    """Write out the lone surrogates of all texts in a value, keys included."""
    if isinstance(value, str):
        return value if value.isascii() else valid_text(value)
    if isinstance(value, dict | list):
        # Nearly all texts are valid, which one pass in C tells.
        with contextlib.suppress(TypeError, ValueError):
            _encoded(value).encode()
            return value
    if isinstance(value, Mapping):
        return {_with_valid_texts(name): _with_valid_texts(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_valid_texts(item) for item in value]
    return value


@dataclass(frozen=True)
class Record:
    """The outcome of one experiment: one fit and one scoring on one split.

    Attributes
    ----------
    key : str
        Hexadecimal digest of what determines the outcome: resolved data set, algorithm, setting,
        protocol, seed and split.
    dataset, algorithm, setting, protocol : str
        Names in the configuration.
    variant : str
        Parameters of the algorithm that differ from its YAML file, ``"a=1,b=2"``, sorted; empty if
        none does.
    seed, split : int
    status : str
        One of :data:`results.records.statuses.STATUSES`.
    metrics : dict of str to float
        Those of :data:`results.metrics.METRICS` that were computed; empty unless ok.
    curves : mapping of str to ndarray of shape (1000,)
        ``roc`` (true positive rate) and ``pr`` (precision) on an even grid of [0, 1]; empty
        unless ok.
    fit_seconds, fit_cpu_seconds, score_seconds, score_cpu_seconds : float or None
        Wall clock and processor time (user and system, all threads).
    peak_memory_mb : float or None
        Largest resident memory (MiB) of the experiment's process group, less what it held when
        fit began (interpreter, libraries, data): what the algorithm itself needed.
    counts : dict of str to int
        ``n_train``, ``n_test``, ``n_features``, ``n_anomalies_train``, ``n_anomalies_test``.
    uses_labels : bool
        Whether the detector was given the labels of the training points.
    reason, traceback : str or None
        Why the status is not ok.
    limits : dict
        ``timeout`` (seconds, for fit and for scoring each) and ``memory_limit_gb``.
    config : dict
        The whole resolved configuration.
    provenance : dict
        Commit, versions, hardware, variables that set numbers of threads.

    Other Parameters
    ----------------
    valid_texts : bool
        Whether all texts are known to be valid Unicode.
    """

    key: str
    dataset: str
    algorithm: str
    variant: str
    setting: str
    protocol: str
    seed: int
    split: int
    status: str
    metrics: dict[str, float] = field(default_factory=dict)
    curves: Mapping[str, NDArray[np.float64]] = field(default_factory=Curves)
    fit_seconds: float | None = None
    fit_cpu_seconds: float | None = None
    score_seconds: float | None = None
    score_cpu_seconds: float | None = None
    peak_memory_mb: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    uses_labels: bool = False
    reason: str | None = None
    traceback: str | None = None
    limits: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    valid_texts: InitVar[bool] = False

    def __post_init__(self, valid_texts: bool) -> None:
        if self.status not in STATUSES:
            raise RecordError(f"status {self.status!r} is none of {', '.join(STATUSES)}")
        if not re.fullmatch(r"[0-9a-f]{16,}", self.key):
            raise RecordError(f"key {self.key!r} is not a hexadecimal digest")
        free = {name: getattr(self, name) for name in _FREE}
        # Tables and Parquet refuse what is not valid Unicode.
        if not valid_texts and (mended := _with_valid_texts(free)) is not free:
            for name, value in mended.items():
                object.__setattr__(self, name, value)

    @property
    def label(self) -> str:
        """``"algorithm"``, or ``"algorithm(variant)"`` where parameters were overridden."""
        return f"{self.algorithm}({self.variant})" if self.variant else self.algorithm

    @property
    def last_asked(self) -> str:
        """When a run last asked for it: not before it began. Empty if that is not known."""
        return max(str(self.provenance.get(moment) or "") for moment in ("started", "asked"))

    def to_dict(self) -> dict[str, Any]:
        """Return what the file holds: plain JSON types, curves encoded."""
        plain: dict[str, Any] = {"format": FORMAT}
        for item in fields(self):
            plain[item.name] = getattr(self, item.name)
        curves = self.curves if isinstance(self.curves, Curves) else Curves.from_arrays(self.curves)
        plain["curves"] = curves.encoded
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], *, valid_texts: bool = False) -> Record:
        """Build a record from :meth:`to_dict`'s result.

        Parameters
        ----------
        plain : mapping
        valid_texts : bool
            Whether all texts are known to be valid Unicode.

        Raises
        ------
        RecordError
            If the format is not this version's, or a field is missing, unknown or invalid: see
            :mod:`results.records.validation`.
        """
        if not isinstance(plain, Mapping):
            raise RecordError("not a JSON object")
        if plain.get("format") != FORMAT:
            raise RecordError(f"format {plain.get('format')!r}, this version reads {FORMAT}")
        values = {name: value for name, value in plain.items() if name != "format"}
        if error := error_in(values):
            raise RecordError(error)
        values["curves"] = Curves(values["curves"])
        return cls(**values, valid_texts=valid_texts)


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read one record file.

    Raises
    ------
    RecordError
        If the file does not hold a record: cut short, not JSON, another format, an invalid field.
    """
    # Without waiting: a pipe has no end, nor has a device.
    with open(path, "rb", opener=lambda p, flags: os.open(p, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise RecordError("not a file")
        return parse_record(file.read())


def parse_record(text: str | bytes, curves: Mapping[str, str] | None = None) -> Record:
    """Return the record that a JSON text holds; raises as :func:`read_record`.

    Parameters
    ----------
    text : str or bytes
    curves : mapping of str to str, optional
        The encoded curves, if they are kept apart from the text.
    """
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}") from error
    if curves is not None and isinstance(plain, dict):
        plain |= {"curves": dict(curves)}
    # What begins with a backslash may stand for any character.
    escaped = "\\" in text if isinstance(text, str) else b"\\" in text
    return Record.from_dict(plain, valid_texts=text.isascii() and not escaped)
