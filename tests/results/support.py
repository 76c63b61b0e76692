"""Records made from the paper's published numbers, and small ones made for one purpose."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np

from results.metrics import curve_area, grid
from results.published import paper
from results.records.encoding import Curves
from results.records.record import Record
from results.records.store import RecordStore
from results.vocabulary import is_transductive

N_SPLITS = 10
COUNTS = {
    "n_train": 50,
    "n_test": 60,
    "n_features": 5,
    "n_anomalies_train": 0,
    "n_anomalies_test": 6,
}


def key_of(*parts) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def power_curve(area: float, decreasing: bool = False) -> np.ndarray:
    """A curve x^a (or 1 - x^a) with about the given area."""
    area = min(max(area, 1e-3), 1 - 1e-3)
    x = grid()
    if decreasing:
        return 1 - x ** (area / (1 - area))
    return x ** ((1 - area) / area)


def make_record(dataset="pima", algorithm="iforest", *, roc=0.9, pr=0.5, **changes) -> Record:
    """A finished experiment; every field can be changed."""
    names = {
        "variant": "",
        "setting": "novelty",
        "protocol": "paper",
        "seed": 0,
        "split": 0,
        "status": "ok",
        "config": {},
    } | {
        k: changes[k]
        for k in changes
        if k in ("variant", "setting", "protocol", "seed", "split", "status", "config")
    }
    ok = names["status"] == "ok"
    config = {
        "n_splits": N_SPLITS,
        "protocol": {"name": names["protocol"], "metrics": ["roc_auc_curve", "pr_auc_curve"]},
        "dataset": {"name": dataset},
        "setting": {"name": names["setting"]},
    } | names["config"]
    fields = {
        "key": key_of(dataset, algorithm, sorted((k, str(v)) for k, v in names.items())),
        "dataset": dataset,
        "algorithm": algorithm,
        "metrics": {
            "roc_auc": roc,
            "average_precision": pr,
            "roc_auc_curve": roc,
            "pr_auc_curve": pr,
        }
        if ok
        else {},
        "fit_seconds": 1.0 if ok else None,
        "score_seconds": 0.5 if ok else None,
        "fit_cpu_seconds": 1.0 if ok else None,
        "score_cpu_seconds": 0.5 if ok else None,
        "peak_memory_mb": 10.0 if ok else None,
        "counts": COUNTS,
        "reason": None if ok else f"because of {names['status']}",
        "limits": {"timeout": 1800, "memory_limit_gb": None},
        "provenance": {
            "git": {"commit": "abc", "dirty": False},
            "cpu": "some CPU",
            "versions": {"numpy": "2.4"},
        },
    }
    return Record(**(fields | names | changes | {"config": config}))


def published_records(n_splits=N_SPLITS):
    """The paper's tables as records: the same values in every split, NA as one timeout."""
    times = paper.train_times().set_index(["setting", "column"])["seconds"]
    as_run = paper.columns().query("as_run").set_index(["setting", "column"])["algorithm"]
    for row in paper.cells().to_dict("records"):
        where = (row["setting"], row["column"])
        total = times[where]
        record = make_record(
            row["dataset"],
            as_run[where],
            setting=row["setting"],
            roc=row["roc_auc_curve"],
            pr=row["pr_auc_curve"],
            uses_labels=as_run[where] == "ocrfsampling_supervised",
        )
        # Where the paper gives no total, the finished cells still took some time.
        seconds = 1.0 if np.isnan(total) else total / 12
        if is_transductive(as_run[where]):
            seconds -= 0.1  # the total holds the test times
        for split in range(n_splits):
            key = key_of(record.key, split)
            if np.isnan(row["roc_auc_curve"]):
                status = "skipped" if split else "timeout"
                yield replace(
                    record,
                    key=key,
                    split=split,
                    status=status,
                    metrics={},
                    fit_seconds=None,
                    score_seconds=None,
                    reason="fit exceeded 1800 s" if status == "timeout" else "after a timeout",
                )
            else:
                yield replace(record, key=key, split=split, fit_seconds=seconds, score_seconds=0.1)


def with_curves(record: Record, rng: np.random.Generator) -> Record:
    """The record with curves (and areas that are theirs) scattered about its published areas."""
    if record.status != "ok":
        return record
    roc = power_curve(record.metrics["roc_auc_curve"] + 0.005 * rng.normal())
    pr = power_curve(record.metrics["pr_auc_curve"] + 0.01 * rng.normal(), decreasing=True)
    areas = {"roc_auc_curve": curve_area(roc), "pr_auc_curve": curve_area(pr)}
    curves = Curves.from_arrays({"roc": roc, "pr": pr})  # encoded once, however often it is written
    return replace(record, curves=curves, metrics=record.metrics | areas)


def write_fast(path, records):
    store = RecordStore(path)
    for record in records:
        file = store.path_of(record)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(record.to_dict(), separators=(",", ":")), encoding="utf-8")


def splits(n=10, **changes):
    """Return the records of the first n splits of a cell."""
    return [make_record(split=split, **changes) for split in range(n)]
