import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.parquet.counts import RowGroupCounts, parse_row_group_counts
from deltaweb.parquet.errors import FooterCorruptError
from deltaweb.parquet.tail import read_footer
from tests.support import cases
from tests.support.logs.delta_logs import add, checkpoint_bytes, metadata, protocol


def counts_of(data: bytes) -> list[RowGroupCounts]:
    return parse_row_group_counts(read_footer(pa.BufferReader(data)))


def file_of(table: pa.Table, **options: Any) -> bytes:  # noqa: ANN401  # of pyarrow
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


CHECKPOINT = checkpoint_bytes(
    [protocol(), metadata(), *(add(str(number)) for number in range(40))]
)
FOOTER = CHECKPOINT[-8 - int.from_bytes(CHECKPOINT[-8:-4], "little") : -8]


def test_counts_are_those_of_pyarrow() -> None:
    footer = pq.read_metadata(io.BytesIO(CHECKPOINT))

    found = counts_of(CHECKPOINT)

    assert len(found) == footer.num_row_groups
    for index, counts in enumerate(found):
        group = footer.row_group(index)
        chunks = [group.column(position) for position in range(footer.num_columns)]
        assert counts.num_rows == group.num_rows
        assert counts.null_leaves() == {
            chunk.path_in_schema
            for chunk in chunks
            if chunk.statistics.null_count == chunk.num_values
        }


def test_a_file_without_statistics_promises_nothing() -> None:
    data = file_of(pa.table({"x": [None, None]}), write_statistics=False)

    (counts,) = counts_of(data)

    assert counts.num_rows == 2
    assert counts.null_leaves() == set()
    assert [(chunk.low, chunk.high) for chunk in counts.chunks()] == [(None, None)]


def test_a_column_is_coded_where_no_page_holds_values_themselves() -> None:
    texts = [f"text {number}" for number in range(2_000)]
    table = pa.table({"few": ["a"] * 2_000, "many": texts, "none": texts})
    data = file_of(
        table, use_dictionary=["few", "many"], dictionary_pagesize_limit=1_000
    )

    (counts,) = counts_of(data)

    assert [chunk.is_coded for chunk in counts.chunks()] == [True, False, False]


def test_bounds_are_those_of_pyarrow() -> None:
    data = file_of(pa.table({"n": [3, 1, 2], "s": ["b", "c", "a"]}))

    (counts,) = counts_of(data)

    group = pq.read_metadata(io.BytesIO(data)).row_group(0)
    numbers, texts = (group.column(position).statistics for position in range(2))
    number, text = counts.chunks()
    assert number.low == numbers.min_raw.to_bytes(8, "little")
    assert number.high == numbers.max_raw.to_bytes(8, "little")
    assert (text.low, text.high) == (texts.min_raw, texts.max_raw)


def test_a_file_without_rows_has_no_row_groups_with_rows() -> None:
    data = file_of(pa.table({"x": pa.array([], pa.int64())}))

    assert sum(counts.num_rows for counts in counts_of(data)) == 0


def test_many_columns_of_many_kinds_are_gone_past() -> None:
    columns = {f"c{number}": pa.array([number % 2 == 0, None]) for number in range(40)}
    table = pa.table({**columns, "d": [1.5, 2.5], "m": [b"x", None]})
    table = table.append_column("n", pa.nulls(2, pa.int64()))
    table = table.replace_schema_metadata({"k": "v" * 300})
    data = file_of(table, write_page_index=True, store_schema=True)

    (counts,) = counts_of(data)

    assert counts.null_leaves() == {"n"}
    assert counts.num_rows == 2


@cases(
    "footer",
    {
        "nothing": b"",
        "structs without end": b"\x1c" * 50,
        "lists without end": b"\x19" + b"\xf9" * 50,
        "a map beyond the bytes": b"\x1b\xff\xff\xff\xff\x0f\x88",
        "a number without end": b"\x16" + b"\xff" * 20,
        "text beyond the bytes": b"\x18\xff\x0f",
        "an unknown type": b"\x1d\x00",
        "row groups that are numbers": b"\x49\x15\x02\x00",
    },
)
def test_broken_bytes_are_an_error(footer: bytes) -> None:
    with pytest.raises(FooterCorruptError):
        parse_row_group_counts(footer)


@given(st.integers(0, len(FOOTER) - 1), st.binary(max_size=3), st.integers(0, 5))
def test_a_changed_footer_is_read_or_an_error(position, inserted, removed):
    changed = FOOTER[:position] + inserted + FOOTER[position + removed :]

    try:
        counts = parse_row_group_counts(changed)
        for group in counts:
            group.null_leaves()
    except FooterCorruptError:
        return
    assert all(isinstance(one.num_rows, int) for one in counts)
