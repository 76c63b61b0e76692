"""What must hold before a grid begins, so that nothing is found out after an hour."""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from datasets.configuration import published_names
from datasets.definition import Definition
from datasets.errors import UsageError, listed
from datasets.own_folders import CONF, is_shipped
from results.records.files import LOCKS, write_atomically
from runners.experiment import Cell, Limits
from runners.isolation.messages import Check, Cut, Load
from runners.isolation.pool import POOL
from runners.schema import OF_CUSTOM
from runners.variants import variant_of

_DATASETS = logging.getLogger("datasets")
_OF_A_RUN = (
    "output",
    *(f"runner.{name}" for name in ("backend", "n_jobs", "progress", "retry", "scheduler")),
)


def check_shared(cells: Sequence[Cell]) -> None:
    """Check that no cell of a run is configured otherwise than others without effect.

    Raises
    ------
    UsageError
        If cells differ in what a run has one of, or if two cells are the same experiments and
        differ in what these do not depend on.
    """
    known: dict[str, Cell] = {}
    for cell in cells:
        one, other = _shared(cells[0]), _shared(cell)
        if one != other:
            raise UsageError(
                f"the cells of a run share {', '.join(_OF_A_RUN)}; these have "
                f"{variant_of(other, one)} and {variant_of(one, other)}: run them one by one"
            )
        twin = known.setdefault(cell.identity, cell)
        if twin is not cell:
            one, other = _without_effect(twin), _without_effect(cell)
            if changed := variant_of(one, other):
                raise UsageError(
                    f"{cell.name} is there twice, with {variant_of(other, one)} and with "
                    f"{changed}, on which no result depends: leave out one"
                )


def _without_effect(cell: Cell) -> dict[str, Any]:
    """Return what the outcomes of a cell do not depend on, and no template of a group takes."""
    data = {name: v for name, v in (cell.config["data"] or {}).items() if name not in OF_CUSTOM}
    groups = ("dataset", "protocol", "runner", "timeout", "allow_labels")
    return {"data": data, **{name: cell.config[name] for name in groups}}


def _shared(cell: Cell) -> dict[str, Any]:
    runner = cell.config["runner"]
    return {
        name: cell.config["output"] if name == "output" else runner.get(name.partition(".")[2])
        for name in _OF_A_RUN
    }


def check_inputs(cells: Iterable[Cell]) -> None:
    """Try the algorithms, data sets and splitters that are not the project's own as they are.

    A class is imported and constructed, a data set is loaded (and fetched first, if it is not at
    hand) and split, each in a process of its own and before the kernels are compiled: what is wrong
    with them is found out before the first experiment.

    Raises
    ------
    UsageError
        With what is wrong with the first one.
    """
    tried: set[str] = set()
    for cell, check, group, name in _checks(list(cells)):
        if (identity := repr(check)) in tried:
            continue
        tried.add(identity)
        limits = Limits.from_config(cell.config)
        with POOL.lend(limits.threads, cell.data_key) as worker:
            found = worker.check(check, limits)
        if found.problem:
            where = [cell.files.get(group), name]
            raise UsageError(": ".join([*filter(None, where), found.problem]))
        for note in (*(() if _was_read(cell) else found.notes), *found.of_splits):
            _DATASETS.warning(note, extra={"note": True})


def _was_read(cell: Cell) -> bool:
    """Tell whether composition has read the data, and said what is in it."""
    definition = Definition.from_mapping(cell.config["dataset"])
    return not definition.pinned and any(s["kind"] == "file" for s in definition.sources)


def _checks(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Check, str, str]]:
    """Yield what to try, for a cell, with the group it belongs to and what to call it.

    The data come last: their splits are made by splitters that have been tried.
    """
    on_data: dict[str, list[Cell]] = {}
    algorithms: dict[str, list[Cell]] = {}
    for cell in cells:
        on_data.setdefault(cell.data_key, []).append(cell)
        if _is_changed(cell):
            algorithms.setdefault(repr(cell.config["algorithm"]), []).append(cell)
        if "_target_" in (cell.config["protocol"].get("cut") or {}):
            yield cell, Check(splitter=_cut(cell)), "protocol", f"protocol {cell.protocol}"
    for own in algorithms.values():
        cell = min(own, key=lambda cell: _n_features(cell) or math.inf)
        width = _n_features(cell)
        narrowest = None if width is None else (cell.dataset, width)
        check = Check(algorithm=cell.config["algorithm"], narrowest=narrowest)
        yield cell, check, "algorithm", f"algorithm {cell.label}"
    for own in on_data.values():
        cell = own[0]
        if not is_shipped(cell.config["dataset"]):
            cuts = {repr(cut): cut for cut in map(_cut, own)}
            changed = {repr(c.config["algorithm"]): c for c in own if _is_changed(c)}
            check = Check(
                data=Load(cell.config["dataset"], cell.config.get("data")),
                cuts=tuple(cuts.values()),
                on_data={f"algorithm {c.label}": c.config["algorithm"] for c in changed.values()},
            )
            yield cell, check, "dataset", ""


def _is_changed(cell: Cell) -> bool:
    """Tell whether the algorithm is another one than the project's own as it is."""
    known = (CONF / "algorithm" / f"{cell.algorithm}.yaml").is_file()
    return cell.code is not None or bool(cell.variant) or not known


def _n_features(cell: Cell) -> int | None:
    """Return how many features the data of a cell are held to."""
    return (cell.config["dataset"].get("expected") or {}).get("features")


def _cut(cell: Cell) -> Cut:
    return Cut(cell.config["setting"], cell.config["protocol"], cell.seed, cell.n_splits)


class HeldNotes(logging.Filter):
    """Keeps notes on data back until a run begins: a command that is refused says why, alone."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[logging.LogRecord] = []

    def __enter__(self) -> HeldNotes:
        _DATASETS.addFilter(self)
        return self

    def __exit__(self, *_: object) -> None:
        _DATASETS.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep a note, let all else pass."""
        if not getattr(record, "note", False):
            return True
        self._held.append(record)
        return False

    def say(self) -> None:
        """Say what was kept back."""
        while self._held:
            _DATASETS.callHandlers(self._held.pop(0))


def say_notes() -> None:
    """Say the notes that were kept back."""
    for held in [known for known in _DATASETS.filters if isinstance(known, HeldNotes)]:
        held.say()


def protocol_notice(cells: Iterable[Cell]) -> str | None:
    """Return what to say of a user's own data under the protocol that is there for the paper's."""
    cells = [cell for cell in cells if cell.protocol == "paper"]
    names = {cell.dataset: cell.config["dataset"] for cell in cells}
    changed = [name for name, data in names.items() if not is_shipped(data)]
    ours = published_names() if changed else []
    own = [name for name in changed if name not in ours]
    if not own:
        return None
    better = "protocol=clean"
    if any(cell.dataset in own and cell.algorithm == "oneclassrf" for cell in cells):
        better += " algorithm=oneclassrf_text"
    return (
        f"Note: {listed(own)} under protocol=paper, which repeats how the paper's tables were made "
        f"(scaled on train and test together); for data of your own: {better}"
    )


def check_writable(path: Path) -> None:
    """Check that records can be written below a folder.

    Raises
    ------
    UsageError
        If they cannot.
    """
    probe = path / LOCKS / f".probe.{uuid.uuid4().hex[:8]}"
    try:
        write_atomically(probe, b"probe")
        probe.unlink()
    except OSError as error:
        raise UsageError(
            f"the record store cannot be written, so nothing was run: {path}: {error.strerror}; "
            "output=FOLDER names another place"
        ) from error
