"""Columns that become of a wider type."""

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import StructType, format_schema, type_text
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl, parse_type_ddl
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import (
    ColumnInUseError,
    ProtocolUpgradeError,
    TypeNotWidenedError,
)
from deltaweb.delta.writing.operations.widened_columns import (
    widen_column,
    widened_parts,
)
from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder
from tests.support.tables.written_tables import METADATA

WIDENS = {"delta.enableTypeWidening": "true"}


def table_of(ddl: str, **properties: str) -> DeltaTable:
    return TableBuilder().columns(ddl).properties(WIDENS | properties).build()


def field(table: DeltaTable, *names: str) -> dict[str, Any]:
    """A field of the log's own JSON."""
    found: dict[str, Any] = json.loads(table.snapshot().metadata.schema_string or "")
    for name in names:
        fields = (found["type"] if "name" in found else found)["fields"]
        found = next(one for one in fields if one["name"] == name)
    return found


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("TINYINT", "SMALLINT"),
        ("TINYINT", "DOUBLE"),
        ("SMALLINT", "INT"),
        ("SMALLINT", "DECIMAL(10, 0)"),
        ("INT", "BIGINT"),
        ("INT", "DOUBLE"),
        ("INT", "DECIMAL(12, 2)"),
        ("BIGINT", "DECIMAL(20, 0)"),
        ("FLOAT", "DOUBLE"),
        ("DECIMAL(5, 2)", "DECIMAL(8, 4)"),
    ],
)
def test_rows_of_both_types_are_read(narrow: str, wide: str) -> None:
    table = table_of(f"x {narrow}, y STRING")
    table.append(pa.table({"x": [1, None], "y": ["a", "b"]}))

    table.widen_column("X", wide)
    table.append(pa.table({"x": [2], "y": ["c"]}))

    rows = {row["y"]: row["x"] for row in table.snapshot().read().to_pylist()}
    assert rows == {"a": 1, "b": None, "c": 2}
    (change,) = field(table, "x")["metadata"]["delta.typeChanges"]
    schema = StructType(parse_columns_ddl(f"a {narrow}, b {wide}"))
    types = [one["type"] for one in json.loads(format_schema(schema))["fields"]]
    assert [*change.values()] == types
    assert table.snapshot().read(predicate="x = 1").num_rows == 1


def test_days_become_times() -> None:
    table = table_of("x DATE", **{"delta.feature.timestampNtz": "supported"})
    table.append(pa.table({"x": pa.array([19_000], pa.date32())}))

    table.widen_column("x", "TIMESTAMP_NTZ")

    assert str(table.snapshot().read()["x"][0]) == "2022-01-08 00:00:00"


def test_a_partition_column_is_widened() -> None:
    parted = TableBuilder().columns(p="int", x="string").partitioned_by("p")
    table = parted.properties(WIDENS).rows(p=[1], x=["a"]).build()

    table.widen_column("p", "BIGINT")
    table.append(pa.table({"p": [1 << 40], "x": ["b"]}))

    assert sorted(table.snapshot().read()["p"].to_pylist()) == [1, 1 << 40]


class TestParts:
    DDL = (
        "a ARRAY<INT>, m MAP<FLOAT, ARRAY<TINYINT>>, s STRUCT<x: INT, "
        "l: ARRAY<STRUCT<y: SMALLINT>>>, d DECIMAL(3, 1), t STRING"
    )

    def test_are_named_by_their_paths(self) -> None:
        schema = StructType(parse_columns_ddl(self.DDL))

        assert [*widened_parts(schema)] == [
            "a.element", "m.key", "m.value.element", "s.x", "s.l.element.y", "d",
        ]  # fmt: skip

    def test_have_paths_that_are_read_back(self) -> None:
        ddl = "`a.b` INT, s STRUCT<`x.y`: INT, `z``z`: ARRAY<INT>>"
        table = table_of(ddl)

        parts = [*widened_parts(StructType(parse_columns_ddl(ddl)))]

        assert parts == ["a.b", "s.`x.y`", "s.`z``z`.element"]
        for part in parts:
            table.widen_column(part, "BIGINT")
        assert [type_text(f.data_type) for f in table.snapshot().schema.fields] == [
            "bigint",
            "struct<`x.y`: bigint, `z``z`: array<bigint>>",
        ]

    @pytest.mark.parametrize(
        ("part", "wide", "place", "told"),
        [
            ("a.element", "BIGINT", ["a"], "element"),
            ("m.key", "DOUBLE", ["m"], "key"),
            ("M.Value.Element", "INT", ["m"], "value.element"),
            ("s.x", "DOUBLE", ["s", "x"], None),
        ],
    )
    def test_are_told_of_by_the_nearest_column(self, part, wide, place, told):
        table = table_of(self.DDL)

        table.widen_column(part, wide)

        (change,) = field(table, *place)["metadata"]["delta.typeChanges"]
        assert change.get("fieldPath") == told
        assert (
            change["toType"]
            == json.loads(format_schema(StructType(parse_columns_ddl(f"a {wide}"))))[
                "fields"
            ][0]["type"]
        )

    def test_of_structs_in_arrays_tell_themselves(self) -> None:
        table = table_of(self.DDL)
        inner = pa.struct(
            [("x", pa.int32()), ("l", pa.list_(pa.struct([("y", pa.int16())])))]
        )
        rows = pa.array([{"x": 1, "l": [{"y": 7}, None]}], inner)
        table.append(pa.table({"s": rows, "a": pa.array([[5]], pa.list_(pa.int32()))}))

        table.widen_column("s.l.element.y", "INT")
        table.widen_column("s.l.element.y", "BIGINT")
        table.widen_column("a.element", "BIGINT")

        row = table.snapshot().read().to_pylist()[0]
        assert (row["s"]["l"], row["a"]) == ([{"y": 7}, None], [5])
        (last,) = field(table, "s", "l")["type"]["elementType"]["fields"]
        assert last["metadata"]["delta.typeChanges"] == [
            {"fromType": "short", "toType": "integer"},
            {"fromType": "integer", "toType": "long"},
        ]
        assert field(table, "s", "l")["metadata"] == {}


class TestRefused:
    @pytest.mark.parametrize(
        ("narrow", "wide", "hint"),
        [
            ("INT", "STRING", "bigint, double, a decimal with 10 digits"),
            ("BIGINT", "INT", "a decimal with 20 digits or more"),
            ("BIGINT", "DOUBLE", "a decimal with 20 digits or more"),
            ("DECIMAL(6, 2)", "DECIMAL(7, 4)", "2 digits or more after the point"),
            ("STRING", "BIGINT", "become nothing"),
            ("DATE", "TIMESTAMP", "timestamp_ntz"),
            ("ARRAY<INT>", "BIGINT", "name the part"),
        ],
    )
    def test_is_any_other_change_and_what_is_allowed_is_said(self, narrow, wide, hint):
        table = table_of(f"x {narrow}, y INT")

        with pytest.raises(TypeNotWidenedError) as caught:
            table.widen_column("x", wide)

        assert hint in f"{caught.value} {caught.value.hint}"
        assert table.latest_version() == 0

    @pytest.mark.parametrize("path", ["z", "x.y", "a.key", "a.element.z", "s.z"])
    def test_is_what_is_no_column(self, path: str) -> None:
        table = table_of("x INT, a ARRAY<INT>, s STRUCT<y: INT>")

        with pytest.raises(ColumnNotFoundError):
            table.widen_column(path, "BIGINT")

    def test_is_a_column_that_a_rule_names(self) -> None:
        table = table_of("x INT, y INT", **{"delta.constraints.small": "x < 9"})

        with pytest.raises(ColumnInUseError, match="small"):
            table.widen_column("x", "BIGINT")
        assert table.widen_column("y", "BIGINT").version == 1

    def test_is_a_table_whose_types_stay(self) -> None:
        table = TableBuilder().columns(x="int").build()

        with pytest.raises(ProtocolUpgradeError, match="enableTypeWidening = true"):
            table.widen_column("x", "BIGINT")
        table.set_properties({"delta.feature.typeWidening": "supported"}, upgrade=True)
        with pytest.raises(ProtocolUpgradeError, match="enableTypeWidening"):
            table.widen_column("x", "BIGINT")
        table.set_properties(WIDENS)
        assert table.widen_column("x", "BIGINT").version == 3

    def test_is_what_iceberg_does_not_know(self) -> None:
        schema = format_schema(StructType(parse_columns_ddl("x INT, d DECIMAL(4, 2)")))
        names = ["typeWidening", "icebergCompatV2"]
        protocol = Protocol(
            min_reader_version=3,
            min_writer_version=7,
            reader_features=names[:1],
            writer_features=names,
        )
        metadata = replace_metadata(schema)
        base = Definition(0, protocol, metadata)

        for column, wide in (("x", "DOUBLE"), ("d", "DECIMAL(9, 3)")):
            with pytest.raises(TypeNotWidenedError, match="cannot become"):
                widen_column(base, column, parse_type_ddl(wide), root="t")
        assert widen_column(base, "x", parse_type_ddl("BIGINT"), root="t").metadata


def replace_metadata(schema: str) -> Metadata:
    return replace(
        METADATA, schema_string=schema, partition_columns=[], configuration=WIDENS
    )


def test_the_type_of_now_is_nothing_to_do() -> None:
    table = table_of("x INT")

    assert table.widen_column("x", "INT").version == 0
