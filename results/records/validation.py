"""What a record must look like: a file of records is input, and may hold anything.

Everything that the tables, figures and runners rely on is checked once, where a record is read.
Whatever else a configuration or a provenance holds is kept as it is, as far as tables can hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from results.metrics import METRICS
from results.records.encoding import decompressed
from results.records.statuses import STATUSES

#: What is counted of the split of an experiment; nothing where none was made.
COUNTS: Final = frozenset(
    {"n_train", "n_test", "n_features", "n_anomalies_train", "n_anomalies_test"}
)
#: Separators of paths and control characters: a name is a part of file names and of tables.
_NOT_IN_NAMES: Final = re.compile(r"[/\\\x00-\x1f\x7f\u2028\u2029]")
_ROUNDING: Final = 1e-12
#: Of a label; columns and folders are named by it.
LONGEST_VARIANT: Final = 2000
_LONGEST_NAME: Final = 500
_DEEPEST: Final = 50  # levels of lists and groups within a field


def name_error(name: str) -> str | None:
    r"""Return what forbids a text as the name of a data set, algorithm, setting or protocol.

    Examples
    --------
    >>> name_error("pima")
    >>> name_error("../pima")
    "'../pima' holds '/'"
    """
    if not name.strip() or name != name.strip():
        return f"{name!r} is empty, or begins or ends with white space"
    if len(name) > _LONGEST_NAME:
        return f"{name[:20]!r}... has {len(name)} characters, and {_LONGEST_NAME} are the most"
    if found := _NOT_IN_NAMES.search(name):
        return f"{name!r} holds {found.group()!r}"
    return text_error(name)


def text_error(text: str) -> str | None:
    """Return what forbids a text in a table: it must be valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"{text!r} holds {text[error.start]!r}, which is not a character"
    return None


def _name(text: str) -> str:
    if error := name_error(text):
        raise ValueError(error)
    return text


def _text(text: str) -> str:
    if error := text_error(text):
        raise ValueError(error)
    return text


def _status(name: str) -> str:
    if name not in STATUSES:
        raise ValueError(f"{name!r} is none of {', '.join(STATUSES)}")
    return name


def _metric(name: str) -> str:
    if name not in METRICS:
        raise ValueError(f"{name!r} is none of {', '.join(METRICS)}")
    return name


def _metrics(values: dict[str, float]) -> dict[str, float]:
    for name, value in values.items():
        low, high = METRICS[_metric(name)].limits
        # Sums of shares may exceed 1 by rounding: an average precision of 1.0000000000000002.
        if not low - _ROUNDING <= value <= high + _ROUNDING:
            raise ValueError(f"{name} is {value}, not from {low:g} to {high:g}")
    return values


def _counts(values: dict[str, int]) -> dict[str, int]:
    if unknown := sorted(values.keys() - COUNTS):
        raise ValueError(f"{unknown[0]!r} is none of {', '.join(sorted(COUNTS))}")
    if values and not {"n_train", "n_test"} <= values.keys():
        raise ValueError("n_train or n_test is missing")
    return values


def _curve(text: str) -> str:
    decompressed(text)
    return text


Name = Annotated[str, AfterValidator(_name)]
Text = Annotated[str, AfterValidator(_text)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)] | None


class _Part(BaseModel):
    """A part of a record of which some fields are relied on; it may hold others."""

    model_config = ConfigDict(strict=True, extra="allow", hide_input_in_errors=True)


class _Protocol(_Part):
    metrics: list[Annotated[str, AfterValidator(_metric)]] = []


class _Config(_Part):
    n_splits: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    dataset: dict[str, Any] | None = None
    algorithm: dict[str, Any] | None = None
    setting: dict[str, Any] | None = None
    protocol: _Protocol | None = None


class _Limits(_Part):
    timeout: Amount = None
    memory_limit_gb: Amount = None


class _Provenance(_Part):
    content: Text | None = None
    code: Text | None = None
    indices: Text | None = None
    splits: Count | None = None
    versions: dict[str, Any] = {}


class _Record(_Part):
    """The fields of :class:`results.records.record.Record`, as JSON has them."""

    model_config = ConfigDict(extra="forbid")

    key: Annotated[str, Field(pattern=r"^[0-9a-f]{16,128}$")]
    dataset: Name
    algorithm: Name
    variant: Annotated[Text, Field(max_length=LONGEST_VARIANT)]
    setting: Name
    protocol: Name
    seed: Count
    split: Annotated[int, Field(ge=0, lt=2**31)]
    status: Annotated[str, AfterValidator(_status)]
    metrics: Annotated[
        dict[str, Annotated[float, Field(allow_inf_nan=False)]], AfterValidator(_metrics)
    ]
    curves: dict[Literal["roc", "pr"], Annotated[str, AfterValidator(_curve)]]
    fit_seconds: Amount
    fit_cpu_seconds: Amount
    score_seconds: Amount
    score_cpu_seconds: Amount
    peak_memory_mb: Amount
    counts: Annotated[dict[str, Count], AfterValidator(_counts)]
    uses_labels: bool
    reason: str | None
    traceback: str | None
    limits: _Limits
    config: _Config
    provenance: _Provenance


def error_in(plain: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the fields of a record and where, None if nothing is.

    Parameters
    ----------
    plain : mapping
        As JSON has it, without its format.
    """
    try:
        _Record.model_validate(plain)
    except ValidationError as error:
        first, *more = error.errors(include_url=False)
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        others = f" (and {len(more)} more)" if more else ""
        return f"{where}: {message}{others}"
    if _fits(plain.values(), -1):
        return None
    return next((error for name, value in plain.items() for error in _excesses(value, name)), None)


def _fits(values: Iterable[Any], depth: int) -> bool:
    """Whether `_excesses` yields nothing, several times as fast, since it says nothing."""
    if depth == _DEEPEST:
        return False
    for value in values:
        kind = type(value)  # JSON has no others: nearly all are texts
        if kind is str:
            continue
        if kind is int:
            if not -(2**63) <= value < 2**63:
                return False
        elif kind is dict:
            if not _fits(value.values(), depth + 1):
                return False
        elif kind is list and not _fits(value, depth + 1):
            return False
    return True


def _excesses(value: Any, where: str, depth: int = 0) -> Iterator[str]:
    """Yield what no table can hold: whole numbers beyond 64 bits, and bottomless nesting."""
    if isinstance(value, dict | list):
        if depth == _DEEPEST:
            yield f"{where}: nested more than {_DEEPEST} levels deep"
            return
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(item, dict | list | int):
                yield from _excesses(item, f"{where}.{name}", depth + 1)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield f"{where}: a whole number beyond 64 bits"
