"""Variants: the parameters of an algorithm that differ from its YAML file, as labels name them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

_ABSENT = object()
_LONGEST_VALUE = 40  # characters of a value in a label
# What stands between the parts of a label.
_PUNCTUATION = re.compile(r"[=,()\[\]{}~\s\"']")
_WORDS = frozenset({"", "absent", "true", "false", "null"})


def variant_of(own: Any, given: Any) -> str:
    """Return the parameters that differ from the YAML file's, as ``"a=1,b=2"``, sorted.

    Two different sets of parameters never read the same.

    Parameters
    ----------
    own, given : object
        The group `algorithm` as its file has it, and as it is.

    Examples
    --------
    >>> variant_of({"n": 1, "scale": "auto"}, {"n": 2, "scale": "auto"})
    'n=2'
    >>> variant_of({"n": 1}, {"n": 1.0}), variant_of({"n": 1}, {"n": "1"})
    ('n=1.0', 'n="1"')
    """
    return ",".join(f"{key}={value}" for key, value in sorted(_differences(own, given)))


def _differences(own: Any, given: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield where two nested configurations differ, as dotted names and short values.

    Only what differs is named: ``steps.1.1.n_estimators`` of a pipeline, not the whole of it.
    """
    if _alike(own, given):
        before, after = _items(own), _items(given)
        for key in before | after:
            name = f"{prefix}.{key}" if prefix else key
            yield from _differences(before.get(key, _ABSENT), after.get(key, _ABSENT), name)
    elif repr(own) != repr(given):
        # 1, 1.0 and true are equal, and three different values of a parameter.
        yield prefix, _brief(given)


def _alike(own: Any, given: Any) -> bool:
    """Whether both are mappings that build the same class, or lists of the same length."""
    if isinstance(own, dict) and isinstance(given, dict):
        return bool(own.get("_target_") == given.get("_target_"))
    return isinstance(own, list) and isinstance(given, list) and len(own) == len(given)


def _items(value: dict[str, Any] | list[Any]) -> dict[str, Any]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return {str(key): item for key, item in pairs}


def _brief(value: Any) -> str:
    """Return a value as it stands in a label; of what is long or nested a digest of it."""
    if value is _ABSENT:
        return "absent"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    text = str(value)
    flat = not isinstance(value, dict) and (
        not isinstance(value, list) or not any(isinstance(item, dict | list) for item in value)
    )
    if flat and len(text) <= _LONGEST_VALUE:
        return _quoted(text) if isinstance(value, str) else text
    name = "list" if isinstance(value, list) else text[:_LONGEST_VALUE]
    if isinstance(value, dict):
        name = str(value.get("_target_", "mapping")).rpartition(".")[2]
    digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    return f"{name}~{digest[:6]}"


def _quoted(text: str) -> str:
    """Return a text in quotes if it would read as another value, or as several."""
    alone = text not in _WORDS and not _is_number(text) and not _PUNCTUATION.search(text)
    return text if alone else json.dumps(text, ensure_ascii=False)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
