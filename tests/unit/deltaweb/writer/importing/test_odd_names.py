"""Names of columns beyond letters, at the top and nested, in files of each format."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.protocol.schema import (
    ArrayType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    type_text,
)
from deltaweb.delta.protocol.schema_ddl import parse_type_ddl
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.options import TextForm
from deltaweb.writer.importing.plan import Import, begin_import
from deltaweb.writer.importing.source_file import SourceFiles

NAMES = [
    "plain", "a-b", "a b", " a", "a.b", "a:b", "a,b", "a;b", "a`b", "`a`", "a'b", 'a"b',
    "a<b", "a>b", "a(b)", "a{b}", "a=b", "a\\b", "a/b", "a\tb", "a\nb", "1", "1a", "-1",
    "größe", "e\u0301", "日本", "\U0001f600", "·", "not", "comment", "struct", "array",
    "int", "NULL", "$", "@x", "#", "%41", "--", "/*",
]  # fmt: skip


NEVER = set(" ,;{}()\n\t=")  # refused in tables that do not map columns


@pytest.mark.parametrize("name", NAMES)
def test_a_type_is_read_back_from_its_text(name: str) -> None:
    field = StructField(name, PrimitiveType("long"), nullable=True)
    other = StructField("other", ArrayType(StructType((field,))), nullable=True)
    inner = StructType((field, other))
    whole = StructType(
        (
            StructField(name, inner, nullable=True),
            StructField("m", MapType(PrimitiveType("string"), inner), nullable=True),
        )
    )

    assert parse_type_ddl(type_text(whole)) == whole


def test_lines_are_counted_after_a_header_of_two(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('id,"a\nb"\n1,2\n3,4,5\nx,6\n')
    files = SourceFiles(paths=[str(path)], names=[path.name], form=TextForm())
    asked = Import(files=files, types="id BIGINT")

    plan = begin_import(DeltaTable(str(tmp_path / "t")).store, asked).look()

    assert [(one.line, one.column) for one in plan.rows.bad] == [(4, ""), (5, "id")]


def written(folder: Path, kind: str, name: str, number: int) -> Path:
    path = folder / f"rows.{kind}"
    value = {name: number, "list": [{name: number}]}
    row = {"id": number, name: number, "st": value}
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist([row]), path)
    elif kind == "json":
        path.write_text(json.dumps(row))
    else:
        header = ",".join(
            '"{}"'.format(text.replace('"', '""')) for text in ("id", name)
        )
        path.write_text(f"{header}\n{number},{number}\n")
    return path


@pytest.mark.parametrize("kind", ["parquet", "json", "csv"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_added_to_a_table(tmp_path: Path, name: str, kind: str) -> None:
    if kind == "csv":
        name = name.strip()  # the names of a header are trimmed
    items = pa.list_(pa.struct([(name, pa.int64())]))
    value = pa.struct([(name, pa.int64()), ("list", items)])
    schema = pa.schema([("id", pa.int64()), (name, pa.int64()), ("st", value)])
    properties = {"delta.columnMapping.mode": "name"}
    table = DeltaTable.create(str(tmp_path / "t"), schema, properties=properties)
    path = written(tmp_path, kind, name, 2)

    files = SourceFiles(paths=[str(path)], names=[path.name], form=TextForm())
    begin_import(table.store, Import(files=files)).carry_out()

    nested = {name: 2, "list": [{name: 2}]} if kind != "csv" else None
    assert table.snapshot().read().to_pylist() == [{"id": 2, name: 2, "st": nested}]


@pytest.mark.parametrize("kind", ["parquet", "json"])
@pytest.mark.parametrize("name", [name for name in NAMES if not set(name) & NEVER])
def test_a_file_becomes_a_table(tmp_path: Path, name: str, kind: str) -> None:
    table = DeltaTable(str(tmp_path / "t"))
    path = written(tmp_path, kind, name, 2)

    files = SourceFiles(paths=[str(path)], names=[path.name], form=TextForm())
    begin_import(table.store, Import(files=files)).carry_out()

    (row,) = table.snapshot().read().to_pylist()
    assert row["st"] == {name: 2, "list": [{name: 2}]}
