"""A page that differs from its checksum is an error, wherever it is read."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.values.reading import read_rows
from tests.support import cases

ROWS = pa.table(
    {
        "n": range(150),
        "text": ["foo", "bar", None] * 50,
        "l": [[1, None], [], [3]] * 50,
    }
)
MISMATCH = r"the bytes of a page differ from its checksum \(CRC\)"


def written(version: str, compression: str) -> bytes:
    sink = io.BytesIO()
    pq.write_table(
        ROWS,
        sink,
        data_page_version=version,
        compression=compression,
        write_page_checksum=True,
        store_schema=False,
    )
    return sink.getvalue()


def rows_of(data: bytes) -> pa.Table:
    with DataFile("a.parquet", lambda _: pa.BufferReader(data)) as file:
        found = [
            pa.table(held) for _, held in file.batches(schema_of_arrow(ROWS.schema), 0)
        ]
    return pa.concat_tables(found)


@cases(
    "version, compression",
    {
        "plain": ("1.0", "none"),
        "snappy": ("1.0", "snappy"),
        "newer pages": ("2.0", "zstd"),
    },
)
def test_a_flipped_bit_gives_the_rows_or_an_error(version: str, compression: str):
    data = written(version, compression)
    assert rows_of(data).to_pylist() == ROWS.to_pylist()
    pages_end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    mismatches = 0
    for place in range(4, pages_end, 5):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        try:
            assert rows_of(bytes(damaged)).to_pylist() == ROWS.to_pylist()
        except DataFileError as error:
            mismatches += "checksum (CRC)" in error.message
    assert mismatches > (pages_end - 4) // 10


def test_a_mismatch_is_named_in_rows_and_in_the_preview() -> None:
    data = bytearray(written("1.0", "none"))
    data[data.index(b"foo")] ^= 1  # in a dictionary page

    with pytest.raises(DataFileError, match=MISMATCH):
        rows_of(bytes(data))
    with pytest.raises(ParquetError, match=MISMATCH):
        read_rows(pa.BufferReader(bytes(data)), 5)
