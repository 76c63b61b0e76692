"""Records in one compressed Parquet file, and back: runs of several machines come together.

One row per record. The column ``record`` holds everything but the curves as JSON, as the store's
own files do; the curves are columns of bytes as the store compresses them. The other columns repeat
what a reader of the file may want to filter or plot with any Parquet tool.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from results.metrics import METRICS, USUAL_METRICS
from results.records.bounds import check_sizes, unfolded
from results.records.encoding import Curves
from results.records.files import replacing
from results.records.record import Record, RecordError, parse_record
from results.records.statuses import STATUSES
from results.records.store import RecordStore

FORMAT = "1"
_FORMAT_KEY = b"ocrf_records_format"
_NAMES = ("key", "dataset", "algorithm", "variant", "setting", "protocol")
_NUMBERS = ("fit_seconds", "score_seconds", "peak_memory_mb")
_CURVES = ("roc", "pr")
_READ = ["record", *(f"curve_{name}" for name in _CURVES)]
_BATCH = 500
#: An absolute path of three parts or more, that is not a part of an address; the last two are kept.
_ABSOLUTE = re.compile(r"(?<![\w:/.])/(?:[^\s/:'\"]+/)+([^\s/:'\"]+/[^\s/:'\"]+)")


def _schema(metrics: Iterable[str]) -> pa.Schema:
    return pa.schema(
        [
            *((name, pa.string()) for name in _NAMES),
            ("seed", pa.int64()),
            ("split", pa.int64()),
            ("status", pa.string()),
            *((name, pa.float64()) for name in (*metrics, *_NUMBERS)),
            ("record", pa.string()),
            *((f"curve_{name}", pa.binary()) for name in _CURVES),
        ],
        metadata={_FORMAT_KEY: FORMAT.encode()},
    )


class PackError(ValueError):
    """A file is not a pack of records; the message says why."""


def pack(records: Iterable[Record], path: Path, *, curves: bool = True, paths: bool = True) -> int:
    """Write records to a Parquet file; return how many.

    Parameters
    ----------
    records : iterable of Record
        Of two with the same key the better one is written.
    path : Path
        Replaced only when the new file is complete.
    curves : bool
        Whether to keep the curves, which are nearly all of the size.
    paths : bool
        Whether to keep the names of the machine's folders; see :func:`without_folders`. Everything
        else is always kept without loss.
    """
    rows: dict[str, dict[str, Any]] = {}
    kept: dict[str, Record] = {}
    for record in records:
        known = kept.get(record.key)
        if known is None or better(known, record) is record:
            # Whole: what is left out of the file takes part in the choice.
            kept[record.key] = record
            thin = record if curves else replace(record, curves=Curves())
            thin = thin if paths else without_folders(thin)
            rows[record.key] = _row(thin)
    # Records that follow one another then differ in little, which is what compression lives on.
    order = sorted(
        rows.values(), key=lambda row: [row[n] for n in (*_NAMES[1:], "seed", "split", "key")]
    )
    held = [m for m in METRICS if m in USUAL_METRICS or any(row[m] is not None for row in order)]
    schema = _schema(held)
    with (
        replacing(path) as temporary,
        pq.ParquetWriter(
            temporary,
            schema,
            compression="zstd",
            compression_level=19,
            use_dictionary=list(_NAMES),
            write_page_checksum=True,
        ) as writer,
    ):
        for start in range(0, len(order), _BATCH):
            writer.write_table(pa.Table.from_pylist(order[start : start + _BATCH], schema))
    return len(order)


def read_packed(path: Path, unreadable: list[tuple[Path, str]] | None = None) -> Iterator[Record]:
    """Yield the records of a packed file.

    Parameters
    ----------
    path : Path
    unreadable : list of (Path, str), optional
        Rows that do not hold a valid record are left out, and what is wrong with them is added
        here.

    Raises
    ------
    PackError
        If the file is not a Parquet file, not one that :func:`pack` wrote, or damaged; without
        `unreadable` also for a row that does not hold a valid record. Damage may show only after
        some records.
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    """
    number = 0
    with _open(path) as file:
        try:
            for batch in file.iter_batches(_BATCH, columns=_READ):
                for row in unfolded(batch).to_pylist():
                    number += 1
                    try:
                        record = _record(row)
                    except RecordError as error:
                        if unreadable is None:
                            raise
                        unreadable.append((path, f"row {number}: {error}"))
                    else:
                        yield record
        except RecordError as error:
            raise PackError(f"{path} is damaged: row {number}: {error}") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            # Arrow says in several ways that the bytes are not those that were written.
            raise PackError(f"{path} is damaged: {type(error).__name__}: {error}") from error


def count_packed(path: Path) -> int:
    """Return how many records a packed file says that it holds; raises as :func:`read_packed`."""
    with _open(path) as file:
        return int(file.metadata.num_rows)


def _open(path: Path) -> pq.ParquetFile:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a packed file")
    if not path.is_file():
        raise FileNotFoundError(f"there is no packed file {path}")
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise PackError(f"{path} is not a Parquet file: {error}") from error
    except (OSError, ValueError) as error:
        raise PackError(f"{path} is damaged: {error}") from error
    found = (file.schema_arrow.metadata or {}).get(_FORMAT_KEY)
    if found != FORMAT.encode():
        file.close()
        raise PackError(
            f"{path} holds no packed records of this version (format {found!r}, not {FORMAT!r})"
        )
    with file:
        try:
            check_sizes(file, _READ)
        except ValueError as error:
            raise PackError(f"{path} is no pack: {error}") from None
        # As dictionaries, one text that stands for many rows is not copied before it is measured.
        folded = [name for name in _READ if name in file.schema_arrow.names]
    return pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=folded)


def _record(row: dict[str, Any]) -> Record:
    if not isinstance(row["record"], str):
        raise RecordError("the column record holds no text")
    curves = {name: row[f"curve_{name}"] for name in _CURVES}
    return parse_record(
        row["record"],
        {
            name: base64.b64encode(data).decode("ascii")
            for name, data in curves.items()
            if data is not None
        },
    )


def unpack(
    path: Path, store: RecordStore, unreadable: list[tuple[Path, str]] | None = None
) -> dict[str, int]:
    """Merge a packed file into a store.

    Parameters
    ----------
    path : Path
    store : RecordStore
    unreadable : list of (Path, str), optional
        As of :func:`read_packed`.

    Returns
    -------
    dict of str to int
        How many records were ``added``, ``replaced`` (the packed one was better) and ``kept`` (the
        store's was as good or better).

    Raises
    ------
    PackError
        As :func:`read_packed`; nothing is merged then.
    """
    for _ in read_packed(path, None if unreadable is None else []):
        pass  # damage far down in the file must show before anything is written
    counts = {"added": 0, "replaced": 0, "kept": 0}
    for record in read_packed(path, unreadable):
        known = store.get(record.key)
        if known is None:
            counts["added"] += 1
        elif better(known, record) is known:
            counts["kept"] += 1
            continue
        else:
            counts["replaced"] += 1
        store.put(record)
    return counts


def without_folders(record: Record) -> Record:
    """Return the record without the names of folders of the machine it was made on.

    They say nothing about the outcome and are nobody else's business once records are published.
    Where data came from and where output went becomes null; other absolute paths (in tracebacks,
    say) keep their last two parts.
    """
    config = dict(record.config) | ({"output": None} if "output" in record.config else {})
    data = config.get("data")
    if isinstance(data, dict):
        config["data"] = data | {name: None for name in ("home", "path") if name in data}
    return replace(
        record,
        config=_shortened(config),
        provenance=_shortened(record.provenance),
        limits=_shortened(record.limits),
        reason=_shortened(record.reason),
        traceback=_shortened(record.traceback),
        valid_texts=True,
    )


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return _ABSOLUTE.sub(r".../\1", value) if "/" in value else value
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value


def better(first: Record, second: Record) -> Record:
    """Return the one of two records of the same key to keep, whatever their order.

    A result beats a failure, and of failures the one that says most counts: a time limit that was
    exceeded, then a split skipped for one, then the others; each under wider limits before narrower
    ones. A record with curves beats one without, then the later one counts. The content decides
    between records that still tie, so that merging in any order ends the same.
    """
    return second if _rank(second) > _rank(first) else first


def _rank(record: Record) -> tuple[int, tuple[float, float], bool, str, str]:
    plain = record.to_dict()
    plain.pop("curves")
    return (
        STATUSES[record.status].strength,
        # A result is the same under any limit that it met.
        (0.0, 0.0) if record.status == "ok" else _limits(record),
        bool(record.curves),
        record.last_asked,
        json.dumps(plain, sort_keys=True),
    )


def _limits(record: Record) -> tuple[float, float]:
    """Return the seconds and gigabytes that an experiment was held to."""
    seconds = record.limits.get("timeout")
    memory = record.limits.get("memory_limit_gb", 0.0)  # none recorded is not yet no limit
    return float(seconds or 0.0), math.inf if memory is None else float(memory)


def _row(record: Record) -> dict[str, Any]:
    plain = record.to_dict()
    encoded = plain.pop("curves")
    if unknown := set(encoded) - set(_CURVES):
        raise PackError(f"record {record.key[:16]} has curves this version cannot pack: {unknown}")
    row = {name: getattr(record, name) for name in (*_NAMES, "seed", "split", "status", *_NUMBERS)}
    row |= {metric: record.metrics.get(metric) for metric in METRICS}
    # In ASCII: names of files may be no valid Unicode, and Parquet's strings must.
    row["record"] = json.dumps(plain, separators=(",", ":"))
    row |= {f"curve_{name}": base64.b64decode(text) for name, text in encoded.items()}
    return row
