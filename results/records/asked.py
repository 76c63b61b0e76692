"""Which experiments were asked for, and how many of them have no record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from results.records.grid_file import grid_file, read_grid
from results.records.opening import Selection, matches, names_of_algorithm
from results.records.store import RecordStore


@dataclass(frozen=True)
class Asked:
    """A cell of which experiments were asked for.

    Attributes
    ----------
    protocol, setting, dataset, label : str
    seed : int
    keys : tuple of str
        Those of the experiments that were asked for.
    missing : int
        How many of them have no record.
    """

    protocol: str
    setting: str
    dataset: str
    label: str
    seed: int
    keys: tuple[str, ...]
    missing: int

    @property
    def planned(self) -> int:
        """How many experiments were asked for."""
        return len(self.keys)


def asked_for(paths: Iterable[Path], selection: Selection) -> list[Asked]:
    """Return the selected cells of which experiments were asked for.

    Parameters
    ----------
    paths : iterable of Path
        Folders of records; other places have no grid beside them.
    selection : Selection

    Raises
    ------
    GridError
        If there is such a file that does not hold a grid.
    """
    found = []
    for path in paths:
        if path.suffix == ".parquet" or not grid_file(path).is_file():
            continue
        store = RecordStore(path)
        for cell in read_grid(grid_file(path)):
            label = f"{cell.algorithm}({cell.variant})" if cell.variant else cell.algorithm
            names = {
                "protocol": (cell.protocol,),
                "setting": (cell.setting,),
                "dataset": (cell.dataset,),
                "algorithm": names_of_algorithm(cell.algorithm, cell.variant),
                "seed": (str(cell.seed),),
            }
            missing = len(cell.keys) - len(store.locate(cell.keys))
            chosen = all(
                any(matches(name, pattern) for name in names[what] for pattern in patterns)
                for what, patterns in selection.asked().items()
                if patterns
            )
            if chosen:
                found.append(
                    Asked(
                        cell.protocol,
                        cell.setting,
                        cell.dataset,
                        label,
                        cell.seed,
                        tuple(cell.keys),
                        missing,
                    )
                )
    return found
