"""A history is a field: it stays one through renames, and ends where it is dropped."""

import json
from typing import Any

import pytest

from deltaweb.delta.changes.column_history import (
    ColumnChangeKind,
    ColumnHistories,
    SchemaDefinition,
    column_histories,
    following,
)
from tests.support import cases
from tests.support.tables.mapped_tables import field, struct


def histories(
    *schemas: list[dict[str, Any]], is_mapped: bool = False
) -> ColumnHistories:
    return column_histories(
        SchemaDefinition(version, json.dumps(struct(*fields)), is_mapped)
        for version, fields in enumerate(schemas)
    )


def told(found: ColumnHistories) -> list[tuple[str, list[tuple[int, str]]]]:
    """Each history by its name, with the versions and kinds of its events."""
    return [
        (
            ".".join(history.path),
            [(event.version, str(event.kind)) for event in history.events],
        )
        for history in found.fields
    ]


ID = field("id", "long")
NOTE = field("note", "string")


def test_a_field_that_nothing_happens_to_has_no_events() -> None:
    found = histories([ID, NOTE], [ID, NOTE])

    assert told(found) == [("id", []), ("note", [])]
    assert (found.first, found.changed_versions) == (0, ())


def test_tells_what_is_added_dropped_and_added_again() -> None:
    found = histories([ID], [ID, NOTE], [ID], [ID, NOTE])

    events = [(1, "added"), (2, "dropped"), (3, "added again")]
    assert told(found) == [("id", []), ("note", events)]
    assert found.fields[1].until is None


@cases(
    "before, after, kind, is_breaking",
    {
        "wider": (field("n", "integer"), field("n", "long"), "type widened", False),
        "other": (field("n", "long"), field("n", "string"), "type changed", True),
        "null allowed": (
            field("n", "long") | {"nullable": False},
            field("n", "long"),
            "null allowed",
            True,
        ),
        "null forbidden": (
            field("n", "long"),
            field("n", "long") | {"nullable": False},
            "null forbidden",
            False,
        ),
        "comment": (
            field("n", "long"),
            field("n", "long") | {"metadata": {"comment": "net"}},
            "comment",
            False,
        ),
        "elements of an array": (
            field(
                "n", {"type": "array", "elementType": "integer", "containsNull": True}
            ),
            field("n", {"type": "array", "elementType": "long", "containsNull": True}),
            "type widened",
            False,
        ),
    },
)
def test_tells_what_changes_of_a_field(before, after, kind, *, is_breaking):
    found = histories([before], [after])

    assert told(found) == [("n", [(1, kind)])]
    assert found.fields[0].events[0].is_breaking == is_breaking


class TestMappedColumns:
    def test_a_rename_stays_on_its_lane(self) -> None:
        found = histories(
            [field("cust", "long", 1, "c1")],
            [field("customer", "long", 1, "c1")],
            is_mapped=True,
        )

        (history,) = found.fields
        (event,) = history.events
        assert (history.path, history.field_id) == (("customer",), 1)
        assert (event.kind, event.before, event.after) == (
            ColumnChangeKind.RENAMED,
            "cust",
            "customer",
        )

    def test_a_name_that_comes_back_is_another_lane_beside_the_old_one(self) -> None:
        found = histories(
            [field("a", "long", 1, "c1"), field("n", "long", 2, "c2"), ID],
            [field("a", "long", 1, "c1"), ID],
            [field("a", "long", 1, "c1"), ID, field("n", "long", 3, "c3")],
            is_mapped=True,
        )

        assert told(found) == [
            ("a", []),
            ("n", [(1, "dropped")]),
            ("id", []),
            ("n", [(2, "added again")]),
        ]

    def test_lanes_go_on_where_a_table_begins_to_map(self) -> None:
        text = [json.dumps(struct(one)) for one in (ID, field("id", "long", 1, "id"))]
        renamed = json.dumps(struct(field("key", "long", 1, "id")))

        found = column_histories(
            [
                SchemaDefinition(3, text[0], is_mapped=False),
                SchemaDefinition(5, text[1], is_mapped=True),
                SchemaDefinition(8, renamed, is_mapped=True),
            ]
        )

        assert told(found) == [("key", [(8, "renamed")])]
        assert (found.first, found.mapped_since) == (3, 5)

    def test_names_are_what_counts_where_nothing_is_mapped(self) -> None:
        found = histories([field("a", "long", 1, "x")], [field("b", "long", 1, "x")])

        assert told(found) == [("a", [(1, "dropped")]), ("b", [(1, "added")])]

    def test_two_fields_of_one_stored_name_are_two_lanes(self) -> None:
        twins = [field("a", "long", 1, "x"), field("b", "long", 1, "x")]

        found = histories(twins, [*twins, ID], is_mapped=True)

        assert [history.path for history in found.fields] == [
            ("a",),
            ("b",),
            ("id",),
        ]


class TestNestedFields:
    def test_follow_their_struct(self) -> None:
        def place(*fields: dict[str, Any]) -> dict[str, Any]:
            return field("place", struct(*fields), 1, "p")

        found = histories(
            [place(field("zip", "integer", 2, "z")), ID],
            [place(field("code", "long", 2, "z"), field("town", "string", 3, "t")), ID],
            is_mapped=True,
        )

        assert told(found) == [
            ("place", []),
            ("place.code", [(1, "renamed"), (1, "type widened")]),
            ("place.town", [(1, "added")]),
            ("id", []),
        ]

    def test_what_comes_and_goes_with_a_struct_is_not_of_its_own(self) -> None:
        place = field("place", struct(field("zip", "integer")))

        found = histories([ID], [ID, place], [ID])

        assert [
            (event.version, event.is_own)
            for history in found.fields
            for event in history.events
        ] == [(1, True), (2, True), (1, False), (2, False)]

    def test_of_arrays_and_maps_are_lanes(self) -> None:
        inner = struct(field("sku", "string"))
        items = {"type": "array", "elementType": inner, "containsNull": True}
        pairs = {
            "type": "map",
            "keyType": "string",
            "valueType": inner,
            "valueContainsNull": True,
        }

        found = histories([field("items", items), field("pairs", pairs)])

        assert [".".join(history.path) for history in found.fields] == [
            "items",
            "items.sku",
            "pairs",
            "pairs.value",
            "pairs.value.sku",
        ]
        assert found.fields[0].type_text == "array<struct>"


class TestHostileDefinitions:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[]",
            "{",
            "[" * 100_000,
            '{"type": "struct"}',
            '{"type": "struct", "fields": [1]}',
            '{"type": "struct", "fields": [{"name": 1, "type": "long"}]}',
            json.dumps(struct(ID, field("ID", "long"))),
            json.dumps(struct(field("x", "decimal(99,1)"))),
        ],
    )
    def test_are_counted_and_passed_over(self, text: str) -> None:
        known = [json.dumps(struct(*fields)) for fields in ([ID], [ID, NOTE])]

        found = column_histories(
            SchemaDefinition(version, schema, is_mapped=False)
            for version, schema in enumerate([known[0], text, known[1]])
        )

        assert found.num_unknown == 1
        assert told(found) == [("id", []), ("note", [(2, "added")])]

    def test_older_changes_go_where_they_are_too_many(self, monkeypatch):
        monkeypatch.setattr(following, "MAX_HISTORIES", 3)

        found = histories(*([ID, field(f"c{number}", "long")] for number in range(9)))

        assert found.is_cut
        assert len(found.fields) <= 3
        assert found.first is not None
        assert found.first > 0

    def test_nothing_is_known_of_nothing(self) -> None:
        assert histories() == ColumnHistories()
