"""What experiments under one name have not in common, though their configuration is the same.

They are averaged all the same, and a reader has to know.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pandas as pd

from results.records.ambiguity import leaves


def mixtures(frame: pd.DataFrame) -> list[str]:
    """Say what is mixed within a cell, or within the column of a table."""
    return mixed_options(frame) + mixed_versions(frame) + shared_splits(frame)


def mixed_versions(frame: pd.DataFrame) -> list[str]:
    """Say of which cells the experiments were run with several versions of a package.

    Parameters
    ----------
    frame : DataFrame
        With the names of a cell and ``versions``: of packages, as JSON text.
    """
    cell = ["protocol", "setting", "dataset", "label"]
    mixed = frame.groupby(cell, sort=True)["versions"].unique()
    mixed = mixed[mixed.map(len) > 1]
    cells: dict[str, list[str]] = {}
    for at, texts in zip(mixed.index, mixed, strict=True):
        protocol, setting, dataset, label = at
        found: dict[str, set[str]] = {}
        for text in texts:
            for package, version in json.loads(text).items():
                found.setdefault(package, set()).add(str(version))
        what = "; ".join(
            f"{package} {', '.join(sorted(versions))}"
            for package, versions in sorted(found.items())
            if len(versions) > 1
        )
        if what:
            where = f"{label} ({protocol}, {setting}) was run with several versions, {what}"
            cells.setdefault(where, []).append(str(dataset))
    return [f"{where}: {', '.join(names)}" for where, names in cells.items()]


def partly_measured(frame: pd.DataFrame, metrics: Collection[str]) -> list[str]:
    """Say which metrics some finished experiments of a cell hold, and others do not.

    Parameters
    ----------
    frame : DataFrame
        With the names of a cell, ``status`` and the metrics, NaN where they are not held.
    metrics : collection of str
        Those that not every experiment holds.
    """
    finished = frame[frame["status"] == "ok"]
    groups = finished.groupby(["protocol", "setting", "dataset", "label"], sort=True)
    remarks = []
    for metric in (name for name in metrics if finished[name].notna().any()):
        cells: dict[str, list[str]] = {}
        for at, own in groups[metric]:
            if 0 < (n := int(own.count())) < len(own):
                protocol, setting, dataset, label = at
                where = f"{metric}, {label} ({protocol}, {setting}): {n} of {len(own)} experiments"
                cells.setdefault(f"no mean of {where} hold it", []).append(str(dataset))
        remarks += [f"{where}: {', '.join(names)}" for where, names in cells.items()]
    return remarks


def shared_splits(frame: pd.DataFrame) -> list[str]:
    """Say which seeds have splits in common: each counts once for every seed in a mean.

    A legacy generator is seeded with the root seed plus the number of the split, so that split 1 of
    seed 0 is split 0 of seed 1.

    Parameters
    ----------
    frame : DataFrame
        With the names of a cell, ``seed``, ``split`` and ``config_protocol`` as JSON text.
    """
    cell = ["protocol", "setting", "dataset", "label"]
    legacy = {text: _adds_split_to_seed(json.loads(text)) for text in set(frame["config_protocol"])}
    part = frame[frame["config_protocol"].map(legacy)]
    twice = part[part.assign(drawn=part["seed"] + part["split"]).duplicated([*cell, "drawn"])]
    return [
        f"{label} ({protocol}, {setting}): {len(own)} experiments are on splits that other seeds "
        "have too, since its legacy generator adds the number of a split to the seed: take seeds "
        "farther apart"
        for (protocol, setting, label), own in twice.groupby(["protocol", "setting", "label"])
    ]


def _adds_split_to_seed(protocol: Any) -> bool:
    generator = (protocol or {}).get("generator") or {}
    per_split = generator.get("seeded", "per_split") == "per_split"
    return generator.get("kind") == "legacy" and per_split and not protocol.get("seeds")


def mixed_options(frame: pd.DataFrame) -> list[str]:
    """Say which algorithms were run with other options on one data set than on another.

    Within a cell they are told apart; a column of a table may still mix two versions of one file.

    Parameters
    ----------
    frame : DataFrame
        With ``protocol``, ``label``, ``dataset`` and ``config_algorithm`` as JSON text.
    """
    remarks = []
    for (protocol, label), part in frame.groupby(["protocol", "label"], sort=True):
        texts = part["config_algorithm"].unique()
        if len(texts) < 2:
            continue
        options = {text: leaves(json.loads(text)) for text in texts}
        every = sorted(set().union(*options.values()))
        differing = [
            n for n in every if len({own.get(n, "absent") for own in options.values()}) > 1
        ]
        if not differing:
            continue
        datasets: dict[str, set[str]] = {}
        for text, own in options.items():
            what = ",".join(f"{name}={own.get(name, 'absent')}" for name in differing)
            rows = part["config_algorithm"] == text
            datasets.setdefault(what, set()).update(part.loc[rows, "dataset"])
        where = [f"{what} on {', '.join(sorted(names))}" for what, names in datasets.items()]
        remarks.append(
            f"algorithm {label} ({protocol}) was run with different options: {'; '.join(where)}"
        )
    return remarks
