"""Strict models of configuration, and their errors in words."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

Model = TypeVar("Model", bound="Strict")

_MOST_NAMES = 3  # near matches that are suggested


class Strict(BaseModel):
    """A group of the configuration: no key but its own, no value of another type.

    Types are those of YAML: ``"5"`` is a text and ``true`` a boolean, neither is a number, and a
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
    places: dict[tuple[str, ...], list[_Mistake]] = {}
    for detail in error.errors(include_url=False):
        place, models = _walk(detail["loc"], model)
        places.setdefault(place, []).append((detail, models))
    lines = (_line(place, mistakes, where) for place, mistakes in places.items())
    return list(dict.fromkeys(lines))


def suggestion(name: str, valid: Iterable[str]) -> str:
    """Return ``"; did you mean ...?"`` if a valid name is near, and the empty text otherwise.

    >>> suggestion("standardize", ["standard", "robust"])
    '; did you mean standard?'
    """
    near = difflib.get_close_matches(name, list(valid), n=_MOST_NAMES)
    return f"; did you mean {' or '.join(near)}?" if near else ""


#: What pydantic says of one mistake, and the models whose key is mistaken.
_Mistake = tuple[Mapping[str, Any], list[type[BaseModel]]]


def _walk(
    location: Sequence[int | str], model: type[BaseModel]
) -> tuple[tuple[str, ...], list[type[BaseModel]]]:
    """Return a location by its keys alone, and the models that its last key is one of.

    Pydantic's locations also name the branches of unions that it tried.
    """
    place: list[str] = []
    nodes: list[Any] = [model]
    around: list[type[BaseModel]] = []
    for part in location:
        models = list(_models(nodes))
        owners = [m for m in models if _field(m, part) is not None]
        tagged = [m for m in models if part in _tags(m)]
        if owners:
            place.append(str(part))
            around, nodes = models, [_field(m, part).annotation for m in owners]  # type: ignore[union-attr]
        elif tagged:
            nodes = list(tagged)
        elif isinstance(part, int):
            place.append(str(part))
            around, nodes = [], list(_inner(nodes))
        elif models or not _is_branch(part):
            place.append(part)
            around, nodes = models, list(_inner(nodes))
    return tuple(place), around


def _field(model: type[BaseModel], key: int | str) -> FieldInfo | None:
    """Return the field of a model that a key of YAML stands for."""
    for name, field in model.model_fields.items():
        if key == (field.alias or name):
            return field
    return None


def _tags(model: type[BaseModel]) -> set[str]:
    """Return what a union calls a model: its own name, and the `kind` that is its alone."""
    kind = model.model_fields.get("kind")
    kinds = typing.get_args(kind.annotation) if kind is not None and kind.is_required() else ()
    return {model.__name__, *map(str, kinds)}


def _line(place: tuple[str, ...], mistakes: Sequence[_Mistake], where: str) -> str:
    name = ".".join((where, *place) if where else place)
    details = [detail for detail, _ in mistakes]
    kinds = {detail["type"] for detail in details}
    if "extra_forbidden" in kinds:
        models = mistakes[0][1]
        valid = sorted({f.alias or n for m in models for n, f in m.model_fields.items()})
        inside = name.rpartition(".")[0] or "the configuration"
        return (
            f"{name}: unknown key{suggestion(place[-1], valid) or '.'} "
            f"Valid names in {inside}: {', '.join(valid)}"
        )
    if "missing" in kinds:
        return f"{name}: missing"
    words = " or ".join(dict.fromkeys(_reason(detail) for detail in details))
    if kinds & {"value_error", "assertion_error"}:
        return f"{name}: {words}" if name else words
    given = details[0]["input"]
    if kinds & {"union_tag_invalid", "union_tag_not_found"}:
        given = given.get("kind") if isinstance(given, Mapping) else given
        name = f"{name}.kind"
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
    if kind in ("literal_error", "union_tag_invalid"):
        return f"one of {', '.join(_choices(detail))}"
    if kind in ("value_error", "assertion_error"):
        return str(context.get("error", detail["msg"]))
    if kind == "union_tag_not_found":
        return "given"
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind in ("too_short", "string_too_short"):
        return "a text that is not empty" if kind == "string_too_short" else "a list with an item"
    if kind == "string_pattern_mismatch":
        return f"a text that fits the pattern {context['pattern']}"
    for bound, words in (("gt", "greater than"), ("ge", "at least"), ("lt", "less than")):
        if bound in context:
            return f"{words} {context[bound]:g}"
    if "le" in context:
        return f"at most {context['le']:g}"
    return str(detail["msg"]).removeprefix("Input should be ").removeprefix("Value error, ")


def _choices(detail: Mapping[str, Any]) -> list[str]:
    """Return the valid values of a closed vocabulary."""
    key = {"literal_error": "expected", "union_tag_invalid": "expected_tags"}.get(detail["type"])
    if key is None:
        return []
    text = str(detail["ctx"][key]).replace(" or ", ", ")
    return [choice.strip().strip("'") for choice in text.split(",")]


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


def _is_branch(part: str) -> bool:
    """Whether a part of a location is pydantic's name for a branch of a union."""
    return "[" in part or "-" in part or part in ("str", "int", "float", "bool", "none")
