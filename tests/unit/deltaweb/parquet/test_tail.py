import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet.errors import (
    FileNotParquetError,
    FooterCorruptError,
    ParquetError,
)
from deltaweb.parquet.tail import FIRST_READ_BYTES, read_footer
from tests.support import cases
from tests.support.stores.counted_reads import CountedSource


def file_of(columns: int) -> bytes:
    sink = io.BytesIO()
    table = pa.table({f"a_column_of_many_{n}": [n] for n in range(columns)})
    pq.write_table(table, sink)
    return sink.getvalue()


class TestReads:
    def test_a_usual_footer_is_one_read_of_the_tail(self) -> None:
        source = CountedSource(file_of(30))

        footer = read_footer(source)

        assert source.ranges == [(0, source.size())]
        assert len(footer) < FIRST_READ_BYTES

    def test_a_large_one_is_two(self) -> None:
        source = CountedSource(file_of(500))

        footer = read_footer(source)

        start = source.size() - FIRST_READ_BYTES
        assert source.ranges == [
            (start, FIRST_READ_BYTES),
            (source.size() - 8 - len(footer), len(footer)),
        ]

    def test_a_larger_one_than_is_allowed_is_not_read(self) -> None:
        source = CountedSource(file_of(30))

        with pytest.raises(FooterCorruptError, match="the limit is 1,000"):
            read_footer(source, max_bytes=1_000)


@cases(
    "data",
    {
        "empty": b"",
        "no footer": b"PAR1PAR1",
        "a footer beyond the file": b"\xff\xff\xff\x7fPAR1",
        "torn": file_of(1)[:-1],
        "zeros": b"\0" * 100,
        "longer than the file": b"PAR1\x04\x00\x00\x00PAR1",
    },
)
def test_what_has_no_footer_is_an_error(data: bytes) -> None:
    with pytest.raises(ParquetError):
        read_footer(CountedSource(data))


def test_a_file_that_shrinks_meanwhile_is_an_error() -> None:
    class Shrinking(CountedSource):
        def size(self) -> int:
            return super().size() + 100

    with pytest.raises(FileNotParquetError, match="became shorter"):
        read_footer(Shrinking(file_of(1)))


@cases(
    "end, said",
    {
        "a word": (b"XXXX", "it ends with 'XXXX' instead of 'PAR1'"),
        "no word": (
            b"\x00\xff01",
            "it ends with the bytes 00 ff 30 31 instead of 'PAR1'",
        ),
    },
)
def test_says_how_the_file_ends_in_words_of_its_own(end: bytes, said: str) -> None:
    with pytest.raises(FileNotParquetError) as caught:
        read_footer(CountedSource(b"PAR1" + b"." * 100 + end))

    assert caught.value.reason == said
