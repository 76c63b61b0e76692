"""Mistakes on the command line and in YAML files, each in one line with what would be right."""

from __future__ import annotations

import difflib
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import yaml
from hydra.conf import HydraConf
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from datasets.collections import choice_of
from datasets.errors import UsageError
from datasets.strict import suggestion

GROUPS = ("dataset", "algorithm", "setting", "protocol", "runner", "grid")
_KEY = re.compile(r"[~+]{0,2}[\w./@:-]+")


def parse_overrides(overrides: Sequence[str]) -> list[Override]:
    """Parse overrides one by one.

    Raises
    ------
    UsageError
        If one cannot be parsed, with the quoting that can be; if a group's option is not a name; or
        if a name is given twice, of which Hydra would take the last.
    """
    parsed = []
    given: dict[str, str] = {}
    for text in overrides:
        if text.startswith("="):
            raise UsageError(_unparsed(text))
        try:
            [override] = OverridesParser.create().parse_overrides([text])
        except OverrideParseException as error:
            raise UsageError(_unparsed(text)) from error
        check_option(override)
        name = override.get_key_element().lstrip("+~")
        if name in given:
            raise UsageError(f"{name} is given twice, as {given[name]} and as {text}: give one")
        given[name] = text
        parsed.append(override)
    return parsed


def _unparsed(text: str) -> str:
    key, equals, value = text.partition("=")
    if not _KEY.fullmatch(key):
        return f"{text!r} is not an override; overrides are NAME=VALUE"
    if not equals:
        return f"{text!r} lacks a value: {key}=VALUE, or ~{key} to remove it"
    for quoted in _quotings(value):
        suggestion = f"{key}={quoted}"
        if _parses(suggestion):
            return f"{text!r} has characters that need quotes; write {shlex.quote(suggestion)}"
    return f"{text!r} cannot be read: brackets, braces and quotes must come in pairs"


def _quotings(value: str) -> Iterator[str]:
    """Yield ways to quote a value: the items of a list, else the whole."""
    if value.startswith("[") and value.endswith("]"):
        yield f"[{','.join(_quoted(item.strip()) for item in value[1:-1].split(','))}]"
    if not re.match(r"[\[{('\"]", value):
        yield _quoted(value)


def _quoted(value: str) -> str:
    if re.fullmatch(r"[\w.+-]+", value, re.ASCII) or value[:1] in ("'", '"'):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _parses(text: str) -> bool:
    try:
        OverridesParser.create().parse_overrides([text])
    except OverrideParseException:
        return False
    return True


def check_option(override: Override) -> None:
    """Refuse a group's option that is not a name.

    Raises
    ------
    UsageError
    """
    group = override.key_or_group
    if group not in GROUPS or override.is_delete():
        return
    value = getattr(override, "_value", None)
    for item in getattr(value, "list", None) or [value]:
        if isinstance(item, list):
            names = ",".join(str(getattr(name, "text", name)) for name in item)
            raise UsageError(
                f"{override.input_line}: one {group} at a time; -m {group}={names} runs several"
            )
        if isinstance(item, bool | int | float) or (item is None and group != "grid"):
            text = str(override.input_line).partition("=")[2]
            words = (
                f"{override.input_line}: {text} is a number or the like, and the options of "
                f"{group} are names; conf/{group}/{text}.yaml is "
                + shlex.quote(f'{group}="{text}"')
            )
            if group == "dataset" and isinstance(item, int):
                words += f", a data set of OpenML's is dataset=custom data.openml={item}"
            raise UsageError(words)


def in_words(error: BaseException) -> str:
    """Return what is wrong and what would be right, in one line where that is possible."""
    if isinstance(error, UsageError):
        return str(error)
    if isinstance(error, yaml.YAMLError):
        return _yaml_error(error)
    if isinstance(error, MissingConfigException) and error.options:
        wanted = str(error.missing_cfg_file)
        words = f"Could not find {wanted!r}; there are {', '.join(error.options)}"
        group, _, option = wanted.rpartition("/")
        if group == "dataset" and (choice := choice_of(option)):
            return f"{option} is dataset={choice}"
        near = _did_you_mean(option, error.options)
        return words + (near or "; hydra.searchpath=[file://FOLDER] adds options of your own")
    parts = [str(error)]
    cause = error.__cause__
    while cause is not None:
        if str(cause) not in parts:
            parts.append(str(cause))
        cause = cause.__cause__
    text = "\n".join(parts)
    if ambiguous := re.search(r"Ambiguous value for argument '(.*)'", text):
        key, _, value = ambiguous[1].partition("=")
        if "glob(" in value:
            return f"{ambiguous[1]}: several values need -m"
        quoted = shlex.quote(f'{key}="{value}"')
        return f"{ambiguous[1]}: several values need -m; one value with a comma is {quoted}"
    if there := re.search(r"Could not append to config. An item is already at '(\S+)'", text):
        return f"+{there[1]}: there is a {there[1]} already; {there[1]}=VALUE changes it"
    mistyped = re.search(r"full_key: (\S+)", text)
    if mistyped:
        key = re.sub(r"\[(\d+)\]", r".\1", mistyped[1])
        if "is not in struct" in text:
            return _mistyped(error, key)
        if (where := re.match(r"In '[^']*': ", text)) and key.startswith("hydra."):
            return where[0] + _of_hydra_s(text, key)
        if isinstance(error, OmegaConfBaseException):
            return f"{key}: {text.partition(chr(10))[0]}"
    return _in_one_line(text)


def not_imported(target: str, error: BaseException) -> str:
    """Say why what a `_target_` names cannot be imported, and what would be right."""
    module = target.partition(".")[0]
    holder, _, name = target.rpartition(".")
    words = " ".join(str(error).split())
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ModuleNotFoundError) and cause.name == module:
            words = (
                f"{cause}; the folder that holds {module}.py or {module}/ has to be importable: "
                "name it in PYTHONPATH, or install the package into this environment"
            )
        is_found = holder in sys.modules
        if is_found and isinstance(cause, ModuleNotFoundError) and cause.name == target:
            public = [known for known in dir(sys.modules[holder]) if not known.startswith("_")]
            words = f"{holder} has no {name}{suggestion(name, public)}"
        cause = cause.__cause__
    if module == target:
        words = f"it is written MODULE.CLASS, and {target!r} has no dot"
    return f"_target_ {target!r} cannot be imported: {words}"


def _in_one_line(text: str) -> str:
    """Leave out where Hydra and OmegaConf stood when they found a mistake."""
    text = text.partition("\nConfig search path:")[0]
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith(("full_key:", "object_type="))]
    return ": ".join(line.rstrip(":.") for line in dict.fromkeys(kept))


def _of_hydra_s(text: str, key: str) -> str:
    """Say what a file has wrong in the keys that Hydra itself checks, those of `hydra`."""
    reason = text.splitlines()[1]
    if not reason.startswith("Key "):
        return f"{key}: {reason}"
    names = [field.name for field in fields(HydraConf)] if key.count(".") == 1 else []
    return f"{key}: unknown key{suggestion(key.rpartition('.')[2], names)}"


def _mistyped(error: BaseException, full_key: str) -> str:
    parent, _, name = full_key.rpartition(".")
    where = parent or "the configuration"
    text = f"{full_key}: {where} has no {name!r}"
    node = getattr(error.__cause__, "parent_node", None)
    if isinstance(node, DictConfig):
        names = sorted(str(known) for known in node if known not in ("_target_", "hydra"))
        text += f". Valid names in {where}: {', '.join(names)}" + _did_you_mean(name, names)
    return f"{text}. +{full_key}=VALUE adds it" if parent else text


def _did_you_mean(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _yaml_error(error: yaml.YAMLError) -> str:
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    if mark is None:
        return f"a YAML file cannot be read: {problem}"
    return f"{mark.name}, line {mark.line + 1}, column {mark.column + 1}: not YAML: {problem}"


MISUSE = (HydraException, OmegaConfBaseException, UsageError, yaml.YAMLError)
