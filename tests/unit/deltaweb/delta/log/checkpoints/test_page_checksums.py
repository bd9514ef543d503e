"""A page of a checkpoint that differs from its checksum."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import LogCorruptError
from tests.support.logs.small_checkpoints import (
    SMALL_HEAD,
    schema_with,
    snapshot_of_bytes,
)


def test_a_flipped_bit_in_a_checkpoint_is_named() -> None:
    adds = [{"add": {"path": f"file-{n}.parquet"}} for n in range(9)]
    sink = io.BytesIO()
    rows = pa.Table.from_pylist([*SMALL_HEAD, *adds], schema=schema_with())
    pq.write_table(rows, sink, compression="none", write_page_checksum=True)
    data = bytearray(sink.getvalue())
    assert snapshot_of_bytes(bytes(data)).files.num_rows == 9
    data[data.index(b"file-4.parquet") + 5] ^= 1  # file-5 then, a second time

    reason = r"the bytes of a page differ from its checksum \(CRC\)"
    with pytest.raises(LogCorruptError, match=reason):
        _ = snapshot_of_bytes(bytes(data)).files
