"""Experiments on an earlier version of a user's file, code or splits are left out.

The names stay the same when a file is edited: the version that a run asked for last is the one
that counts, whether it was run then or was recorded.
"""

from __future__ import annotations

import json

import pandas as pd

from results.records.ambiguity import leaves

#: Not known of what earlier versions of this project recorded, where others are known to be none.
_MAY_BE_UNKNOWN = frozenset({"code_algorithm", "code_protocol"})
#: What a version is of: its digest, what it is a version of, whose name the remark begins with.
_VERSIONS = {
    "content": (["dataset", "definition"], "dataset", "file"),
    # Of all algorithms of the same classes, whatever their parameters, and of all protocols. What
    # earlier versions of this project recorded has the digest of both alone.
    "code_algorithm": (["targets_algorithm"], "label", "code"),
    "code_protocol": (["targets_protocol"], "protocol", "code"),
    "code": (["targets"], "label", "code"),
    "indices": (
        ["dataset", "definition", "protocol", "config_protocol"],
        "protocol",
        "file of splits",
    ),
}


def drop_superseded(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Keep the experiments on the latest version of each data set, algorithm and splitter.

    A user's own file or code may change under the same name. Everything run on another version than
    the experiment that was asked for last goes, so that no cell, and no comparison, mixes the two.

    Parameters
    ----------
    frame : DataFrame
        With ``dataset``, ``config_dataset``, ``content`` (digest of the file, None for a data set
        that comes from none), ``label``, ``code`` (digest of the user's own code, None without
        any), ``targets`` (the classes that the configuration names), both of ``_algorithm`` and
        ``_protocol`` alone as well (a digest that is not known is None), ``protocol``,
        ``config_protocol``, ``indices`` (digest of the file of row numbers, None without one),
        ``asked`` (ISO time stamp) and ``is_selected``.

    Returns
    -------
    frame : DataFrame
    remarks : list of str
        How many selected experiments went.
    """
    remarks: list[str] = []
    # Another address of a file, or another description, makes no other data set.
    texts = frame["config_dataset"]
    plain = {text: json.dumps(leaves(json.loads(text)), sort_keys=True) for text in texts.unique()}
    frame = frame.assign(definition=texts.map(plain))
    for version, (same, name, noun) in _VERSIONS.items():
        found = frame[version] if version in _MAY_BE_UNKNOWN else frame[version].fillna("")
        in_time = frame.assign(found=found).sort_values("asked", kind="stable")
        latest = in_time.groupby(same, sort=False)["found"].transform("last")
        old = found.notna() & (found != latest.reindex(frame.index))
        remarks += [
            f"{whose}: left out {count} experiments on another version of the {noun} than that of "
            "the latest run"
            for whose, count in frame.loc[old & frame["is_selected"], name]
            .value_counts(sort=False)
            .items()
        ]
        frame = frame[~old].reset_index(drop=True)
    return frame.drop(columns="definition"), remarks
