"""What a packed file may unfold to: its columns are measured before they are read."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# By what the file says, in a group of its rows; and on average in a row. Records take three
# thousand bytes, five hundred to a group.
_MOST_BYTES = 1 << 30
_MOST_BYTES_PER_ROW = 1 << 20


def check_sizes(file: pq.ParquetFile, columns: Collection[str]) -> None:
    """Refuse columns that are larger than those of records, before they are decompressed.

    Parameters
    ----------
    file : ParquetFile
    columns : collection of str
        Those that will be read.

    Raises
    ------
    ValueError
        By the types and the sizes that the file declares.
    """
    for field in file.schema_arrow:
        if field.name in columns and pa.types.is_nested(field.type):
            raise ValueError(f"its column {field.name} holds {field.type}")
    for i in range(file.metadata.num_row_groups):
        # Not by column: where a footer is damaged, Arrow ends the process over a column's entry.
        group = file.metadata.row_group(i)
        if group.total_byte_size > _MOST_BYTES:
            raise ValueError(
                f"{group.num_rows} of its rows take {group.total_byte_size} bytes, and "
                f"{_MOST_BYTES} are the most"
            )


def unfolded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with the texts that their dictionaries stand for.

    Raises
    ------
    ValueError
        If the texts would take more than records can: one text may stand for any number of rows.
    """
    columns, most = [], len(batch) * _MOST_BYTES_PER_ROW
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not pa.types.is_dictionary(column.type):
            columns.append(column)
            continue
        if not pa.types.is_primitive(column.type.value_type):
            lengths = pc.binary_length(column.dictionary)
            size = pc.sum(pc.take(lengths, column.indices)).as_py() or 0
            if size > most:
                raise ValueError(
                    f"in {len(batch)} rows the column {name} unfolds to {size} bytes, and {most} "
                    "are the most"
                )
        columns.append(column.dictionary_decode())
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
