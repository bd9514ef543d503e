import io
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet.compact.writer import CompactWriter
from deltaweb.parquet.errors import FileEncryptedError, FooterCorruptError, ParquetError
from deltaweb.parquet.field_ids import (
    MAX_REWRITTEN_BYTES,
    TYPE_BYTES,
    Ids,
    with_field_ids,
)
from deltaweb.parquet.metadata import parse_metadata
from deltaweb.parquet.schema import Node
from deltaweb.parquet.tail import MAGIC, read_footer
from tests.support import cases

NESTED = pa.table(
    {
        "n": pa.array([1, None, 3], pa.int32()),
        "s": pa.array([{"a": "x", "b": [1, 2]}, None, {"a": None, "b": None}]),
        "m": pa.array([[("k", 1.5)], None, []], pa.map_(pa.string(), pa.float64())),
    }
)
LATER = 1 << 30


def written(table: pa.Table, **options: Any) -> bytes:  # noqa: ANN401  # of pyarrow
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def numbered(root: Node) -> Ids:
    """Large ids for everything below the root."""
    return {at: LATER + at for at, _ in enumerate(root.walk()) if at}


def with_footer(data: bytes, footer: bytes) -> bytes:
    start = len(data) - 8 - len(read_footer(pa.BufferReader(data)))
    return data[:start] + footer + len(footer).to_bytes(4, "little") + MAGIC


def changed(data: bytes, assign: Any = numbered) -> bytes:  # noqa: ANN401  # as above
    footer = with_field_ids(read_footer(pa.BufferReader(data)), assign)
    assert footer is not None
    return with_footer(data, footer)


def ids_in(data: bytes) -> list[int | None]:
    metadata = parse_metadata(read_footer(pa.BufferReader(data)))
    return [element.field_id for element in metadata.elements]


def handmade(*more: tuple[int, str, Any], keys: Iterable[str] = ()) -> bytes:
    """A footer of one column, whose element has a field of a later format."""
    column = [(1, "i32", 1), (3, "i32", 0), (4, "binary", b"x"), (19, "i32", 7)]
    root = [(4, "binary", b"root"), (5, "i32", 1)]
    pairs = [[(1, "binary", key.encode()), (2, "binary", b"v")] for key in keys]
    writer = CompactWriter()
    writer.struct(
        [
            *((1, "i32", 2), (2, "list:struct", [root, column]), (3, "i64", 0)),
            *((4, "list:struct", []), (5, "list:struct", pairs)),
            *more,
        ]
    )
    return bytes(writer.parts)


@cases(
    "options",
    {
        "as usual": {},
        "several row groups": {"row_group_size": 1},
        "with indexes": {"write_page_index": True},
        "of another version": {"version": "1.0", "data_page_version": "2.0"},
    },
)
def test_a_file_with_new_ids_has_the_same_rows(options: dict[str, Any]) -> None:
    data = written(NESTED, **options)

    new = changed(data)

    read = pq.read_table(io.BytesIO(new))
    assert read.to_pylist() == NESTED.to_pylist()
    assert ids_in(new)[1:] == [LATER + at for at in range(1, len(ids_in(new)))]
    found = read.schema.field("n").metadata
    assert found == {b"PARQUET:field_id": str(LATER + 1).encode()}


def test_all_else_of_the_metadata_stays() -> None:
    data = written(NESTED, row_group_size=2, write_page_index=True)
    before, after = (pq.read_metadata(io.BytesIO(one)) for one in (data, changed(data)))

    for group in range(before.num_row_groups):
        one, other = before.row_group(group), after.row_group(group)
        assert one.to_dict() == other.to_dict()
    assert before.created_by == after.created_by


def test_fields_of_later_formats_stay() -> None:
    footer = handmade((20, "i64", 5))

    new = with_field_ids(footer, lambda _: {1: 3})

    assert new is not None
    later, name = b"\xf5\x0e", b"\x18\x01x"
    assert footer.count(name + later) == 1
    assert new == footer.replace(name + later, name + b"\x55\x06" + b"\xa5\x0e")


@cases("kind, number", {"a map": (1, 2), "a list": (3, 3)})
def test_a_list_of_old_writers_gets_its_logical_type(kind: int, number: int) -> None:
    inner = [(3, "i32", 2), (4, "binary", b"in"), (5, "i32", 2)]
    leaf = [(1, "i32", 1), (3, "i32", 0), (4, "binary", b"x")]
    group = [(3, "i32", 1), (4, "binary", b"g"), (5, "i32", 1), (6, "i32", kind)]
    root = [(4, "binary", b"root"), (5, "i32", 1)]
    writer = CompactWriter()
    elements = [root, group, inner, leaf, leaf]
    writer.struct([(1, "i32", 2), (2, "list:struct", elements), (3, "i64", 0)])
    footer = bytes(writer.parts)

    new = with_field_ids(footer, lambda _: {1: 3, 3: 4})

    assert new is not None
    assert len(new) == len(footer) + 2 + 2 + TYPE_BYTES
    types = [element.logical_type for element in parse_metadata(new).elements]
    assert types == [None, (number, {}), None, None, None]


def test_ids_that_are_there_are_replaced_or_removed() -> None:
    fields = [
        pa.field(name, pa.int64(), metadata={"PARQUET:field_id": number})
        for name, number in (("a", "1"), ("b", "2"), ("c", "3"))
    ]
    data = written(pa.table([[1], [2], [3]], schema=pa.schema(fields)))

    new = changed(data, lambda _: {1: 1, 2: 20, 3: None})

    assert ids_in(new)[1:] == [1, 20, None]
    assert pq.read_table(io.BytesIO(new)).to_pylist() == [{"a": 1, "b": 2, "c": 3}]


def test_a_footer_that_has_the_ids_is_not_made_again() -> None:
    new = changed(written(NESTED))

    assert with_field_ids(read_footer(pa.BufferReader(new)), numbered) is None


def test_the_schema_of_arrow_is_left_out_and_other_keys_stay() -> None:
    views = pa.table({"t": pa.array(["a"], pa.string_view())})
    data = written(views.replace_schema_metadata({"owner": "us"}))
    assert pq.read_table(io.BytesIO(data)).schema.field("t").type == pa.string_view()

    read = pq.read_table(io.BytesIO(changed(data)))

    assert read.schema.field("t").type == pa.string()
    assert read.schema.metadata == {b"owner": b"us"}


@cases(
    "keys, left",
    {
        "none": ((), []),
        "another": (["other"], ["other"]),
        "only it": (["ARROW:schema"], []),
        "twice": (["ARROW:schema", "other", "ARROW:schema"], ["other"]),
        "many": (["ARROW:schema", *map(str, range(20))], [*map(str, range(20))]),
    },
)
def test_keys_that_are_left(keys: list[str], left: list[str]) -> None:
    new = with_field_ids(handmade(keys=keys), lambda _: {1: 3})

    assert new is not None
    assert [key for key, _ in parse_metadata(new).key_values] == left


def test_a_footer_that_may_be_signed_is_refused() -> None:
    footer = handmade((8, "struct", [(1, "struct", [])]))

    with pytest.raises(FileEncryptedError):
        with_field_ids(footer, lambda _: {1: 3})


def test_a_footer_cut_anywhere_is_refused() -> None:
    footer = read_footer(pa.BufferReader(written(NESTED)))

    for end in range(len(footer)):
        with pytest.raises(ParquetError):
            with_field_ids(footer[:end], numbered)


def test_a_footer_with_any_other_byte_is_refused_or_made() -> None:
    footer = read_footer(pa.BufferReader(written(NESTED)))
    made = refused = 0

    for at in range(len(footer)):
        for byte in (0, 0x7F, 0x80, 0xFF):
            broken = footer[:at] + bytes([byte]) + footer[at + 1 :]
            try:
                with_field_ids(broken, numbered)
                made += 1
            except ParquetError:
                refused += 1

    assert made
    assert refused


@cases(
    "footer",
    {
        "nothing": b"",
        "no schema": b"\x15\x02\x00",
        "a schema of numbers": b"\x29\x15\x02\x00",
        "a schema that is a number": b"\x25\x1c\x00",
        "a schema, and a number for one": handmade()[:-1] + b"\x05\x04\x1c\x00",
        "a million row groups": handmade()[:-1] + b"\x09\x08\xfc\xc0\x84\x3d",
        "more row groups than there may be": (
            handmade()[:-1] + b"\x09\x08\xfc\xf1\x93\x09" + bytes(150_002)
        ),
        "more pairs than there may be": (
            handmade()[:-1] + b"\x09\x0a\xfc\xf1\x93\x09" + bytes(150_002)
        ),
        "a schema of millions": b"\x29\xfc\xff\xff\xff\x03\x00\x00",
        "a list of millions of structs that are unknown": (
            handmade()[:-1] + b"\xe9\xfc\xc0\x8d\xb7\x01" + bytes(3_000_002)
        ),
        "a part with millions of fields that are unknown": (
            handmade()[:-1] + b"\xec" + b"\x11" * 3_000_000 + bytes(2)
        ),
        "a schema element with millions of fields": (
            b"\x29\x1c" + b"\x11" * 3_000_000 + bytes(2)
        ),
        "too large": bytes(MAX_REWRITTEN_BYTES + 1),
    },
)
def test_a_broken_footer_is_refused(footer: bytes) -> None:
    with pytest.raises(FooterCorruptError):
        with_field_ids(footer, numbered)
