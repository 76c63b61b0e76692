"""``python -m runners.convert PATH...``: records of earlier versions in today's words.

Protocols were once described by five keys of their own, and are now by the steps of a vocabulary
(`datasets.protocols.protocol`). The splits, and so the metrics, are the same; the description,
which a record holds and its key depends on, is rewritten. Packed files and folders of records are
converted in place; what is in today's words stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from datasets.command import carried_out
from datasets.protocols import protocol_from
from results.records.pack import PackError, better, pack, read_packed
from results.records.record import Record, RecordError, read_record
from results.records.store import RecordStore
from runners.identity import identity_of, key_of

_USAGE = """\
usage: python -m runners.convert PATH [PATH ...]

Rewrites records of earlier versions in today's words: packed files (.parquet) and folders
of records (output/records). Their metrics stay what they are; their keys become those of the same
experiments today."""
_OLD_KEYS = frozenset(
    {
        "max_anomaly_ratio",
        "anomaly_subset",
        "standardise",
        "repeat_published_rows",
        "train_size",
    }
)


def converted_protocol(old: Mapping[str, Any]) -> dict[str, Any]:
    """Return a protocol's description in today's vocabulary.

    Parameters
    ----------
    old : mapping
        The group `protocol` of a record, of this or an earlier version.

    Raises
    ------
    datasets.strict.Invalid
        If it is neither.
    """
    if not _OLD_KEYS & set(old):
        return protocol_from(old).described()
    scaled = old["standardise"] != "none"
    words = {name: value for name, value in old.items() if name not in _OLD_KEYS} | {
        "repeats": "published" if old["repeat_published_rows"] else "source",
        "cap": {
            "ratio": old["max_anomaly_ratio"],
            "drawn": "once" if old["anomaly_subset"] == "fixed" else "per_split",
        },
        "cut": {"kind": "random", "train_size": old["train_size"]},
        "scaling": {
            "kind": "standard" if scaled else "none",
            # Without scaling it says nothing; the one protocol that was run so had `all` here.
            "fitted_on": old["standardise"] if scaled else "all",
        },
    }
    return protocol_from(words).described()


def converted(record: Record) -> Record:
    """Return a record with its protocol in today's vocabulary, and the key that follows from it."""
    protocol = converted_protocol(record.config["protocol"])
    if protocol == record.config["protocol"]:
        return record
    dataset = dict(record.config["dataset"])
    if isinstance(repeat := dataset.get("repeat"), bool):
        dataset["repeat"] = "published" if repeat else "source"
    config = {**record.config, "protocol": protocol, "dataset": dataset}
    digests = {name: record.provenance.get(name) for name in ("content", "code", "indices")}
    identity = identity_of(config, record.algorithm, **digests)
    return replace(record, config=config, key=key_of(identity, record.split))


def convert_pack(path: Path) -> int:
    """Convert a packed file in place; return how many records changed."""
    old = list(read_packed(path))
    new = [converted(record) for record in old]
    changed = sum(a.key != b.key for a, b in zip(old, new, strict=True))
    if changed:
        pack(new, path)
    return changed


def convert_store(folder: Path) -> int:
    """Convert the records of a folder in place; return how many changed."""
    store = RecordStore(folder)
    changed = 0
    for path in store.paths():
        try:
            record = read_record(path)
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from error
        if (new := converted(record)).key == record.key:
            continue
        # It may have been run again since.
        twin = store.get(new.key)
        store.put(new if twin is None else better(twin, new))
        path.unlink()
        changed += 1
    return changed


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert what the command line names; return 0, or 2 if something is not there or damaged."""
    paths = list(sys.argv[1:] if arguments is None else arguments)
    if not paths or paths[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stdout if paths else sys.stderr)
        return 0 if paths else 2
    return carried_out(lambda: _convert(paths))


def _convert(paths: Sequence[str]) -> int:
    for name in paths:
        path = Path(name)
        try:
            changed = convert_store(path) if path.is_dir() else convert_pack(path)
        except (OSError, PackError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
        print(f"{path}: {changed} records converted")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
