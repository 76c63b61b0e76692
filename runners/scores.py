"""Scores of the test points, kept beside the records when ``runner.keep_scores`` asks for it.

A record holds curves, which say all that the metrics need and are as large for 100 points as for
half a million. Scores are for looking at single experiments (``python -m results histogram``).

The experiment hands them over in a file without a name, which costs its own process no memory; its
supervisor writes the Parquet file, where a full disk ends the run as it does for a record.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from results.records.files import write_atomically
from results.records.record import Record
from results.records.store import RecordStore

FOLDER = "scores"

Scores = tuple[NDArray[np.int8], NDArray[np.float64]]
"""Labels of the test points (1 = anomaly) and their anomaly scores (higher = more abnormal)."""


def hand_over(descriptor: int, y: NDArray[np.int8], anomaly_scores: NDArray[np.float64]) -> None:
    """Write labels and scores, each of shape (n_test,), to an empty file."""
    with open(descriptor, "wb", closefd=False) as handle:
        handle.write(np.ascontiguousarray(anomaly_scores, dtype=np.float64).tobytes())
        handle.write(np.ascontiguousarray(y, dtype=np.int8).tobytes())


def take_over(descriptor: int, n_test: int) -> Scores:
    """Read what `hand_over` wrote."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, "rb", closefd=False) as handle:
        anomaly_scores = np.frombuffer(handle.read(8 * n_test), dtype=np.float64)
        return np.frombuffer(handle.read(n_test), dtype=np.int8), anomaly_scores


def path_of(store: RecordStore, record: Record) -> Path:
    """Return where the scores of a record's experiment are kept."""
    relative = store.path_of(record).relative_to(store.path)
    return store.path.parent / FOLDER / relative.with_suffix(".parquet")


def save(store: RecordStore, record: Record, scores: Scores) -> Path:
    """Write the scores of an experiment, columns ``y`` and ``anomaly_score``, in the split's order.

    Raises
    ------
    OSError
        As the operating system says.
    """
    import pyarrow as pa
    from pyarrow import parquet

    y, anomaly_scores = scores
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"y": y, "anomaly_score": anomaly_scores}), buffer)
    path = path_of(store, record)
    write_atomically(path, buffer.getvalue())
    return path
