import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import ColumnTypeError, SchemaError
from deltaweb.delta.protocol.schema import (
    MAX_NESTING_DEPTH,
    ArrayType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    arrow_schema,
    arrow_type,
    format_schema,
    leaf_fields,
    parse_schema,
    read_columns,
    type_text,
    unread_type,
)
from tests.support import cases

PRIMITIVES = [
    *("string", "long", "integer", "short", "byte", "float", "double", "boolean"),
    *("binary", "date", "timestamp", "timestamp_ntz", "void", "variant"),
]
SPELLINGS = ["null", "varchar(10)", "char( 3 )", "string collate UTF8_LCASE"]


def struct_text(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "struct", "fields": fields})


def field(name: str, kind: object, **rest: object) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": True, "metadata": {}, **rest}


keys = st.sampled_from(["a", "b", "delta.x", "comment", "é"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2)
    ),
    max_leaves=3,
)
type_names = st.sampled_from(
    [*PRIMITIVES, *SPELLINGS, "decimal(38,18)", "decimal(1,0)"]
)


def _fields(kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def named(parts: list[tuple[Any, bool, dict[str, Any]]]) -> list[dict[str, Any]]:
        return [
            {"name": f"c{i}", "type": kind, "nullable": nullable, "metadata": metadata}
            for i, (kind, nullable, metadata) in enumerate(parts)
        ]

    metadata = st.dictionaries(keys, json_values, max_size=2)
    return st.lists(st.tuples(kinds, st.booleans(), metadata), max_size=3).map(named)


kinds = st.recursive(
    type_names,
    lambda inner: (
        _fields(inner).map(lambda fields: {"type": "struct", "fields": fields})
        | st.tuples(inner, st.booleans()).map(
            lambda p: {"type": "array", "elementType": p[0], "containsNull": p[1]}
        )
        | st.tuples(inner, inner, st.booleans()).map(
            lambda p: {
                "type": "map",
                "keyType": p[0],
                "valueType": p[1],
                "valueContainsNull": p[2],
            }
        )
    ),
    max_leaves=6,
)


class TestParsingAndFormatting:
    @given(fields=_fields(kinds))
    def test_loses_nothing(self, fields: list[dict[str, Any]]) -> None:
        value = {"type": "struct", "fields": fields}

        schema = parse_schema(json.dumps(value))

        assert json.loads(format_schema(schema)) == value
        assert parse_schema(format_schema(schema)) == schema
        assert isinstance(hash(schema), int)

    def test_keeps_keys_that_it_does_not_know_in_their_order(self) -> None:
        value = {
            "type": "struct",
            "fields": [
                field(
                    "a",
                    {
                        "type": "array",
                        "elementType": "long",
                        "containsNull": True,
                        "z": 1,
                    },
                    y=2,
                    x=3,
                ),
                field(
                    "m",
                    {
                        "type": "map",
                        "keyType": "long",
                        "valueType": "long",
                        "valueContainsNull": False,
                        "z": [1],
                    },
                ),
            ],
            "w": None,
        }

        assert format_schema(parse_schema(json.dumps(value))) == json.dumps(
            value, separators=(",", ":")
        )

    def test_takes_what_is_left_out_for_the_loosest(self) -> None:
        schema = parse_schema(
            struct_text(
                {"name": "a", "type": {"type": "array", "elementType": "long"}},
                field("m", {"type": "map", "keyType": "long", "valueType": "long"}),
                field("d", "decimal"),
                field("n", "long", metadata=None),
            )
        )

        assert schema.fields[0] == StructField("a", ArrayType(PrimitiveType("long")))
        assert schema.fields[1].data_type == MapType(
            PrimitiveType("long"), PrimitiveType("long")
        )
        assert schema.fields[2].data_type == DecimalType(10, 0)
        assert schema.fields[3].metadata == {}


class TestTypesThatAreNotKnown:
    @pytest.mark.parametrize(
        "name",
        [
            "interval day to second",
            "interval year to month",
            "interval month",
            "interval hour to minute",
            "geometry(OGC:CRS84)",
            "blob",
            "int",
        ],
    )
    def test_are_kept_as_they_are_spelled(self, name: str) -> None:
        nested = {"type": "array", "elementType": name, "containsNull": True}
        text = struct_text(field("a", "long"), field("c", name), field("l", nested))

        schema = parse_schema(text)

        assert json.loads(format_schema(schema)) == json.loads(text)
        column = schema.fields[1]
        assert type_text(column.data_type) == unread_type(column.data_type) == name
        assert unread_type(schema.fields[2].data_type) == name
        assert read_columns(schema).names == ("a",)

    @pytest.mark.parametrize("name", ["interval day to second", "geometry"])
    def test_have_no_rows(self, name: str) -> None:
        inner = {"type": "struct", "fields": [field("x", name)]}
        schema = parse_schema(struct_text(field("a", "long"), field("c", inner)))

        with pytest.raises(ColumnTypeError, match=rf"'c'.*{name}") as caught:
            arrow_schema(schema)

        assert "repair" not in str(caught.value)


class TestRefusing:
    @cases(
        "kind, column",
        {
            "no name": ("", "c"),
            "a name of what has parts": ("array", "c"),
            "a decimal without a scale": ("decimal(1)", "c"),
            "a name of two lines": ("in\nt", "c"),
            "a name without end": ("x" * 300, "c"),
            "a number": (5, "c"),
            "nothing": (None, "c"),
            "an unknown object": ({"type": "udt"}, "c"),
            "a list for a name": ({"type": ["struct"]}, "c"),
            "too many digits": ("decimal(39,0)", "c"),
            "a scale beyond the digits": ("decimal(3,4)", "c"),
            "a scale below zero": ("decimal(3,-1)", "c"),
            "a struct without fields": ({"type": "struct"}, "c"),
            "an array of nothing": ({"type": "array"}, "c.element"),
            "value": ({"type": "map", "keyType": "long", "valueType": 7}, "c.value"),
            "a name twice but for case": (
                {"type": "struct", "fields": [field("x", "long"), field("X", "long")]},
                "c.X",
            ),
            "name": ({"type": "struct", "fields": [{"type": "long"}]}, "c"),
            "a field of no object": ({"type": "struct", "fields": [7]}, "c"),
            "a flag that is no boolean": (
                {"type": "array", "elementType": "long", "containsNull": "yes"},
                "c",
            ),
        },
    )
    def test_names_the_column(self, kind: object, column: str) -> None:
        with pytest.raises(SchemaError) as caught:
            parse_schema(struct_text(field("c", kind)))

        assert caught.value.column == column
        assert repr(column) in caught.value.message

    def test_names_the_column_of_bad_metadata_and_nullability(self) -> None:
        with pytest.raises(SchemaError, match=r"'c'.*metadata"):
            parse_schema(struct_text(field("c", "long", metadata=[1])))
        with pytest.raises(SchemaError, match=r"'c'.*nullable"):
            parse_schema(struct_text(field("c", "long", nullable=1)))

    @cases(
        "text",
        {
            "empty": "",
            "torn": "{",
            "a list": "[]",
            "a name": '"struct"',
            "an array": '{"type":"array"}',
            "fields that are no list": '{"type":"struct","fields":{}}',
            "a name with half a surrogate pair": (
                r'{"type":"struct","fields":[{"name":"\ud800","type":"long"}]}'
            ),
            "a huge number": "1" * 5000,
            "a deep list": "[" * 100_000,
        },
    )
    def test_refuses_what_is_no_struct(self, text: str) -> None:
        with pytest.raises(SchemaError) as caught:
            parse_schema(text)

        assert caught.value.column == ""

    def test_refuses_nesting_beyond_the_bound_and_no_sooner(self) -> None:
        def nested(levels: int) -> str:
            kind: object = "long"
            for _ in range(levels):
                kind = {"type": "array", "elementType": kind, "containsNull": True}
            return struct_text(field("c", kind))

        assert leaf_fields(parse_schema(nested(MAX_NESTING_DEPTH - 1)))
        with pytest.raises(SchemaError, match=r"'c'.*deeper"):
            parse_schema(nested(MAX_NESTING_DEPTH))


class TestTypes:
    @cases(
        "kind, text, arrow",
        {
            "string": ("string", "string", pa.string()),
            "long": ("long", "bigint", pa.int64()),
            "integer": ("integer", "int", pa.int32()),
            "short": ("short", "smallint", pa.int16()),
            "byte": ("byte", "tinyint", pa.int8()),
            "time": ("timestamp", "timestamp", pa.timestamp("us", "UTC")),
            "ntz": ("timestamp_ntz", "timestamp_ntz", pa.timestamp("us")),
            "void": ("void", "void", pa.null()),
            "varchar": ("varchar(10)", "varchar(10)", pa.string()),
            "decimal": ("decimal(18,2)", "decimal(18,2)", pa.decimal128(18, 2)),
            "array": (
                {"type": "array", "elementType": "long", "containsNull": False},
                "array<bigint>",
                pa.list_(pa.field("element", pa.int64(), nullable=False)),
            ),
            "map": (
                {"type": "map", "keyType": "string", "valueType": "date"},
                "map<string, date>",
                pa.map_(pa.string(), pa.field("value", pa.date32())),
            ),
            "struct": (
                {"type": "struct", "fields": [field("x", "double", nullable=False)]},
                "struct<x: double>",
                pa.struct([pa.field("x", pa.float64(), nullable=False)]),
            ),
        },
    )
    def test_have_a_text_and_an_arrow_type(self, kind, text, arrow):
        column = parse_schema(struct_text(field("c", kind))).fields[0]

        assert type_text(column.data_type) == text
        assert arrow_type(column.data_type).equals(arrow)

    def test_of_rows_keep_names_and_nullability(self) -> None:
        schema = parse_schema(
            struct_text(
                field("a", "long", nullable=False), field("n", "void", nullable=False)
            )
        )

        assert arrow_schema(schema) == pa.schema(
            [pa.field("a", pa.int64(), nullable=False), pa.field("n", pa.null())]
        )

    def test_that_are_only_shown_are_refused_by_column(self) -> None:
        inner = {"type": "struct", "fields": [field("v", "interval day")]}

        with pytest.raises(SchemaError, match=r"'s'.*interval day"):
            arrow_schema(parse_schema(struct_text(field("s", inner))))
