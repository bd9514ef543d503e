import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet.arrow_footer import (
    MAX_REWRITTEN_BYTES,
    parse_arrow_footer,
    plain_footer,
)
from deltaweb.parquet.errors import FooterCorruptError
from deltaweb.parquet.tail import read_footer
from tests.support import cases


def file_of(table: pa.Table, **options: Any) -> bytes:  # noqa: ANN401  # of pyarrow
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def footer_of(data: bytes) -> bytes:
    return read_footer(pa.BufferReader(data))


def test_a_footer_is_what_pyarrow_reads_itself() -> None:
    data = file_of(pa.table({"x": [1, 2, 3]}), row_group_size=2)

    footer = parse_arrow_footer(footer_of(data))

    assert footer.equals(pq.read_metadata(io.BytesIO(data)))


class TestAPlainFooter:
    def test_of_a_file_without_maps_and_arrows_schema_is_none(self) -> None:
        data = file_of(pa.table({"x": [[1]]}), store_schema=False)

        assert plain_footer(footer_of(data)) is None

    def test_has_the_maps_as_lists_of_their_entries(self) -> None:
        kind = pa.map_(pa.string(), pa.list_(pa.map_(pa.int32(), pa.int32())))
        rows = [[("a", [[(1, 2)], []]), ("b", None)], None, []]
        data = file_of(pa.table({"m": pa.array(rows, kind)}))

        plain = plain_footer(footer_of(data))

        assert plain is not None
        footer = parse_arrow_footer(plain)
        read = pq.ParquetFile(io.BytesIO(data), metadata=footer).read()
        first = {"key": "a", "value": [[{"key": 1, "value": 2}], []]}
        assert read["m"].to_pylist() == [[first, {"key": "b", "value": None}], None, []]

    def test_is_not_made_of_one_that_is_too_large(self) -> None:
        assert plain_footer(b"ARROW:schema" + bytes(MAX_REWRITTEN_BYTES)) is None

    @cases(
        "footer",
        {
            "nothing": b"",
            "no struct": b"\x29\xff",
            "a schema of numbers": b"\x29\x15\x02\x00",
        },
    )
    def test_that_is_broken_is_refused(self, footer: bytes) -> None:
        with pytest.raises(FooterCorruptError):
            plain_footer(footer)
