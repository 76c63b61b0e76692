"""Packed files that are damaged, foreign or too large are refused, not read wrongly."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from results.cli import main
from results.records.frame import load_experiments
from results.records.pack import PackError, pack, read_packed, unpack
from results.records.store import RecordStore
from tests.results.support import make_record, with_curves, write_fast


def by_key(records):
    return {record.key: record for record in records}


def test_files_of_other_kinds_are_refused_with_the_reason(tmp_path):
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(PackError, match="not a Parquet file"):
        list(read_packed(tmp_path / "text.parquet"))
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(PackError, match="holds no packed records"):
        list(read_packed(tmp_path / "other.parquet"))
    with pytest.raises(FileNotFoundError, match="no packed file"):
        load_experiments(tmp_path / "absent.parquet")


@pytest.mark.parametrize("seed", [0, 1])
def test_a_flipped_bit_changes_nothing_or_is_reported_with_the_file(tmp_path, seed):
    """Whatever reads a damaged file gets the records that were written, or one clear error."""
    rng = np.random.default_rng(seed)
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    pack([make_record(split=s, roc=rng.random()) for s in range(20)], good)
    records = by_key(read_packed(good))
    data = np.frombuffer(good.read_bytes(), dtype=np.uint8)
    errors = []
    for bit in rng.integers(8 * len(data), size=200):
        damaged = data.copy()
        damaged[bit // 8] ^= 1 << (bit % 8)
        bad.write_bytes(damaged.tobytes())
        try:
            assert by_key(read_packed(bad)) == records
        except PackError as error:
            errors.append(str(error))
    assert len(errors) > 10
    assert all(str(bad) in error for error in errors)


def test_nothing_of_a_damaged_file_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("results.records.pack._BATCH", 1)
    file = tmp_path / "p.parquet"
    pack([with_curves(make_record(split=s), np.random.default_rng(s)) for s in range(3)], file)
    data = bytearray(file.read_bytes())
    packed = pq.ParquetFile(file)
    column = packed.schema_arrow.get_field_index("curve_pr")
    third = packed.metadata.row_group(2).column(column)
    data[third.data_page_offset + third.total_compressed_size // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(PackError, match=r"p\.parquet is damaged"):
        unpack(file, RecordStore(tmp_path / "s"))
    assert not (tmp_path / "s").exists()


def test_files_packed_before_there_were_checksums_are_read(tmp_path):
    record = make_record()
    pack([record], tmp_path / "new.parquet")
    table = pq.read_table(tmp_path / "new.parquet")
    pq.write_table(table, tmp_path / "old.parquet", write_page_checksum=False)
    assert list(read_packed(tmp_path / "old.parquet")) == [record]


def test_an_unreadable_record_is_left_out_and_named(tmp_path, capsys):
    write_fast(tmp_path / "records", [make_record()])
    (tmp_path / "records" / "pima" / "iforest" / "x-0123456789abcdef.json").write_text("{")
    assert main(["pack", str(tmp_path / "p.parquet"), "--output", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "1 records" in out
    assert "unreadable" in out


def folded(path, text, n, column="record", **options):
    """Write a pack in which one text stands for n rows."""
    pack([make_record()], path)
    table = pq.read_table(path)
    columns = {name: pa.repeat(table[name][0], n) for name in table.column_names}
    texts = pa.array([text], pa.binary() if column.startswith("curve") else pa.string())
    columns[column] = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), n), texts)
    made = pa.table(columns).replace_schema_metadata(table.schema.metadata)
    pq.write_table(made, path, compression="zstd", use_dictionary=[column], **options)
    return path


@pytest.mark.parametrize("column", ["record", "curve_roc"])
def test_a_text_that_stands_for_many_rows_is_measured_before_it_is_copied(column, tmp_path):
    text = " " * (40 << 20)
    path = folded(tmp_path / "p.parquet", text, 2_000, column)
    assert path.stat().st_size < 200_000
    usual, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.system_memory_pool())
    pa.set_memory_pool(pool)
    try:
        with pytest.raises(PackError, match=rf"column {column} unfolds to {500 * len(text)} bytes"):
            list(read_packed(path, []))
    finally:
        pa.set_memory_pool(usual)
    assert len(text) < pool.max_memory() < 10 * len(text)
    assert main(["tables", "--records", str(path), "--output", str(tmp_path / "out")]) == 2


def test_a_pack_that_another_tool_wrote_with_dictionaries_is_read(tmp_path):
    records = [make_record(split=split) for split in range(3)]
    pack(records, tmp_path / "p.parquet")
    pq.write_table(pq.read_table(tmp_path / "p.parquet"), tmp_path / "q.parquet")
    assert by_key(read_packed(tmp_path / "q.parquet")) == by_key(records)


def test_columns_that_declare_more_than_records_take_are_refused(tmp_path, monkeypatch):
    path = folded(tmp_path / "p.parquet", " " * 100_000, 1)
    monkeypatch.setattr("results.records.bounds._MOST_BYTES", 99_999)
    with pytest.raises(PackError, match=r"1 of its rows take 10\d+ bytes, and 99999 are the most"):
        list(read_packed(path, []))


def test_a_column_of_lists_is_refused(tmp_path):
    path = tmp_path / "p.parquet"
    pack([make_record()], path)
    table = pq.read_table(path)
    lists = pa.array([[text] for text in table["record"].to_pylist()])
    position = table.column_names.index("record")
    pq.write_table(table.set_column(position, "record", lists), path)
    with pytest.raises(PackError, match=r"its column record holds list<"):
        list(read_packed(path, []))
