"""Files of which pyarrow alone reads fewer rows than they have, without an error."""

import io
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.compact.writer import CompactWriter
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.tail import MAGIC
from deltaweb.parquet.values.reading import neutral_footer

CUT_TO = 65_536
"""The end of a batch: there a column that has no more values ends a reading."""
NUM_ROWS = 70_000


def written(rows: pa.Table, **options: Any) -> bytes:  # noqa: ANN401 # of the writer
    sink = io.BytesIO()
    pq.write_table(rows, sink, **options)
    return sink.getvalue()


def empty_first_pages(rows: pa.Table) -> bytes:
    """Return a file whose lists begin with an empty page, as pyarrow writes them."""
    lists = [field.name for field in rows.schema if pa.types.is_list(field.type)]
    return written(
        rows,
        row_group_size=1,
        use_dictionary=False,
        column_encoding={f"{n}.list.element": "DELTA_BINARY_PACKED" for n in lists},
        data_page_size=1,
    )


def with_empty_page(rows_before: int, rows_after: int) -> bytes:
    """Return a file of one column `1` of numbers, with an empty page among others."""
    count = rows_before + rows_after
    schema = pa.schema([pa.field("n", pa.int64(), nullable=False)])
    data = written(
        pa.table({"n": range(count)}, schema),
        use_dictionary=False,
        compression="none",
        write_batch_size=rows_before,
        max_rows_per_page=rows_before,
        data_page_size=1,
    )
    footer = load_footer(pa.BufferReader(data))
    (group,) = footer.metadata.row_groups
    (chunk,) = group.columns
    values = cast("dict[str, int]", chunk.values)
    start = values["data_page_offset"]
    end = start + values["total_compressed_size"]
    empty = _empty_page()
    first_values = b"".join(n.to_bytes(8, "little") for n in range(rows_before))
    second = data.index(first_values, start) + len(first_values)
    pages = data[start:second] + empty + data[second:end]
    for name in ("total_compressed_size", "total_uncompressed_size"):
        values[name] += len(empty)
    head = data[:start] + pages
    tail = neutral_footer(footer, footer.metadata.row_groups)
    return head + tail + len(tail).to_bytes(4, "little") + MAGIC


def _empty_page() -> bytes:
    header = CompactWriter()
    values = [(1, "i32", 0), (2, "i32", 0), (3, "i32", 3), (4, "i32", 3)]
    header.struct([(1, "i32", 0), (2, "i32", 0), (3, "i32", 0), (5, "struct", values)])
    return bytes(header.parts)


def column_cut() -> bytes:
    """Return a file of two columns, one with fewer values than the other.

    Its footer says so of the column chunk `a`, and counts all rows otherwise.
    """
    rows = pa.table({"a": range(NUM_ROWS), "b": range(NUM_ROWS)})
    data = written(
        rows, use_dictionary=False, write_batch_size=CUT_TO // 4, data_page_size=1
    )
    size = int.from_bytes(data[-8:-4], "little")
    body, footer, tail = data[: -8 - size], data[-8 - size : -8], data[-8:]
    # The file's rows come first, then the values of the columns.
    whole, cut = _varint(2 * NUM_ROWS), _varint(2 * CUT_TO)
    start = footer.index(whole, footer.index(whole) + 1)
    return body + footer[:start] + cut + footer[start + len(cut) :] + tail


def _varint(number: int) -> bytes:
    writer = CompactWriter()
    writer.varint(number)
    return bytes(writer.parts)


def nested_files() -> dict[str, tuple[bytes, pa.Table]]:
    """Return ten files of nested columns, each with its rows."""
    small = {"data_page_size": 16, "write_batch_size": 4}
    plain = {"compression": "none"}
    packed = "DELTA_BINARY_PACKED"
    tables: dict[str, tuple[list[str], dict[str, Any]]] = {
        "lists": (["id", "numbers"], plain),
        "small pages": (
            ["id", "numbers", "word"],
            {
                **small,
                "use_dictionary": False,
                "column_encoding": {"id": packed, "numbers.list.element": packed},
            },
        ),
        "pages of version 2": (
            ["words", "id"],
            {**small, "data_page_version": "2.0", "compression": "zstd"},
        ),
        "lists of lists": (["deep"], {**plain, "row_group_size": 20}),
        "maps": (["map", "id"], {"compression": "gzip", "row_group_size": 25}),
        "structs": (
            ["struct", "id"],
            {
                **small,
                "use_dictionary": False,
                "column_encoding": {"struct.b": "DELTA_BYTE_ARRAY"},
            },
        ),
        "lists in structs": (["mixed"], {**small, "data_page_version": "2.0"}),
        "structs in lists": (["structs", "word"], {**small, **plain}),
        "maps of structs": (["map_of_structs"], {"row_group_size": 30}),
        "an empty first page": (
            ["one"],
            {
                "use_dictionary": False,
                "column_encoding": {"one.list.element": packed},
                "data_page_size": 1,
                "row_group_size": 1,
            },
        ),
    }
    columns = _nested_columns(60)
    found = {}
    for name, (names, options) in tables.items():
        rows = pa.table({column: columns[column] for column in names})
        if name == "an empty first page":
            rows = rows.slice(2, 2)
        found[name] = written(rows, **options), rows
    return found


def _nested_columns(n: int) -> dict[str, pa.Array]:
    return {
        "id": pa.array(range(n), pa.int64()),
        "word": pa.array([None if i % 9 == 4 else f"w{i % 7}" for i in range(n)]),
        "numbers": pa.array(
            [None if i % 11 == 3 else list(range(i % 5)) for i in range(n)],
            pa.list_(pa.int32()),
        ),
        "words": pa.array([[f"t{j}" for j in range(i % 4)] for i in range(n)]),
        "deep": pa.array(
            [[[j] * (j % 3) for j in range(i % 4)] for i in range(n)],
            pa.list_(pa.list_(pa.int64())),
        ),
        "map": pa.array(
            [
                [(f"k{j}", j / 2 if j % 2 else None) for j in range(i % 3)]
                for i in range(n)
            ],
            pa.map_(pa.string(), pa.float64()),
        ),
        "struct": pa.array(
            [None if i % 8 == 5 else {"a": i, "b": f"s{i}"} for i in range(n)]
        ),
        "mixed": pa.array(
            [{"a": i, "l": [i] * (i % 3)} for i in range(n)],
            pa.struct([("a", pa.int32()), ("l", pa.list_(pa.int32()))]),
        ),
        "structs": pa.array(
            [[{"x": j, "y": str(j)} for j in range(i % 4)] for i in range(n)],
            pa.list_(pa.struct([("x", pa.int64()), ("y", pa.string())])),
        ),
        "map_of_structs": pa.array(
            [[(f"k{j}", {"q": [j]}) for j in range(i % 3)] for i in range(n)],
            pa.map_(pa.string(), pa.struct([("q", pa.list_(pa.int32()))])),
        ),
        "one": pa.array([[i, i + 1] for i in range(n)], pa.list_(pa.int64())),
    }
