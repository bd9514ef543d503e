import json
from typing import Any

import pytest

from deltaweb.delta.protocol.schema import (
    MAX_SHOWN_FIELDS,
    SchemaWidth,
    is_too_wide,
    parse_schema,
    schema_width,
    short_type_text,
    type_text,
)


def field(name: str, kind: Any = "long") -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {"name": name, "type": kind, "nullable": True, "metadata": {}}


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def wide(num_columns: int) -> str:
    return json.dumps(struct(*(field(f"c{n}") for n in range(num_columns))))


NESTED = struct(
    field("id"),
    field("home", struct(field("zip"), field("town"))),
    field("items", {"type": "array", "elementType": struct(field("sku"))}),
    field(
        "places",
        {"type": "map", "keyType": "string", "valueType": struct(field("zip"))},
    ),
)


class TestTheWidthOfASchema:
    def test_counts_nested_columns_too(self) -> None:
        assert schema_width(json.dumps(NESTED)) == SchemaWidth(4, 8)

    def test_does_not_count_what_metadata_looks_like(self) -> None:
        column = field("id") | {"metadata": {"x": {"name": "a", "type": "b"}}}

        assert schema_width(json.dumps(struct(column))) == SchemaWidth(1, 1)

    @pytest.mark.parametrize("text", ["", "[1]", '"long"', "{", "[" * 100_000])
    def test_of_no_schema_is_none(self, text: str) -> None:
        assert schema_width(text) == SchemaWidth()

    def test_is_counted_though_keys_are_escaped(self) -> None:
        text = wide(MAX_SHOWN_FIELDS + 1).replace('"name"', '"n\\u0061me"')

        assert is_too_wide(text)


class TestASchemaIsTooWide:
    @pytest.mark.parametrize("more", [0, 1])
    def test_above_a_bound_of_columns(self, more: int) -> None:
        assert is_too_wide(wide(MAX_SHOWN_FIELDS + more)) is bool(more)

    def test_above_a_bound_of_text(self) -> None:
        column = field("id") | {"metadata": {"comment": "x" * 4_000_000}}

        assert is_too_wide(json.dumps(struct(column)))

    def test_not_for_its_braces(self) -> None:
        column = field("id") | {"metadata": {"comment": "{" * 20_000}}

        assert not is_too_wide(json.dumps(struct(column)))


class TestAShortType:
    def test_is_the_type_where_it_fits(self) -> None:
        schema = parse_schema(json.dumps(NESTED))

        assert short_type_text(schema, 1000) == type_text(schema)

    def test_is_cut_with_an_ellipsis(self) -> None:
        schema = parse_schema(wide(500))

        assert short_type_text(schema, 20) == "struct<c0: bigint, …"
