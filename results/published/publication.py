"""The numbers of one publication, read from its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from results.published import description as of_description
from results.published import reasons as of_reasons
from results.published import values as of_values
from results.published.description import Description, hint
from results.published.names import Names
from results.published.reading import read_description
from results.published.reasons import Reason, read_reasons
from results.published.values import read_values

SHIPPED = Path(__file__).parent
CONF = SHIPPED.parents[1] / "conf"
#: Where a folder of one's own configuration (Hydra's ``hydra.searchpath``) has publications.
SUBFOLDER = "published"


@dataclass(frozen=True)
class Publication:
    """Printed numbers, and what they stand beside here.

    Attributes
    ----------
    name : str
        That of the folder.
    folder : Path
    description : Description
    values : DataFrame
        As :func:`results.published.values.read_values`.
    reasons : list of Reason
    roots : tuple of Path
        Folders of configuration: ``conf/`` and one's own.
    """

    name: str
    folder: Path
    description: Description
    values: pd.DataFrame = field(compare=False)
    reasons: list[Reason] = field(compare=False)
    roots: tuple[Path, ...] = (CONF,)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Our names of the printed metrics."""
        return tuple(self.description.metrics)

    @property
    def columns(self) -> list[str]:
        """Printed names of the algorithms, in the order of the table."""
        return list(dict.fromkeys(self.values["column"]))

    @property
    def datasets(self) -> dict[str, str | None]:
        """Our data set (None: not here) by its printed name, in the order of the table."""
        mapped = _datasets(self.description, self.values)
        return {name: mapped[name] for name in dict.fromkeys(self.values["dataset"])}

    @property
    def algorithms(self) -> list[str]:
        """Our algorithms that stand beside a printed column."""
        return _algorithms(self.description)

    def reasons_in(self, path: Path) -> list[Reason]:
        """Read reasons for this publication from another file; see :func:`read_reasons`."""
        return read_reasons(path, _reasons_may_name(self.description, self.values))


def publication_names(searchpath: Sequence[Path] = ()) -> dict[str, Path]:
    """Return the folders of publications by their names: the shipped ones, then one's own.

    Parameters
    ----------
    searchpath : sequence of Path
        Folders of one's own configuration; ``published/NAME`` is looked for in each.

    Raises
    ------
    ValueError
        If two folders bear one name.
    """
    found: dict[str, Path] = {}
    for parent in (SHIPPED, *(path / SUBFOLDER for path in searchpath)):
        for file in sorted(parent.glob(f"*/{of_description.FILE_NAME}")):
            if (other := found.setdefault(file.parent.name, file.parent)) != file.parent:
                raise ValueError(f"{file.parent} and {other} are two publications of one name")
    return found


def load_publication(
    name: str, searchpath: Sequence[Path] = (), known: Mapping[str, set[str]] | None = None
) -> Publication:
    """Read and check a publication.

    Parameters
    ----------
    name : str
        Of a shipped publication or of one below `searchpath`; or the path of a folder.
    searchpath : sequence of Path
        Folders of one's own configuration, where publications and the names of data sets,
        algorithms and protocols are looked for beside ``conf/``.
    known : mapping of str to set of str, optional
        More names of each ``dataset``, ``algorithm`` and ``protocol``: those of records.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such publication, or its files are not valid; the message says which file,
        what is wrong and what is valid.
    """
    folder = _folder(name, searchpath)
    description = read_description(folder / of_description.FILE_NAME)
    values = read_values(folder / of_values.FILE_NAME, description)
    roots = (CONF, *searchpath)
    names = {
        group: Names(group, roots, (known or {}).get(group, ()))
        for group in ("protocol", "algorithm", "dataset")
    }
    ours = {
        "protocol": [run.protocol for run in description.settings.values()],
        "algorithm": [name.partition("(")[0] for name in _algorithms(description)],
        "dataset": [name for name in _datasets(description, values).values() if name is not None],
    }
    _check_our_names(folder / of_description.FILE_NAME, ours, roots, names)
    reasons_file = folder / of_reasons.FILE_NAME
    reasons = (
        read_reasons(reasons_file, _reasons_may_name(description, values))
        if reasons_file.exists()
        else []
    )
    return Publication(folder.name, folder, description, values, reasons, roots)


def _reasons_may_name(description: Description, values: pd.DataFrame) -> dict[str, list[str]]:
    return {
        "setting": list(description.settings),
        "dataset": list(dict.fromkeys(values["dataset"])),
        "algorithm": _algorithms(description),
        "metric": list(description.metrics),
    }


def _algorithms(description: Description) -> list[str]:
    listed = [
        names
        for by_setting in description.algorithms.values()
        for names in (by_setting or {}).values()
    ]
    return list(dict.fromkeys(name for names in listed for name in names))


def _folder(name: str, searchpath: Sequence[Path]) -> Path:
    for path in searchpath:
        if not path.is_dir():
            raise FileNotFoundError(f"there is no folder {path}")
    names = publication_names(searchpath)
    if name in names:
        return names[name]
    path = Path(name)
    if not path.is_dir():
        raise FileNotFoundError(
            f"there is no publication and no folder {name!r}{hint(name, names)}"
            + ("" if searchpath else "; --searchpath FOLDER adds those of your own")
        )
    if not (path / of_description.FILE_NAME).is_file():
        raise FileNotFoundError(f"the folder {path} holds no {of_description.FILE_NAME}")
    return path.resolve()


def _datasets(description: Description, values: pd.DataFrame) -> Mapping[str, str | None]:
    if description.datasets == "same":
        return {name: name for name in dict.fromkeys(values["dataset"])}
    return description.datasets


def _check_our_names(
    path: Path,
    named: Mapping[str, Sequence[str]],
    roots: Sequence[Path],
    known: Mapping[str, Names],
) -> None:
    """Refuse names of ours that are configured nowhere and have no record."""
    # The project's own folder is named as the documents do, not by where it lies.
    places = ", ".join([CONF.name, *map(str, roots[1:])])
    for group, names in named.items():
        if absent := [name for name in names if name not in known[group]]:
            what = "data set" if group == "dataset" else group
            raise ValueError(
                f"{path}: there is no {what} {absent[0]!r} in {places}, nor among the records"
                f"{hint(absent[0], known[group].known)}"
            )
