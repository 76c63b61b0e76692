"""The key of an experiment: a digest of what determines its outcome, and of nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from datasets.protocols import protocol_from
from results.metrics import USUAL_METRICS
from results.records.record import NEUTRAL


def identity_of(
    config: Mapping[str, Any],
    algorithm: str,
    content: str | None = None,
    code: str | None = None,
    indices: str | None = None,
) -> str:
    """Return everything that determines the outcomes of a cell, as JSON.

    Parameters
    ----------
    config : mapping
        The whole resolved configuration.
    algorithm : str
        The name of the algorithm's YAML file. It is part of the identity: one row of a table is
        one algorithm, and two that happen to have the same parameters are still two rows.
    content : str or None
        Digest of the user's file that the data come from, where they come from one: results on an
        older version of it must not pass for results on this one.
    code : str or None
        Digest of the user's own code, for the same reason; see `runners.own_code`.
    indices : str or None
        Digest of the file of row numbers that the protocol names, for the same reason.

    Raises
    ------
    datasets.strict.Invalid
        If the configuration holds no valid protocol.
    """
    identity: dict[str, Any] = {"algorithm_name": algorithm, "seed": int(config["seed"])}
    if content is not None:
        identity["content"] = content
    if code is not None:
        identity["code"] = code
    if indices is not None:
        identity["indices"] = indices
    for group in ("dataset", "algorithm", "setting"):
        neutral = NEUTRAL.get(group, frozenset())
        # A parameter that is null means what a parameter that is not given means, except to an
        # algorithm's constructor.
        identity[group] = {
            name: value
            for name, value in config[group].items()
            if name not in neutral and (value is not None or group == "algorithm")
        }
    identity["protocol"] = _protocol(config)
    return json.dumps(identity, sort_keys=True, separators=(",", ":"))


def key_of(identity: str, split: int) -> str:
    """Return the digest of everything that determines the outcome of one split of a cell."""
    return hashlib.sha256(f"{identity} {split}".encode()).hexdigest()


def _protocol(config: Mapping[str, Any]) -> dict[str, Any]:
    protocol = protocol_from(config["protocol"])
    identity = protocol.identity()
    # What is measured under every protocol is no part of any; the rest is there for its sake.
    if extra := {*protocol.metrics, *protocol.recorded} - set(USUAL_METRICS):
        identity["recorded"] = sorted(extra)
    if protocol.depends_on_row_order:
        expected = config["dataset"].get("expected") or {}
        if digest := expected.get("ordered_digest"):
            identity["row_order"] = digest
    return identity
