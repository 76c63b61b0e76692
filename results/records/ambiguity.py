"""Experiments that bear the same names but were configured differently are told apart.

A record's names (data set, algorithm, setting, protocol) leave out what was overridden beside the
algorithm's own parameters, for example ``protocol.cap.drawn=once``. Averaging such
experiments with the others would mix two things under one name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pandas as pd

from results.records.record import NEUTRAL

#: Parts of a configuration that never change an outcome.
_NEUTRAL = frozenset().union(*NEUTRAL.values())
#: What repeats an experiment rather than making it another.
_REPETITIONS = frozenset({"seed", "split"})
_NAME_OF_SECTION = {"algorithm": "label"}
#: Within what a part of the configuration must be one and the same: all algorithms of a table share
#: its protocol. An algorithm's own parameters are only compared within a cell.
_SCOPES = {
    "protocol": ["protocol"],
    "setting": ["setting"],
    "dataset": ["dataset", "protocol"],
}


#: Where rows come from: of two tables that bear one name neither is the usual one.
_ORIGINS = frozenset({"path", "openml"})

#: Says of a section, the name that records bear and a configuration whether the file has it so.
AsFiled = Callable[[str, str, str], bool]


def tell_apart(
    frame: pd.DataFrame,
    coordinates: Sequence[str],
    sections: Sequence[str],
    as_filed: AsFiled | None = None,
) -> tuple[pd.DataFrame, list[str]]:
    """Append the differing options to the names of experiments that would be put together.

    Where the experiments of a cell, or the cells of a table, whatever their seeds and splits, were
    configured differently, the configuration that its file has keeps the plain name, else the one
    that most cells have, of as many the latest; the others become for example
    ``paper(cap.drawn=once)``. Of data sets from different files all do. What still collides after
    that is the same experiment; the last row is kept.

    Parameters
    ----------
    frame : DataFrame
        One row per experiment, with the coordinates and ``config_<section>`` as JSON text.
    coordinates, sections : sequence of str
    as_filed : callable, optional
        Where there are files to hold the configurations to.

    Returns
    -------
    frame : DataFrame
    remarks : list of str
        What was renamed or dropped.
    """
    remarks: list[str] = []
    frame = frame.copy()
    cell = [name for name in coordinates if name not in _REPETITIONS]
    for section in sections:
        scope = _SCOPES.get(section, cell)
        clash = frame.groupby(scope)[f"config_{section}"].transform("nunique") > 1
        if not clash.any():
            continue
        name_column = _NAME_OF_SECTION.get(section, section)
        context = [name_column] if section in ("protocol", "setting") else [name_column, "protocol"]
        for _, members in frame[clash].groupby(context, sort=True):
            changed = _differingleaves(members, scope, f"config_{section}")
            if not changed:
                continue
            same = (frame[context] == members[context].iloc[0]).all(axis=1)
            filed: set[str] = set()
            if as_filed is not None:
                name = str(members[name_column].iloc[0])
                texts = frame.loc[same, f"config_{section}"].unique()
                filed = {text for text in texts if as_filed(section, name, text)}
            named = _renamed(frame[same], cell, name_column, f"config_{section}", changed, filed)
            frame.loc[same, name_column] = named
            for new in sorted(set(named) - {members[name_column].iloc[0]}):
                remarks.append(
                    f"{section} {members[name_column].iloc[0]} was run with different options: "
                    f"listed apart as {new}"
                )
    still = frame.duplicated(list(coordinates), keep="last")
    if still.any():
        remarks.append(
            f"{int(still.sum())} experiments are there twice under the same names and options: "
            "the latest is used"
        )
    return frame[~still].reset_index(drop=True), remarks


def _differingleaves(members: pd.DataFrame, scope: Sequence[str], column: str) -> list[str]:
    """Return the dotted names of options that differ within a scope."""
    changed: set[str] = set()
    for _, twins in members.groupby(list(scope), sort=False):
        configs = [leaves(json.loads(text)) for text in twins[column].unique()]
        if len(configs) > 1:
            changed |= {
                leaf
                for leaf in set().union(*configs)
                if len({config.get(leaf, "absent") for config in configs}) > 1
            }
    return sorted(changed)


def _renamed(
    rows: pd.DataFrame,
    cell: Sequence[str],
    name: str,
    column: str,
    changed: list[str],
    filed: Collection[str],
) -> list[str]:
    suffixes: list[str] = []
    cache: dict[str, dict[str, str]] = {}
    for text in rows[column]:
        if text not in cache:
            cache[text] = leaves(json.loads(text))
        suffixes.append(",".join(f"{leaf}={cache[text].get(leaf, 'absent')}" for leaf in changed))
    told = rows[list(cell)].assign(suffix=suffixes)
    n_cells = told.drop_duplicates()["suffix"].value_counts().to_dict()
    n_rows = told["suffix"].value_counts().to_dict()
    preferred = {
        suffix for text, suffix in zip(rows[column], suffixes, strict=True) if text in filed
    }
    if name == "dataset" and not preferred and not _ORIGINS.isdisjoint(changed):
        return [f"{old}({suffix})" for old, suffix in zip(rows[name], suffixes, strict=True)]
    latest = rows["asked"].groupby(told["suffix"]).max().to_dict()
    usual = max(
        sorted(preferred or set(suffixes)),
        key=lambda suffix: (n_cells[suffix], n_rows[suffix], latest[suffix]),
    )
    return [
        old if suffix == usual else f"{old}({suffix})"
        for old, suffix in zip(rows[name], suffixes, strict=True)
    ]


def leaves(config: Any, prefix: str = "") -> dict[str, str]:
    """Flatten nested options into dotted names and printed values."""
    if not isinstance(config, dict):
        text = config if isinstance(config, str) else json.dumps(config, ensure_ascii=False)
        return {prefix or "value": text}
    flat: dict[str, str] = {}
    for key, value in config.items():
        if key not in _NEUTRAL:
            flat |= leaves(value, f"{prefix}.{key}" if prefix else str(key))
    return flat
