"""Which runs may stand beside the numbers of a publication."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from results.published.publication import Publication

#: Keys of a protocol that change no outcome.
_NEUTRAL = frozenset({"name", "description", "metrics", "recorded", "defaults"})


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
        The experiments of other protocols and settings, which are left out; how many cells
        have fewer splits than the protocol has seeds.

    Raises
    ------
    ValueError
        If no experiment was made with the publication's protocol and setting, naming both; or if
        some bear the protocol's name, and what its file says was overridden.
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
    for protocol in dict.fromkeys(protocol for protocol, _ in sorted(made_with & counts.keys())):
        remarks += _check_protocol(frame[frame["protocol"] == protocol], protocol, publication)
    return remarks


def _check_protocol(frame: pd.DataFrame, protocol: str, publication: Publication) -> list[str]:
    """Hold the configuration of experiments against the file that bears the protocol's name."""
    files = [root / "protocol" / f"{protocol}.yaml" for root in publication.roots]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return []
    expected = dict(_leaves(OmegaConf.to_container(OmegaConf.load(file))))
    for text in frame["config_protocol"].unique():
        actual = dict(_leaves(json.loads(text)))
        for key, value in expected.items():
            # Records of another origin may lack a key, and what is interpolated has no value yet.
            if key not in actual or (isinstance(value, str) and "${" in value):
                continue
            if actual[key] != value:
                ours, theirs = json.dumps(actual[key]), json.dumps(value)
                raise ValueError(
                    f"records of protocol {protocol} were made with {key}={ours}, and "
                    f"{publication.name} with {key}={theirs}, as {file.name} has it: they do not "
                    "measure the same"
                )
    seeds = len(expected.get("seeds") or ())
    finished = frame[frame["status"] == "ok"].groupby(["setting", "dataset", "label"]).size()
    if short := int((finished < seeds).sum()):
        return [f"protocol {protocol} has {seeds} seeds: {short} cells are of fewer splits"]
    return []


def _leaves(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted names of nested options and their values."""
    for name, value in (config or {}).items():
        if prefix or name not in _NEUTRAL:
            if isinstance(value, dict):
                yield from _leaves(value, f"{prefix}{name}.")
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
        missing = part[part["verdict"] == "not run"].drop_duplicates(["dataset", "algorithm"])
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
