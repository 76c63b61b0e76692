"""Scores of the test points, kept beside the records when ``runner.keep_scores`` asks for it.

A record holds curves, which say all that the metrics need and are as large for 100 points as for
half a million. Scores are for looking at single experiments (``python -m results histogram``). A
detector with ``feature_contributions(X)`` also says, of the most anomalous test points, how much
each feature adds to their scores.

The experiment hands them over in a file without a name, which costs its own process no memory; its
supervisor writes the Parquet file, where a full disk ends the run as it does for a record.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from results.records.files import write_atomically
from results.records.record import Record
from results.records.store import RecordStore
from runners.detectors import DetectorError

FOLDER = "scores"

# Test points whose contributions are kept.
N_EXPLAINED = 20


class Scores(NamedTuple):
    """What is known of the test points of an experiment."""

    y: NDArray[np.int8]  # (n_test,): 1 = anomaly
    anomaly_scores: NDArray[np.float64]  # (n_test,): higher = more abnormal
    rows: NDArray[np.int64]  # (n_test,): of the table that the source served
    # Contributions of the features to the score, of the most anomalous points by their numbers.
    contributions: Mapping[int, Mapping[str, float]] = {}


def explain(
    detector: Any,
    X: NDArray[np.float64],
    anomaly_scores: NDArray[np.float64],
    feature_names: Sequence[str],
) -> dict[int, dict[str, float]]:
    """Ask a detector for the contributions of the features to the most anomalous points.

    Parameters
    ----------
    detector : object
        Fitted; without a method ``feature_contributions`` nothing is asked.
    X : ndarray of shape (n_test, n_features)
    anomaly_scores : ndarray of shape (n_test,)
    feature_names : sequence of str

    Raises
    ------
    DetectorError
        If the contributions are not finite numbers, one per point and feature.
    """
    if not hasattr(detector, "feature_contributions"):
        return {}
    top = np.argsort(-anomaly_scores, kind="stable")[:N_EXPLAINED]
    found = np.asarray(detector.feature_contributions(X[top]), dtype=np.float64)
    if found.shape != (len(top), X.shape[1]) or not np.isfinite(found).all():
        raise DetectorError(
            f"{type(detector).__name__}: feature_contributions must be finite and of shape "
            f"{(len(top), X.shape[1])}, got {found.shape}"
        )
    return {
        int(point): dict(zip(feature_names, row.tolist(), strict=True))
        for point, row in zip(top, found, strict=True)
    }


def hand_over(descriptor: int, scores: Scores) -> None:
    """Write what is known of the test points to an empty file."""
    with open(descriptor, "wb", closefd=False) as handle:
        handle.write(np.ascontiguousarray(scores.anomaly_scores, dtype=np.float64).tobytes())
        handle.write(np.ascontiguousarray(scores.rows, dtype=np.int64).tobytes())
        handle.write(np.ascontiguousarray(scores.y, dtype=np.int8).tobytes())
        handle.write(json.dumps(list(scores.contributions.items())).encode())


def take_over(descriptor: int, n_test: int) -> Scores:
    """Read what `hand_over` wrote."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, "rb", closefd=False) as handle:
        anomaly_scores = np.frombuffer(handle.read(8 * n_test), dtype=np.float64)
        rows = np.frombuffer(handle.read(8 * n_test), dtype=np.int64)
        y = np.frombuffer(handle.read(n_test), dtype=np.int8)
        return Scores(y, anomaly_scores, rows, dict(json.load(handle)))


def path_of(store: RecordStore, record: Record) -> Path:
    """Return where the scores of a record's experiment are kept."""
    relative = store.path_of(record).relative_to(store.path)
    return store.path.parent / FOLDER / relative.with_suffix(".parquet")


def save(store: RecordStore, record: Record, scores: Scores) -> Path:
    """Write the scores of an experiment: columns ``y``, ``anomaly_score``, ``row``, as split.

    With contributions, a further column of that name maps features to them, where they are known.

    Raises
    ------
    OSError
        As the operating system says.
    """
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({"y": scores.y, "anomaly_score": scores.anomaly_scores, "row": scores.rows})
    if scores.contributions:
        known = [scores.contributions.get(point) for point in range(len(scores.y))]
        maps = [None if one is None else list(one.items()) for one in known]
        kind = pa.map_(pa.string(), pa.float64())
        table = table.append_column("contributions", pa.array(maps, kind))
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    path = path_of(store, record)
    write_atomically(path, buffer.getvalue())
    return path
