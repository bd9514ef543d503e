"""What changed in a schema: by name, however deep."""

import pytest

from deltaweb.delta.changes import SchemaChanges, diff_schemas
from deltaweb.delta.changes.schema import FieldAspect
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from tests.support import cases

LONG, INT = PrimitiveType("long"), PrimitiveType("integer")
STRING = PrimitiveType("string")


def schema(**columns: DataType) -> StructType:
    return StructType(tuple(StructField(name, kind) for name, kind in columns.items()))


def names(found: SchemaChanges) -> dict[str, list[str]]:
    return {
        "added": [change.name for change in found.added],
        "removed": [change.name for change in found.removed],
        "changed": [change.name for change in found.changed],
        "reordered": [".".join(path) for path in found.reordered],
    }


def wrapped(inner: DataType) -> dict[str, DataType]:
    """One type at every place that a type can stand."""
    return {
        "s": schema(x=inner),
        "a": ArrayType(schema(x=inner)),
        "m": MapType(STRING, schema(x=inner)),
    }


class TestFieldsByName:
    def test_equal_schemas_have_no_change(self) -> None:
        found = diff_schemas(schema(id=LONG), schema(id=LONG))

        assert found == SchemaChanges()
        assert found.count == 0

    def test_a_field_that_one_side_lacks_was_added_or_removed(self) -> None:
        found = diff_schemas(schema(id=LONG, old=STRING), schema(id=LONG, new=STRING))

        assert names(found) == {
            "added": ["new"],
            "removed": ["old"],
            "changed": [],
            "reordered": [],
        }

    def test_case_tells_names_apart(self) -> None:
        found = diff_schemas(schema(id=LONG), schema(ID=LONG))

        assert (names(found)["added"], names(found)["removed"]) == (["ID"], ["id"])

    def test_changes_are_found_inside_structs_arrays_and_maps(self) -> None:
        found = diff_schemas(schema(**wrapped(INT)), schema(**wrapped(LONG)))

        assert names(found)["changed"] == ["s.x", "a.element.x", "m.value.x"]
        assert [change.aspects for change in found.changed] == [("type",)] * 3

    def test_a_field_inside_a_new_struct_is_not_listed_of_its_own(self) -> None:
        found = diff_schemas(schema(id=LONG), schema(id=LONG, s=schema(x=LONG)))

        assert names(found)["added"] == ["s"]

    def test_a_struct_that_became_a_text_is_one_change_of_type(self) -> None:
        found = diff_schemas(schema(s=schema(x=LONG)), schema(s=STRING))

        assert names(found)["changed"] == ["s"]
        assert found.changed[0].before is not None
        assert found.changed[0].before.type_text == "struct<x: bigint>"

    def test_another_order_is_told_of_the_struct_that_has_it(self) -> None:
        found = diff_schemas(
            schema(a=LONG, s=schema(x=LONG, y=LONG), b=LONG),
            schema(b=LONG, new=LONG, s=schema(y=LONG, x=LONG), a=LONG),
        )

        assert names(found)["reordered"] == ["s", ""]

    def test_a_new_field_in_the_middle_is_no_other_order(self) -> None:
        found = diff_schemas(schema(a=LONG, b=LONG), schema(a=LONG, n=LONG, b=LONG))

        assert not found.reordered


class TestAspectsOfAField:
    @cases(
        "before, after, aspects",
        {
            "may no longer be null": (
                StructField("c", LONG),
                StructField("c", LONG, nullable=False),
                ["nullable"],
            ),
            "another comment": (
                StructField("c", LONG, metadata={"comment": "a"}),
                StructField("c", LONG, metadata={"comment": "b"}),
                ["comment"],
            ),
            "other metadata": (
                StructField("c", LONG),
                StructField("c", LONG, metadata={"delta.invariants": "c > 0"}),
                ["metadata"],
            ),
            "several at once": (
                StructField("c", INT),
                StructField("c", LONG, nullable=False, metadata={"comment": "a"}),
                ["type", "nullable", "comment"],
            ),
        },
    )
    def test_each_is_told(self, before, after, aspects):
        found = diff_schemas(StructType((before,)), StructType((after,)))

        assert [list(change.aspects) for change in found.changed] == [aspects]

    @pytest.mark.parametrize(
        ("before", "after", "name"),
        [
            (ArrayType(LONG), ArrayType(LONG, contains_null=False), "c.element"),
            (
                MapType(STRING, LONG),
                MapType(STRING, LONG, value_contains_null=False),
                "c.value",
            ),
            (MapType(INT, LONG), MapType(LONG, LONG), "c.key"),
        ],
        ids=["items of an array", "values of a map", "keys of a map"],
    )
    def test_parts_are_steps_of_their_own(self, before, after, name):
        found = diff_schemas(schema(c=before), schema(c=after))

        assert names(found)["changed"] == [name]


def mapped(**stored: str) -> StructType:
    """Columns of text by name, and what they are stored as."""
    return StructType(
        tuple(
            StructField(name, STRING, physical_name=physical)
            for name, physical in stored.items()
        )
    )


class TestColumnsThatAreMapped:
    def test_are_renamed_while_they_stay(self) -> None:
        found = diff_schemas(mapped(cust="p1", b="p2"), mapped(customer="p1", b="p2"))

        assert names(found) == {
            "added": [],
            "removed": [],
            "changed": ["customer"],
            "reordered": [],
        }
        (change,) = found.changed
        assert change.aspects == (FieldAspect.NAME,)
        assert change.old_name == "cust"

    def test_may_swap_their_names(self) -> None:
        found = diff_schemas(mapped(a="p1", b="p2"), mapped(b="p1", a="p2"))

        assert [(c.old_name, c.name) for c in found.changed] == [("a", "b"), ("b", "a")]

    def test_are_dropped_and_added_again_under_one_name(self) -> None:
        found = diff_schemas(mapped(a="p1"), mapped(a="p2"))

        assert names(found)["added"] == names(found)["removed"] == ["a"]
        assert not found.changed

    def test_are_known_by_their_names_where_one_version_maps_none(self) -> None:
        found = diff_schemas(schema(a=STRING), mapped(a="p1"))

        assert found == SchemaChanges()

    def test_are_told_by_their_new_paths_below_a_renamed_struct(self) -> None:
        def nested(name: str, inner: StructType) -> StructType:
            return StructType((StructField(name, inner, physical_name="s"),))

        found = diff_schemas(
            nested("home", mapped(town="p1")), nested("address", mapped(city="p1"))
        )

        assert names(found)["changed"] == ["address", "address.city"]
