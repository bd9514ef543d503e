"""Data files as clients of Iceberg get them, byte by byte."""

import io
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from deltaweb.delta.features.column_mapping import mapped_schema
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.iceberg.schema import (
    ELEMENT,
    FIRST_MADE_ID,
    KEY,
    VALUE,
    FieldIds,
    StoredPath,
    TableColumns,
)
from deltaweb.iceberg.served_file import Seam, ids_of_file, room_bytes, seam_of
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.tail import MAGIC
from deltaweb.table import DeltaTable
from tests.support import cases

ROWS = pa.table(
    {
        "id": pa.array([1, 2, None], pa.int64()),
        "lists": pa.array([[[1, 2], None], [], None], pa.list_(pa.list_(pa.int32()))),
        "part": pa.array([{"name": "a", "tags": ["x"]}, None, {"name": None}]),
        "pairs": pa.array(
            [[("k", {"v": 1})], None, []],
            pa.map_(pa.string(), pa.struct([("v", pa.int32())])),
        ),
    }
)
PATHS: list[StoredPath] = [
    ("id",),
    ("lists",),
    ("lists", ELEMENT),
    ("lists", ELEMENT, ELEMENT),
    ("part",),
    ("part", "name"),
    ("part", "tags"),
    ("part", "tags", ELEMENT),
    ("pairs",),
    ("pairs", KEY),
    ("pairs", VALUE),
    ("pairs", VALUE, "v"),
]


@pytest.fixture(scope="module")
def ids(tmp_path_factory: pytest.TempPathFactory) -> FieldIds:
    folder = tmp_path_factory.mktemp("table")
    write_deltalake(folder, ROWS)
    schema = DeltaTable(folder).snapshot().schema
    return FieldIds([TableColumns(schema, ())])


def by_pyarrow(folder: Path, **options: Any) -> bytes:  # noqa: ANN401 (of pyarrow)
    pq.write_table(ROWS, folder / "file.parquet", **options)
    return (folder / "file.parquet").read_bytes()


def by_delta_rs(folder: Path) -> bytes:
    write_deltalake(folder, ROWS)
    return next(folder.glob("*.parquet")).read_bytes()


def by_polars(folder: Path) -> bytes:
    pl.from_arrow(ROWS.drop_columns("pairs")).write_parquet(folder / "file.parquet")  # type: ignore[union-attr]
    return (folder / "file.parquet").read_bytes()


def served(data: bytes, ids: FieldIds) -> bytes:
    room = room_bytes(ids)
    seam = seam_of(pa.BufferReader(data), ids, room)
    assert seam is not None
    new = data[: seam.start] + seam.data + data[seam.end :]
    assert len(new) == seam.size_bytes(len(data)) == len(data) + room
    return new


def ids_by_path(data: bytes) -> dict[tuple[str, ...], int]:
    root = load_footer(pa.BufferReader(data)).root
    return {
        node.path: node.element.field_id
        for node in root.walk()
        if node.element.field_id is not None
    }


@cases(
    "write",
    {
        "pyarrow": by_pyarrow,
        "pyarrow, with indexes": lambda folder: by_pyarrow(
            folder, row_group_size=1, write_page_index=True
        ),
        "pyarrow, with names of old lists": lambda folder: by_pyarrow(
            folder, use_compliant_nested_type=False
        ),
        "delta-rs": by_delta_rs,
        "Polars": by_polars,
    },
)
def test_every_column_of_a_file_has_its_id(tmp_path: Path, ids: FieldIds, write):
    data = write(tmp_path)

    new = served(data, ids)

    columns = pq.read_table(io.BytesIO(data)).column_names
    found = list(ids_by_path(new).values())
    assert found == [ids[path] for path in PATHS if path[0] in columns]
    read, before = (pq.read_table(io.BytesIO(one)) for one in (new, data))
    assert read.to_pylist() == before.to_pylist()


def test_pieces_are_the_bytes_of_the_served_file() -> None:
    stored = bytes(range(20))
    for seam in (
        Seam(12, 20, b"abcdefghijk"),
        Seam(12, 12, b"abc"),
        Seam(0, 5, b""),
        Seam(20, 20, b"ab"),
    ):
        whole = stored[: seam.start] + seam.data + stored[seam.end :]
        assert seam.size_bytes(len(stored)) == len(whole)
        for first in range(len(whole)):
            for length in range(1, len(whole) - first + 1):
                pieces = seam.pieces(first, length)
                found = [
                    one if isinstance(one, bytes) else stored[one.start : one.stop]
                    for one in pieces
                ]
                assert b"".join(found) == whole[first : first + length]
                assert all(found)


def test_a_column_of_no_version_has_an_id_that_no_column_has(ids: FieldIds) -> None:
    more = ROWS.append_column("gone", pa.array([{"x": 1}] * 3))
    sink = io.BytesIO()
    pq.write_table(more, sink)

    found = ids_by_path(served(sink.getvalue(), ids))

    known = {ids[path] for path in PATHS}
    assert not known & {found["gone",], found["gone", "x"]}
    assert len(set(found.values())) == len(PATHS) + 2


def test_columns_of_one_name_have_ids_in_a_row() -> None:
    none = FieldIds([])
    names = ["x"] * 20_000
    sink = io.BytesIO()
    pq.write_table(pa.table([pa.array([1])] * len(names), names=names), sink)

    found = ids_of_file(load_footer(pa.BufferReader(sink.getvalue())).root, none)

    assert [*found.values()] == [*range(FIRST_MADE_ID, FIRST_MADE_ID + len(names))]


def test_a_mapping_of_the_same_columns_has_another_digest(ids: FieldIds) -> None:
    assert ids.digest != FieldIds([]).digest
    text = '{"type":"struct","fields":[%s]}'
    field = '{"name":"a","type":"long","nullable":true,"metadata":{%s}}'
    mapping = '"delta.columnMapping.id":7,"delta.columnMapping.physicalName":"a"'
    plain, mapped = (
        parse_schema(text % (field % metadata)) for metadata in ("", mapping)
    )

    found = [
        FieldIds([TableColumns(schema, ())])
        for schema in (plain, plain, mapped_schema(mapped, "name"))
    ]

    assert found[0].digest == found[1].digest != found[2].digest
    assert len({len(one) for one in found}) == 1


def test_ids_of_other_tables_are_replaced(ids: FieldIds) -> None:
    fields = [
        field.with_metadata({"PARQUET:field_id": str(ids["id",] if at else 7)})
        for at, field in enumerate(ROWS.schema)
    ]
    sink = io.BytesIO()
    pq.write_table(ROWS.cast(pa.schema(fields)), sink)

    found = ids_by_path(served(sink.getvalue(), ids))

    assert list(found.values()) == [ids[path] for path in PATHS]


def test_columns_are_found_in_any_case(ids: FieldIds) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"ID": [1], "PART": [{"Name": "a"}]}), sink)

    found = ids_by_path(served(sink.getvalue(), ids))

    assert found == {
        ("ID",): ids["id",],
        ("PART",): ids["part",],
        ("PART", "Name"): ids["part", "name"],
    }


def test_of_columns_that_differ_in_case_the_exact_one_has_the_id(ids) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"ID": [1], "id": [2], "PART": [1], "Part": [2]}), sink)

    found = ids_by_path(served(sink.getvalue(), ids))

    assert found["id",] == ids["id",]
    assert found["PART",] == ids["part",]
    assert len(set(found.values())) == 4
    assert not {found["ID",], found["Part",]} & {ids[path] for path in PATHS}


@cases("mode, expected", {"id": ("id", [2, 1]), "name": ("name", [1, 2])})
def test_a_mapping_decides_whether_ids_or_names_count(mode, expected) -> None:
    fields = ",".join(
        f'{{"name":"{name}","nullable":true,"type":"long","metadata":'
        f'{{"delta.columnMapping.id":{number},'
        f'"delta.columnMapping.physicalName":"{name}"}}}}'
        for name, number in (("a", 1), ("b", 2))
    )
    text = f'{{"type":"struct","fields":[{fields}]}}'
    ids = FieldIds([TableColumns(mapped_schema(parse_schema(text), mode), ())])
    schema = pa.schema(
        [
            pa.field(name, pa.int64(), metadata={"PARQUET:field_id": number})
            for name, number in (("a", "2"), ("b", "1"))
        ]
    )
    sink = io.BytesIO()
    pq.write_table(pa.table([[1], [2]], schema=schema), sink)

    assert [*ids_by_path(served(sink.getvalue(), ids)).values()] == expected


def test_a_file_that_has_the_ids_is_served_behind_zeros(tmp_path, ids) -> None:
    once = served(by_pyarrow(tmp_path), ids)

    twice = served(once, ids)

    length = int.from_bytes(once[-8:-4], "little") + 8
    assert twice == once[:-length] + bytes(room_bytes(ids)) + once[-length:]


@cases(
    "break_",
    {
        "an encrypted footer": lambda data: data[:-4] + b"PARE",
        "no schema": lambda data: data[:-8] + bytes(8) + b"\x08\0\0\0" + MAGIC,
        "an empty footer": lambda data: data[:-8] + bytes(4) + MAGIC,
        "a large footer": lambda data: (
            data + bytes(5 << 20) + (5 << 20).to_bytes(4, "little") + MAGIC
        ),
    },
)
def test_any_other_footer_is_served_as_stored(tmp_path, ids, break_) -> None:
    data = break_(by_pyarrow(tmp_path))

    new = served(data, ids)

    length = int.from_bytes(data[-8:-4], "little") + 8
    assert new[-length:] == data[-length:]
    assert new[:-length] == data[:-length] + bytes(room_bytes(ids))


@cases(
    "data",
    {
        "nothing": b"",
        "a few bytes": b"PAR1",
        "text": b"a,b\n1,2\n" * 20,
        "a footer longer than the file": b"PAR1" + b"\xff\xff\0\0" + MAGIC,
    },
)
def test_what_is_no_parquet_file_has_no_seam(ids: FieldIds, data: bytes) -> None:
    assert seam_of(pa.BufferReader(data), ids, 100) is None


def test_more_strange_columns_than_there_is_room_for(ids: FieldIds) -> None:
    many = pa.table({f"c{at}": [at] for at in range(500)})
    sink = io.BytesIO()
    pq.write_table(many, sink, store_schema=False)

    new = served(sink.getvalue(), ids)

    assert pq.read_table(io.BytesIO(new)).to_pylist() == many.to_pylist()
    assert ids_by_path(new) == {}


def test_the_ids_of_a_file_are_its_own(ids: FieldIds, tmp_path: Path) -> None:
    root = load_footer(pa.BufferReader(by_pyarrow(tmp_path))).root

    found = ids_of_file(root, ids)

    assert len(found) == len(set(found.values())) == len(PATHS)
