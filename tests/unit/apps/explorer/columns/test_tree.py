import json
from typing import Any

from apps.explorer.columns.tree import schema_tree


def field(name: str, kind: Any = "string", **metadata: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def array(element: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {"type": "array", "elementType": element, "containsNull": True}


def map_of(key: Any, value: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {
        "type": "map",
        "keyType": key,
        "valueType": value,
        "valueContainsNull": True,
    }


NESTED = struct(
    field("id", "long", comment="The number"),
    field("customer", struct(field("segment"), field("home", struct(field("zip"))))),
    field("items", array(struct(field("sku")))),
    field("tags", map_of("string", "string")),
    field("places", map_of("string", struct(field("zip")))),
)


def tree_of(schema: dict[str, Any], *partitions: str) -> Any:  # noqa: ANN401
    return schema_tree(json.dumps(schema), partitions)


class TestSchemaTree:
    def test_nested_columns_follow_their_parent(self) -> None:
        tree = tree_of(NESTED)

        assert [(column.path, column.depth) for column in tree.columns] == [
            ("id", 0),
            ("customer", 0),
            ("customer.segment", 1),
            ("customer.home", 1),
            ("customer.home.zip", 2),
            ("items", 0),
            ("items.sku", 1),
            ("tags", 0),
            ("places", 0),
            ("places.value", 1),
            ("places.value.zip", 2),
        ]
        assert tree.num_columns == 5

    def test_types_are_short_in_the_tree_and_whole_in_their_title(self) -> None:
        column = tree_of(NESTED).columns[5]

        assert column.kind == "array<struct>"
        assert column.type_text == "array<struct<sku: string>>"

    def test_a_search_keeps_the_way_to_what_it_finds(self) -> None:
        found = tree_of(NESTED).matching("ZIP")

        assert [column.path for column in found if column.name != "zip"] == [
            "customer",
            "customer.home",
            "places",
            "places.value",
        ]

    def test_a_search_reads_comments_and_types(self) -> None:
        assert [c.path for c in tree_of(NESTED).matching("the number")] == ["id"]
        assert [c.path for c in tree_of(NESTED).matching("bigint")] == ["id"]

    def test_partition_columns_are_marked_on_the_first_level_alone(self) -> None:
        schema = struct(field("zip"), field("home", struct(field("zip"))))

        marked = [c.path for c in tree_of(schema, "zip").columns if c.is_partition]

        assert marked == ["zip"]

    def test_metadata_is_told_in_words(self) -> None:
        invariant = json.dumps({"expression": {"expression": "a > 0"}})
        metadata = {
            "CURRENT_DEFAULT": "'EUR'",
            "delta.generationExpression": "YEAR(day)",
            "delta.identity.start": 1,
            "delta.identity.step": 2,
            "delta.invariants": invariant,
            "of.mine": {"a": 1},
        }

        facts = tree_of(struct(field("a", "long", **metadata))).columns[0].facts

        assert facts == (
            ("default", "'EUR'"),
            ("generated", "YEAR(day)"),
            ("identity", "from 1 by 2"),
            ("invariant", "a > 0"),
            ("of.mine", '{"a": 1}'),
        )

    def test_a_schema_that_cannot_be_read_says_why(self) -> None:
        tree = tree_of(struct(field("shape", {"type": "udt"})))

        assert not tree.columns
        assert "shape" in tree.problem
