"""From a composed configuration to a `Cell`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence

from datasets import DataError, content_key
from datasets.errors import UsageError
from datasets.own_folders import check_dataset_name, is_own
from datasets.protocols import indices_key, protocol_from, splits_in_file, with_stream
from datasets.strict import Invalid
from results.records.record import PARTS_WITH_CODE, Record, targets
from results.records.splits import splits_of
from results.records.validation import LONGEST_VARIANT, error_in, name_error
from runners.composition import Composed, Composer, Plain
from runners.experiment import Cell
from runners.own_code import own_code
from runners.schema import GROUPS, checked, ignored
from runners.summary import counted
from runners.variants import variant_of

# What labels are put together with, and the mark of algorithms that were given labels.
_NOT_IN_ALGORITHMS = re.compile(r"[(),=\u2021]")


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
        self._splits: dict[tuple[str, str], tuple[str | None, int]] = {}
        self._codes: dict[tuple[str, ...], str | None] = {}
        self._parameters: dict[str, Plain] = {}
        self._named: set[tuple[str, str]] = set()

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
        known: dict[str, Plain] = {}
        several = len({o for job in jobs for o in job if o.startswith("algorithm=")}) > 1
        for job, composed in zip(jobs, self._composer.compose_all(jobs), strict=True):
            resolved = composed.resolved(known)
            if not any(_is_template(composed, resolved, o) for o in job if o in from_globs):
                here = set(ignored(resolved))
                unused = here if unused is None else unused & here
                cell = self._cell(composed, resolved, several=several)
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

    def _cell(self, composed: Composed, resolved: Plain, *, several: bool = False) -> Cell:
        for group in GROUPS:
            given = resolved.get(group)
            if isinstance(given, str):
                raise UsageError(
                    f"{group} is the text {given!r}; {group}={given} chooses an option of the "
                    f"group, and so does `override /{group}: {given}` among the defaults of a file"
                )
            if not isinstance(given, dict):
                file = composed.file_of(group)
                raise UsageError(
                    f"{file} holds no keys: a {group} is written as lines NAME: VALUE"
                    if file
                    else f"{group} is missing; choose one with {group}=NAME"
                )
        n_splits = resolved.get("n_splits")
        resolved = self._checked(composed, resolved, several=several)
        algorithm = str(composed.choices.get("algorithm") or "algorithm")
        resolved = _with_stream(resolved, algorithm)
        variant = self._variant(composed, algorithm, resolved["algorithm"])
        _check_names(composed, resolved, algorithm)
        dataset, choice = str(resolved["dataset"].get("name")), str(composed.choices.get("dataset"))
        if (dataset, choice) not in self._named:
            check_dataset_name(dataset, choice, composed.file_of("dataset"))
            self._named.add((dataset, choice))
        try:
            content = self._content(resolved["dataset"], resolved.get("data"))
        except DataError as error:
            file = composed.file_of("dataset")
            raise UsageError(f"{file}: {error}" if is_own(file) else str(error)) from error
        indices = held = None
        if (pattern := resolved["protocol"].get("indices")) is not None:
            indices, held = self._indices(pattern, dataset)
            resolved["n_splits"] = _n_splits(n_splits, resolved["protocol"], held, dataset)
        cell = Cell(
            *(algorithm, variant, resolved, content, self._code(resolved), indices, held),
            code_of={
                part: code
                for part in PARTS_WITH_CODE
                if (code := self._code(resolved[part])) is not None
            },
            files=_own_files(composed),
        )
        _check_record(cell)
        return cell

    def _checked(self, composed: Composed, resolved: Plain, *, several: bool) -> Plain:
        text = str(composed.unresolved)
        # A key that other values are taken from is the user's own.
        own = [name for name in resolved if f"${{{name}" in text]
        try:
            return checked(resolved, own)
        except Invalid as error:
            lines = str(error).splitlines()
            if several:
                lines = [_with_algorithm(composed, line) for line in lines]
            raise UsageError("\n".join(_with_file(composed, line) for line in lines)) from None

    def _content(self, dataset: Plain, data: Plain | None) -> str | None:
        definition = json.dumps([dataset, data], sort_keys=True)
        if definition not in self._contents:
            self._contents[definition] = content_key(dataset, data)
        return self._contents[definition]

    def _indices(self, pattern: str, dataset: str) -> tuple[str | None, int]:
        """Return the digest of a file of row numbers, and how many splits it has."""
        if (pattern, dataset) not in self._splits:
            try:
                digest = indices_key(pattern, dataset)
                self._splits[pattern, dataset] = digest, splits_in_file(pattern, dataset)
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
        return variant_of(self._own_parameters(composed, name), resolved)

    def _own_parameters(self, composed: Composed, name: str) -> Plain:
        """Return an algorithm's parameters as its YAML has them, interpolations unresolved.

        What the YAML takes from elsewhere (``detector: ${detector}``) always counts as differing:
        it tells apart cells whose algorithm has the same name.
        """
        # Only overrides on the command line and files of the group `grid` change parameters.
        touched = any(o.lstrip("+~").startswith("algorithm.") for o in composed.overrides)
        if not touched and not composed.choices.get("grid"):
            return dict(composed.unresolved["algorithm"])
        if name not in self._parameters:
            self._parameters[name] = self._composer.own_parameters(composed, name)
        return self._parameters[name]


def _own_files(composed: Composed) -> dict[str, str]:
    files = {group: composed.file_of(group) for group in GROUPS}
    return {group: str(file) for group, file in files.items() if is_own(file)}


def _n_splits(given: int | None, protocol: Plain, held: int, dataset: str) -> int:
    """Return how many splits a cell has whose protocol names a file of them."""
    asked = given if given is not None else splits_of(protocol) or held
    if asked > held:
        raise UsageError(
            f"protocol.indices: {protocol['indices']} has {counted(held, 'split')} of {dataset!r}, "
            f"and {asked} are asked for"
        )
    return asked


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


def _with_algorithm(composed: Composed, mistake: str) -> str:
    """Name the one of several algorithms that does not have what all of them are given."""
    found = re.match(r"(algorithm\.\w+): unknown key", mistake)
    given = [o.lstrip("+").partition("=")[0] for o in composed.overrides]
    if found is None or found[1] not in given:
        return mistake
    return (
        f"algorithm={composed.choices['algorithm']}: {mistake}. A grid gives {found[1]} to each of "
        "its algorithms: run those that have it apart, with the same output, or write its values "
        'into files of algorithms (conf/README.md, "A grid")'
    )


def _with_file(composed: Composed, mistake: str) -> str:
    """Name the file of the user's own that a mistake in one of the groups is in."""
    group = (
        "dataset"
        if mistake.startswith(("data set ", "a data set "))
        else re.split(r"\W", mistake)[0]
    )
    file = composed.file_of(group)
    return f"{file}: {mistake}" if is_own(file) else mistake


def _check_names(composed: Composed, resolved: Plain, algorithm: str) -> None:
    """Refuse names that no file or label can have, and names unlike those of their files."""
    names = {group: resolved[group].get("name") for group in GROUPS if group != "algorithm"}
    for group, name in (names | {"algorithm": algorithm}).items():
        if isinstance(name, str) and (wrong := name_error(name)):
            raise UsageError(f"the name of a {group} is part of file names: {wrong}")
    if found := _NOT_IN_ALGORITHMS.search(algorithm):
        raise UsageError(
            f"{composed.file_of('algorithm')}: the name holds {found.group()!r}, which labels put "
            "between an algorithm and its parameters: give the file another name"
        )
    for group in ("protocol", "setting"):
        name, choice = str(names[group]), composed.choices.get(group)
        stem = str(choice).rpartition("/")[2]
        if choice is not None and name != stem and not name.startswith(f"{stem}_"):
            raise UsageError(
                f"{composed.file_of(group)}: {group}.name is {name!r}; it is that of the file, "
                f"{stem!r}, or begins with {stem + '_'!r}"
            )


def _check_record(cell: Cell) -> None:
    """Refuse what a record could not hold: whoever reads records would leave it out."""
    if (length := len(cell.variant)) > LONGEST_VARIANT:
        raise UsageError(
            f"algorithm={cell.algorithm}: the parameters that differ from its file make a label of "
            f"{length} characters, and {LONGEST_VARIANT} are the most; write them into a file of "
            "their own"
        )
    record = Record(
        *(cell.key(0), cell.dataset, cell.algorithm, cell.variant, cell.setting, cell.protocol),
        *(cell.seed, 0, "skipped"),
        config=dict(cell.config),
    )
    plain = record.to_dict()
    del plain["format"]
    if error := error_in(plain):
        raise UsageError(f"no record can hold this experiment: {error.removeprefix('config.')}")


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
