"""Reading ``published.yaml``, and what is said where it is not valid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, ValidationError

from results.published.description import Columns, Description, Run, Tolerance, hint


def read_description(path: Path) -> Description:
    """Read and check the description of a publication.

    Raises
    ------
    ValueError
        If the file is not valid: it is named, with the key, what is wrong and what is valid.
    """
    try:
        _refuse_misread(path.read_text(encoding="utf-8"))
        # OmegaConf refuses a key given twice, of which PyYAML would take the last.
        loaded = OmegaConf.load(path)
        if not isinstance(loaded, DictConfig):
            raise ValueError("a mapping of keys is expected")  # noqa: TRY004 (of the file)
        return Description.model_validate(OmegaConf.to_container(loaded))
    except ValidationError as error:
        raise ValueError(f"{path}: {'; '.join(_messages(error))}") from error
    except (OmegaConfBaseException, yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from error


# What YAML reads as octal or in base 60, as `datasets.own_folders`, which is not imported here.
_MISREAD = re.compile(
    r"[-+]?(0[0-7_]+|[1-9][0-9_]*(:[0-5]?[0-9])+|[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*)"
)


def _refuse_misread(text: str) -> None:
    """Raise ValueError for a number that YAML reads otherwise than people."""
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        plain = isinstance(event, yaml.ScalarEvent) and event.implicit[0]
        if plain and _MISREAD.fullmatch(event.value):
            raise ValueError(
                f"line {event.start_mark.line + 1}: YAML reads {event.value} as "
                f"{yaml.safe_load(event.value)}; write the number without a 0 before it and "
                f'without colons, and a text in quotes, "{event.value}"'
            )


def _messages(error: ValidationError) -> list[str]:
    texts = []
    for item in error.errors(include_url=False):
        where = ".".join(str(part) for part in item["loc"] if part != "*")
        if item["type"] == "extra_forbidden":
            key = str(item["loc"][-1])
            text = f"{where}: unknown key{hint(key, _siblings(item['loc']))}"
        elif item["type"] == "missing":
            text = f"{where}: missing"
        else:
            message = item["msg"].removeprefix("Value error, ")
            given = "" if item["type"] == "value_error" else f", got {item['input']!r}"
            text = f"{where}: {message}{given}" if where else f"{message}{given}"
        texts.append(text)
    return texts


def _siblings(location: Sequence[int | str]) -> list[str]:
    """Return the keys that are valid where one is not."""
    groups: dict[str, type[BaseModel]] = {
        "metrics": Columns,
        "settings": Run,
        "tolerance": Tolerance,
        "tolerances": Tolerance,
    }
    model = groups[str(location[0])] if len(location) > 1 else Description
    return list(model.model_fields)
