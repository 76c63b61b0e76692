"""From a composed configuration to a `Cell`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from datasets import DataError, content_key
from datasets.protocols import protocol_from
from runners.composition import Composed, Composer, Plain
from runners.experiment import Cell
from runners.own_code import own_code, targets
from runners.summary import UsageError

#: How many splits a cell has where neither the command line nor the protocol says so.
_N_SPLITS = 10
_GROUPS = ("dataset", "algorithm", "setting", "protocol")
_ABSENT = object()


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
        self._codes: dict[tuple[str, ...], str | None] = {}

    def cells(
        self, jobs: Sequence[Sequence[str]], from_globs: Collection[str] = ()
    ) -> Iterator[tuple[Sequence[str], Cell]]:
        """Yield the jobs of a sweep, each with its cell.

        A template that a glob matched (one of the overrides `from_globs`) is left out.
        """
        for job, composed in zip(jobs, self._composer.compose_all(jobs), strict=True):
            resolved = composed.resolved()
            if not any(_is_template(composed, resolved, o) for o in job if o in from_globs):
                yield job, self._cell(composed, resolved)

    def cell(self, composed: Composed) -> Cell:
        """Turn a composed configuration into a cell.

        Raises
        ------
        UsageError
            If a group that a cell needs is missing, or the data set's definition or file is wrong.
        """
        return self._cell(composed, composed.resolved())

    def _cell(self, composed: Composed, resolved: Plain) -> Cell:
        for group in _GROUPS:
            if not isinstance(resolved.get(group), dict):
                raise UsageError(f"{group} is missing; choose one with {group}=NAME")
        resolved = {**resolved, "protocol": _protocol(resolved)}
        if resolved["n_splits"] is None:
            seeds = resolved["protocol"]["seeds"]
            resolved["n_splits"] = len(seeds) if seeds else _N_SPLITS
        algorithm = str(composed.choices.get("algorithm") or "algorithm")
        variant = self._variant(composed, algorithm, resolved["algorithm"])
        content = self._content(resolved["dataset"])
        return Cell(algorithm, variant, resolved, content, self._code(resolved))

    def _content(self, dataset: Plain) -> str | None:
        definition = json.dumps(dataset, sort_keys=True)
        if definition not in self._contents:
            try:
                self._contents[definition] = content_key(dataset)
            except DataError as error:
                raise UsageError(str(error)) from error
        return self._contents[definition]

    def _code(self, resolved: Plain) -> str | None:
        named = tuple(sorted(set(targets(resolved))))
        if named not in self._codes:
            self._codes[named] = own_code(named).digest
        return self._codes[named]

    def _variant(self, composed: Composed, name: str, resolved: Plain) -> str:
        """Return the parameters that differ from the YAML's own, as ``"a=1,b=2"``."""
        own = self._own_parameters(composed, name)
        differing = {
            key: value for key, value in resolved.items() if own.get(key, _ABSENT) != value
        }
        gone = {key: "absent" for key in own if key not in resolved}
        return ",".join(
            f"{key}={_brief(value)}" for key, value in sorted((differing | gone).items())
        )

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


def _protocol(resolved: Plain) -> Plain:
    """Return the protocol with every step written out, held to the setting and the splits."""
    try:
        protocol = protocol_from(resolved["protocol"])
        protocol.keeps_anomalies(bool(resolved["setting"]["anomalies_in_train"]))
    except ValueError as error:
        raise UsageError(str(error)) from None
    n_splits = resolved["n_splits"]
    if protocol.seeds is not None and isinstance(n_splits, int) and n_splits > len(protocol.seeds):
        raise UsageError(
            f"n_splits={n_splits}, but protocol {protocol.name!r} has {len(protocol.seeds)} seeds"
        )
    return protocol.described()


def _is_template(composed: Composed, resolved: Plain, choice: str) -> bool:
    """Whether an option of a group takes values from elsewhere, and all of them are null.

    Such are ``dataset=custom``, which takes ``data.path`` and others, and ``algorithm=pyod``.
    """
    group = choice.lstrip("+").partition("=")[0]
    written = composed.unresolved.get(group)
    if not isinstance(written, dict):
        return False
    taken = [name for name, v in written.items() if isinstance(v, str) and v.startswith("${")]
    return bool(taken) and all(resolved[group][name] is None for name in taken)


def _brief(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)
