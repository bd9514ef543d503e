"""The form of a part: what is not sent, or only half of it, never shows more."""

import json

import pytest
from django.http import QueryDict

from apps.sharing.errors import ColumnsError, ConditionError, PropertyInvalidError
from apps.sharing.shares.forms import column_names
from apps.sharing.shares.parts.form import TypedPart, new_values, quoted_names
from tests.support import cases

TABLE = ["id", "region", "salary"]


def sent(**fields: str | list[str]) -> TypedPart:
    """A form that was sent with some fields."""
    posted = QueryDict(mutable=True)
    for name, value in fields.items():
        posted.setlist(name, [value] if isinstance(value, str) else [*value])
    return TypedPart.of(posted)


class TestCondition:
    @cases(
        "fields, before, after",
        {
            "nothing sent": ({}, "a = 1", "a = 1"),
            "all rows": ({"rows": "all", "condition": "a = 1"}, "a = 1", ""),
            "all rows, field emptied": ({"rows": "all", "condition": ""}, "a = 1", ""),
            "typed, button not pressed": (
                {"rows": "all", "condition": "b = 2"},
                "",
                "b = 2",
            ),
            "typed": ({"rows": "where", "condition": " b = 2 "}, "", "b = 2"),
            "no button, emptied": ({"condition": ""}, "a = 1", "a = 1"),
            "a button alone": ({"rows": "all"}, "a = 1", "a = 1"),
        },
    )
    def test_is_what_was_typed_and_never_wider_by_a_field_left_out(
        self, fields, before, after
    ):
        assert sent(**fields).new_condition(before) == after

    def test_that_is_chosen_and_empty_is_refused(self) -> None:
        with pytest.raises(ConditionError, match="Enter a condition"):
            sent(rows="where", condition=" ").new_condition("a = 1")

    def test_that_is_too_long_is_refused(self) -> None:
        with pytest.raises(ConditionError, match="10,000"):
            sent(rows="where", condition="x" * 10_001).new_condition("")


class TestColumns:
    @cases(
        "checked, shown, before, after",
        {
            "all stay all": (TABLE, TABLE, [], []),
            "one unchecked": (["id", "region"], TABLE, [], ["id", "region"]),
            "all checked again": (TABLE, TABLE, ["id"], []),
            "a column came meanwhile": (
                ["id", "region"],
                ["id", "region"],
                ["id"],
                ["id", "region"],
            ),
            "a column that had no box": (["id", "salary"], ["id"], ["id"], ["id"]),
        },
    )
    def test_are_those_that_are_checked(self, checked, shown, before, after):
        typed = sent(columns=checked, shown=json.dumps(shown))

        assert typed.new_columns(before, TABLE) == after

    @pytest.mark.parametrize("shown", [None, "", "[]", "{}", "nonsense"])
    def test_stay_where_no_box_was_shown(self, shown: str | None) -> None:
        fields = {} if shown is None else {"shown": shown}

        assert sent(columns=TABLE, **fields).new_columns(["id"], TABLE) == ["id"]

    def test_of_a_table_without_a_known_schema_never_become_all(self) -> None:
        typed = sent(columns=["id"], shown='["id"]')

        assert typed.new_columns(["id"], []) == ["id"]

    def test_none_of_them_is_refused(self) -> None:
        with pytest.raises(ColumnsError, match="at least one"):
            sent(shown=json.dumps(TABLE)).new_columns([], TABLE)

    @pytest.mark.parametrize(
        "names", [["a", "b"], ["a,b"], ['"a"', "b"], ["a`b", "c d"], ["é", "x.y"]]
    )
    def test_of_any_name_are_kept_as_text(self, names: list[str]) -> None:
        assert column_names(quoted_names(names)) == names


class TestProperties:
    def test_are_read_by_the_place_of_their_recipient(self) -> None:
        typed = sent(
            who=["globex", "initech"],
            **{"set0-country": " DE ", "set1-country": "FR", "set1-tier": "1"},
        )

        assert typed.texts == {
            "globex": {"country": "DE"},
            "initech": {"country": "FR", "tier": "1"},
        }

    @cases(
        "typed, after",
        {
            "nothing": ({}, {"Country": "DE", "tier": 1}),
            "another value": ({"country": "FR"}, {"Country": "FR", "tier": 1}),
            "emptied": ({"country": ""}, {"tier": 1}),
            "one more": ({"vip": "true"}, {"Country": "DE", "tier": 1, "vip": True}),
        },
    )
    def test_keep_their_spelling_and_an_empty_text_removes_one(self, typed, after):
        assert new_values({"Country": "DE", "tier": 1}, typed) == after

    def test_a_text_that_is_no_value_is_refused(self) -> None:
        with pytest.raises(PropertyInvalidError, match="quote"):
            new_values({}, {"country": '"DE'})
