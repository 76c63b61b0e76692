"""Strict models of configuration, and their errors in words."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

Model = TypeVar("Model", bound="Strict")

_MOST_NAMES = 3  # near matches that are suggested


class Strict(BaseModel):
    """A group of the configuration: no key but its own, no value of another type.

    Types are those of YAML: ``"5"`` is a text and no number, ``true`` is no number either, and a
    whole number may stand for a real one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Invalid(ValueError):  # noqa: N818 (a state of the configuration, not of the code)
    """A configuration does not fit its schema; the message has one line per mistake."""


def check(model: type[Model], value: Any, where: str) -> Model:
    """Return `value` as a checked object.

    Parameters
    ----------
    model : subclass of Strict
    value : mapping
        A resolved group of the configuration.
    where : str
        What the group is called on the command line, such as ``"protocol"``; empty for the root.

    Raises
    ------
    Invalid
        Naming every mistake at once: unknown keys with the keys that are near, wrong values with
        what would be right.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise Invalid("\n".join(in_words(error, model, where))) from None


def in_words(error: ValidationError, model: type[BaseModel], where: str) -> list[str]:
    """Return one line for each mistake that pydantic found.

    Parameters
    ----------
    error : ValidationError
    model : type
        What the value was to be.
    where : str
        The name of the value as a whole.
    """
    lines: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for detail in error.errors(include_url=False):
        lines.setdefault(_place(detail["loc"], model), []).append(detail)
    return list(
        dict.fromkeys(_line(place, details, model, where) for place, details in lines.items())
    )


def suggestion(name: str, valid: Iterable[str]) -> str:
    """Return ``"; did you mean ...?"`` if a valid name is near, and the empty text otherwise.

    >>> suggestion("standardize", ["standard", "robust"])
    '; did you mean standard?'
    """
    near = difflib.get_close_matches(name, list(valid), n=_MOST_NAMES)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _place(location: Sequence[int | str], model: type[BaseModel]) -> tuple[str, ...]:
    """Return a location by its keys alone: pydantic adds the branches of unions to it."""
    place: list[str] = []
    nodes: list[Any] = [model]
    for part in location:
        if isinstance(part, int):
            place.append(str(part))
            nodes = list(_inner(nodes))
            continue
        models = list(_models(nodes))
        fields = {name: f for m in models for name, f in m.model_fields.items()}
        if part in fields:
            place.append(part)
            nodes = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        elif not _is_branch(part, nodes):
            place.append(part)
            nodes = list(_inner(nodes))
    return tuple(place)


def _line(
    place: tuple[str, ...], details: Sequence[Mapping[str, Any]], model: type[BaseModel], where: str
) -> str:
    name = ".".join((where, *place) if where else place)
    unknown = [d for d in details if d["type"] == "extra_forbidden"]
    if unknown:
        valid = sorted(_keys(place[:-1], model))
        inside = ".".join((where, *place[:-1]) if where else place[:-1]) or "the configuration"
        return (
            f"{name}: unknown key{suggestion(place[-1], valid)} "
            f"Valid names in {inside}: {', '.join(valid)}"
        )
    if any(d["type"] == "missing" for d in details):
        return f"{name}: missing"
    reasons = dict.fromkeys(_reason(detail) for detail in details)
    given = details[0]["input"]
    words = " or ".join(reasons)
    if any(d["type"] in ("value_error", "assertion_error") for d in details):
        return f"{name}: {words}" if name else words
    near = ""
    if isinstance(given, str):
        near = suggestion(given, [c for d in details for c in _choices(d)])
    return f"{name} must be {words}, got {given!r}{near}"


_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text",
    "bool_type": "true or false",
    "none_required": "null",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a group of keys",
    "mapping_type": "a group of keys",
    "model_type": "a group of keys",
    "model_attributes_type": "a group of keys",
}


def _reason(detail: Mapping[str, Any]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "literal_error":
        return f"one of {', '.join(_choices(detail))}"
    if kind in ("value_error", "assertion_error"):
        return str(context.get("error", detail["msg"]))
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    for bound, words in (("gt", "greater than"), ("ge", "at least"), ("lt", "less than")):
        if bound in context:
            return f"{words} {context[bound]:g}"
    if "le" in context:
        return f"at most {context['le']:g}"
    return str(detail["msg"]).removeprefix("Input should be ").removeprefix("Value error, ")


def _choices(detail: Mapping[str, Any]) -> list[str]:
    """Return the valid values of a closed vocabulary."""
    if detail["type"] != "literal_error":
        return []
    text = str(detail["ctx"]["expected"]).replace(" or ", ", ")
    return [choice.strip().strip("'") for choice in text.split(",")]


def _keys(place: Iterable[str], model: type[BaseModel]) -> set[str]:
    """Return the keys that are valid at a place."""
    nodes: list[Any] = [model]
    for part in place:
        models = list(_models(nodes))
        found = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        nodes = found or list(_inner(nodes))
    return {f.alias or name for m in _models(nodes) for name, f in m.model_fields.items()}


def _models(nodes: Iterable[Any]) -> Iterator[type[BaseModel]]:
    """Yield the models among some annotations, those in unions included."""
    for node in nodes:
        if isinstance(node, type) and issubclass(node, BaseModel):
            yield node
        elif typing.get_origin(node) in (typing.Union, types.UnionType, typing.Annotated):
            yield from _models(typing.get_args(node))


def _inner(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield what lists and mappings among some annotations hold."""
    for node in nodes:
        origin = typing.get_origin(node)
        if origin in (typing.Union, types.UnionType, typing.Annotated):
            yield from _inner(typing.get_args(node))
        elif origin is not None and origin is not typing.Literal:
            yield from typing.get_args(node)


def _is_branch(part: str, nodes: Iterable[Any]) -> bool:
    """Whether a part of a location is pydantic's name for a branch of a union."""
    names = {"str", "int", "float", "bool", "none", "nullable"}
    names |= {m.__name__ for m in _models(nodes)}
    return part in names or "[" in part or "-" in part
