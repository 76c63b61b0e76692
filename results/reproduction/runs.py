"""Which runs may stand beside the numbers of a publication."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
    "algorithm": {"defaults"},
}
#: Parameters of a class that change its time and no score.
_FASTER = {"baselines.Orca": {"search"}}
#: The keys that a name gives in brackets: ``mine(n=1,steps.1.1.depth=2)``.
_NAMED = re.compile(r"(?<=[(,])[\w.]+(?==)")
_WORDS = {"protocol": "protocol", "dataset": "data set", "algorithm": "algorithm"}


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
        what the file of their protocol, data set or algorithm says was overridden, or has changed.
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
            raise ValueError(
                f"{text}. Run them anew: what is not as its file says is left out then"
            )
    return remarks


def as_filed(roots: Sequence[Path]) -> Callable[[str, str, str], bool]:
    """Return a function that says whether a part of a configuration is what its file says.

    Parameters
    ----------
    roots : sequence of Path
        Folders like ``conf/``.

    Returns
    -------
    callable
        Takes ``"protocol"``, ``"dataset"`` or ``"algorithm"``, the name that records bear, and the
        configuration as JSON text; false where no file bears the name.
    """

    def is_as_filed(group: str, name: str, text: str) -> bool:
        return group in _NEUTRAL and _change(group, name, text, roots) == ""

    return is_as_filed


def unlike_files(frame: pd.DataFrame, roots: Sequence[Path]) -> list[str]:
    """Say which protocols, data sets and algorithms are not what the files of their names say.

    Where all of a run has an option overridden, its name does not tell it from the file's.
    """
    remarks = []
    for group, word in _WORDS.items():
        column = "label" if group == "algorithm" else group
        for name, text in sorted(set(zip(frame[column], frame[f"config_{group}"], strict=True))):
            if what := _change(group, str(name), str(text), roots):
                remarks.append(f"{word} {name} was run with {what}")
    return list(dict.fromkeys(remarks))


def comparable(frame: pd.DataFrame, publication: Publication) -> tuple[pd.DataFrame, list[str]]:
    """Leave out the experiments whose protocol, data set or algorithm is not what its file says.

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
    """Say of each experiment what was changed in its protocol, its data set or its algorithm.

    A run with one key overridden keeps the plain name where nothing else was run, and a file may be
    changed after a run. Experiments are held to the files of their protocol, data set and
    algorithm, where these have files. Options that the name already shows do not count as changes.

    Returns
    -------
    Series of str
        Empty where nothing was changed, or the publication has no such protocol, data set or, as to
        what was changed in an algorithm, no such algorithm.
    """
    made_with = {run.protocol for run in publication.description.settings.values()}
    # Nothing is printed of other data sets and algorithms, whatever bears their names.
    here = frame["protocol"].isin(made_with) & frame["dataset"].isin(publication.datasets.values())
    printed = frame["algorithm"].isin({name.partition("(")[0] for name in publication.algorithms})
    found = pd.Series("", index=frame.index, dtype=object)
    for group, word in _WORDS.items():
        column = "label" if group == "algorithm" else group
        rows = frame[here & (printed | (group != "algorithm")) & (found == "")]
        for (name, text), part in rows.groupby([column, f"config_{group}"], sort=False):
            if what := _change(group, str(name), str(text), publication.roots):
                found[part.index] = (
                    f"records of {word} {name} have {what}: they do not measure the same as "
                    f"{publication.name}"
                )
    return found


def _change(group: str, name: str, text: str, roots: Sequence[Path]) -> str | None:
    """Say what a configuration has otherwise than its file; None without a file."""
    config = json.loads(text) or {}
    # What follows the name in brackets was told apart, or overridden on the command line.
    plain = name.partition("(")[0] if group == "algorithm" else str(config.get("name", name))
    file = file_of(plain, files_of(group, roots))
    if file is None:
        return None
    neutral = _NEUTRAL[group] | _FASTER.get(str(config.get("_target_")), set())
    return _first_change(config, file, neutral, name.removeprefix(plain))


def _first_change(config: Any, file: Path, neutral: Collection[str], told: str) -> str:
    """Say which key a recorded configuration does not have as its file, the first; or nothing.

    `told` is what the name says in brackets: these keys are meant to differ.
    """
    written: Any = OmegaConf.to_container(OmegaConf.load(file))
    expected = dict(_leaves(written, neutral))
    actual = dict(_leaves(config, neutral))
    if not actual:  # an origin that does not say it
        return ""
    named = [f"{name}." for name in _NAMED.findall(told)]
    # What else the file has is not in it where it builds on another one.
    further = () if "defaults" in written else (key for key in actual if key not in expected)
    for key in (*expected, *further):
        value, wanted = actual.get(key), expected.get(key)
        # What is interpolated has no value yet.
        if _is_same(value, wanted) or (isinstance(wanted, str) and "${" in wanted):
            continue
        if not any(f"{key}.".startswith(name) or name.startswith(f"{key}.") for name in named):
            return f"{_said(key, actual)}, and {file.name} has {_said(key, expected)}"
    return ""


def _is_same(value: Any, other: Any) -> bool:
    """Tell whether two values mean the same: of features, 1 is one and 1.0 is all of them."""
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


def _said(key: str, options: Mapping[str, Any]) -> str:
    return f"{key}={json.dumps(options[key])}" if key in options else f"no {key}"


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
        for kind, words in (("dataset", "Data sets"), ("algorithm", "Algorithms")):
            was_run = set(part.loc[part["verdict"] != NOT_RUN, kind])
            if whole := [name for name in dict.fromkeys(missing[kind]) if name not in was_run]:
                lines.append(
                    f"{words} of which nothing was run ({setting}, {len(whole)}): "
                    f"{', '.join(whole)}."
                )
                missing = missing[~missing[kind].isin(whole)]
        for algorithm, own in missing.groupby("algorithm", sort=False):
            lines.append(f"Not run ({setting}, {algorithm}): {', '.join(own['dataset'])}.")
    return lines
