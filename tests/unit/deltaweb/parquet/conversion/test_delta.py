"""A Parquet schema as a Delta schema."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest

from deltaweb.parquet.conversion.delta import convert, problems_text
from deltaweb.parquet.metadata import SchemaElement
from tests.support.files.parquet_schemas import element, tree

Logical: TypeAlias = tuple[str, Mapping[int, Any]]
LIST: Logical = ("LIST", {})
MAP: Logical = ("MAP", {})


def _type(*elements: SchemaElement) -> tuple[Any, bool]:
    """Return the Delta type of the one column, and whether it may be null."""
    strict = convert(tree(*elements)).strict
    assert strict is not None
    (field,) = strict["fields"]
    return field["type"], field["nullable"]


def _array(of: Any, *, nulls: bool) -> dict[str, Any]:  # noqa: ANN401 (a type)
    return {"type": "array", "elementType": of, "containsNull": nulls}


def _struct(**fields: str) -> dict[str, Any]:
    made = [
        {"name": name, "type": kind, "nullable": False, "metadata": {}}
        for name, kind in fields.items()
    ]
    return {"type": "struct", "fields": made}


class TestLists:
    def test_have_nulls_where_the_element_is_optional(self) -> None:
        kind, is_nullable = _type(
            element("a", logical=LIST, children=1),
            element("list", None, "repeated", children=1),
            element("element", "INT32"),
        )

        assert kind == _array("integer", nulls=True)
        assert is_nullable

    def test_of_a_repeated_primitive_hold_it(self) -> None:
        kind, _ = _type(
            element("a", logical=LIST, children=1),
            element("element", "INT32", "repeated"),
        )

        assert kind == _array("integer", nulls=False)

    def test_of_a_repeated_group_of_several_fields_hold_the_group(self) -> None:
        kind, _ = _type(
            element("a", logical=LIST, children=1),
            element("element", None, "repeated", children=2),
            element("x", "INT32", "required"),
            element("y", "INT64", "required"),
        )

        assert kind == _array(_struct(x="integer", y="long"), nulls=False)

    def test_of_lists_in_two_levels_hold_lists(self) -> None:
        kind, _ = _type(
            element("a", logical=LIST, children=1),
            element("array", None, "repeated", logical=LIST, children=1),
            element("array", "INT32", "repeated"),
        )

        assert kind == _array(_array("integer", nulls=False), nulls=False)

    @pytest.mark.parametrize("name", ["array", "a_tuple"])
    def test_of_a_group_named_as_an_element_hold_the_group(self, name: str) -> None:
        kind, _ = _type(
            element("a", logical=LIST, children=1),
            element(name, None, "repeated", children=1),
            element("x", "INT32", "required"),
        )

        assert kind == _array(_struct(x="integer"), nulls=False)

    def test_of_a_group_of_another_name_hold_its_field(self) -> None:
        kind, _ = _type(
            element("a", logical=LIST, children=1),
            element("b_tuple", None, "repeated", children=1),
            element("x", "INT32", "required"),
        )

        assert kind == _array("integer", nulls=False)

    def test_are_what_a_repeated_field_without_annotation_is(self) -> None:
        kind, is_nullable = _type(element("a", "INT32", "repeated"))

        assert kind == _array("integer", nulls=False)
        assert not is_nullable


class TestMaps:
    def test_go_by_position_whatever_the_names(self) -> None:
        kind, _ = _type(
            element("m", logical=MAP, children=1),
            element("entries", None, "repeated", children=2),
            element("value", "BYTE_ARRAY", "required", converted_type="UTF8"),
            element("key", "INT32"),
        )

        assert kind == {
            "type": "map",
            "keyType": "string",
            "valueType": "integer",
            "valueContainsNull": True,
        }


class TestPrimitives:
    @pytest.mark.parametrize(
        ("physical", "stored", "expected"),
        [
            ("INT96", {}, "timestamp"),
            ("FIXED_LEN_BYTE_ARRAY", {"type_length": 3}, "binary"),
            ("INT32", {"converted_type": "UINT_32"}, "long"),
            ("INT64", {"converted_type": "UINT_64"}, "decimal(20,0)"),
            ("INT64", {"converted_type": "TIMESTAMP_MILLIS"}, "timestamp"),
            ("BYTE_ARRAY", {"converted_type": "ENUM"}, "string"),
            ("BYTE_ARRAY", {"converted_type": "BSON"}, "binary"),
            ("BOOLEAN", {"logical": ("UNKNOWN", {})}, "void"),
        ],
    )
    def test_are_those_that_the_reference_gives(self, physical, stored, expected):
        assert _type(element("c", physical, **stored)) == (expected, True)

    def test_of_local_time_need_a_feature(self) -> None:
        logical = ("TIMESTAMP", {1: False, 2: {2: {}}})
        conversion = convert(tree(element("t", "INT64", logical=logical)))

        assert conversion.features == ("timestampNtz",)


class TestProblems:
    def test_are_all_named_with_their_columns(self) -> None:
        conversion = convert(
            tree(
                element(
                    "u", "FIXED_LEN_BYTE_ARRAY", logical=("UUID", {}), type_length=16
                ),
                element("ok", "INT32"),
                element("t", "INT64", logical=("TIMESTAMP", {1: True, 2: {3: {}}})),
                element("OK", "INT32"),
                columns=4,
            )
        )

        assert conversion.strict is None
        assert conversion.nullable is None
        assert problems_text(conversion.problems) == (
            "u: UUID has no Delta type; "
            "t: TIMESTAMP(isAdjustedToUTC=true,unit=NANOS): "
            "Delta timestamps have microsecond precision; "
            "OK: duplicate column name (Delta names are case-insensitive)"
        )

    def test_are_those_of_nested_fields_too(self) -> None:
        conversion = convert(
            tree(
                element("s", children=1),
                element(
                    "half",
                    "FIXED_LEN_BYTE_ARRAY",
                    logical=("FLOAT16", {}),
                    type_length=2,
                ),
            )
        )

        assert [p.path for p in conversion.problems] == [("s", "half")]

    def test_name_a_file_without_columns(self) -> None:
        conversion = convert(tree(columns=0))

        assert problems_text(conversion.problems) == "(table): no columns"


def test_names_that_need_column_mapping_are_told() -> None:
    conversion = convert(tree(element("with space", "INT32")))

    assert conversion.mapped_columns == (("with space",),)


def test_a_nullable_schema_lets_every_part_be_null() -> None:
    conversion = convert(
        tree(
            element("a", None, "required", logical=LIST, children=1),
            element("element", "INT32", "repeated"),
        )
    )

    assert conversion.nullable == {
        "type": "struct",
        "fields": [
            {
                "name": "a",
                "type": _array("integer", nulls=True),
                "nullable": True,
                "metadata": {},
            }
        ],
    }


def test_what_has_no_repetition_is_required() -> None:
    column = element("a", logical=LIST, children=1)._replace(repetition=None)
    repeated = element("list", None, "repeated", children=1)
    own = element("element", "INT32")._replace(repetition=None)

    kind, is_nullable = _type(column, repeated, own)

    assert kind == _array("integer", nulls=False)
    assert not is_nullable
