"""Which runs may stand beside the numbers of a publication."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from results.published.names import file_of, files_of
from results.published.publication import Publication
from results.records.record import NEUTRAL
from results.reproduction.comparison import NOT_RUN

#: Keys that change no outcome, or are another one's for each member of a collection.
_NEUTRAL = {
    "protocol": NEUTRAL["protocol"] | {"name", "description", "defaults"},
    "dataset": NEUTRAL["dataset"] | {"name", "defaults", "collection", "path"},
}
_WORDS = {"protocol": "protocol", "dataset": "data set"}


def check_runs(frame: pd.DataFrame, publication: Publication) -> list[str]:
    """Refuse experiments that were not made as the published values were.

    Parameters
    ----------
    frame : DataFrame
        As :attr:`results.records.frame.Experiments.frame`.
    publication : Publication

    Returns
    -------
    remarks : list of str
        The experiments of other protocols and settings, which are left out.

    Raises
    ------
    ValueError
        If no experiment was made with the publication's protocol and setting, naming both; or if
        what the file of their protocol or data set says was overridden.
    """
    made_with = {(run.protocol, run.setting) for run in publication.description.settings.values()}
    counts = Counter(zip(frame["protocol"], frame["setting"], strict=True))
    if not made_with & counts.keys():
        raise ValueError(
            f"the values of {publication.name} were made with {_named(made_with)}, and the records "
            f"were made with {_named(counts)}: they do not measure the same. Run that protocol, or "
            "name the publication that fits with --published"
        )
    remarks = [
        f"left out: {count} experiments of {_named([run])}, with which {publication.name} was not "
        "made"
        for run, count in sorted(counts.items())
        if run not in made_with
    ]
    for text in changes(frame, publication):
        if text:
            raise ValueError(text)
    return remarks


def comparable(frame: pd.DataFrame, publication: Publication) -> tuple[pd.DataFrame, list[str]]:
    """Leave out the experiments whose protocol or data set is not what its file says.

    Returns
    -------
    frame : DataFrame
    remarks : list of str
        How many went, and what was changed.
    """
    texts = changes(frame, publication)
    counts = texts[texts != ""].value_counts(sort=False)
    remarks = [f"not compared: {count} experiments; {text}" for text, count in counts.items()]
    return frame[texts == ""], remarks


def changes(frame: pd.DataFrame, publication: Publication) -> pd.Series:
    """Say of each experiment what was changed in its protocol or its data set.

    A run with one key overridden keeps the plain name where nothing else was run. Experiments are
    held to the files that bear the names of their protocol and data set, if there are such.

    Returns
    -------
    Series of str
        Empty where nothing was changed, or the protocol is not the publication's.
    """
    made_with = {run.protocol for run in publication.description.settings.values()}
    found = pd.Series("", index=frame.index, dtype=object)
    for group, neutral in _NEUTRAL.items():
        files = files_of(group, publication.roots)
        rows = frame[frame["protocol"].isin(made_with) & (found == "")]
        for (name, text), part in rows.groupby([group, f"config_{group}"], sort=False):
            if file := file_of(str(name), files):
                what = _first_change(json.loads(str(text)), file, neutral)
                if what:
                    found[part.index] = (
                        f"records of {_WORDS[group]} {name} were made with {what}, as {file.name} "
                        f"has it for {publication.name}: they do not measure the same"
                    )
    return found


def _first_change(config: Any, file: Path, neutral: Collection[str]) -> str:
    """Return the first key that a recorded configuration does not have as its file; or nothing."""
    written: Any = OmegaConf.to_container(OmegaConf.load(file))
    expected = dict(_leaves(written, neutral))
    actual = dict(_leaves(config, neutral))
    for key, value in expected.items():
        # Records of another origin may lack a key, and what is interpolated has no value yet.
        if key not in actual or (isinstance(value, str) and "${" in value):
            continue
        if actual[key] != value:
            return f"{key}={json.dumps(actual[key])}, not {key}={json.dumps(value)}"
    # What else the file has is not in it where it builds on another one.
    if actual and "defaults" not in written:
        for key, value in actual.items():
            if key not in expected and value is not None:
                return f"{key}={json.dumps(value)}, not without {key}"
    return ""


def _leaves(config: Any, neutral: Collection[str], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted names of nested options and their values."""
    for name, value in (config or {}).items():
        if prefix or name not in neutral:
            if isinstance(value, dict):
                yield from _leaves(value, neutral, f"{prefix}{name}.")
            else:
                yield f"{prefix}{name}", value


def _named(runs: Iterable[tuple[str, str]]) -> str:
    settings: dict[str, list[str]] = {}
    for protocol, setting in sorted(runs):
        settings.setdefault(protocol, []).append(setting)
    return "; ".join(f"protocol {name} ({', '.join(own)})" for name, own in settings.items())


def not_run(table: pd.DataFrame, publication: Publication) -> list[str]:
    """Say which published values have nothing beside them, and why.

    Parameters
    ----------
    table : DataFrame
        As :func:`results.reproduction.comparison.compare`.
    publication : Publication
    """
    described = publication.description
    absent = [name for name, ours in publication.datasets.items() if ours is None]
    unmatched = [name for name in publication.columns if described.algorithms[name] is None]
    lines = []
    if absent:
        lines.append(f"Data sets that are not here ({len(absent)}): {', '.join(absent)}.")
    if unmatched:
        lines.append(f"Algorithms that are not here ({len(unmatched)}): {', '.join(unmatched)}.")
    compared = set(table["setting"])
    if settings := [name for name in described.settings if name not in compared]:
        lines.append(f"Settings of which nothing was run: {', '.join(settings)}.")
    for setting, part in table[table["as_run"]].groupby("setting", sort=False):
        missing = part[part["verdict"] == NOT_RUN].drop_duplicates(["dataset", "algorithm"])
        n_algorithms = part["algorithm"].nunique()
        counts = missing["dataset"].value_counts()
        whole = [name for name in dict.fromkeys(missing["dataset"]) if counts[name] == n_algorithms]
        if whole:
            lines.append(
                f"Data sets of which nothing was run ({setting}, {len(whole)}): {', '.join(whole)}."
            )
        rest = missing[~missing["dataset"].isin(whole)]
        for algorithm, own in rest.groupby("algorithm", sort=False):
            lines.append(f"Not run ({setting}, {algorithm}): {', '.join(own['dataset'])}.")
    return lines
