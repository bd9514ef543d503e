"""What is known of a column chunk, by our reader of footers and by pyarrow's."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet.tail import read_footer
from deltaweb.parquet.values.dictionaries import (
    StoredChunks,
    chunk_of_arrow,
    longest_values,
)

VALUES = ["a", "longest", None, "abc"] * 10


@pytest.mark.parametrize(
    "compression", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]
)
@pytest.mark.parametrize("encoding", ["RLE_DICTIONARY", "DELTA_BYTE_ARRAY", "PLAIN"])
def test_both_readers_of_footers_say_the_same(tmp_path, compression, encoding):
    path = tmp_path / "a.parquet"
    is_coded = encoding == "RLE_DICTIONARY"
    pq.write_table(
        pa.table({"a": VALUES}),
        path,
        compression=compression,
        use_dictionary=is_coded,
        column_encoding=None if is_coded else encoding,
    )
    with pa.OSFile(str(path)) as source:
        ours = StoredChunks(read_footer(source)).of(0, 0)
        theirs = chunk_of_arrow(pq.read_metadata(path).row_group(0).column(0))
        longest = longest_values(source, [theirs])

    assert theirs == ours
    assert theirs.may_unfold is (encoding != "PLAIN")
    assert longest == [len("longest") if is_coded else 0]
