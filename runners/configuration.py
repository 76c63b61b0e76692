"""From a composed configuration to a `Cell`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from datasets import DataError, content_key
from datasets.protocols import indices_key, protocol_from, with_stream
from datasets.strict import Invalid
from results.records.record import targets
from results.records.validation import name_error
from runners.composition import Composed, Composer, Plain
from runners.experiment import Cell
from runners.own_code import own_code
from runners.own_folders import CONF
from runners.schema import GROUPS, checked, ignored
from runners.summary import UsageError

_ABSENT = object()
_LONGEST_VALUE = 40  # characters of a value in a label


class CellFactory:
    """Make cells from composed configurations; what several cells share is found out once.

    Parameters
    ----------
    composer : Composer
        Composes an algorithm as its YAML file has it.
    """

    def __init__(self, composer: Composer):
        self._composer = composer
        self._contents: dict[str, str | None] = {}
        self._splits: dict[tuple[str | None, str], str | None] = {}
        self._codes: dict[tuple[str, ...], str | None] = {}

    def cells(
        self, jobs: Sequence[Sequence[str]], from_globs: Collection[str] = ()
    ) -> Iterator[tuple[Sequence[str], Cell]]:
        """Yield the jobs of a sweep, each with its cell.

        A template that a glob matched (one of the overrides `from_globs`) is left out.

        Raises
        ------
        UsageError
            As `cell`, and if something is given that none of the cells takes.
        """
        unused: set[str] | None = None
        seen: dict[str, tuple[str, str]] = {}
        for job, composed in zip(jobs, self._composer.compose_all(jobs), strict=True):
            resolved = composed.resolved()
            if not any(_is_template(composed, resolved, o) for o in job if o in from_globs):
                here = set(ignored(resolved))
                unused = here if unused is None else unused & here
                cell = self._cell(composed, resolved)
                _check_apart(seen, composed, cell)
                yield job, cell
        if unused:
            raise UsageError("\n".join(sorted(unused)))

    def cell(self, composed: Composed, *, alone: bool = True) -> Cell:
        """Turn a composed configuration into a cell.

        Parameters
        ----------
        composed : Composed
        alone : bool
            Whether it is not one of a sweep, in which another may take what this one does not.

        Raises
        ------
        UsageError
            If a group that a cell needs is missing, or the data set's definition or file is wrong.
        """
        resolved = composed.resolved()
        cell = self._cell(composed, resolved)
        if alone and (unused := ignored(resolved)):
            raise UsageError("\n".join(unused))
        return cell

    def _cell(self, composed: Composed, resolved: Plain) -> Cell:
        for group in GROUPS:
            if not isinstance(resolved.get(group), dict):
                file = composed.file_of(group)
                raise UsageError(
                    f"{file} holds no keys: a {group} is written as lines NAME: VALUE"
                    if file
                    else f"{group} is missing; choose one with {group}=NAME"
                )
        resolved = self._checked(composed, resolved)
        algorithm = str(composed.choices.get("algorithm") or "algorithm")
        resolved = _with_stream(resolved, algorithm)
        variant = self._variant(composed, algorithm, resolved["algorithm"])
        _check_name(composed, resolved["dataset"])
        names = {group: resolved[group].get("name") for group in GROUPS if group != "algorithm"}
        for group, name in (names | {"algorithm": algorithm}).items():
            if isinstance(name, str) and (wrong := name_error(name)):
                raise UsageError(f"the name of a {group} is part of file names: {wrong}")
        try:
            content = self._content(resolved["dataset"])
        except DataError as error:
            file = composed.file_of("dataset")
            own = file is not None and not file.is_relative_to(CONF)
            raise UsageError(f"{file}: {error}" if own else str(error)) from error
        indices = self._indices(resolved["protocol"].get("indices"), str(names["dataset"]))
        return Cell(algorithm, variant, resolved, content, self._code(resolved), indices)

    def _checked(self, composed: Composed, resolved: Plain) -> Plain:
        text = str(composed.unresolved)
        # A key that other values are taken from is the user's own.
        own = [name for name in resolved if f"${{{name}" in text]
        try:
            return checked(resolved, own)
        except Invalid as error:
            lines = (_with_file(composed, line) for line in str(error).splitlines())
            raise UsageError("\n".join(lines)) from None

    def _content(self, dataset: Plain) -> str | None:
        definition = json.dumps(dataset, sort_keys=True)
        if definition not in self._contents:
            self._contents[definition] = content_key(dataset)
        return self._contents[definition]

    def _indices(self, pattern: str | None, dataset: str) -> str | None:
        if (pattern, dataset) not in self._splits:
            try:
                self._splits[pattern, dataset] = indices_key(pattern, dataset)
            except DataError as error:
                raise UsageError(str(error)) from error
        return self._splits[pattern, dataset]

    def _code(self, resolved: Plain) -> str | None:
        named = tuple(sorted(set(targets(resolved))))
        if named not in self._codes:
            self._codes[named] = own_code(named).digest
        return self._codes[named]

    def _variant(self, composed: Composed, name: str, resolved: Plain) -> str:
        """Return the parameters that differ from the YAML's own, as ``"a=1,b=2"``."""
        own = self._own_parameters(composed, name)
        return ",".join(f"{key}={value}" for key, value in sorted(_differences(own, resolved)))

    def _own_parameters(self, composed: Composed, name: str) -> Plain:
        """Return an algorithm's parameters as its YAML has them, interpolations unresolved.

        What the YAML takes from elsewhere (``detector: ${detector}``) always counts as differing:
        it tells apart cells whose algorithm has the same name.
        """
        # Only overrides on the command line and files of the group `grid` change parameters.
        touched = any(o.lstrip("+~").startswith("algorithm.") for o in composed.overrides)
        if touched or composed.choices.get("grid"):
            composed = self._composer.compose([f"algorithm={name}"])
        own: Plain = composed.unresolved["algorithm"]
        return own


def _with_stream(resolved: Plain, algorithm: str) -> Plain:
    """Name the stream of a protocol that replays one."""
    protocol = protocol_from(resolved["protocol"])
    if protocol.generator.kind != "replayed":
        return resolved
    try:
        protocol = with_stream(protocol, algorithm, resolved["setting"]["name"])
    except ValueError as error:
        raise UsageError(f"protocol {protocol.name!r}: {error}") from None
    return {**resolved, "protocol": protocol.described()}


def _with_file(composed: Composed, mistake: str) -> str:
    """Name the file of the user's own that a mistake in one of the groups is in."""
    group = (
        "dataset"
        if mistake.startswith(("data set ", "a data set "))
        else re.split(r"\W", mistake)[0]
    )
    file = composed.file_of(group)
    return mistake if file is None or file.is_relative_to(CONF) else f"{file}: {mistake}"


def _check_name(composed: Composed, dataset: Plain) -> None:
    """Refuse data of the user's own under the name of a data set that the project has."""
    file, name = composed.file_of("dataset"), str(dataset.get("name"))
    taken = CONF / "dataset" / f"{name}.yaml"
    if file is None or file == taken or not taken.is_file():
        return
    if not file.is_relative_to(CONF) or file.stem == "custom":
        raise UsageError(
            f"{file}: the name {name!r} is that of {taken}; records and tables could not tell the "
            "two apart: give the data set another name"
        )


def _check_apart(seen: dict[str, tuple[str, str]], composed: Composed, cell: Cell) -> None:
    """Refuse two data sets with one name in a run."""
    dataset = cell.config["dataset"]
    choice = str(composed.choices.get("dataset"))
    source = json.dumps([choice, *map(dataset.get, ("path", "openml", "sources"))])
    where = str(composed.file_of("dataset") or f"dataset={choice}")
    first = seen.setdefault(cell.dataset, (source, where))
    if first[0] != source:
        raise UsageError(
            f"two data sets of this run have the name {cell.dataset!r}, {first[1]} and {where}; "
            "records and tables could not tell the two apart: give one of them another name"
        )


def _is_template(composed: Composed, resolved: Plain, choice: str) -> bool:
    """Whether an option of a group takes values from elsewhere, and all of them are null.

    Such are ``dataset=custom``, which takes ``data.path`` and others, and ``algorithm=pyod``. The
    file of a collection, of which only the members are data sets, is one, too.
    """
    group = choice.lstrip("+").partition("=")[0]
    written = composed.unresolved.get(group)
    if not isinstance(written, dict):
        return False
    if group == "dataset" and "collection" in written:
        return True
    taken = [name for name, v in written.items() if isinstance(v, str) and v.startswith("${")]
    return bool(taken) and all(resolved[group][name] is None for name in taken)


def _differences(own: Any, given: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield where two nested configurations differ, as dotted names and short values.

    Only what differs is named: ``steps.1.1.n_estimators`` of a pipeline, not the whole of it.
    """
    if _alike(own, given):
        before, after = _items(own), _items(given)
        for key in before | after:
            if before.get(key, _ABSENT) != after.get(key, _ABSENT):
                name = f"{prefix}.{key}" if prefix else key
                yield from _differences(before.get(key, _ABSENT), after.get(key, _ABSENT), name)
    else:
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
        return text
    name = "list" if isinstance(value, list) else text[:_LONGEST_VALUE]
    if isinstance(value, dict):
        name = str(value.get("_target_", "mapping")).rpartition(".")[2]
    digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    return f"{name}~{digest[:6]}"
